"""How texts are damaged, what judges are examined on, and which exams are compared."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "CardOutput",
    "ComparisonOutput",
    "DamageModel",
    "DamageModelBaseUrls",
    "DamagedOutput",
    "Demands",
    "Demo",
    "Draws",
    "DrawsSeed",
    "ExamFolders",
    "ExamOutput",
    "FirstExam",
    "ModeName",
    "OptionalTexts",
    "RecipeName",
    "Repeats",
    "SecondExam",
    "TestName",
    "Texts",
    "Weights",
]

Texts = Annotated[Path, typer.Argument(metavar="DATA", help="Good texts: JSONL, CSV or TSV.")]
OptionalTexts = Annotated[
    Path | None, typer.Argument(metavar="[DATA]", help="Good texts: JSONL, CSV or TSV.")
]
Demo = Annotated[bool, typer.Option("--demo", help="Examine on texts that come with spanjury.")]
RecipeName = Annotated[
    str,
    typer.Option(envvar="SPANJURY_RECIPE", help="Name of a recipe, as dhp/summarization, or TOML."),
]
DamageModel = Annotated[
    str | None,
    typer.Option(
        "--writer",
        "--damage-model",
        envvar=["SPANJURY_WRITER", "SPANJURY_DAMAGE_MODEL"],
        help="Has a model write what the recipe can have written; else all is done by rules.",
    ),
]
DamageModelBaseUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--writer-base-url",
        "--damage-model-base-url",
        envvar=["SPANJURY_WRITER_BASE_URL", "SPANJURY_DAMAGE_MODEL_BASE_URL"],
        help="Where that model's server answers; repeatable for several servers of it.",
    ),
]
DamagedOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A file for the damaged texts, JSONL.")
]
ExamOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for what is found, and for resuming.")
]
Weights = Annotated[
    Path | None,
    typer.Option(help="TOML: for each treatment, which aspects experts think it harms."),
]
Repeats = Annotated[
    int,
    typer.Option(
        envvar="SPANJURY_REPEATS", min=1, help="How often each is judged, if it differs at all."
    ),
]
ModeName = Annotated[
    Literal["calibrated", "wilson", "paper"],
    typer.Option(envvar="SPANJURY_MODE", help="How p-values are combined; 'paper' is as printed."),
]
TestName = Annotated[
    str, typer.Option(envvar="SPANJURY_TEST", help="A statistic in place of the mode's test.")
]
FirstExam = Annotated[
    Path, typer.Argument(metavar="FOLDER_A", help="What the exam of one judge has left.")
]
SecondExam = Annotated[
    Path, typer.Argument(metavar="FOLDER_B", help="What the exam of another has left.")
]
ComparisonOutput = Annotated[
    Path | None, typer.Option("-o", "--output", help="A folder for a page and for JSON.")
]
Draws = Annotated[int, typer.Option(min=100, help="How often texts are drawn again.")]
DrawsSeed = Annotated[int, typer.Option("--seed", help="Of these draws.")]
ExamFolders = Annotated[
    list[Path], typer.Argument(metavar="FOLDER…", help="What exams of one judge have left.")
]
Demands = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MEASURE>=NUMBER",
        help="What a measure must reach (>=, <=, >, <); exits with 5 if it does not; repeatable.",
    ),
]
CardOutput = Annotated[
    Path | None, typer.Option("-o", "--output", help="A folder for card.md and card.json.")
]
