"""Generated text, digital beside a chip."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from oscsim.bridge.generate import Generated, shown


def print_generated(console: Console, name: str, found: Generated) -> None:
    """Print both texts side by side, the prompt above them."""
    setting = found.setting
    console.print(
        Text.assemble(
            (name, "bold"), f", temperature {found.temperature:g}, seed {setting.seed}"
        )
    )
    console.print(Text.assemble(("Prompt: ", "bold"), shown(found.prompt)))
    table = Table(show_lines=True)
    table.add_column("digital", overflow="fold", ratio=1)
    cells = [Text(shown(found.digital))]
    if found.chip is not None:
        where = f"chip 0 of {setting.device.label}, rung {setting.rung}"
        table.add_column(where, overflow="fold", ratio=1)
        cells.append(Text(shown(found.chip)))
    table.add_row(*cells)
    console.print(table)
    if found.chip is not None:
        console.print(f"{_parting(found)} Both used the same random numbers.")
    if found.warnings:
        said = "; ".join(found.warnings)
        console.print(Text.assemble(("Note: ", "bold"), f"{said}."))


def _parting(found: Generated) -> str:
    if found.equal_bytes == len(found.digital):
        return "The texts are equal."
    return f"The texts are equal for {found.equal_bytes} bytes."


def generated_json(name: str, found: Generated) -> dict[str, Any]:
    """Return both texts as plain data; ``hex`` has the bytes themselves."""
    setting = found.setting

    def text(written: bytes | None) -> dict[str, str] | None:
        return (
            None if written is None else {"text": shown(written), "hex": written.hex()}
        )

    return {
        "checkpoint": name,
        "device": setting.device.name,
        "changes": dict(setting.device.changes),
        "rung": setting.rung,
        "seed": setting.seed,
        "temperature": found.temperature,
        "prompt": text(found.prompt),
        "digital": text(found.digital),
        "chip": text(found.chip),
        "equal_bytes": found.equal_bytes,
        "warnings": list(found.warnings),
    }
