import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.processes import completed
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.files.results.results import ResultWriter, result_row
from spanjury.judges.core import (
    Aspect,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Evidence,
    Ground,
    Located,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Segment,
    StopReason,
    StoreError,
    Task,
    Unasked,
    Unverified,
    Usage,
)

SPAN = ErrorSpan(
    text="dog",
    explanation="It was a cat.",
    severity=4,
    start=4,
    end=7,
    category="entity",
    located=Located.NORMALISED,
    found_by=("a",),
    evidence=(Evidence(input="Article", start=4, end=7, text="cat"),),
    probability=0.75,
)
DULL = Unverified(
    start=0,
    end=8,
    text="The dog.",
    probability=0.5,
    reason="1 of its 2 content words does not occur in the source.",
    words=("dog",),
)
RESULT = Result(
    segment=Segment(segment_id="7", output="The dog.", system="bart"),
    aspect=Aspect(
        name="consistency",
        task=Task(name="summarization", description="…"),
        definition="…",
        kind="grounding",
    ),
    report=PanelReport(
        score=2.5,
        spans=(SPAN, ErrorSpan(text="", explanation="No end.", severity=None, found_by=("a",))),
        signature="panel|…",
        aggregation="mean",
        consolidator="rules",
        error_probability=0.9,
        unverified=(DULL,),
        decision=Decision.FAULTY,
        basis=DecisionBasis(
            ground=Ground.PROBABILITY,
            reason="The probability of an error is 0.90, and a text is faulty from 0.80 on.",
            threshold=0.8,
            false_alarms=0.05,
            spread=(0.01, 0.12),
            measured_on="160 correct texts from made-up summaries",
        ),
        unasked=Unasked(
            seats=("annotator:dear",),
            why=StopReason.SURE,
            reason="The estimate is 0.10, below 0.20.",
            score=2.5,
        ),
        seats=(
            SeatReport(
                seat="a",
                signature="annotator|…",
                seconds=0.25,
                report=Report(
                    score=2.5,
                    spans=(SPAN,),
                    rationale="Wrong animal.",
                    reply="Score: Fair",
                    error_probability=0.9,
                    unverified=(DULL,),
                    usage=Usage(calls=1, prompt=20, cached=10, completion=5, reasoning=2),
                ),
            ),
            SeatReport(
                seat="b",
                signature="annotator|…",
                seconds=1.5,
                report=Report(
                    outcome=Outcome.UNPARSEABLE, reason="no score line", reply="I like dogs."
                ),
            ),
            SeatReport(
                seat="c",
                signature="form|…",
                seconds=0.0,
                report=Report(outcome=Outcome.ABSTAINED, reason="no judge of this"),
            ),
        ),
    ),
)
UNUSED = {"calls": 0, "prompt": 0, "cached": 0, "completion": 0, "reasoning": 0}
PLACED = {
    "start": 4,
    "end": 7,
    "text": "dog",
    "explanation": "It was a cat.",
    "severity": 4,
    "category": "entity",
    "located": "normalised",
    "evidence": [{"input": "Article", "start": 4, "end": 7, "text": "cat"}],
    "probability": 0.75,
}
OMITTED: dict[str, object] = {
    "start": None,
    "end": None,
    "text": "",
    "explanation": "No end.",
    "severity": None,
    "category": "",
    "located": "unlocated",
    "evidence": [],
    "probability": None,
}
SENTENCE = {
    "start": 0,
    "end": 8,
    "text": "The dog.",
    "probability": 0.5,
    "reason": "1 of its 2 content words does not occur in the source.",
    "words": ["dog"],
}
FIRST_SEAT = {
    "judge": "a",
    "signature": "annotator|…",
    "outcome": "scored",
    "score": 2.5,
    "spans": [PLACED],
    "rationale": "Wrong animal.",
    "usage": {"calls": 1, "prompt": 20, "cached": 10, "completion": 5, "reasoning": 2},
    "seconds": 0.25,
    "reason": "",
    "reply": None,
    "error_probability": 0.9,
    "unverified": [SENTENCE],
}
ROW = {
    "id": "7",
    "aspect": "consistency",
    "score": 2.5,
    "outcome": "scored",
    "spans": [{**PLACED, "found_by": ["a"]}, {**OMITTED, "found_by": ["a"]}],
    "seats": [
        FIRST_SEAT,
        {
            "judge": "b",
            "signature": "annotator|…",
            "outcome": "unparseable",
            "score": None,
            "spans": [],
            "rationale": "",
            "usage": UNUSED,
            "seconds": 1.5,
            "reason": "no score line",
            "reply": "I like dogs.",
            "error_probability": None,
            "unverified": [],
        },
        {
            "judge": "c",
            "signature": "form|…",
            "outcome": "abstained",
            "score": None,
            "spans": [],
            "rationale": "",
            "usage": UNUSED,
            "seconds": 0.0,
            "reason": "no judge of this",
            "reply": None,
            "error_probability": None,
            "unverified": [],
        },
    ],
    "aggregation": "mean",
    "consolidator": "rules",
    "task": "summarization",
    "system": "bart",
    "reason": "",
    "signature": "panel|…",
    "set_aside": [],
    "left_out": 0,
    "decision": "faulty",
    "error_probability": 0.9,
    "decision_basis": {
        "ground": "probability",
        "reason": "The probability of an error is 0.90, and a text is faulty from 0.80 on.",
        "threshold": 0.8,
        "false_alarms": 0.05,
        "measured_on": "160 correct texts from made-up summaries",
        "misses": None,
        "spread": [0.01, 0.12],
    },
    "unasked": {
        "seats": ["annotator:dear"],
        "why": "sure",
        "reason": "The estimate is 0.10, below 0.20.",
        "score": 2.5,
    },
    "unverified": [SENTENCE],
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "data.md"
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Draw any result, with whatever a model may write in its texts."""
    text = st.text(st.characters(codec="utf-8"), max_size=20)
    score = draw(st.none() | NUMBERS)
    report = Report(
        outcome=Outcome.REFUSED if score is None else Outcome.SCORED,
        score=score,
        spans=(replace(SPAN, explanation=draw(text), category=draw(text)),),
        rationale=draw(text),
        reason=f"x{draw(text)}",
        reply=draw(text),
    )
    seat = SeatReport(seat=draw(text), signature=draw(text), report=report, seconds=draw(NUMBERS))
    panel = replace(RESULT.report, score=draw(NUMBERS), seats=(seat,), reason=draw(text))
    return replace(RESULT, segment=Segment(segment_id=draw(text), output="x"), report=panel)


def with_id(name: str) -> Result:
    return replace(RESULT, segment=replace(RESULT.segment, segment_id=name))


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text("utf-8").split("\n")[:-1]]


@contextmanager
def interrupted() -> Iterator[None]:
    with pytest.raises(KeyboardInterrupt):
        yield


def test_a_row_has_the_documented_keys_in_the_documented_order() -> None:
    assert json.dumps(result_row(RESULT)) == json.dumps(ROW)


def test_the_document_shows_the_keys_that_a_row_has() -> None:
    blocks = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    (shown,) = (json.loads(block) for block in blocks if '"decision_basis"' in block)
    assert (list(shown), list(shown["spans"][0])) == (list(ROW), [*PLACED, "found_by"])
    assert list(shown["spans"][0]["evidence"][0]) == ["input", "start", "end", "text"]
    assert list(shown["decision_basis"]) == [
        "ground",
        "reason",
        "threshold",
        "false_alarms",
        "measured_on",
        "misses",
        "spread",
    ]
    assert list(shown["unverified"][0]) == list(SENTENCE)
    assert list(shown["seats"][0]) == list(FIRST_SEAT)
    assert list(shown["seats"][0]["usage"]) == list(UNUSED)


def test_without_a_decision_its_keys_are_null() -> None:
    bare = replace(RESULT.report, decision=None, basis=None, error_probability=None)
    row = result_row(replace(RESULT, report=bare))
    assert [row[key] for key in ("decision", "error_probability", "decision_basis")] == [None] * 3


@settings(deadline=None)  # each example is synced to disk
@given(st.lists(results(), max_size=3))
def test_any_results_are_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, written: list[Result]
) -> None:
    path = tmp_path_factory.mktemp("results") / "results.jsonl"
    with ResultWriter(path) as writer:
        for result in written:
            writer.append(result)
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line) for line in lines] == [result_row(result) for result in written]


def test_text_is_written_readable_and_lone_surrogates_are_replaced(tmp_path: Path) -> None:
    with ResultWriter(tmp_path / "results.jsonl") as writer:
        writer.append(with_id("Zoë\ud800\U0001f600"))
    assert b'{"id": "Zo\xc3\xab\xef\xbf\xbd\xf0\x9f\x98\x80", ' in writer.path.read_bytes()


def test_each_row_is_on_disk_at_once_and_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("an earlier run\n")
    with ResultWriter(path) as writer:
        assert (writer.path, writer.lines) == (tmp_path / "results.jsonl.part", 0)
        for rows, name in enumerate("ab", start=1):
            writer.append(with_id(name))
            assert writer.lines == rows == len(ids(writer.path))
        assert path.read_text() == "an earlier run\n"
    assert (writer.path, writer.lines, ids(path)) == (path, 2, ["a", "b"])
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_run_leaves_its_rows_in_the_part(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    writer = ResultWriter(path)
    with interrupted(), writer:
        writer.append(with_id("a"))
        raise KeyboardInterrupt
    assert not path.exists()
    assert (writer.path, writer.lines) == (tmp_path / "results.jsonl.part", 1)
    assert ids(writer.path) == ["a"]


@pytest.mark.parametrize(("tail", "rows"), [(b'{"id": "b", "asp', 1), (b'{"id": "b"}\n', 2)])
def test_an_interrupted_row_is_whole_or_gone(tmp_path: Path, tail: bytes, rows: int) -> None:
    writer = ResultWriter(tmp_path / "results.jsonl")
    with interrupted(), writer:
        writer.append(with_id("a"))
        with writer.path.open("ab") as file:  # as far as `append` came before Ctrl-C
            file.write(tail)
        raise KeyboardInterrupt
    assert (writer.lines, ids(writer.path)) == (rows, ["a", "b"][:rows])


def test_the_part_of_an_earlier_run_is_overwritten(tmp_path: Path) -> None:
    part = tmp_path / "results.jsonl.part"
    part.write_text("an earlier run\n" * 1000)
    with ResultWriter(tmp_path / "results.jsonl") as writer:
        writer.append(with_id("a"))
    assert ids(writer.path) == ["a"]
    assert not part.exists()


def test_a_part_is_as_long_as_it_was_until_it_has_as_many_rows_again(tmp_path: Path) -> None:
    path, part = tmp_path / "results.jsonl", tmp_path / "results.jsonl.part"

    def resume(*names: str) -> list[str]:
        writer = ResultWriter(path, resumes=True)
        with interrupted(), writer:
            for name in names:
                writer.append(with_id(name))
                assert len(ids(part)) >= 3
            raise KeyboardInterrupt
        assert writer.path == part
        assert [*tmp_path.iterdir()] == [part]
        return ids(part)

    with interrupted(), ResultWriter(path) as writer:
        for name in "abc":
            writer.append(with_id(name))
        raise KeyboardInterrupt
    assert resume() == ["a", "b", "c"]
    assert resume("A", "B") == ["a", "b", "c"]
    assert resume("A", "B", "C") == ["A", "B", "C"]
    assert resume("A", "B", "C", "D") == ["A", "B", "C", "D"]
    with ResultWriter(path, resumes=True) as writer:  # there are fewer rows by now
        writer.append(with_id("x"))
        assert ids(writer.path) == ["x"]
        assert len(ids(part)) == 4
        with pytest.raises(StoreError, match="another process"), ResultWriter(path):
            pass
    assert ids(path) == ["x"]
    assert [*tmp_path.iterdir()] == [path]


def test_a_run_killed_before_it_has_as_many_rows_leaves_the_longer_part(tmp_path: Path) -> None:
    part = tmp_path / "results.jsonl.part"
    part.write_text('{"id": "a"}\n{"id": "b"}\n{"id": "c')
    part.with_name("results.jsonl.part.next").write_text('{"id": "A"}\n{"i')
    with ResultWriter(tmp_path / "results.jsonl", resumes=True) as writer:
        writer.append(with_id("x"))
        assert part.read_text().startswith('{"id": "a"}\n')
        writer.append(with_id("y"))
        assert ids(part) == ["x", "y"]
    assert ids(writer.path) == ["x", "y"]


def test_a_part_that_is_being_written_is_left_to_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with ResultWriter(path) as first:
        first.append(RESULT)
        with pytest.raises(StoreError, match="another process is writing it"), ResultWriter(path):
            pass
        first.append(RESULT)
    assert len(path.read_text().splitlines()) == 2


def test_results_go_where_a_link_points(tmp_path: Path) -> None:
    target = tmp_path / "far" / "results.jsonl"
    target.parent.mkdir()
    link = tmp_path / "results.jsonl"
    link.symlink_to(target)
    with ResultWriter(link) as writer:
        writer.append(with_id("a"))
    assert link.is_symlink()
    assert ids(target) == ["a"]


def test_a_place_that_cannot_be_written_is_reported_on_entry(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, problem in {
        tmp_path / "missing" / "r": "missing/r.part: cannot be written: No such file or directory",
        tmp_path / "file" / "r": "file/r.part: cannot be written: Not a directory",
        tmp_path / ("r" * 300): "rrr: cannot be written: File name too long",
        tmp_path / "a\0b": "cannot be written: embedded null byte",
        tmp_path: "results go to a file, and this is none",
        Path(os.devnull): f"{os.devnull}: results go to a file, and this is none",
    }.items():
        with pytest.raises(StoreError) as raised, ResultWriter(path):
            pytest.fail("it was entered")
        assert str(raised.value).endswith(problem)


def test_a_place_that_is_taken_meanwhile_is_reported_and_the_rows_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    writer = ResultWriter(path)
    writer.__enter__()
    writer.append(with_id("a"))
    path.mkdir()
    with pytest.raises(StoreError, match=r"\.part: cannot be written: Is a directory"):
        writer.__exit__(None, None, None)
    assert ids(writer.path) == ["a"]


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_number_that_json_lacks_costs_no_other_row(tmp_path: Path, score: float) -> None:
    bad = replace(with_id("b"), report=replace(RESULT.report, score=score))
    with ResultWriter(tmp_path / "results.jsonl") as writer:
        writer.append(with_id("a"))
        with pytest.raises(StoreError, match="the result of 'b' on 'consistency': Out of range"):
            writer.append(bad)
        writer.append(with_id("c"))
    assert ids(writer.path) == ["a", "c"]


FULL_DISK = """
import pathlib, resource, sys
sys.path += {folders!r}
from test_results import RESULT
from spanjury.adapters.files.results.results import ResultWriter

resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
writer = ResultWriter(pathlib.Path("results.jsonl"))
try:
    with writer:
        for _ in range(1000):
            writer.append(RESULT)
except Exception as error:
    print(type(error).__name__, error, writer.lines)
"""


@pytest.mark.heavy
def test_a_full_disk_is_reported_and_leaves_whole_rows(tmp_path: Path) -> None:
    size = 10_000
    folders = [str(folder) for folder in Path(__file__).parents[:2]]
    code = FULL_DISK.format(folders=folders, size=size)
    run = completed([sys.executable, "-c", code], cwd=tmp_path)
    row = len(json.dumps(ROW, ensure_ascii=False).encode()) + 1
    rows = size // row
    assert run.stderr == ""
    assert run.stdout == (
        f"StoreError results.jsonl.part: cannot be written: File too large {rows}\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl.part"]
    assert ids(tmp_path / "results.jsonl.part") == ["7"] * rows
