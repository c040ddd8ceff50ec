"""A sweep as files: its design sheet, figures and tables."""

from pathlib import Path
from typing import Any

from oscsim.design.cheapest import cheapest
from oscsim.design.pareto import ParetoPoint
from oscsim.design.rule import DesignRule
from oscsim.design.rule_dataset import rule_dataset
from oscsim.files import write_whole
from oscsim.report.cheapest_table import cheapest_csv
from oscsim.report.column import formats
from oscsim.report.family_csv import families_csv
from oscsim.report.rule_csv import laws_csv, rule_csv
from oscsim.report.sheet_cells import DeviceOf
from oscsim.report.sheet_figures import drawn_figures
from oscsim.report.sheet_page import page


def write_sheet(
    folder: Path,
    rule: DesignRule,
    content: dict[str, Any],
    front: tuple[ParetoPoint, ...],
    device_of: DeviceOf,
) -> list[Path]:
    """Write sheet.html, the tables, sweep.nc, and the figures with their data.

    Tables: rule.csv, laws.csv, cheapest.csv (what a loss costs) and, of models of
    several d_osc, families.csv.

    A figure is ``NAME.png``, ``.svg``, ``.pdf`` (85 mm wide) and ``.csv``: of
    every number its loss (``loss-NUMBER``) and, of two dimensions or more, the
    best one (``best-NUMBER``); of a family with softmax twins or several trainings
    ``gap-NUMBER``; of priced cells the ``front``. Everything is made
    before the first file is written, each whole or not at all; the same store
    gives the same bytes.

    Parameters
    ----------
    folder : Path
        Where; it is made if needed.
    rule : DesignRule
        From `oscsim.design.rule.fit_rule`.
    content : dict
        From `oscsim.design.rule_json.rule_json`.
    front : tuple of ParetoPoint
        From `oscsim.design.pareto.pareto`.
    device_of : callable
        Gives the device of a cell by its digest, as
        `oscsim.design.store.Store.device`.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    SpecError
        If a file cannot be written.
    """
    drawn = list(drawn_figures(rule, front))
    contents = {
        "sheet.html": page(rule, content, front, device_of, drawn).encode(),
        "rule.csv": rule_csv(content),
        "laws.csv": laws_csv(content),
        "cheapest.csv": cheapest_csv(cheapest(rule.table, rule.losses)),
        "sweep.nc": bytes(rule_dataset(rule, front).to_netcdf(engine="scipy")),
    }
    if rule.families:
        contents["families.csv"] = families_csv(rule.families)
    for one in drawn:
        contents |= formats(one.figure, one.name)
        contents[f"{one.name}.csv"] = one.data
    for name, written in contents.items():
        write_whole(folder / name, written)
    return [folder / name for name in contents]
