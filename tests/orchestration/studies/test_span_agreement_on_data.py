"""Span agreement on published data: people with people, and judges whose figures are known."""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from spanjury.adapters.files.reading.sources import read_jsonl
from spanjury.judges.core import Segment
from spanjury.orchestration.studies.agreement.spans.findings import (
    JudgeFinding,
    SpanAgreement,
    span_agreement,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    Marking,
    annotator_pairs,
    gold_of,
)
from spanjury.orchestration.studies.estimates import Settings

FEW = Settings(draws=50)


def value(found: SpanAgreement, name: str) -> float:
    return found.judges[0].figures[name].value


def segments_of(path: Path, most: int | None = None) -> list[Segment]:
    read = [one for one in read_jsonl(path) if isinstance(one, Segment)]
    return read[:most]


def said_by(who: str, segments: Iterable[Segment]) -> list[Marking]:
    return [
        (who, one.segment_id, one.output, tuple(span for span in one.gold if who in span.found_by))
        for one in segments
    ]


def without(who: str, gold: Gold) -> Gold:
    return Gold(
        {
            name: tuple(one for one in spans if one.annotator != who)
            for name, spans in gold.spans.items()
        },
        {
            name: tuple(one for one in readers if one != who)
            for name, readers in gold.readers.items()
        },
    )


def plain_f1(segments: Iterable[Segment], first: str, second: str) -> float:
    """Count characters one by one."""
    both = total = 0
    for segment in segments:
        ours, theirs = (
            {
                place
                for span in segment.gold
                if span.interval and who in span.found_by
                for place in range(*span.interval)
            }
            for who in (first, second)
        )
        both += len(ours & theirs)
        total += len(ours) + len(theirs)
    return 2 * both / total


@pytest.mark.heavy
@pytest.mark.shared_data
def test_three_annotators_of_summaries_agree_as_recorded(shared_data: Path) -> None:
    recorded = {  # F1 of characters, gamma, gamma with categories; of the first 150 texts
        ("wid_0", "wid_1"): (0.8573, 0.803, 0.789),
        ("wid_0", "wid_2"): (0.8012, 0.782, 0.758),
        ("wid_1", "wid_2"): (0.8648, 0.858, 0.842),
    }
    segments = segments_of(shared_data / "spans" / "xsum_hallucination_spans.jsonl.gz", 150)
    gold = gold_of(segments)
    pairs = [*annotator_pairs(gold._replace(sources={}), settings=FEW)]
    assert {(one.first, one.second) for one in pairs} == {*recorded}
    for one in pairs:
        f1 = one.figures["characters.micro"].value
        assert f1 == pytest.approx(plain_f1(segments, one.first, one.second))
        figures = (f1, one.gamma.gamma, one.gamma_with_categories.gamma)
        assert figures == pytest.approx(recorded[one.first, one.second], abs=1e-3)


@pytest.mark.heavy
@pytest.mark.shared_data
def test_one_annotator_may_stand_in_for_a_judge(shared_data: Path) -> None:
    segments = segments_of(shared_data / "spans" / "xsum_hallucination_spans.jsonl.gz", 300)
    gold = without("wid_2", gold_of(segments))
    agreement = span_agreement(
        said_by("wid_2", segments), gold.spans, readers=gold.readers, settings=FEW
    )
    (judge,) = agreement.judges
    assert (judge.texts, judge.readings) == (300, 600)
    lows, highs = interval(judge)
    assert np.all(lows < highs)


def interval(judge: JudgeFinding) -> tuple[np.ndarray, np.ndarray]:
    bounds = [(one.low, one.high) for one in judge.figures.values() if not math.isnan(one.low)]
    lows, highs = np.array(bounds).T
    return lows, highs


@pytest.mark.shared_data
def test_a_judge_that_sees_every_other_error_of_box_score_reports(shared_data: Path) -> None:
    segments = segments_of(shared_data / "spans" / "rotowire_accuracy_spans.jsonl.gz")
    gold = gold_of(segments)
    said: list[Marking] = [("half", one.segment_id, one.output, one.gold[::2]) for one in segments]
    agreement = span_agreement(said, gold.spans, settings=FEW)
    kept, all_spans = (sum(len(one.gold[::by]) for one in segments) for by in (2, 1))
    assert (len(segments), all_spans) == (90, 1836)
    assert value(agreement, "exact.micro.recall") == pytest.approx(kept / all_spans, abs=0.01)
    assert value(agreement, "exact.micro.precision") == 1
    assert math.isnan(value(agreement, "graded.micro.f1"))


@pytest.mark.heavy
@pytest.mark.shared_data
def test_a_rater_of_ted_talks_agrees_with_itself_and_systems_stand_apart(shared_data: Path) -> None:
    segments = segments_of(shared_data / "spans" / "mqm_ted_zhen.jsonl.gz", 400)
    gold = gold_of(segments)
    said: list[Marking] = [("same", one.segment_id, one.output, one.gold) for one in segments]
    groups = {one.segment_id: one.system for one in segments}
    agreement = span_agreement(said, gold.spans, readers=gold.readers, groups=groups, settings=FEW)
    assert len(agreement.judges) == 1 + len({*groups.values()})
    assert value(agreement, "graded.micro.f1") == 1
    assert value(agreement, "detection.accuracy") == 1
    assert agreement.over_annotations[0].erring.value == 0
