"""The exam of repair, with panels and writers of which it is known what they do."""

from contextlib import nullcontext
from dataclasses import dataclass, replace

import pytest
from fakes.judges import ASPECT, FixedJudge
from fakes.repairing import MarkingJudge, opened, panel_of

from spanjury.judges.core import (
    ConfigError,
    DataError,
    Judge,
    ModelTimeoutError,
    ParseError,
    RunStoppedError,
    Segment,
    ToolCall,
    Trajectory,
    Turn,
)
from spanjury.judges.core.transcript import segment_of
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.engine.text_repair.loop import Replacements, Writer
from spanjury.orchestration.engine.text_repair.versions import Version
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.judging import ExamRun, Recorder
from spanjury.orchestration.studies.repair.attempts import (
    ARMS,
    DELETION,
    NOTHING,
    REPAIR,
    Changes,
    changes,
    inventions,
    put_in,
)
from spanjury.orchestration.studies.repair.exam import Exam, ExamResult, examine
from spanjury.orchestration.studies.repair.tables import (
    RANGES,
    findings_json,
    measures_of,
    repair_report,
)
from spanjury.perturbations.pairs import Condition
from spanjury.perturbations.perturbation import (
    DamagedTrajectory,
    Fault,
    text_perturbation,
    trajectory_perturbation,
)

CLEAN = "The bridge opened in May and it was not cheap."
PLANTED = "The bridge opened in June and it was not cheap."
LEFT_OUT = "The bridge opened in May and it was cheap."


@text_perturbation(family="month", level="word", harms={"consistency"})
def wrong_month(text: str, rng: object) -> str:
    """Put another month in the place of May."""
    del rng
    return text.replace("May", "June")


CONDITION = Condition(name="wrong-month", perturbation=wrong_month, level="word")
TEXTS = tuple(
    Segment(
        segment_id=f"s{number}",
        output=f"The bridge opened in May. It has {number} arches.",
        inputs={"Article": f"In May the bridge with {number} arches was opened."},
    )
    for number in range(3, 7)
)
GUIDE = MarkingJudge(severities={"June": 4, "April": 4}, name="guide")
EXAMINER = MarkingJudge(severities={"June": 4, "July": 3}, name="examiner")


@dataclass(frozen=True)
class WordWriter:
    """Puts one word into every place, or fails."""

    word: str | Exception

    @property
    def signature(self) -> str:
        return "word"

    async def replacements(self, version: Version) -> Replacements:
        if isinstance(self.word, Exception):
            raise self.word
        return Replacements(texts=dict.fromkeys([p.number for p in version.passages], self.word))


async def run(
    word: str | Exception,
    *,
    guide: Judge = GUIDE,
    examiners: tuple[Judge, ...] = (EXAMINER,),
    texts: tuple[Segment, ...] = TEXTS,
    condition: Condition = CONDITION,
    stop_token: StopToken | None = None,
) -> ExamResult:
    writer: Writer = WordWriter(word)
    return await examine(
        Exam(segments=texts, aspects=(ASPECT,), conditions=(condition,), rounds=2),
        ExamRun(
            open_panel=lambda _: opened(panel_of(guide)),
            workers=2,
            stop_token=stop_token or StopToken(),
            record=Recorder(lambda _: None),
        ),
        open_examiner=lambda _: opened(panel_of(*examiners)),
        open_writer=lambda: nullcontext(writer),
    )


def figures(done: ExamResult, arm: str = REPAIR) -> tuple[float, ...]:
    one = done.findings.overall(arm)
    return one.removed.value, one.restored.value, one.changed.value, one.gain.value


async def test_a_repair_is_held_against_doing_nothing_and_deleting() -> None:
    done = await run("May")
    assert figures(done) == (1, 1, 0, 4)
    assert figures(done, NOTHING) == (0, 0, 0, 0)
    assert figures(done, DELETION)[:2] == (1, 0)
    overall = done.findings.overall()
    assert (overall.before.value, overall.after.value, overall.gap.value) == (1, 5, 4)
    assert overall.marked.value == 0
    assert overall.marked.trials == 4
    assert done.findings.net_gain.value == 0
    assert done.findings.stopped == {"nothing_marked": (4, 4)}
    assert len(done.attempts) == 8 * len(ARMS)


@trajectory_perturbation(family="month", level="word", harms={"consistency"})
def wrong_argument(trajectory: Trajectory, rng: object) -> DamagedTrajectory:
    """Put another month in the place of May in a call."""
    del rng
    asked, calling = trajectory.turns
    call = replace(calling.calls[0], arguments='{"month": "June"}')
    turns = (asked, replace(calling, calls=(call,)))
    fault = Fault(turn=2, call=1, path="$.month", explanation="May was asked for.")
    return DamagedTrajectory(trajectory=replace(trajectory, turns=turns), faults=(fault,))


async def test_an_agent_that_is_sent_back_corrects_its_call() -> None:
    call = ToolCall(call_id="", name="book", arguments='{"month": "May"}')
    booked = Turn(role="assistant", calls=(call,))
    asked = [
        Turn(role="user", text=f"The bridge opened in May {year}. Book it.")
        for year in range(1930, 1934)
    ]
    texts = tuple(
        segment_of(Trajectory(turns=(turn, booked)), Segment(segment_id=turn.text, output="-"))
        for turn in asked
    )
    condition = Condition(name="wrong-argument", perturbation=wrong_argument, level="word")
    done = await run("May", texts=texts, condition=condition)
    assert figures(done) == (1, 1, 0, 4)
    assert figures(done, NOTHING) == (0, 0, 0, 0)
    assert figures(done, DELETION)[:2] == (1, 0)
    repaired = {
        str(text.result.segment.trajectory.turns[1].calls[0].arguments)
        for text in done.judged
        if text.condition == "wrong-argument: repair" and text.result.segment.trajectory
    }
    assert repaired == {'{"month": "May"}'}


async def test_an_error_that_only_another_panel_sees_is_no_success() -> None:
    done = await run("July")
    overall = done.findings.overall()
    assert figures(done) == (1, 0, 0, 1)  # from 1, with an error of severity 4, to 2
    assert (overall.marked.value, overall.new_errors.value) == (1, 0)
    assert overall.inventions.value == 1
    assert done.findings.net_gain.value == -3


async def test_a_version_that_the_guide_gives_up_leaves_the_damage() -> None:
    done = await run("April")
    assert figures(done) == (0, 0, 0, 0)
    assert done.findings.stopped["no_better"] == (4, 0)


async def test_a_guide_that_sees_errors_where_none_are_harms_clean_texts() -> None:
    nervous = MarkingJudge(severities={"bridge": 3, "June": 4}, name="nervous")
    done = await run("ferry", guide=nervous)
    (clean,) = done.findings.of("clean", arm=REPAIR)
    assert clean.altered.value == 1
    assert clean.changed.value == pytest.approx(1 / 9)
    assert done.findings.overall().changed.value == pytest.approx(1 / 8)


async def test_a_writer_that_fails_counts_in_every_share() -> None:
    done = await run(ParseError("no answer passed the checks", reply="?"))
    assert figures(done) == (0, 0, 0, 0)
    assert done.findings.stopped == {"nothing_marked": (0, 4), "writer_failed": (4, 0)}


async def test_an_examiner_without_scores_leaves_means_undefined_and_says_so() -> None:
    away = FixedJudge(says=ModelTimeoutError("away"), name="away")
    done = await run("May", examiners=(away,))
    overall = done.findings.overall()
    assert overall.removed.value == 1
    assert overall.covered.value == 0
    assert (overall.gain.texts, overall.marked.trials) == (0, 0)
    measures = {one.name: one.value for one in measures_of(done.findings)}
    assert measures["repair.gain"] is None


async def test_the_panel_that_guides_the_repair_cannot_be_its_examiner() -> None:
    with pytest.raises(ConfigError, match="would only repeat"):
        await run("May", examiners=(GUIDE,))
    done = await run("May", examiners=(GUIDE, EXAMINER))
    assert done.findings.shared == ("seat-0",)
    assert any("shares judges" in text for text in str(report(done)).split("'"))


async def test_nothing_to_damage_is_an_error_and_a_stop_ends_the_exam() -> None:
    plain = tuple(replace(text, output="It opened.") for text in TEXTS)
    with pytest.raises(DataError, match="no text could be damaged"):
        await run("May", texts=plain)
    stopped = StopToken()
    stopped.request("enough")
    with pytest.raises(RunStoppedError):
        await run("May", stop_token=stopped)


def report(done: ExamResult) -> str:
    made = repair_report(done, data="texts.jsonl", recipe="months")
    assert "delete every span" in report_html(made)
    return report_markdown(made)


async def test_the_report_and_the_values_hold_what_was_found() -> None:
    done = await run("May")
    page = report(done)
    assert "| repair | 4 | 1.000 |" in page
    assert "There are only 4 sources" in page
    assert "wrong-month" in page
    values = findings_json(done)
    assert values["writer"] == "word"
    assert tuple(one.name for one in measures_of(done.findings)) == (*RANGES,)


def of(repaired: str, *, damaged: str = PLANTED, clean: str = CLEAN) -> tuple[int, ...]:
    """Return what was removed and restored of one error, then words changed and added."""
    counted = changes(clean, damaged, repaired)
    assert counted.planted == 1
    return counted.removed, counted.restored, counted.changed, counted.added


@pytest.mark.parametrize(
    ("repaired", "expected"),
    [
        (PLANTED, (0, 0, 0, 0)),
        (CLEAN, (1, 1, 0, 0)),
        ("The bridge opened in spring and it was not cheap.", (1, 0, 0, 0)),
        ("The bridge opened and it was not cheap.", (1, 0, 1, 0)),
        ("The bridge opened in June and it was not dear.", (0, 0, 1, 0)),
        ("The bridge opened in June and it was really not cheap.", (0, 0, 0, 1)),
        ("A tower closed in May and it was not cheap.", (1, 1, 3, 0)),
    ],
)
def test_a_wrong_word_is_gone_or_right_again_and_others_are_spared_or_not(
    repaired: str, expected: tuple[int, ...]
) -> None:
    assert of(repaired) == expected


@pytest.mark.parametrize(
    ("repaired", "expected"),
    [
        (LEFT_OUT, (0, 0, 0, 0)),
        (CLEAN, (1, 1, 0, 0)),
        ("The bridge opened in May and it was never cheap.", (1, 0, 0, 0)),
        ("The bridge opened in May and it was.", (0, 0, 1, 0)),
    ],
)
def test_any_insertion_in_its_position_repairs_an_omission(
    repaired: str, expected: tuple[int, ...]
) -> None:
    assert of(repaired, damaged=LEFT_OUT) == expected


def test_a_word_said_twice_may_be_taken_away_at_either_place() -> None:
    assert of("It was cheap.", damaged="It was was cheap.", clean="It was cheap.") == (1, 1, 0, 0)


def test_a_clean_text_has_nothing_to_remove_and_every_word_to_lose() -> None:
    assert changes(CLEAN, CLEAN, "The bridge opened in May.") == Changes(
        planted=0, removed=0, restored=0, words=10, changed=5, added=0
    )


def test_places_that_were_put_in_are_found_in_the_new_text() -> None:
    before, after = "It opened in June, they say.", "It opened in May, they say."
    assert [after[start:end] for start, end in put_in(before, after)] == ["May"]
    assert put_in(before, "It opened, they say.") == ()


def test_an_invention_is_a_name_or_a_number_from_nowhere() -> None:
    source = "Ulm built it in 1932."
    assert inventions("It opened in 1935.", "It opened in 1932 in Ulm.", source=source) == 0
    assert inventions("It opened in 1935.", "It opened in 1936 for Bonn.", source=source) == 2
    assert inventions("It opened in 1935.", "It opened long ago.", source=source) == 0
