"""Flags of `exam robustness`: the attacks, the texts, and what counts as a success."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsTheyAre",
    "Attacks",
    "FlawRecipe",
    "OptionalTexts",
    "RobustnessOutput",
    "SpanShare",
    "Step",
]

OptionalTexts = Annotated[
    Path | None, typer.Argument(metavar="[DATA]", help="Texts: JSONL, CSV or TSV.")
]
Attacks = Annotated[
    list[str] | None,
    typer.Option(
        "--attack",
        envvar="SPANJURY_ATTACK",
        help="An attack, or a family of them; repeatable. Without any, the standard ones.",
    ),
]
FlawRecipe = Annotated[
    str,
    typer.Option(
        "--recipe",
        help="Recipe, or TOML file, whose damage each text takes first, so that scores can rise.",
    ),
]
AsTheyAre = Annotated[
    bool, typer.Option("--as-they-are", help="Attack the texts as they are, undamaged.")
]
Step = Annotated[
    float,
    typer.Option(
        min=0.01, help="Rise of the score from which an attack succeeds, in steps of the scale."
    ),
]
SpanShare = Annotated[
    float,
    typer.Option(
        min=0.01,
        max=1.0,
        help="Share of the marked spans whose loss is a success, too, unless the score falls.",
    ),
]
RobustnessOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for the findings, and for resuming.")
]
