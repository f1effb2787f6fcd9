"""What a training set is made of."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "AcceptedLicences",
    "AspectsPerOutput",
    "BuildSeed",
    "DamagesPerText",
    "Evaluation",
    "FromDamage",
    "Licence",
    "ReadingName",
    "RecipeName",
    "RequireLicence",
    "RowsPerFile",
    "SampledAspects",
    "SetOutput",
    "Systems",
    "TeacherLicences",
    "TestShare",
    "TextFiles",
    "ValidationShare",
]

TextFiles = Annotated[
    list[Path],
    typer.Argument(metavar="DATA…", help="Outputs of systems; with --from-damage good texts."),
]
FromDamage = Annotated[
    bool,
    typer.Option("--from-damage", help="No teacher: damage the texts, and tell what was damaged."),
]
RecipeName = Annotated[
    str | None, typer.Option("--recipe", help="How texts are damaged; distil by default.")
]
SampledAspects = Annotated[
    list[str] | None,
    typer.Option("--aspect", help="Aspect to learn; all of a task by default; repeatable."),
]
RowsPerFile = Annotated[
    int | None, typer.Option("--limit", min=1, help="Take the first rows of each file only.")
]
Systems = Annotated[
    int,
    typer.Option("--systems-per-input", min=1, help="Outputs drawn for each input."),
]
AspectsPerOutput = Annotated[
    int, typer.Option("--aspects-per-output", min=1, help="Aspects drawn for each output.")
]
DamagesPerText = Annotated[
    int,
    typer.Option("--damages-per-text", min=1, help="Damaged texts made of each good one."),
]
BuildSeed = Annotated[
    int, typer.Option("--seed", help="Of what is drawn, damaged and dealt out, and of judges.")
]
ValidationShare = Annotated[
    float,
    typer.Option("--validation", min=0.0, max=0.9, help="Share of the inputs, for validation."),
]
TestShare = Annotated[
    float, typer.Option("--test", min=0.0, max=0.9, help="Share of the inputs, for tests.")
]
Evaluation = Annotated[
    list[Path] | None,
    typer.Option("--evaluation", help="File whose inputs must not be trained on; repeatable."),
]
Licence = Annotated[
    str, typer.Option("--licence", help="Licence of the rows that name none, as CC-BY-4.0.")
]
TeacherLicences = Annotated[
    list[str] | None,
    typer.Option(
        "--teacher-licence",
        metavar="TEACHER=LICENCE",
        help="Licence of what a model, or a judge without one, says; repeatable.",
    ),
]
RequireLicence = Annotated[
    bool,
    typer.Option(
        "--require-licence", help="Refuse texts and teachers that do not permit training."
    ),
]
AcceptedLicences = Annotated[
    list[str] | None,
    typer.Option("--accept-licence", help="A licence that permits training, too; repeatable."),
]
ReadingName = Annotated[
    Literal["stretched", "share"],
    typer.Option(
        "--reading",
        help="Scores as 0 to 100: (mean-1)*25 on five labels, or 'share' for 20*mean.",
    ),
]
SetOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for the training set, and for resuming.")
]
