"""The flags for the data to judge: texts, tasks and aspects."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags

with lazily():
    from spanjury.judges import tasks
    from spanjury.orchestration.wiring import config as configs

Task = Annotated[str | None, Flag("Task of the texts, for example summarization.", env=True)]
Aspects = Annotated[tuple[str, ...], Flag("Aspect to judge, or 'all'; repeatable.", env=True)]
AspectsFiles = Annotated[
    tuple[Path, ...],
    Flag("TOML file that defines more tasks and aspects; repeatable.", env=True, rare=True),
]
Criteria = Annotated[
    tuple[str, ...],
    Flag("Criterion to judge by, such as 'Every price is in euros.'; repeatable.", "TEXT"),
]
RubricFile = Annotated[
    Path | None,
    Flag("TOML or JSON file of weighted criteria, combined into one result.", "FILE", env=True),
]
Columns = Annotated[
    tuple[str, ...],
    Flag(
        "Column of a field (output=summary) or shape of rows (ragas); repeatable.",
        "NAME",
        also="--shape",
        env=True,
    ),
]
Sample = Annotated[
    Path | None,
    Flag(
        "File of 'spanjury sample' with the texts that people marked and their sampling"
        " probabilities.",
        "FILE",
    ),
]
Human = Annotated[
    Path | None,
    Flag(
        "File of texts with people's scores or error spans; people's marks of the run by default.",
        "FILE",
    ),
]
BareTexts = Annotated[
    Path | None,
    Flag(
        "File of the judged texts, needed for marks of a results file outside a run's folder.",
        "FILE",
    ),
]
TextsFlag = Annotated[
    Path | None,
    Flag("File of the judged texts, needed for a results file outside a run's folder.", "FILE"),
]
RunOrResults = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder or name of a run, or a file of results.")
]
RowLimit = Annotated[int | None, Flag("Use only the first N rows.", min=1, env=True)]
FileLimit = Annotated[int | None, Flag("Use only the first N rows of each file.", min=1)]


def require_model(
    panel: "configs.PanelConfig", *, aspects: Iterable[str], rubric: Path | None
) -> None:
    """Raise `ConfigError` if only the offline judges would judge criteria or a rubric."""
    states_criterion = any(map(tasks.is_criterion, aspects))
    if (states_criterion or rubric) and not (panel.models or panel.seats):
        what = "a criterion" if states_criterion else "a rubric"
        raise ConfigError(f"only a model can judge {what}: add --model NAME")


class DataFlags(Flags, title="Texts and aspects"):
    """The texts to judge, and the aspects to judge them on."""

    task: Task = None
    aspect: Aspects = ()
    aspects_file: AspectsFiles = ()
    column: Columns = ()
    limit: RowLimit = None
