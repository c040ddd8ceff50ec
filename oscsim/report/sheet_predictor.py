"""The sliders of a design sheet, and what it says where there can be none."""

from collections.abc import Mapping
from html import escape

from oscsim.design.axes import is_whole
from oscsim.design.rule import DesignRule
from oscsim.design.surrogate import Surrogate
from oscsim.report.axis_words import metric_words, named, said_value
from oscsim.report.markup import items, paragraph
from oscsim.typing import FloatArray


def predictor(
    rule: DesignRule, grids: tuple[Surrogate, ...], why_not: Mapping[str, str]
) -> str:
    """Return the controls; the script of the page brings them to life.

    Parameters
    ----------
    rule : DesignRule
        Gives the models.
    grids : tuple of Surrogate
        With an axis, a choice or a model to choose.
    why_not : mapping of str to str
        Models that have no grid, and why.
    """
    first = grids[0]
    fields = [_select("model", "Model", _models(rule, grids))]
    stops = d_oscs(rule, grids)
    if stops:
        fields.append(_d_osc_slider(list(stops)))
    for n, axis in enumerate(first.chosen):
        values = dict.fromkeys(str(grid.chosen[axis]) for grid in grids)
        shown = {value: value for value in values}
        fields.append(_select(f"choice-{n}", named(axis), shown))
    fields += [
        _slider(n, name, values)
        for n, (name, values) in enumerate(zip(first.axes, first.values, strict=True))
    ]
    noscript = (
        "<noscript><p>The sliders need JavaScript; the tables and figures below do "
        "not.</p></noscript>"
    )
    form = (
        '<div id="predictor" hidden><div class="predict"><form onsubmit="return false" '
        f'aria-label="Hardware numbers">{"".join(fields)}'
        '<p id="brief" aria-hidden="true"></p></form>'
        '<div><div id="answer"></div>'
        '<p id="told" class="unseen" role="status" aria-live="polite"></p>'
        '<h3>All models at these numbers</h3><div id="others" class="wide"></div>'
        "</div></div></div>"
    )
    return noscript + form + _explained(rule, grids) + _left(why_not)


def _explained(rule: DesignRule, grids: tuple[Surrogate, ...]) -> str:
    told = (
        "± is half the 95 % interval over chips. Models are as they were run: nothing "
        "is read between two d_osc. At the numbers of the table of best models others "
        "are told apart as there, over chips and over items; elsewhere by these "
        "intervals alone."
    )
    if not grids[0].axes:
        return paragraph(told)
    return paragraph(
        "Between stored cells the loss is read as for the rules below: by its "
        "logarithm (and that of numbers of which less is better) where neighbours "
        "are positive and the smaller is at most 20 %, else straight. Nothing is "
        "smoothed or made monotone. Energy, time and ± are straight; ± does not hold "
        f"the error of the reading. Outside the data no number is given. {told}"
    ) + _misses(rule, grids)


def d_oscs(rule: DesignRule, grids: tuple[Surrogate, ...]) -> dict[int, int]:
    """Return how many models there are of each d_osc, rising; empty of one d_osc.

    Parameters
    ----------
    rule : DesignRule
        Gives the models.
    grids : tuple of Surrogate
        Of which models.
    """
    found = [rule.table.d_osc(name) for name in {grid.subject for grid in grids}]
    known = [d_osc for d_osc in found if d_osc]
    counts = {d_osc: known.count(d_osc) for d_osc in sorted(set(known))}
    return counts if len(counts) > 1 else {}


def _models(rule: DesignRule, grids: tuple[Surrogate, ...]) -> dict[str, str]:
    """Return the choices of a model and what they are called."""
    names = dict.fromkeys(grid.subject for grid in grids)
    most = "least" if rule.table.is_loss_bits else "most"
    word = metric_words(rule.table.metric)
    found = {"best": f"{most} {word} at these numbers"} if len(names) > 1 else {}
    for d_osc, n in d_oscs(rule, grids).items():
        if n > 1:
            found[f"d-osc:{d_osc}"] = f"{most} of the {n} models of d_osc {d_osc}"
    for name in sorted(names, key=lambda one: (rule.table.d_osc(one) or 0, one)):
        d_osc_of = rule.table.d_osc(name)
        found[name] = f"{name} (d_osc {d_osc_of})" if d_osc_of else name
    return found


def no_predictor(rule: DesignRule, why_not: Mapping[str, str]) -> str:
    """Say why the page has no sliders."""
    design = rule.table.spec.get("design", "grid")
    reason = (
        "no number of this sweep takes two values or more"
        if not rule.table.axes
        else "a prediction needs a full grid of cells, and this sweep (design "
        f"{design}) has none"
    )
    return paragraph(
        f"There are no sliders: {reason}. The tables below say what was run.", "note"
    ) + _left(why_not)


def _left(why_not: Mapping[str, str]) -> str:
    if not why_not:
        return ""
    said = (f"{name}: {reason}" for name, reason in why_not.items())
    return paragraph("Without a prediction:") + items(said)


def _misses(rule: DesignRule, grids: tuple[Surrogate, ...]) -> str:
    missed = [grid.left_out for grid in grids if grid.left_out is not None]
    if not missed:
        return paragraph(
            "Every number has two values only, so that nothing checks what is "
            "read between them.",
            "note",
        )
    middle = max(one[0] for one in missed)
    worst = max(one[1] for one in missed)
    return paragraph(
        f"A check: inner cells read from their neighbours, as if they had not "
        f"been run, miss the {metric_words(rule.table.metric)} by {middle:.4f} in the "
        f"median of the worst model and {worst:.4f} at most. With them, gaps are "
        "narrower."
    )


def _select(name: str, label: str, values: Mapping[str, str]) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(text)}</option>'
        for value, text in values.items()
    )
    return (
        f'<div class="control"><label for="{name}">{escape(label)}</label>'
        f'<select id="{name}" autocomplete="off">{options}</select></div>'
    )


def _d_osc_slider(stops: list[int]) -> str:
    said = f"run at {', '.join(map(str, stops))}; moves with the model"
    return (
        '<div class="control"><label for="slider-d-osc">components of an oscillator '
        '(d_osc)</label><div class="pair"><input type="range" id="slider-d-osc" '
        f'min="0" max="{len(stops) - 1}" step="1" autocomplete="off" '
        'aria-describedby="said-d-osc"><output id="number-d-osc" '
        'for="slider-d-osc"></output></div>'
        f'<p class="said" id="said-d-osc">{said}</p></div>'
    )


def _slider(n: int, name: str, values: FloatArray) -> str:
    label = escape(named(name))
    if is_whole(name) or len(values) <= 12:
        said = f"run at {', '.join(said_value(value) for value in values)}"
    else:
        said = f"run at {len(values)} values, {said_value(values[0])} to "
        said += said_value(values[-1])
    return (
        f'<div class="control"><label for="slider-{n}">{label}</label>'
        f'<div class="pair"><input type="range" id="slider-{n}" autocomplete="off" '
        f'aria-describedby="said-{n}"><input type="number" step="any" '
        f'inputmode="decimal" id="number-{n}" autocomplete="off" '
        f'aria-label="{label}, as a number" aria-describedby="error-{n} said-{n}">'
        f'</div><p class="said" id="said-{n}">{escape(said)}</p>'
        f'<p class="error" id="error-{n}" role="alert"></p></div>'
    )
