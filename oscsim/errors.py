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


class EvaluationError(OscsimError, ArithmeticError):
    """A value overflowed or stopped being a number in a forward pass."""


class NetlistError(OscsimError, ValueError):
    """A netlist, or the file of its expected values, cannot be used as it is."""


class SimulatorError(OscsimError, RuntimeError):
    """The circuit simulator is missing, stopped early, crashed or took too long."""


class StoreError(OscsimError, RuntimeError):
    """A sweep's store, or what runs its cells, failed during the work."""


class IntegrationError(OscsimError, ArithmeticError):
    """A step of an integration failed: not finite, or too far for the method.

    Attributes
    ----------
    step : int
        Step at which it happened, counted from 1.
    time : float
        Time after that step, or reached by adaptive steps (s).
    index : int
        Flat index of the oscillator: the first that failed at that step.
    trajectory : int
        Trajectory: the first in order of number, whatever failed earlier in time.
    n_others : int
        Trajectories that failed besides.
    advice : str
        What to do about it, or why it happened.
    """

    def __init__(
        self,
        step: int,
        time: float,
        index: int,
        trajectory: int = 0,
        n_others: int = 0,
        advice: str = "use a smaller dt",
    ) -> None:
        others = f" of trajectory {trajectory}" if trajectory or n_others else ""
        runs = "trajectory" if n_others == 1 else "trajectories"
        more = f"; {n_others} more {runs} failed" if n_others else ""
        super().__init__(
            f"oscillator {index}{others} is not finite, or moved farther than the "
            f"method can follow, at step {step} (t = {time:.6g} s): {advice}"
            f"{more}"
        )
        self.step, self.time, self.index = step, time, index
        self.trajectory, self.n_others, self.advice = trajectory, n_others, advice
