"""Which distilled judge is examined, beside whom, in what, and what is demanded of it."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BaseName",
    "Discernment",
    "ExamplesPerSet",
    "Faithfulness",
    "GateOutput",
    "GateSeed",
    "Human",
    "JudgeOptions",
    "ModelFolder",
    "NoBase",
    "OverBase",
    "Robustness",
    "TeacherJudges",
    "TeacherModels",
    "TeacherPanel",
    "TrainingSets",
]

ModelFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="What `distil train` has written.")
]
TrainingSets = Annotated[
    list[Path],
    typer.Option(
        "--data",
        metavar="SET",
        help="What `distil build` has written: its test split is asked about; repeatable.",
    ),
]
JudgeOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="Of the judge `distilled`, for the model and its base, as tries=1; repeatable.",
    ),
]
BaseName = Annotated[
    str | None,
    typer.Option(
        "--base", help="A folder or a name, as for `distil train`; the model's own by default."
    ),
]
NoBase = Annotated[bool, typer.Option("--no-base", help="Do not examine the base.")]
# Without variables of the environment: a teacher costs, and is heard only where one is named.
TeacherPanel = Annotated[
    Path | None,
    typer.Option("--teacher", "--panel", help="Examine this panel, too: a TOML file."),
]
TeacherJudges = Annotated[
    list[str] | None, typer.Option("--judge", help="A judge of the teacher; repeatable.")
]
TeacherModels = Annotated[
    list[str] | None, typer.Option("--model", help="A model of the teacher; repeatable.")
]
Discernment = Annotated[
    Path | None,
    typer.Option(
        "--discernment", metavar="DATA", help="Hold this exam, too, on good texts; see --recipe."
    ),
]
Faithfulness = Annotated[
    Path | None,
    typer.Option("--faithfulness", metavar="DATA", help="Hold this exam, too, on texts."),
]
Robustness = Annotated[
    Path | None,
    typer.Option("--robustness", metavar="DATA", help="Hold this exam, too: attack these texts."),
]
Human = Annotated[
    Path | None,
    typer.Option(
        "--human", metavar="DATA", help="Compare scores with people's, too; see --aspect."
    ),
]
ExamplesPerSet = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, help="Examples of each set, drawn; of other data the first rows."
    ),
]
OverBase = Annotated[
    list[str] | None,
    typer.Option(
        "--require-over-base",
        metavar="MEASURE",
        help="What must be better than the base's; repeatable.",
    ),
]
GateSeed = Annotated[int, typer.Option("--seed", help="Of what the exams draw, and of judges.")]
GateOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for what is found, and for resuming.")
]
