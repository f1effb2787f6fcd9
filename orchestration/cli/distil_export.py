"""`spanjury distil export`: write a trained checker for onnxruntime."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say

with lazily():
    from spanjury.orchestration.wiring import checking


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFlags(Flags, title="Export"):
    """The flags of an export."""

    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder of a checker, from `distil train` or anywhere else."
        ),
    ]
    onnx: Annotated[bool, Flag("Write model.onnx, which runs without torch.")] = False
    int8: Annotated[
        bool, Flag("Round the weights to 8 bits: a quarter of the size, slightly other numbers.")
    ] = False
    output: Annotated[
        Path | None,
        Flag(
            "Folder for the exported checker; by default FOLDER, which then runs model.onnx.",
            "FOLDER",
            also="-o",
        ),
    ] = None


def export(*, flags: ExportFlags) -> None:
    """Write a checker so that onnxruntime runs it, and compare it with the original."""
    if not flags.onnx:
        raise ConfigError("name the format: --onnx")
    target = flags.output or flags.folder
    difference = checking.export_onnx(flags.folder, target, int8=flags.int8)
    size = (target / "model.onnx").stat().st_size / 1e6
    say(
        f"the checker is in {target}: model.onnx has {size:.0f} MB, and its probabilities differ"
        f" from torch's by {difference:.1g} at most on a few pairs"
    )
