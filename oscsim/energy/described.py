"""A model described by its sizes alone."""

from typing import Any

from oscsim.energy.baselines import LARGEST, LARGEST_SIZES, Shape
from oscsim.errors import SpecError

NEEDED = ("T", "H", "d_model", "d_osc", "layers", "coupling")
OPTIONAL = ("d_ff", "outputs", "p", "causal", "clamps")
FF_OVER_MODEL = 4
BYTES = 256
DIGITS = 24


def parse_shape(text: str) -> tuple[Shape, tuple[str, ...]]:
    """Return the sizes that a line describes, and what it left to be assumed.

    Parameters
    ----------
    text : str
        ``T=128,H=4,d_model=128,d_osc=8,layers=2,coupling=softplus`` and, if
        wanted, ``d_ff`` (4 d_model), ``outputs`` (256), ``p`` (1) and
        ``causal`` (true); ``clamps`` is read by `stated_clamps`.

    Returns
    -------
    Shape
        One item of T positions.
    tuple of str
        Sentences on what was assumed.

    Raises
    ------
    SpecError
        If a name is missing, unknown or given twice, or a value is not what
        it should be.
    """
    given = _pairs(text)
    missing = [name for name in NEEDED if name not in given]
    if missing:
        raise SpecError(
            f"--shape needs {', '.join(NEEDED)}: {missing[0]} is missing in {text!r}"
        )
    coupling: Any = given["coupling"]
    if coupling not in ("softplus", "relu", "elu"):
        raise SpecError(
            f"--shape: coupling must be softplus, relu or elu, got {coupling!r}"
        )
    power: Any = _whole(given, "p", 1)
    if power not in (1, 2, 4):
        raise SpecError(f"--shape: p must be 1, 2 or 4, got {power}")
    d_model = _whole(given, "d_model", 1)
    shape = Shape(
        n_layers=_whole(given, "layers", 1),
        n_heads=_whole(given, "H", 1),
        d_model=d_model,
        d_ff=_whole(given, "d_ff", FF_OVER_MODEL * d_model),
        d_osc=_whole(given, "d_osc", 2),
        lengths=[_whole(given, "T", 1)],
        causal=_truth(given, "causal"),
        coupling=coupling,
        n_outputs=_whole(given, "outputs", BYTES),
        power=power,
    )
    if shape.d_osc < 2:
        raise SpecError(f"--shape: d_osc must be at least 2, got {shape.d_osc}")
    chosen = {
        "d_ff": f"d_ff = {shape.d_ff} (4 d_model)",
        "outputs": f"{shape.n_outputs} outputs at every position",
        "p": "read-out exponent p = 1",
        "causal": "a causal mask",
    }
    assumed = tuple(said for name, said in chosen.items() if name not in given)
    return shape, assumed


def stated_clamps(text: str) -> bool | None:
    """Return whether a line says that the clamp of the read-out acts.

    Parameters
    ----------
    text : str
        As `parse_shape`; ``clamps=no`` says that no 1 + z.r is negative, so that a
        read-out with p = 1 may be factored.

    Returns
    -------
    bool or None
        None where nobody said so.

    Raises
    ------
    SpecError
        If it is neither yes nor no, or p is not 1.
    """
    given = _pairs(text)
    if "clamps" not in given:
        return None
    if given["clamps"] not in ("yes", "no"):
        raise SpecError(f"--shape: clamps must be yes or no, got {given['clamps']!r}")
    if given.get("p", "1") != "1":
        raise SpecError(
            "--shape: clamps decides whether a read-out with p = 1 factors, got "
            f"p = {given['p']}"
        )
    return given["clamps"] == "yes"


def _pairs(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (name and equals and value):
            raise SpecError(f"--shape takes NAME=VALUE,NAME=VALUE, got {part!r}")
        if name in ("family", "n_osc"):
            raise SpecError(
                f"--shape: {name} = {value}: only fixed-query models are described by "
                "sizes; how long Kuramoto attention dwells follows from its weights, "
                "so give a checkpoint"
            )
        if name not in NEEDED + OPTIONAL:
            raise SpecError(
                f"--shape: unknown name {name!r}, one of {', '.join(NEEDED + OPTIONAL)}"
            )
        if name in given:
            raise SpecError(f"--shape: {name} is given twice in {text!r}")
        given[name] = value
    return given


def _whole(given: dict[str, str], name: str, default: int) -> int:
    text = given.get(name, str(default))
    most = LARGEST_SIZES.get("n_layers" if name == "layers" else name, LARGEST)
    # int() also reads 1_6 and digits of other scripts, and hangs on very long ones
    is_plain = text.isascii() and text.isdecimal()
    if is_plain and len(text) > DIGITS:
        raise SpecError(
            f"--shape: {name} must be at most {most:,}, got {len(text)} digits"
        )
    number = int(text) if is_plain else 0
    if number < 1:
        raise SpecError(f"--shape: {name} must be a whole number from 1, got {text}")
    if number > most:
        raise SpecError(f"--shape: {name} must be at most {most:,}, got {text}")
    return number


def _truth(given: dict[str, str], name: str) -> bool:
    text = given.get(name, "true").lower()
    if text not in ("true", "false"):
        raise SpecError(f"--shape: {name} must be true or false, got {text!r}")
    return text == "true"
