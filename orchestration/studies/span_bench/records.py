"""Records of a bench: a text a row, with what people marked and what each judge answered."""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.orchestration.studies.span_bench.answers import Answer, Failure, FoundSpan
from spanjury.orchestration.studies.span_bench.gold import BenchSet, BenchText, GoldPlace

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
    for one in sets:
        for text in one.texts:
            name = text.segment.segment_id
            yield {
                "set": one.name,
                "id": name,
                "source": text.source,
                "faulty": text.faulty,
                "human": text.human,
                "output": text.segment.output,
                "places": None
                if text.places is None
                else [_place(place, text) for place in text.places],
                "judges": {judge: _answer(answers[judge, name], text) for judge in judges},
            }


def _place(gold_place: GoldPlace, text: BenchText) -> Record:
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
    if text.places is None:
        return None
    return any(span.start < place.end and place.start < span.end for place in text.places)
