"""A bench: a panel judges texts whose errors people marked; its answers are compared and kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.agreement.spans.estimates import DEFAULTS, Settings
from spanjury.orchestration.studies.judging import (
    Examinee,
    ExamRun,
    require_distinct,
)
from spanjury.orchestration.studies.span_bench.answers import (
    PANEL,
    Answer,
    Failure,
    FoundSpan,
    answers_in,
)
from spanjury.orchestration.studies.span_bench.findings import Findings, findings_of
from spanjury.orchestration.studies.span_bench.gold import BenchSet, BenchText, GoldPlace


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
            sets=[each.name for each in self.sets],
            texts=[text.segment.segment_id for text in self.texts],
        )

    @property
    def texts(self) -> tuple[BenchText, ...]:
        """The texts of all sets."""
        return tuple(text for each in self.sets for text in each.texts)


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


Record = Mapping[str, object]


def records_of(
    sets: Sequence[BenchSet],
    answers: Mapping[tuple[str, str], Answer | Failure],
    *,
    judges: Sequence[str],
) -> Iterator[Record]:
    """Yield a record of every text, so that what a figure is made of can be read.

    Parameters
    ----------
    answers
        Under judge and id of the text.
    """
    for each in sets:
        for text in each.texts:
            name = text.segment.segment_id
            yield {
                "set": each.name,
                "id": name,
                "source": text.source,
                "faulty": text.faulty,
                "human": text.human,
                "output": text.segment.output,
                "places": None
                if text.gold is None
                else [_error(error, text) for error in text.gold],
                "judges": {judge: _answer(answers[judge, name], text) for judge in judges},
            }


def _error(gold_place: GoldPlace, text: BenchText) -> Record:
    return {
        "start": gold_place.start,
        "end": gold_place.end,
        "text": text.segment.output[gold_place.start : gold_place.end],
        "kinds": gold_place.kinds,
        "extent": gold_place.extent,
    }


def _answer(answer: Answer | Failure, text: BenchText) -> Record:
    if isinstance(answer, Failure):
        return {"outcome": answer.outcome.value, "reason": answer.reason}
    return {
        "outcome": "scored",
        "suspicion": answer.suspicion,
        "probability": answer.probability,
        "decision": answer.decision.value,
        "spans": [_span(span, text) for span in answer.spans],
        "unlocated": answer.unlocated,
    }


def _span(span: FoundSpan, text: BenchText) -> Record:
    return {
        "start": span.start,
        "end": span.end,
        "text": text.segment.output[span.start : span.end],
        "category": span.category,
        "right": _is_right(span, text),
    }


def _is_right(span: FoundSpan, text: BenchText) -> bool | None:
    """Say whether a span touches a place that people marked; None where these are not known."""
    if text.gold is None:
        return None
    return any(span.start < error.end and error.start < span.end for error in text.gold)
