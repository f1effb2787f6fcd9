"""Studies of panels: which seats they need, and which are asked first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from spanjury.judges.core import ConfigError, TokenPrice
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import CORRELATION, DRAWS, Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import MarkedStudy

with lazily():
    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.people import panel_cascade as cascading
    from spanjury.orchestration.services.people import panel_study as studying
    from spanjury.orchestration.studies.panel_study import (
        cascade_tables,
        cascades,
        findings,
        tables,
    )
    from spanjury.orchestration.studies.panel_study import seats as seat_scores

_AGREEMENT, _COST, _STAGES, _PEOPLE = "Agreement", "Cost", "Stages", "People's scores"


def _panel_file(gives: str, *, section: str) -> Parameter:
    return Parameter(
        f"Panel file with {gives} of models for seats of the same names; prices that it lacks come"
        " from LiteLLM's list.",
        "FILE.toml",
        kind=Path | None,
        section=section,
    )


_PRICE = Parameter(
    "Price of a seat's tokens, in dollars per million.",
    "SEAT=PROMPT/COMPLETION",
    name="price",
    kind=tuple[str, ...],
    read=lambda texts: dict(map(studying.parse_price, texts)),
)
_SEED = Parameter("Seed for resampling and folds.")
_LEVEL = Parameter(
    "Compare within each input, over all texts, or between systems; chosen from the texts by"
    " default."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSeatStudy(MarkedStudy["findings.StudyFindings"]):
    """Show which seats a panel needs, how redundant they are, and what agreement costs.

    The runs have several seats and texts that people scored. People's marks are taken from the
    first run.
    """

    results_help = "Runs or files of results; the seats of all of them are compared."

    seats: Annotated[
        str | Sequence[str],
        Parameter(
            "Seat to compare; every seat that gave a score by default.",
            name="seat",
            kind=tuple[str, ...],
        ),
    ] = ()
    families: Annotated[
        "terms.Paths",
        Parameter("TOML file that defines more families of models.", kind=tuple[Path, ...]),
    ] = ()
    level: Annotated[
        Literal["by-input", "pooled", "system"] | None, replace(_LEVEL, section=_AGREEMENT)
    ] = None
    within: Annotated[
        str,
        Parameter(
            "Measure agreement within groups of rows with the same value of this metadata key.",
            "KEY",
            section=_AGREEMENT,
        ),
    ] = ""
    correlation: Annotated[
        Literal["pearson", "spearman", "tau-b", "tau-c"],
        replace(CORRELATION, section=_AGREEMENT),
    ] = "spearman"
    folds: Annotated[
        int,
        Parameter(
            "Number of cross-validation folds, by source, for fitting weights and cascades.",
            min=2,
            section=_AGREEMENT,
        ),
    ] = 5
    draws: Annotated[int, replace(DRAWS, section=_AGREEMENT)] = 1000
    seed: Annotated[int, replace(_SEED, section=_AGREEMENT)] = 1
    cost: Annotated[
        Literal["dollars", "tokens", "calls", "seconds"] | None,
        Parameter(
            "Unit of cost; by default dollars if all prices are known, otherwise tokens.",
            section=_COST,
        ),
    ] = None
    prices: Annotated[Mapping[str, TokenPrice] | None, replace(_PRICE, section=_COST)] = None
    panel: Annotated[Path | str | None, _panel_file("prices and families", section=_COST)] = None
    budget: Annotated[
        float | None,
        Parameter(
            "Show how many texts each panel can judge for this amount, in the unit of cost, and"
            " which panel can judge all texts of the run.",
            "AMOUNT",
            min=0.0,
            section=_COST,
        ),
    ] = None

    def find(self) -> "study_report.StudyReport[findings.StudyFindings]":
        """Study the seats; raise as `MarkedStudy.find` does."""
        study = studying.study_panel(
            self.source,
            seats=terms.names_of(self.seats),
            within=self.within,
            families=terms.paths_of(self.families),
            pricing=studying.Pricing(named=self.prices or {}, panel=terms.path_of(self.panel)),
            settings=seat_scores.Settings(
                level=self.level,
                method=self.correlation,
                folds=self.folds,
                draws=self.draws,
                seed=self.seed,
            ),
            spending=findings.Spending(unit=self.cost, budget=self.budget),
            begin=self.begin,
        )
        return study_report.file_report(
            study,
            name="panel-study",
            document=tables.study_report(study),
            values=findings.study_json(study),
        )


def parse_stages(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Read the seats of stages, each ``SEAT,SEAT``; raise `ConfigError` if one has no name.

    Examples
    --------
    >>> parse_stages(["reader, grounding", "gemma"])
    (('reader', 'grounding'), ('gemma',))
    """
    stages = []
    for text in texts:
        names = tuple(name.strip() for name in text.split(","))
        if not all(names):
            raise ConfigError(f"the stage {text!r}: expected SEAT,SEAT")
        stages.append(names)
    return tuple(stages)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelCascade(MarkedStudy["cascading.FittedCascade"]):
    """Fit a cascade: ask cheap seats first, and the others only when these are unsure.

    The cascade is fitted to the scores of a run in which all seats were asked, and measured on
    texts of other sources. People's scores are needed only to measure agreement with people.
    """

    several = False
    of_one_aspect = True
    results_help = "Run or file of results in which all seats were asked."
    aspect_help = "Aspect to use, if several were judged."

    stages: Annotated[
        Sequence[Sequence[str]],
        Parameter(
            "Seats of one stage, which are asked together; stages follow the order of the flags. By"
            " default, first the seats that make no calls, then the others one by one.",
            "SEAT,SEAT",
            name="stage",
            kind=tuple[str, ...],
            read=parse_stages,
            section=_STAGES,
        ),
    ] = ()
    share: Annotated[
        float,
        Parameter(
            "Maximum cost, as a share of the cost of all seats.",
            "SHARE",
            min=0.01,
            max=1.0,
            section=_STAGES,
        ),
    ] = 0.6
    cost: Annotated[
        Literal["calls", "tokens", "dollars", "seconds"],
        Parameter(
            "Unit of cost; dollars need the price of each seat that asks a model.", section=_STAGES
        ),
    ] = "calls"
    prices: Annotated[Mapping[str, TokenPrice] | None, replace(_PRICE, section=_STAGES)] = None
    panel: Annotated[Path | str | None, _panel_file("prices", section=_STAGES)] = None
    level: Annotated[
        Literal["by-input", "pooled", "system"] | None, replace(_LEVEL, section=_PEOPLE)
    ] = None
    within: Annotated[
        str,
        Parameter(
            "Also measure within groups of rows with the same value of this metadata key.",
            "KEY",
            section=_PEOPLE,
        ),
    ] = ""
    folds: Annotated[
        int, Parameter("Number of cross-validation folds, by source.", min=2, section=_PEOPLE)
    ] = 5
    draws: Annotated[int, replace(DRAWS, section=_PEOPLE)] = 1000
    seed: Annotated[int, replace(_SEED, section=_PEOPLE)] = 1
    output: Annotated[
        Path | str | None,
        Parameter(
            "Write the cascade to this file, for --cascade or a panel file.",
            "FILE.toml",
            name="write",
            kind=Path | None,
            section="Options",
        ),
    ] = None

    def find(self) -> "study_report.StudyReport[cascading.FittedCascade]":
        """Fit the cascade, and write it; raise as `MarkedStudy.find` does."""
        source = self.source
        (aspect,) = source.aspects or ("",)
        fitted = cascading.fit_panel_cascade(
            source,
            aspect=aspect,
            stages=self.stages,
            share=self.share,
            unit=self.cost,
            pricing=studying.Pricing(named=self.prices or {}, panel=terms.path_of(self.panel)),
            within=self.within,
            settings=seat_scores.Settings(
                level=self.level, folds=self.folds, draws=self.draws, seed=self.seed
            ),
        )
        closing: tuple[str, ...] = ()
        if self.output is not None:
            cascading.write_fitted(Path(self.output), fitted)
            closing = (f"written: {self.output}",)
        return study_report.file_report(
            fitted,
            name="cascade",
            document=cascade_tables.cascade_report(fitted.findings),
            values=cascades.cascade_json(fitted.findings),
            closing=closing,
        )


apanel_study, panel_study = from_python(PanelSeatStudy, name="panel_study")
apanel_cascade, panel_cascade = from_python(PanelCascade, name="panel_cascade")
