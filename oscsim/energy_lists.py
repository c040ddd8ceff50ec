"""What the energy command lists instead of pricing a model."""

import typer

from oscsim import cli_output


def refuse_others(context: typer.Context, listing: str) -> None:
    """Refuse options that a list has no use for, rather than leave them out."""
    from oscsim.errors import SpecError

    kept = {"components", "validation", "text", "as_json"}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        is_given = source is not None and source.name == "COMMANDLINE"
        if is_given and parameter.name not in kept:
            raise SpecError(f"{parameter.opts[0]} does not go with {listing}")


def list_components(text: str, as_json: bool) -> int:
    """Print the components that hold a text."""
    from oscsim.energy.components import Library
    from oscsim.errors import SpecError
    from oscsim.report.estimate_terminal import library_rows, print_library

    rows = library_rows(Library.load(), text)
    if not rows:
        raise SpecError(f"no component holds {text!r}: list all without --filter")
    if as_json:
        cli_output.print_json([part.model_dump() for part in rows])
    else:
        print_library(cli_output.console(), rows)
    return 0


def list_checks(as_json: bool) -> int:
    """Print predictions beside published machines."""
    from oscsim.bridge.array_json import validation_json
    from oscsim.energy.validation import validate
    from oscsim.report.validation_table import print_validation

    checks = validate()
    if as_json:
        cli_output.print_json(validation_json(checks))
    else:
        print_validation(cli_output.console(), checks)
    return 0
