"""A measured phase response as a network that the engine simulates."""

from dataclasses import dataclass

import numpy as np

from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.solve.simulate import simulate
from oscsim.spice.phase_response import PhaseResponse
from oscsim.spice.waveforms import lock_verdict
from oscsim.typing import FloatArray

_MOST = 16
_TIMES = 60.0
_STEP = 0.05
_WEAK = 0.1


@dataclass(frozen=True)
class PhaseModel:
    """The coupling function of two equal oscillators through a resistor.

    ``dtheta_i/dt = omega_i + shift + G(theta_j - theta_i)``,
    ``G(d) = sum_k a_k sin(k d) + b_k cos(k d)``.

    Attributes
    ----------
    frequency_hz : float
        Free-running frequency (Hz).
    resistance : float
        Of the coupling (ohm).
    shift : float
        Constant part (rad/s): what the load of the coupling does to each.
    harmonics : FloatArray, shape (m, 2)
        a_k and b_k (rad/s), k from 1 on.
    """

    frequency_hz: float
    resistance: float
    shift: float
    harmonics: FloatArray

    def network(self, detuning: float) -> Network:
        """Return the pair, in the frame that turns with its mean frequency.

        Parameters
        ----------
        detuning : float
            omega_0 - omega_1 (rad/s).
        """
        return Network.kuramoto(
            1.0 - np.eye(2),
            omega=np.array([detuning / 2, -detuning / 2]),
            harmonics=self.harmonics,
        )

    def lock_range(self) -> float:
        """Return the largest difference of frequencies (rad/s) at which a pair locks.

        The maximum of ``G(d) - G(-d) = 2 sum_k a_k sin(k d)``.
        """
        d = np.linspace(0, np.pi, 4097)
        order = np.arange(1, len(self.harmonics) + 1)
        return float((2 * np.sin(np.outer(d, order)) @ self.harmonics[:, 0]).max())

    def pair(self, detuning: float) -> tuple[str, float]:
        """Simulate the pair and return what became of it.

        Parameters
        ----------
        detuning : float
            omega_0 - omega_1 (rad/s).

        Returns
        -------
        str, float
            ``"locked"``, ``"slips"`` or ``"undecided"``, and the phase (rad) by which
            1 is behind 0 at the end.
        """
        dt, n_steps = self.times()
        run = simulate(
            self.network(detuning),
            t1=dt * n_steps,
            dt=dt,
            start=np.zeros(2),
            save_every=10,
        )
        apart = run.y[0, :, 0] - run.y[0, :, 1]
        return lock_verdict(apart), float(apart[-1])

    def times(self) -> tuple[float, int]:
        """Return a step (s), and steps for 60 over the lock range."""
        order = np.arange(1, len(self.harmonics) + 1)
        steepest = float(np.hypot(*self.harmonics.T) @ order)
        dt = _STEP / steepest
        return dt, max(400, int(np.ceil(_TIMES / self.lock_range() / dt / 10)) * 10)

    def network_file(self, name: str, share: float = 0.5) -> str:
        """Return the pair as a file that ``oscsim simulate`` reads.

        Parameters
        ----------
        name : str
            Which netlist it is from, for its first line.
        share : float
            Difference of frequencies as a share of the lock range.
        """
        half = share * self.lock_range() / 2
        dt, n_steps = self.times()
        rows = ",\n".join(f"  [{float(a)!r}, {float(b)!r}]" for a, b in self.harmonics)
        return (
            f"# Two of {name} through {self.resistance:g} ohm, by charge kicks, at "
            f"{share:g} of the\n# lock range, in the frame of "
            f"{self.frequency_hz:.6g} Hz. The coupling also moves both by\n"
            f"# {self.shift:.4g} rad/s, left out here.\n"
            '[network]\nmodel = "kuramoto"\n'
            'topology = { kind = "matrix", matrix = [[0, 1], [1, 0]] }\n'
            f"omega = [{half!r}, {-half!r}]  # rad/s\n"
            f"harmonics = [  # rad/s: a_k of sin(k d), b_k of cos(k d)\n{rows},\n]\n\n"
            f"[simulate]\nt1 = {dt * n_steps!r}\ndt = {dt!r}\n"
            'method = "rk4"\nstart = [0.0, 0.0]\n'
        )


def phase_model(
    response: PhaseResponse, resistance: float, smallest: float = 1e-3
) -> PhaseModel:
    """Return the coupling function of a measured phase response, by its harmonics.

    Parameters
    ----------
    response : PhaseResponse
        Of one oscillator, as `phase_response` measures it.
    resistance : float
        R (ohm) between two of them.
    smallest : float
        Harmonics beyond the last whose size is this share of the largest, or beyond
        the sixteenth, are left out.

    Returns
    -------
    PhaseModel

    Raises
    ------
    SpecError
        If the resistance is not finite and above 0, the phases do not pull each
        other together (there is no lock range), or the lock range or the shift is
        above a tenth of the frequency: phases alone describe a weak coupling.
    """
    if not 0 < resistance < np.inf:
        raise SpecError(
            f"resistance must be finite and above 0 ohm, got {resistance:g}"
        )
    found = np.fft.rfft(response.coupling(resistance)) / len(response.response)
    harmonics = 2 * np.stack([-found.imag, found.real], axis=-1)[1 : _MOST + 1]
    size = np.hypot(*harmonics.T)
    last = int(np.flatnonzero(size >= smallest * size.max())[-1])
    model = PhaseModel(
        response.frequency_hz, resistance, float(found[0].real), harmonics[: last + 1]
    )
    largest = np.abs(response.response).max() * np.ptp(response.waveform) / resistance
    if not model.lock_range() > 1e-9 * largest:
        raise SpecError(
            "the measured response holds no pair together: check that the charge moves "
            "the phase"
        )
    strong = max(model.lock_range(), abs(model.shift)) / (
        2 * np.pi * model.frequency_hz
    )
    if strong > _WEAK:
        raise SpecError(
            f"a resistance of {resistance:g} ohm moves the frequency by "
            f"{strong:.3g} of it, {_WEAK:g} at most: phases alone describe a weak "
            f"coupling; give at least {resistance * strong / _WEAK:.3g} ohm"
        )
    return model


def sampled(model: PhaseModel, n: int = 257) -> tuple[FloatArray, FloatArray]:
    """Return phase differences over a turn (rad) and G at them (rad/s).

    Parameters
    ----------
    model : PhaseModel
        Whose coupling function, the constant part included.
    n : int
        How many.
    """
    d = np.linspace(0, 2 * np.pi, n)
    order = np.outer(d, np.arange(1, len(model.harmonics) + 1))
    a, b = model.harmonics.T
    return d, model.shift + np.sin(order) @ a + np.cos(order) @ b
