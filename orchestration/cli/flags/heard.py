"""Who judges, and how models are reached."""

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "Aggregate",
    "AskedModels",
    "Attempts",
    "BaseUrls",
    "Consolidate",
    "Judges",
    "MaxConnections",
    "MinConnections",
    "Models",
    "Offline",
    "OtherAggregate",
    "OtherConsolidate",
    "OtherScore",
    "PanelFile",
    "RequestsPerMinute",
    "Score",
    "Seed",
    "Timeout",
    "TokensPerMinute",
    "Via",
]

Names = list[str]
Judges = Annotated[
    Names | None,
    typer.Option(envvar="SPANJURY_JUDGE", help="NAME or NAME:option=value,…; repeatable."),
]
PanelFile = Annotated[
    Path | None, typer.Option(envvar="SPANJURY_PANEL", help="TOML file that names the seats.")
]
Models = Annotated[
    Names | None,
    typer.Option(
        envvar="SPANJURY_MODEL",
        help="Any LiteLLM name (ollama/…, hosted_vllm/…, openai/…) or 'embedded'; repeatable.",
    ),
]
AskedModels = Annotated[
    Names | None,
    typer.Option(envvar="SPANJURY_MODEL", help="Ask this model for a word; repeatable."),
]
Via = Annotated[
    Literal["fast"] | None,
    typer.Option(
        envvar="SPANJURY_VIA",
        help="'fast' for the lean client: for servers with OpenAI's interface.",
    ),
]
BaseUrls = Annotated[
    Names | None,
    typer.Option(
        envvar="SPANJURY_MODEL_BASE_URL",
        help="Where the model's server answers, or env:VARIABLE; repeatable for several servers.",
    ),
]
MaxConnections = Annotated[
    int | None,
    typer.Option(
        envvar="SPANJURY_MAX_CONNECTIONS", min=1, help="Calls at once per server; 8 by default."
    ),
]
MinConnections = Annotated[
    int | None,
    typer.Option(
        envvar="SPANJURY_MIN_CONNECTIONS",
        min=1,
        help="Calls at once to a server that is overloaded; 1 by default.",
    ),
]
RequestsPerMinute = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_REQUESTS_PER_MINUTE", min=1, help="Limit for each model."),
]
TokensPerMinute = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_TOKENS_PER_MINUTE", min=1, help="Limit for each model."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        envvar="SPANJURY_TIMEOUT", min=0.1, help="Seconds a call may take; 120 by default."
    ),
]
Attempts = Annotated[
    int | None,
    typer.Option(envvar="SPANJURY_ATTEMPTS", min=1, help="Tries of a failing call; 4 by default."),
]
Aggregate = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_AGGREGATE", help="How seats' scores become one; mean by default."
    ),
]
Consolidate = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_CONSOLIDATE",
        help="How seats' spans are merged: rules, the default, or agent.",
    ),
]
OtherAggregate = Annotated[
    str | None, typer.Option(envvar="SPANJURY_AGGREGATE", help="Another way to make one score.")
]
OtherConsolidate = Annotated[
    str | None, typer.Option(envvar="SPANJURY_CONSOLIDATE", help="Another way to merge spans.")
]
Score = Annotated[
    str | None,
    typer.Option(
        envvar="SPANJURY_SCORE",
        help="The panel's score: aggregate, the default, or from-spans[:option=value,…].",
    ),
]
OtherScore = Annotated[
    str | None,
    typer.Option(envvar="SPANJURY_SCORE", help="Another score: aggregate or from-spans[:…]."),
]
Seed = Annotated[
    int | None, typer.Option(envvar="SPANJURY_SEED", help="For judges that draw at random.")
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        envvar="SPANJURY_OFFLINE",
        help="Load everything and judge a sample with the network forbidden.",
    ),
]
