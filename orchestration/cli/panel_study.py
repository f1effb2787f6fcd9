"""`spanjury panel study`: which seats a panel needs, and what they cost."""

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
    from spanjury.orchestration.services import panel_study, seat_prices
    from spanjury.orchestration.studies.panel_study import agreement, findings, tables


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatFlags(Flags, title="Seats and people's scores"):
    """The flags that name seats, and the texts that people scored."""

    results: Annotated[
        tuple[Path, ...],
        typer.Argument(metavar="RUN…", help="Runs or results; seats of all are compared."),
    ]
    human: Annotated[
        Path | None,
        Flag("Texts with the scores of people, as JSONL; by default the marks of the first run."),
    ] = None
    sample: Sample = None
    data: Annotated[
        Path | None, Flag("The texts of bare results, to take the marks beside them.", "FILE")
    ] = None
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect that people scored; all by default; repeatable.")
    ] = ()
    column: Columns = ()
    seat: Annotated[
        tuple[str, ...], Flag("Seat to compare; all that gave a score by default; repeatable.")
    ] = ()
    families: Annotated[
        tuple[Path, ...], Flag("TOML file with more families of models; repeatable.")
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFlags(Flags, title="Agreement"):
    """The flags that say what agreement is, and how it is measured."""

    level: Annotated[
        Literal["by-input", "pooled", "system"] | None,
        Flag("Within each input, over all texts, or of systems; by default what the texts allow."),
    ] = None
    within: Annotated[
        str, Flag("Take agreement within each value of this key of the rows' meta.", "KEY")
    ] = ""
    correlation: Annotated[
        Literal["pearson", "spearman", "tau-b", "tau-c"], Flag("Which correlation.")
    ] = "spearman"
    folds: Annotated[
        int, Flag("Folds by source, where weights and cascades are fitted.", min=2)
    ] = 5
    draws: Annotated[int, Flag("Draws of the bootstrap; 0: no intervals.", min=0)] = 1000
    seed: Annotated[int, Flag("Seed of the draws and the folds.")] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFlags(Flags, title="Cost"):
    """The flags about cost."""

    cost: Annotated[
        Literal["dollars", "tokens", "calls", "seconds"] | None,
        Flag("Unit of cost; by default dollars where all prices are known, else tokens."),
    ] = None
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
            "Panel file: prices of its models, or of LiteLLM's list, for seats of the same names;"
            " its families, too.",
            "FILE.toml",
        ),
    ] = None
    budget: Annotated[
        float | None,
        Flag(
            "Say how many texts each panel judges for this, in the unit of cost, and which panel"
            " judges all texts of the run.",
            "AMOUNT",
            min=0.0,
        ),
    ] = None


def study(
    *,
    seats: SeatFlags,
    measure: AgreementFlags,
    costs: CostFlags,
    output: Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")] = None,
    html: Html = None,
    json: Annotated[bool, Flag("Print JSON, not tables.")] = False,
) -> None:
    """Say which seats a panel needs, how redundant they are, and what agreement costs.

    RUN are runs or results with several seats, on texts that people scored. Without --human, the
    scores are the marks that people made of the first run (`spanjury view RUN`).
    """
    place = destination.Destination(folder=output, page=html)
    found = panel_study.study_panel(
        panel_study.StudyJob(
            results=tuple(dict.fromkeys(seats.results)),
            human=seats.human,
            sample=seats.sample,
            data=seats.data,
            columns=seats.column,
            aspects=seats.aspect,
            seats=seats.seat,
            within=measure.within,
            families=seats.families,
            prices=dict(map(seat_prices.parse_price, costs.price)),
            panel=costs.panel,
            settings=agreement.Settings(
                level=measure.level,
                method=measure.correlation,
                folds=measure.folds,
                draws=measure.draws,
                seed=measure.seed,
            ),
            spending=findings.Spending(unit=costs.cost, budget=costs.budget),
        )
    )
    if json:
        console.print_json(findings.study_json(found))
    else:
        console.print_report(tables.study_report(found))
    for path in place.write(lambda folder: panel_study.write_study(folder, found)):
        say(f"written: {path}")
