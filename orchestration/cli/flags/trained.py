"""How a model is trained."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "Alpha",
    "Attention",
    "Base",
    "BatchSize",
    "CheckpointEvery",
    "Device",
    "Dropout",
    "Epochs",
    "Examples",
    "LearningRate",
    "MaxGradientNorm",
    "MaxLength",
    "MaxSteps",
    "MicroBatchSize",
    "ModelOutput",
    "Rank",
    "TrainingSeed",
    "ValidateEvery",
    "Warmup",
    "WeightDecay",
]

Examples = Annotated[
    Path, typer.Argument(metavar="DATA_FOLDER", help="What `distil build` has written.")
]
Base = Annotated[
    str,
    typer.Option(metavar="FOLDER|HUB_ID|embedded", help="The model that learns, with safetensors."),
]
ModelOutput = Annotated[
    Path, typer.Option("-o", "--output", help="A folder for the model, and for resuming.")
]
Rank = Annotated[int, typer.Option(min=1, help="Of the low-rank matrices.")]
Alpha = Annotated[int, typer.Option(min=1, help="The matrices count alpha / rank times.")]
Dropout = Annotated[
    float, typer.Option(min=0.0, max=0.99, help="Share of the matrices' inputs that is dropped.")
]
LearningRate = Annotated[float, typer.Option(min=0.0, help="The highest learning rate.")]
WeightDecay = Annotated[float, typer.Option(min=0.0, help="Of AdamW.")]
Warmup = Annotated[
    float, typer.Option(min=0.0, max=0.99, help="Share of the steps in which the rate rises.")
]
MaxGradientNorm = Annotated[
    float, typer.Option(min=0.0, help="Longer gradients are shortened to this.")
]
BatchSize = Annotated[int, typer.Option(min=1, help="Examples that one step learns from.")]
MicroBatchSize = Annotated[
    int, typer.Option(min=1, help="Examples in memory at once; halved where memory runs out.")
]
Epochs = Annotated[int, typer.Option(min=1, help="How often every example is learnt from.")]
MaxSteps = Annotated[int | None, typer.Option(min=1, help="End after so many steps.")]
MaxLength = Annotated[
    int | None,
    typer.Option(min=1, help="Tokens of an example; sources are cut to it. Default: the model's."),
]
TrainingSeed = Annotated[int, typer.Option("--seed", min=0, help="Of all that is drawn.")]
CheckpointEvery = Annotated[int, typer.Option(min=1, help="Steps between two checkpoints.")]
ValidateEvery = Annotated[
    int | None, typer.Option(min=1, help="Steps between two validations. Default: an epoch's.")
]
Device = Annotated[str, typer.Option(help="As torch writes it; 'auto' is a GPU if there is one.")]
Attention = Annotated[
    Literal["auto", "eager", "sdpa", "xformers"],
    typer.Option(help="Who computes it; 'auto' is xformers on a GPU if installed, else PyTorch."),
]
