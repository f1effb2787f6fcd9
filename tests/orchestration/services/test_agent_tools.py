"""The tools for agents, over real panels of offline judges."""

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pytest
from fakes.judges import FixedJudge

from spanjury.judges.core import Aspect, ConfigError, JudgeError, Outcome, Report, Segment
from spanjury.orchestration.services.judging.agent_reports import (
    TextCheck,
    TextComparison,
    check_lines,
    comparison_lines,
)
from spanjury.orchestration.services.judging.panels import open_panel
from spanjury.orchestration.services.serving.agent_tools import (
    check_text,
    compare_texts,
    list_aspects,
)

SOURCE = "The bridge was built in 1932 by the Dorman Long company. It carries rail traffic."
WRONG = "The bridge was built in 1935 by Dorman Long. it it carries rail traffic."
RIGHT = "The bridge was built in 1932 by Dorman Long. It carries rail traffic."
OFFLINE = ["grounding", "form"]


@dataclass(slots=True)
class StuckJudge:
    """Never ends; counts what was cancelled."""

    signature = "stuck"
    began: list[str] = field(default_factory=list)
    cancelled: int = 0

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        self.began.append(aspect.name)
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled += 1
        return Report(score=1)


async def checked(output: str, **asked: object) -> TextCheck:
    async with open_panel(judges=OFFLINE) as panel:
        return await check_text(panel, output, source=SOURCE, task="summarization", **asked)  # type: ignore[arg-type]  # any of its parameters


async def compared(a: str, b: str) -> TextComparison:
    async with open_panel(judges=OFFLINE) as panel:
        return await compare_texts(panel, a, b, source=SOURCE, task="summarization")


async def test_errors_are_numbered_from_the_gravest_with_place_and_evidence() -> None:
    check = await checked(WRONG)
    assert check.decision == "faulty"
    assert [(one.number, one.text, one.aspect) for one in check.errors] == [
        (1, "1935", "consistency"),
        (2, "it it", "fluency"),
    ]
    for error in check.errors:
        assert error.start is not None
        assert WRONG[error.start : error.end] == error.text
    (passage, *_) = check.errors[0].evidence
    assert SOURCE[passage.start : passage.end] == passage.text
    assert "1932" in passage.text


async def test_a_report_is_json_as_it_stands() -> None:
    check = await checked(WRONG)
    assert json.loads(json.dumps(asdict(check)))["errors"][0]["text"] == "1935"


async def test_an_aspect_that_no_judge_judges_leaves_the_text_undecided() -> None:
    check = await checked(RIGHT, aspects=["fluency", "coherence"])
    assert check.decision == "undecided"
    fluency, coherence = check.aspects
    assert (fluency.outcome, fluency.decision) == ("scored", "ok")
    assert (coherence.outcome, coherence.score, coherence.label) == ("abstained", None, "")
    assert "no score (abstained): " in check_lines(check)


async def test_an_unsure_text_names_the_judge_that_does_not_read_its_language() -> None:
    foreign = Report(outcome=Outcome.ABSTAINED, reason="the output is French")
    doubting = FixedJudge(says=Report(score=4, error_probability=0.5, rationale="Few known words."))
    async with open_panel(judges=[doubting, FixedJudge(says=foreign)]) as panel:
        check = await check_text(panel, RIGHT, task="summarization", aspects=["fluency"])
    (fluency,) = check.aspects
    assert fluency.decision == "unsure"
    assert "the output is French." in fluency.reason
    assert fluency.reason.endswith("Rests on: Few known words.")


async def test_a_judge_that_fails_is_an_outcome() -> None:
    broken = FixedJudge(says=JudgeError("the reply broke off"))
    async with open_panel(judges=[broken]) as panel:
        check = await check_text(panel, RIGHT, task="summarization", aspects=["fluency"])
    assert check.decision == "undecided"
    assert "the reply broke off" in check.aspects[0].reason


async def test_the_text_for_a_model_names_every_error_with_its_evidence() -> None:
    lines = check_lines(await checked(WRONG)).splitlines()
    assert lines[0] == "Decision: faulty"
    place = next(number for number, line in enumerate(lines) if line.startswith("1. "))
    assert lines[place].startswith('1. "1935" at 24-28 (consistency, ')
    assert lines[place].endswith("severity 4 of 5)")
    assert lines[place + 2].startswith('   Article says: "The bridge was built in 1932')


async def test_a_text_without_errors_says_so() -> None:
    assert check_lines(await checked(RIGHT)).endswith("No error was marked.")


async def test_the_text_with_the_right_date_is_better_and_the_same_texts_do_not_differ() -> None:
    comparison = await compared(WRONG, RIGHT)
    assert {one.aspect: one.better for one in comparison.aspects}["consistency"] == "b"
    assert (comparison.a.decision, comparison.b.decision) == ("faulty", "ok")
    assert comparison_lines(comparison).startswith("consistency: b (its score is ")
    same = await compared(RIGHT, RIGHT)
    assert {one.better for one in same.aspects} == {"no difference"}


async def test_progress_counts_the_aspects() -> None:
    seen: list[tuple[int, int]] = []

    async def note(done: int, total: int, aspect: str) -> None:
        assert aspect in {"consistency", "fluency"}
        seen.append((done, total))

    await checked(RIGHT, progress=note)
    assert seen == [(1, 2), (2, 2)]


async def test_cancelling_a_check_ends_its_assessments() -> None:
    stuck = StuckJudge()
    async with open_panel(judges=[stuck]) as panel, anyio.create_task_group() as group:
        group.start_soon(partial(check_text, panel, RIGHT, source=SOURCE, task="summarization"))
        await anyio.wait_all_tasks_blocked()
        assert sorted(stuck.began) == ["consistency", "fluency"]
        group.cancel_scope.cancel()
    assert stuck.cancelled == 2


async def test_an_unknown_task_or_aspect_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="fluency"):
        await checked(RIGHT, aspects=["fluence"])
    with pytest.raises(ConfigError, match="summarization"):
        list_aspects("summing up")


def test_aspects_are_listed_with_those_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[tasks.summarization.aspects.wit]\ndefinition = "How witty it is."\nkind = "appeal"\n'
    )
    usual = {one.aspect: one for one in list_aspects("summarization")}
    assert usual["fluency"].inputs == ()
    assert usual["fluency"].judged_by_default
    assert not usual["coverage"].judged_by_default
    own_too = {one.aspect for one in list_aspects("summarization", aspects_files=[own])}
    assert own_too - usual.keys() == {"wit"}
    assert {one.task for one in list_aspects()} >= {"dialogue", "translation"}
