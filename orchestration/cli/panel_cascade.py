"""`spanjury panel cascade`: who is asked first, when the others are, and what that keeps."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import Columns, Sample
from spanjury.orchestration.cli.flags.run import Html

with lazily():
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import fitted_cascade, panel_cascade, seat_prices
    from spanjury.orchestration.studies.panel_study import (
        agreement,
        cascade_findings,
        cascade_tables,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFlags(Flags, title="Stages"):
    """The flags that say who is asked when, and how much may be asked."""

    stage: Annotated[
        tuple[str, ...],
        Flag(
            "Seats that are asked together, in the order of the flags; by default those that take"
            " no calls, then one after the other.",
            "SEAT,SEAT",
        ),
    ] = ()
    share: Annotated[
        float, Flag("Share of the cost of all seats that it may take.", min=0.01, max=1.0)
    ] = 0.6
    cost: Annotated[
        Literal["calls", "tokens", "dollars", "seconds"],
        Flag("Unit of cost; dollars take the price of each seat that asks a model."),
    ] = "calls"
    price: Annotated[
        tuple[str, ...],
        Flag(
            "Price of a seat's tokens, in dollars for a million; repeatable.",
            "SEAT=PROMPT/COMPLETION",
        ),
    ] = ()
    panel: Annotated[
        Path | None,
        Flag(
            "Panel file: prices of its models, or of LiteLLM's list, for seats of the same names.",
            "FILE.toml",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleFlags(Flags, title="People's scores"):
    """The flags that name the texts that people scored, and say how agreement is measured."""

    human: Annotated[
        Path | None,
        Flag("Texts with the scores of people, as JSONL; by default the marks of the run."),
    ] = None
    sample: Sample = None
    data: Annotated[
        Path | None, Flag("The texts of bare results, to take the marks beside them.", "FILE")
    ] = None
    aspect: Annotated[str, Flag("Aspect, where several were judged.")] = ""
    column: Columns = ()
    within: Annotated[
        str, Flag("Measure also within each value of this key of the rows' meta.", "KEY")
    ] = ""
    folds: Annotated[int, Flag("Folds by source.", min=2)] = 5
    draws: Annotated[int, Flag("Draws of the bootstrap; 0: no intervals.", min=0)] = 1000
    seed: Annotated[int, Flag("Seed of the draws and the folds.")] = 1


def cascade(
    *,
    results: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run or results in which all seats were asked.")
    ],
    stages: StageFlags,
    people: PeopleFlags,
    write: Annotated[
        Path | None, Flag("Write the cascade for --cascade and panel files.", "FILE.toml")
    ] = None,
    output: Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")] = None,
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON, not tables.")] = False,
) -> None:
    """Fit a cascade: cheap seats first, and the others only where these do not suffice.

    It is fitted to the scores of a run in which all seats were asked, and measured on texts of
    other sources. People's scores are needed only to measure agreement with them.
    """
    place = destination.Destination(folder=output, page=html)
    fitted = panel_cascade.fit_panel_cascade(
        panel_cascade.CascadeJob(
            results=results,
            human=people.human,
            sample=people.sample,
            data=people.data,
            columns=people.column,
            aspect=people.aspect,
            stages=tuple(map(panel_cascade.parse_stage, stages.stage)),
            share=stages.share,
            unit=stages.cost,
            prices=dict(map(seat_prices.parse_price, stages.price)),
            panel=stages.panel,
            within=people.within,
            settings=agreement.Settings(
                folds=people.folds, draws=people.draws, seed=people.seed, level="pooled"
            ),
        )
    )
    found = fitted.findings
    if json:
        console.print_json(cascade_findings.cascade_json(found))
    else:
        console.print_report(cascade_tables.cascade_report(found))
    if write is not None:
        fitted_cascade.write_fitted(write, fitted)
        say(f"written: {write}")
    for path in place.write(lambda folder: panel_cascade.write_cascade(folder, found)):
        say(f"written: {path}")
