"""Draw what the commands of the README show: ``python docs/pictures/draw.py`` writes the pictures beside this file.

The commands are run on an invented table. The seconds of a search are left out: they differ from run to run.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.csv
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from velado.samples import hospital

HERE = Path(__file__).parent
WIDTH = 100
STEPS = {"init": "velado init people.csv", "run": "velado run people.yaml"}
"""Commands in the order in which they are run; those with a picture of the same name beside this file are drawn."""
DRAWN = ("run",)


def shown(command: str, folder: Path) -> str:
    """What a command prints on a terminal."""
    arguments = [sys.executable, "-c", "from velado.cli import main; main()", *command.split()[1:]]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}
    ended = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    text = re.sub(r"\(\d+(\.\d+)? s\)", "", ended.stdout)
    return "\n".join(line.rstrip() for line in text.splitlines())


def picture(command: str, output: str) -> str:
    """A terminal with a command and its output as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}", style="bold green"))
    console.print(Text.from_ansi(output))
    drawn = console.export_svg(title="velado", theme=MONOKAI, unique_id="velado")
    # No fonts from elsewhere: a reader's own monospaced one serves.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL).rstrip() + "\n"


def pictures() -> dict[str, str]:
    """All pictures by the names of their files."""
    drawn = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pyarrow.csv.write_csv(hospital(), folder / "people.csv")
        for step, command in STEPS.items():
            output = shown(command, folder)
            if step in DRAWN:
                drawn[f"{step}.svg"] = picture(command, output)
    return drawn


if __name__ == "__main__":
    for file, drawn in pictures().items():
        (HERE / file).write_text(drawn, encoding="utf-8")
