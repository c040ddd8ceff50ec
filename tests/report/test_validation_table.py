from io import StringIO

from rich.console import Console

from oscsim.energy.chip_check import CAVEAT
from oscsim.energy.validation import validate
from oscsim.report.validation_table import print_validation, verdict


def test_model_machine_and_ratio_are_printed_with_every_cause():
    checks = validate()
    console = Console(file=StringIO(), width=1000)
    print_validation(console, checks)
    out = console.file.getvalue()
    assert CAVEAT in out
    assert "4 of 9 ratios are within 3: 2 with a read figure but parts" in out
    for check in checks:
        assert check.chip in out
        assert check.cause in out
        assert f"what it shows: {check.shows}" in out
        assert check.note in out
    row = next(line for line in out.splitlines() if "energy per spin and solve" in line)
    for shown in ("5.4 pJ", "1.07 pJ", "5", "beyond 3, cause below"):
        assert shown in row


def test_verdicts():
    said = [verdict(check) for check in validate()]
    assert "within 3, with a stand-in" in said
    assert "within 3; not verified" in said
    assert "within the bound" in said
    assert "within 3" not in said, "no figure of a machine's own inputs"
    assert "no figure to compare; not verified" in said
    assert "not predicted" in said


def test_a_bound_is_printed_as_one():
    console = Console(file=StringIO(), width=1000)
    print_validation(console, validate())
    rows = [r for r in console.file.getvalue().splitlines() if "cycles to the" in r]
    assert "< 50" in rows[0]
    assert "> 0.4" in rows[0]
    assert "< 5 " in rows[1]
    assert not any("< 1.07" in row for row in rows)
