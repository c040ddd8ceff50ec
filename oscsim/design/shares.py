"""Sobol indices of every model of a sweep, or why it has none."""

from oscsim.design.interactions import Sobol, sobol, sobol_of_surface
from oscsim.design.response import numeric_axes
from oscsim.design.rule import DesignRule
from oscsim.errors import SpecError


def sobol_shares(rule: DesignRule) -> tuple[tuple[Sobol, ...], dict[str, str]]:
    """Return Sobol indices of every model, of a grid or else of a surface.

    Parameters
    ----------
    rule : DesignRule
        Gives the cells and where axes without a good end are held.

    Returns
    -------
    shares : tuple of Sobol
        Of the models that have them.
    why_not : dict of str to str
        Reason by name of the others; empty with fewer than two numbers, of which
        there is nothing to share.
    """
    table, done = rule.table, []
    why_not: dict[str, str] = {}
    axes = numeric_axes(table)
    if len(axes) < 2:
        return (), {}
    others = [name for name in table.axes if name not in axes]
    with_cells = {cell.subject for cell in table.cells}
    for subject in (name for name in table.subjects if name in with_cells):
        try:
            done.append(sobol(table, subject, axes, rule.held))
        except SpecError as error:
            if others:
                why_not[subject] = str(error)
                continue
            try:
                done.append(sobol_of_surface(table, subject, axes))
            except SpecError as other:
                why_not[subject] = f"{error}; {other}"
    return tuple(done), why_not
