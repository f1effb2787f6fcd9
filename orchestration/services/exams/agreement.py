"""A meta-evaluation: how far judges and metrics agree with people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Literal

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import CORRELATION, SEED, Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import MarkedStudy

with lazily():
    import anyio

    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.people import agreement, agreement_report
    from spanjury.orchestration.services.people.marks import comparison
    from spanjury.orchestration.studies.agreement import findings, scorers, tables

_STATISTICS = "Statistics"
_POOLED = (
    "no input has rated texts of three systems, so correlations are over all texts (--level pooled)"
    ", and inputs that are easy for every system raise them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta(MarkedStudy["findings.MetaFindings"]):
    """Measure how far judges and metrics agree with people.

    The results come from runs, folders of runs, and files of `metrics score --output`, all on the
    texts that people rated. By default, the ratings are the marks that people made of the run
    (`spanjury view RUN`).
    """

    results_help = "Folders or names of runs, files of results, or files of metric scores."
    aspect_help = "Aspect that people rated; all by default; repeatable."
    has_pictures = True

    categories: Annotated[
        str | Sequence[str],
        Parameter(
            "Category of a judge, and the gold category that it corresponds to.",
            "JUDGE=GOLD",
            name="category",
            kind=tuple[str, ...],
        ),
    ] = ()
    level: Annotated[
        Literal["by-input", "pooled", "system"] | None,
        Parameter(
            "Correlate the systems within each input, all outputs, or the systems' means; by-input"
            " by default, or pooled if no input has rated texts of three systems.",
            section=_STATISTICS,
        ),
    ] = None
    correlation: Annotated[
        Literal["pearson", "spearman", "tau-b", "tau-c"],
        replace(CORRELATION, section=_STATISTICS),
    ] = "spearman"
    draws: Annotated[
        int,
        Parameter(
            "Number of bootstrap resamples and of permutations; 0 for neither.",
            min=0,
            section=_STATISTICS,
        ),
    ] = 1000
    seed: Annotated[int, replace(SEED, section=_STATISTICS)] = 1

    async def answer(self) -> "study_report.StudyReport[findings.MetaFindings]":
        """Measure the agreement; raise as `MarkedStudy.find` does."""
        collected = await anyio.to_thread.run_sync(self._collected)
        level = self.level
        if level is None:
            level = scorers.level_for(collected.ratings)
            if level == "pooled":
                collected = replace(collected, notes=(*collected.notes, _POOLED))
        settings = scorers.Settings(
            level=level, method=self.correlation, draws=self.draws, seed=self.seed
        )
        result = await agreement.measure(collected, settings, begin=self.begin)
        return study_report.StudyReport(
            result=result,
            document=tables.agreement_report(result),
            values=findings.meta_json(result),
            write=partial(agreement_report.write_meta, findings=result, collected=collected),
            closing=collected.closing,
        )

    def _collected(self) -> "agreement.Collected":
        source, categories = self.source, terms.names_of(self.categories)
        if source.human is None:
            return comparison.collect_marks(source, categories=categories)
        return agreement.collect(source, categories=categories)


ameta, meta = from_python(Meta, name="meta")
