"""The architecture is a test: every module imports only rightwards."""

from importlinter import cli


def test_import_contracts_hold():
    assert cli.lint_imports(no_cache=True) == cli.EXIT_STATUS_SUCCESS
