"""A bench: a panel judges texts whose errors people marked, and its answers are compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.agreement.spans.estimates import DEFAULTS, Settings
from spanjury.orchestration.studies.judging import (
    Examinee,
    ExamRun,
    require_distinct,
)
from spanjury.orchestration.studies.span_bench.answers import PANEL, Answer, Failure, answers_in
from spanjury.orchestration.studies.span_bench.findings import Findings, findings_of
from spanjury.orchestration.studies.span_bench.gold import BenchSet, BenchText


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The texts, and the settings of intervals.

    Raises `ConfigError` if there is no text, or two have one id.
    """

    sets: tuple[BenchSet, ...]
    settings: Settings = DEFAULTS

    def __post_init__(self) -> None:
        if not self.texts:
            raise ConfigError(
                "of no text it is known where its errors are, whether it has any, or how people"
                " score it: a row says so by spans, supported or human"
            )
        require_distinct(
            sets=[one.name for one in self.sets],
            texts=[text.segment.segment_id for text in self.texts],
        )

    @property
    def texts(self) -> tuple[BenchText, ...]:
        """The texts of all sets."""
        return tuple(text for one in self.sets for text in one.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """The results of a bench.

    Parameters
    ----------
    answers
        Under judge and id of the text.
    """

    findings: Findings
    examinee: Examinee
    answers: Mapping[tuple[str, str], Answer | Failure]

    @property
    def judges(self) -> tuple[str, ...]:
        """The panel first, then its seats if there are several."""
        return judges_of(self.examinee)


def judges_of(examinee: Examinee) -> tuple[str, ...]:
    """Return the names of the judges that a panel is measured as."""
    seats = tuple(examinee.seats)
    return (PANEL, *seats) if len(seats) > 1 else seats


async def run_bench(bench: Bench, run: ExamRun) -> BenchResult:
    """Judge every text once, and compare the answers with what people found.

    Raise `RunStoppedError` if the stop token came before the end.
    """
    pairs = [(text.segment, text.aspect) for text in bench.texts]
    answers = await run.judge(pairs, draw="", judgements_in=answers_in)
    judges = judges_of(run.examinee)
    findings = findings_of(bench.sets, answers, judges=judges, settings=bench.settings)
    return BenchResult(findings=findings, examinee=run.examinee, answers=answers)
