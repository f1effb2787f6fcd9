"""The flags that say what is judged: texts, tasks and aspects."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from spanjury.orchestration.cli.command import Flag, Flags

Task = Annotated[str | None, Flag("The task of the texts, as summarization.", env=True)]
Aspects = Annotated[tuple[str, ...], Flag("Aspect to judge, or 'all'; repeatable.", env=True)]
AspectsFiles = Annotated[
    tuple[Path, ...],
    Flag("TOML file with more tasks and aspects; repeatable.", env=True, rare=True),
]
Columns = Annotated[
    tuple[str, ...],
    Flag(
        "Column of a field: output=summary, inputs.Article=text; repeatable.",
        "NAME=COLUMN",
        env=True,
    ),
]
Sample = Annotated[
    Path | None,
    Flag("The texts that 'spanjury sample' drew for people to mark, with their chances.", "FILE"),
]
RowLimit = Annotated[int | None, Flag("Take the first N rows only.", min=1, env=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFlags(Flags, title="Texts and aspects"):
    """Which texts are judged, and on which aspects."""

    task: Task = None
    aspect: Aspects = ()
    aspects_file: AspectsFiles = ()
    column: Columns = ()
    limit: RowLimit = None
