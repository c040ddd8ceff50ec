"""The errors a caller can meet; one family, one sentence each."""


class OscsimError(Exception):
    """Base of every error raised on purpose by this package."""


class SpecError(OscsimError, ValueError):
    """An argument of a call is wrong; the message says what would be right."""


class CheckpointError(OscsimError, ValueError):
    """A checkpoint cannot be read, or is not what its configuration says."""


class DataError(OscsimError, ValueError):
    """An input data set cannot be used."""


class DeviceError(OscsimError, ValueError):
    """A device description is wrong, or cannot do what is asked of it."""


class ComponentError(OscsimError, ValueError):
    """An energy component is missing, malformed or used outside its range."""


class IntegrationError(OscsimError, ArithmeticError):
    """A state stopped being finite during integration.

    Attributes
    ----------
    step : int
        Step at which it happened, counted from 1.
    time : float
        Time after that step (s).
    index : int
        Flat index of the oscillator.
    """

    def __init__(self, step: int, time: float, index: int) -> None:
        super().__init__(
            f"the state of oscillator {index} is not finite after step {step} "
            f"(t = {time:.6g} s): use a smaller dt"
        )
        self.step, self.time, self.index = step, time, index
