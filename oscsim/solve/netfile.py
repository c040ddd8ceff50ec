"""A network and its simulation from a TOML file."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oscsim.arrays import real_array, shown
from oscsim.errors import SpecError
from oscsim.network.spec import Network
from oscsim.solve.frequencies import Distribution, natural_frequencies
from oscsim.solve.graphs import Graph
from oscsim.solve.plan import ADAPTIVE
from oscsim.solve.simulate import Method, Observable
from oscsim.typing import FloatArray

SAVES = 400
"""About so many states are saved when a file does not say how many."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, lt=2**63)]
Word = Annotated[int, Field(ge=0, lt=2**32)]
Numbers = Finite | list[Finite]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Draw(_Table):
    """Natural frequencies of a distribution; without seed its exact quantiles."""

    distribution: Distribution
    width: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    centre: Finite = 0.0
    seed: Word | None = None


class _Coupled(_Table):
    topology: Graph
    coupling: Finite = 1.0
    diffusion: Numbers | None = None
    anchor_weights: list[list[Finite]] | None = None

    def _common(self, folder: Path) -> dict[str, Any]:
        """Arguments that phases and unit vectors share."""
        topology, n = self.topology.weights(folder)
        return {
            "topology": topology,
            "n": n,
            "coupling": self.coupling,
            "diffusion": _array("diffusion", self.diffusion),
            "anchor_weights": _array("anchor_weights", self.anchor_weights),
        }


class Phases(_Coupled):
    """Coupled phases, with the arguments of `Network.kuramoto`."""

    model: Literal["kuramoto"]
    omega: Finite | list[Finite] | Draw = 0.0
    lag: Finite | list[list[Finite]] = 0.0
    shil: Numbers | None = None
    shil_phase: Numbers = 0.0
    anchors: list[Finite] | None = None
    harmonics: list[list[Finite]] | None = None

    def network(self, folder: Path) -> Network:
        """Return the network; paths in it are relative to ``folder``."""
        common = self._common(folder)
        return Network.kuramoto(
            common.pop("topology"),
            omega=_frequencies(self.omega, common["n"]),
            lag=real_array("lag", self.lag),
            shil=_array("shil", self.shil),
            shil_phase=real_array("shil_phase", self.shil_phase),
            anchors=_array("anchors", self.anchors),
            harmonics=_array("harmonics", self.harmonics),
            **common,
        )


class Vectors(_Coupled):
    """Coupled unit vectors, with the arguments of `Network.lohe`."""

    model: Literal["lohe"]
    d: Annotated[int, Field(ge=2)]
    omega: (
        Finite
        | list[Finite]
        | list[list[Finite]]
        | list[list[list[Finite]]]
        | (Draw | None)
    ) = None
    anchors: list[list[Finite]] | None = None

    def network(self, folder: Path) -> Network:
        """Return the network; paths in it are relative to ``folder``."""
        common = self._common(folder)
        if isinstance(self.omega, Draw) and self.d != 2:
            raise SpecError(
                f"omega of a distribution needs d = 2, got d = {self.d}: give "
                "antisymmetric matrices"
            )
        return Network.lohe(
            common.pop("topology"),
            d=self.d,
            omega=_frequencies(self.omega, common["n"]),
            anchors=_array("anchors", self.anchors),
            **common,
        )


class Times(_Table):
    """The arguments of `simulate`; what is absent has its default."""

    t1: Positive
    dt: Positive | None = None
    method: Method = "rk4"
    save_every: Count | None = None
    observe: Observable | list[Observable] | None = None
    n_trajectories: Count = 1
    seed: Word = 0
    dtype: Literal["float64", "float32"] = "float64"
    rtol: Positive | None = None
    atol: Positive | None = None
    start: list[Finite] | list[list[Finite]] | None = None


class NetworkFile(_Table):
    """A network and how to simulate it.

    Attributes
    ----------
    network : Phases or Vectors
        ``[network]``: what is connected.
    simulate : Times
        ``[simulate]``: for how long, and how.
    """

    network: Annotated[Phases | Vectors, Field(discriminator="model")]
    simulate: Times

    def arguments(self, seed: int | None = None) -> dict[str, Any]:
        """Return the keyword arguments for `simulate`.

        Parameters
        ----------
        seed : int, optional
            Of starts and noise, in place of the file's.

        Raises
        ------
        SpecError
            If the rows of the start are not equally long.
        """
        given = self.simulate.model_dump(exclude_none=True)
        if seed is not None:
            given["seed"] = seed
        if "start" in given:
            given["start"] = real_array("start", given["start"])
        if self.simulate.dt is None and self.simulate.method in ADAPTIVE:
            given["dt"] = self.simulate.t1 / SAVES
        if "save_every" not in given and "dt" in given:
            steps = min(given["t1"] / given["dt"], 2.0**53)
            given["save_every"] = max(1, round(steps) // SAVES)
        return given


def read_network(path: str | Path) -> tuple[Network, NetworkFile]:
    """Read a network and its simulation from a TOML file.

    Parameters
    ----------
    path : str or Path
        File with the tables ``[network]`` and ``[simulate]``; paths in it are
        relative to its folder.

    Returns
    -------
    Network, NetworkFile
        The network, and the arguments of `simulate`.

    Raises
    ------
    SpecError
        If the file cannot be read, a field is unknown, missing or wrong, or the
        network is.
    """
    return parse_network(read_source(path), path)


def read_source(path: str | Path) -> bytes:
    """Return the bytes of a network file, read once.

    Parameters
    ----------
    path : str or Path
        The file; a pipe too.

    Raises
    ------
    SpecError
        If it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise SpecError(f"there is no network file {path}") from None
    except (OSError, ValueError) as error:
        raise SpecError(f"network file {path} cannot be read: {error}") from None


def parse_network(source: bytes, path: str | Path) -> tuple[Network, NetworkFile]:
    """Return what :func:`read_network` does, of bytes that were read before.

    Parameters
    ----------
    source : bytes
        Contents of the file.
    path : str or Path
        Its name, in messages, and by its folder where other files are.

    Returns
    -------
    Network, NetworkFile
        The network, and the arguments of `simulate`.

    Raises
    ------
    SpecError
        If the bytes are not such a file, a field is unknown, missing or wrong,
        or the network is.
    """
    path = Path(path)
    try:
        content = tomllib.loads(source.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise SpecError(f"{path} is not TOML: it is nested too deeply") from None
    except ValueError as error:
        raise SpecError(f"network file {path} cannot be read: {error}") from None
    try:
        found = NetworkFile(**content)
    except ValidationError as error:
        raise SpecError(f"{path}: {_first_problem(error, content)}") from None
    try:
        found.arguments()
        return found.network.network(path.parent), found
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def _frequencies(omega: Any, n: int) -> FloatArray | None:
    if not isinstance(omega, Draw):
        return _array("omega", omega)
    return natural_frequencies(
        omega.distribution,
        n,
        width=omega.width,
        centre=omega.centre,
        seed=omega.seed,
    )


def _array(name: str, value: Any) -> FloatArray | None:
    return None if value is None else real_array(name, value)


def _first_problem(error: ValidationError, content: Mapping[str, Any]) -> str:
    """Say in one sentence what is wrong, by the names in the file.

    Where a value may have several forms the error that lies deepest tells which
    form was meant.
    """
    details = error.errors()
    names, value, detail = max(
        ((*_place(one["loc"], content), one) for one in details),
        key=lambda found: len(found[0]) + (found[2]["type"] == "missing"),
    )
    where = ".".join(names) or "the file"
    if detail["type"] == "missing":
        return f"{detail['loc'][-1]} is missing in {where}"
    if detail["type"] == "extra_forbidden":
        return f"{where} is not a known field"
    if detail["type"].startswith("union_tag"):
        wanted = detail["ctx"]
        key = str(wanted["discriminator"]).strip("'")
        if detail["type"] == "union_tag_not_found":
            return f"{key} is missing in {where}"
        return f"{where}.{key} must be one of {wanted['expected_tags']}, got " + shown(
            wanted["tag"]
        )
    return f"{where}: {detail['msg']}, got {shown(value)}"


def _place(location: Sequence[Any], content: Any) -> tuple[list[str], Any]:
    """Return the names that lead to the place of an error, and what is there."""
    names: list[str] = []
    value: Any = content
    for part in location:
        if (isinstance(value, Mapping) and part in value) or (
            isinstance(value, list) and isinstance(part, int)
        ):
            names.append(str(part))
            value = value[part]
    return names, value
