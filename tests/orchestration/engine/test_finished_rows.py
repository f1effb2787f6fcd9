"""Finished rows are remembered as they were written, and only those that are finished."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from statistics import fmean

import msgspec
import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment
from fakes.memory import DictMemory

from spanjury.adapters.files.results.results import result_line
from spanjury.judges.core import (
    Aspect,
    Consolidation,
    Judge,
    Outcome,
    Report,
    Result,
    Segment,
    TransientModelError,
    Usage,
    Verdict,
)
from spanjury.judges.scoring.from_spans import FromSpans
from spanjury.orchestration.engine.aggregation import median
from spanjury.orchestration.engine.finished_rows import FinishedRow, FinishedRows
from spanjury.orchestration.engine.memory import RememberedJudge
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.summary import Summary

TEXT = segment()
MARKED = Report(
    score=2,
    spans=(mark(TEXT.output, "in 1935", severity=4),),
    usage=Usage(calls=1, prompt=90, completion=10),
)


def panel(*judges: Judge, **fields: object) -> Panel:
    return panel_of(*judges, names=[judge.signature for judge in judges], **fields)


def two(report: Report | Exception = MARKED) -> tuple[Judge, Judge]:
    return FixedJudge(says=report, name="a"), FixedJudge(says=Report(score=5), name="b")


async def kept(memory: DictMemory, of: Panel) -> bytes:
    """Judge the text, keep its row if it is finished, and return it."""
    result = Result(segment=TEXT, aspect=ASPECT, report=await of.assess(TEXT, ASPECT))
    rows, line = FinishedRows(memory, of, write=result_line), result_line(result)
    await rows.keep(rows.key(TEXT, ASPECT), result, line)
    return line


def recalled(
    memory: DictMemory, of: Panel, text: Segment = TEXT, aspect: Aspect = ASPECT
) -> FinishedRow | None:
    rows = FinishedRows(memory, of, write=result_line)
    return rows.recall(rows.key(text, aspect), text, aspect)


async def test_a_row_comes_back_byte_for_byte_and_counts_as_its_result_did() -> None:
    memory, made = DictMemory(), panel(*two())
    line = await kept(memory, made)
    row = recalled(memory, panel(*two()))
    assert row is not None
    assert row.line == line
    of_result, of_row = Summary(), Summary()
    of_result.add(Result(segment=TEXT, aspect=ASPECT, report=await made.assess(TEXT, ASPECT)))
    of_row.count(row.figures)
    assert (of_row, of_row.usage["a"]) == (of_result, MARKED.usage)
    report = await made.assess(TEXT, ASPECT)
    assert report.spans
    assert row.result() == Result(
        segment=TEXT, aspect=ASPECT, report=replace(report, seats=(), usage=Usage())
    )


@pytest.mark.parametrize(
    "changed",
    [
        panel(*two(), aggregation=median, aggregation_name="median"),
        panel(*two()[::-1]),
        panel(*two()[:1]),
        panel(*two(), consolidator=RuleConsolidator(max_spans=1)),
        panel(two()[0], FixedJudge(says=Report(score=5), name="c")),
    ],
)
async def test_another_panel_has_other_rows(changed: Panel) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    assert recalled(memory, changed) is None


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        (replace(TEXT, segment_id="t"), ASPECT),
        (replace(TEXT, output="The bridge opened."), ASPECT),
        (replace(TEXT, inputs={"Article": "It opened in 1935."}), ASPECT),
        (replace(TEXT, system="bart"), ASPECT),
        (replace(TEXT, references=("It opened.",)), ASPECT),
        (TEXT, replace(ASPECT, definition="All facts agree.")),
        (TEXT, replace(ASPECT, name="fluency")),
    ],
)
async def test_another_text_or_aspect_has_another_row(text: Segment, aspect: Aspect) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    assert recalled(memory, panel(*two()), text, aspect) is None


async def test_an_aggregation_of_other_code_has_other_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = DictMemory()
    for name, score in (("aggregation_one", "3.0"), ("aggregation_two", "4.0")):
        (tmp_path / f"{name}.py").write_text(f"def score(scores):\n    return {score}\n")
    monkeypatch.syspath_prepend(tmp_path)
    same, other = (import_module(f"aggregation_{name}").score for name in ("one", "two"))
    await kept(memory, panel(*two(), aggregation=same, aggregation_name="constant"))
    assert recalled(memory, panel(*two(), aggregation=same, aggregation_name="constant"))
    assert not recalled(memory, panel(*two(), aggregation=other, aggregation_name="constant"))


async def test_an_aggregation_without_a_module_is_not_remembered() -> None:
    memory = DictMemory()

    class Mean:
        __module__ = "__main__"

        def __call__(self, scores: Sequence[float]) -> float:
            return fmean(scores)

    await kept(memory, panel(*two(), aggregation=Mean(), aggregation_name="own"))
    assert memory.values == {}


@pytest.mark.parametrize(
    "report",
    [
        TransientModelError("the server is down"),
        Report(outcome=Outcome.UNPARSEABLE, reason="no score"),
        Report(outcome=Outcome.TIMED_OUT, reason="slow"),
    ],
)
async def test_a_row_with_a_seat_to_be_asked_again_is_not_kept(report: Report | Exception) -> None:
    memory = DictMemory()
    await kept(memory, panel(*two(report)))
    assert memory.values == {}


async def test_an_abstention_is_an_answer() -> None:
    memory, abstains = DictMemory(), Report(outcome=Outcome.ABSTAINED, reason="nothing to judge")
    await kept(memory, panel(*two(abstains)))
    assert recalled(memory, panel(*two(abstains))) is not None


async def test_neither_a_model_that_consolidates_nor_an_observer_is_passed_over() -> None:
    class Model:
        signature = "model"

        async def consolidate(self, verdict: Verdict) -> Consolidation:
            return await RuleConsolidator().consolidate(verdict)

    memory = DictMemory()
    await kept(memory, panel(*two(), consolidator=Model()))
    await kept(memory, panel(*two(), observer=lambda *_: nullcontext(lambda _: None)))
    assert memory.values == {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking(FixedJudge):
    """A plugin's judge, whose reports depend on a file of its own, too."""

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        return "digest of the file"


async def test_rows_of_a_judge_that_may_depend_on_more_than_the_row_are_made_again() -> None:
    memory, looking = DictMemory(), Looking(says=Report(score=3))
    await kept(memory, panel(looking))
    await kept(memory, panel(FromSpans(judge=looking)))
    assert memory.values == {}
    await kept(memory, panel(RememberedJudge(looking, DictMemory())))
    assert memory.values == {}
    await kept(memory, panel(RememberedJudge(two()[0], DictMemory())))
    assert len(memory.values) == 1


async def test_an_invalid_row_is_not_taken_for_a_row() -> None:
    memory = DictMemory()
    await kept(memory, panel(*two()))
    (key,) = memory.values
    for damaged in (b"", b"{}", msgspec.json.encode({"score": 3}), b'{"outcome": "scored"'):
        memory.values[key] = damaged
        assert recalled(memory, panel(*two())) is None
