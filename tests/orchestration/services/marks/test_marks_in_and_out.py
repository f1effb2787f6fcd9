"""People's marks: checked against their text, written out and taken in again without a loss."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fakes.marked_runs import ASPECTS, put_marks, span, write_texts
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, DataError
from spanjury.orchestration.services.people.marks.exporting import write_marks
from spanjury.orchestration.services.people.marks.importing import Imported, import_marks
from spanjury.orchestration.services.people.marks.mark import (
    Mark,
    MarkedSpan,
    Origin,
    annotator_name,
    check_mark,
    mark_json,
    mark_of_json,
)
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun, read_readings

OUTPUTS = ("The 🐕 sat.", "A cat, a cat.", "Übel", "The 🐕 sat.")
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.sampled_from(["anna", "Zoë <b>", "ben; carl", "李"])
ENDINGS = {"rows": "jsonl", "factgenie": "factgenie.jsonl", "mqm": "mqm.tsv"}


@st.composite
def spans(draw: st.DrawFn, output: str) -> MarkedSpan:
    has_place = draw(st.booleans())
    start = draw(st.integers(0, len(output) - 1)) if has_place else None
    end = None if start is None else draw(st.integers(start + 1, len(output)))
    return MarkedSpan(
        start=start,
        end=end,
        text="" if start is None else output[start:end],
        severity=draw(st.none() | st.integers(1, 5)),
        category=draw(WORDS),
        explanation=draw(WORDS),
        verdict=draw(st.sampled_from(["accepted", "edited", "own"])),
        origin=draw(st.none() | st.just(Origin(run=0, span=1))),
    )


@st.composite
def marked(draw: st.DrawFn) -> dict[tuple[str, int, str], Mark]:
    places = draw(
        st.lists(
            st.tuples(NAMES, st.integers(0, len(OUTPUTS) - 1), st.sampled_from(ASPECTS)),
            unique=True,
            max_size=8,
        )
    )
    return {place: draw(marks(OUTPUTS[place[1]])) for place in places}


@st.composite
def marks(draw: st.DrawFn, output: str) -> Mark:
    errors = draw(st.lists(spans(output), max_size=3))
    return Mark(
        score=draw(st.none() | st.integers(10, 50).map(lambda tenths: tenths / 10)),
        note=draw(WORDS),
        is_done=draw(st.booleans()),
        spans=tuple(errors),
        rejected=draw(st.sampled_from([(), (Origin(run=0, span=0),)])),
        scores_only=not errors and draw(st.booleans()),
    )


def exported(run: MarkedRun, path: Path, *, form: str) -> bytes:
    write_marks(path, read_readings(run).chosen(with_unfinished=True), form=form)
    return path.read_bytes()


@pytest.mark.parametrize("form", [*ENDINGS])
@given(found=marked())
def test_exporting_importing_and_exporting_again_changes_nothing(
    form: str, found: dict[tuple[str, int, str], Mark]
) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        first = write_texts(Path(one), OUTPUTS, systems=["bart", "t5", "bart", "t5"])
        second = write_texts(Path(other), OUTPUTS, systems=["bart", "t5", "bart", "t5"])
        put_marks(first, found)
        path = Path(one) / f"marks.{ENDINGS[form]}"
        before = exported(first, path, form=form)
        if before.count(b"\n") > (form == "mqm"):
            done = import_marks(second, path)
            assert (done.unmatched, done.kept) == ([], [])
        assert exported(second, path, form=form) == before


@given(mark=marks(OUTPUTS[0]))
def test_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    check_mark(mark, output=OUTPUTS[0], low=1, high=5)
    assert mark_of_json(mark_json(mark)) == mark


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        (Mark(score=6), "score 6 is not on the scale from 1 to 5"),
        (Mark(score=float("nan")), "score nan is not"),
        (Mark(spans=(span("The dog", 4, 8),)), r"expected 0 <= start < end <= 7"),
        (Mark(spans=(span("The dog", 4, 4),)), "expected 0 <= start < end"),
        (Mark(spans=(span("The cat", 4, 7),)), "'cat' is not what the output has there: 'dog'"),
        (Mark(spans=(span("The dog", 4, 7, severity=6),)), "severity 6, expected 1 to 5"),
        (Mark(spans=(MarkedSpan(start=1, end=None, text=""),)), "expected both or none"),
    ],
)
def test_a_mark_that_does_not_fit_its_text_or_scale_is_refused(mark: Mark, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        check_mark(mark, output="The dog", low=1, high=5)


@pytest.mark.parametrize("text", ["[]", "{", '{"score": "4"}', '{"spans": [{"start": 1}]}', '"x"'])
def test_json_that_is_no_mark_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(DataError, match="the mark cannot be read") as refused:
        mark_of_json(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "  ", "a" * 65, "a\nb", "\u202egnirts", "a\0"])
def test_an_invalid_annotator_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="1 to 64 printable characters"):
        annotator_name(name)


def test_a_name_is_the_same_however_its_accents_are_composed() -> None:
    assert annotator_name(" Zoe\u0308 ") == "Zo\u00eb"


def test_marks_of_a_text_that_has_changed_are_kept_and_never_applied(tmp_path: Path) -> None:
    run = write_texts(tmp_path, ["The dog sat.", "A cat."])
    put_marks(run, {("anna", 0, "fluency"): Mark(is_done=True), ("anna", 1, "fluency"): Mark()})
    changed = write_texts(tmp_path, ["The dog stood.", "A cat."])
    read = read_readings(changed)
    assert [one.text.segment.segment_id for one in read.readings] == ["text-1"]
    assert read.other_versions == 1
    assert len(read_readings(write_texts(tmp_path, ["The dog sat.", "A cat."])).readings) == 2


def taken_in(tmp_path: Path, *rows: dict[str, object], **how: str) -> tuple[MarkedRun, Imported]:
    run = write_texts(tmp_path, ["The dog sat.", "A cat.", "A cat."])
    path = tmp_path / "marks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run, import_marks(run, path, **how)  # type: ignore[arg-type]  # names of texts


def test_scores_and_spans_of_a_file_become_marks_of_those_it_names(tmp_path: Path) -> None:
    dog = {"start": 4, "end": 7, "text": "dog", "severity": 5, "annotator": "ben"}
    run, done = taken_in(
        tmp_path,
        {
            "id": "text-0",
            "output": "The dog sat.",
            "human": {"fluency": {"anna": 4, "ben": 2}},
            "spans": [{**dog, "aspect": "consistency", "explanation": "A cat."}],
        },
    )
    assert (done.marks, done.unmatched) == (3, [])
    found = {(one.annotator, one.aspect): one.mark for one in read_readings(run).readings}
    assert found["anna", "fluency"] == Mark(score=4, is_done=True, scores_only=True)
    (marked_dog,) = found["ben", "consistency"].spans
    assert (marked_dog.start, marked_dog.end, marked_dog.severity) == (4, 7, 5)
    assert marked_dog.explanation == "A cat."


def test_marks_of_an_aspect_that_the_run_does_not_judge_are_counted(tmp_path: Path) -> None:
    scores = {"coherence": {"anna": 3, "ben": 4}}
    _, done = taken_in(tmp_path, {"id": "text-0", "output": "The dog sat.", "human": scores})
    assert (done.marks, done.unmatched, done.unjudged) == (0, [], {"coherence": 2})


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": "x", "output": "No such text."}, "x: the run has no such text"),
        ({"id": "text-0", "output": "Other."}, "the run has another text under this id"),
        ({"id": "x", "output": "A cat."}, "2 texts of the run read like this"),
        ({"id": "text-0", "output": "The dog sat.", "human": {"fluency": 3}}, "no annotator"),
        (
            {"id": "text-0", "output": "The dog sat.", "human": {"fluency": {"anna": 7}}},
            "score 7 is not on the scale",
        ),
        (
            {
                "id": "text-0",
                "output": "The dog sat.",
                "spans": [{"start": 0, "end": 3, "annotator": "anna"}],
            },
            "the aspect is missing",
        ),
    ],
)
def test_marks_of_no_row_are_named(tmp_path: Path, row: dict[str, object], problem: str) -> None:
    run, done = taken_in(tmp_path, row)
    assert done.marks == 0
    (said,) = done.unmatched
    assert problem in said
    assert read_readings(run).readings == ()


def test_an_aspect_and_an_annotator_may_be_named_for_marks_that_name_none(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "id": "text-0",
        "output": "The dog sat.",
        "spans": [{"start": 0, "end": 3}],
    }
    run, done = taken_in(tmp_path, row, annotator="anna", aspect="fluency")
    assert (done.marks, done.unmatched) == (1, [])
    (one,) = read_readings(run).readings
    assert (one.annotator, one.aspect, len(one.mark.spans)) == ("anna", "fluency", 1)


def test_marks_of_two_people_are_not_made_one_persons(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "id": "text-0",
        "output": "The dog sat.",
        "human": {"fluency": {"anna": 4, "ben": 3}},
    }
    with pytest.raises(ConfigError, match="has marks of anna, ben: they cannot all be carl's"):
        taken_in(tmp_path, row, annotator="carl")


def test_another_mark_of_the_same_person_is_kept_unless_replaced(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "id": "text-0",
        "output": "The dog sat.",
        "human": {"fluency": {"anna": 4}},
    }
    run, _ = taken_in(tmp_path, row)
    changed = tmp_path / "changed.jsonl"
    changed.write_text(json.dumps({**row, "human": {"fluency": {"anna": 2}}}) + "\n")
    again = import_marks(run, tmp_path / "marks.jsonl")
    assert (again.marks, again.unchanged) == (0, 1)
    kept = import_marks(run, changed)
    assert (kept.marks, len(kept.kept)) == (0, 1)
    assert read_readings(run).readings[0].mark.score == 4
    assert import_marks(run, changed, replaces=True).marks == 1
    assert read_readings(run).readings[0].mark.score == 2


def test_a_text_that_was_read_without_an_error_has_an_empty_list_of_spans(tmp_path: Path) -> None:
    run = write_texts(tmp_path, ["The dog sat."])
    put_marks(run, {("anna", 0, "fluency"): Mark(is_done=True)})
    write_marks(tmp_path / "out.jsonl", read_readings(run).chosen(), form="rows")
    (row,) = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (row["spans"], row["meta"]["annotators"]) == ([], ["anna"])
    assert "human" not in row


def test_a_damaged_mark_costs_itself_only(tmp_path: Path) -> None:
    run = write_texts(tmp_path, ["The dog sat.", "A cat."])
    put_marks(
        run,
        {
            ("anna", 0, "fluency"): Mark(spans=(span("A cat, long.", 2, 12),)),
            ("anna", 1, "fluency"): Mark(score=4, is_done=True),
        },
    )
    read = read_readings(run)
    assert read.damaged == ("anna: text-0, bart, fluency",)
    assert [one.mark.score for one in read.readings] == [4]
