"""People's marks: their guideline, their way in and out of files, and verdicts on judges' spans."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from fakes.command import call
from fakes.judges import located
from fakes.marked_runs import ASPECTS, put_marks, span, write_texts
from fakes.result_files import result, write_results
from fakes.rows import summary
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, DataError, ErrorSpan
from spanjury.judges.tasks.catalogue import Catalogue
from spanjury.judges.tasks.rubric import Rubric
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.people.marks.comparison import people_agreement
from spanjury.orchestration.services.people.marks.exporting import write_marks
from spanjury.orchestration.services.people.marks.guideline import guideline
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
from spanjury.orchestration.services.people.marks.marked_run import (
    MarkedRun,
    judges_spans,
    read_readings,
)

OUTPUT = "The mill burnt down on Friday."
PLACES = {"mill": (4, 8), "down": (15, 19), "Friday": (23, 29)}
ASPECT = "consistency"
TASKS = Catalogue.load()
OUTPUTS = ("The 🐕 sat.", "A cat, a cat.", "Übel", "The 🐕 sat.")
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.sampled_from(["anna", "Zoë <b>", "ben; carl", "李"])
ENDINGS = {"rows": "jsonl", "factgenie": "factgenie.jsonl", "mqm": "mqm.tsv"}


def found(word: str, *judges: str) -> ErrorSpan:
    return located(word, PLACES[word][0], explanation="", found_by=judges)


SPANS = (found("mill", "s1"), found("down", "s2"), found("Friday", "s1", "s2"))


def taken(
    word: str, number: int, verdict: Literal["accepted", "edited"] = "accepted", *, run: int = 0
) -> MarkedSpan:
    """Return the span of a number, accepted or edited."""
    start, end = PLACES[word]
    origin = Origin(run=run, span=number)
    return MarkedSpan(start=start, end=end, text=word, verdict=verdict, origin=origin)


def origins(*numbers: int) -> tuple[Origin, ...]:
    return tuple(Origin(run=0, span=number) for number in numbers)


@pytest.fixture
def run(tmp_path: Path) -> MarkedRun:
    """Write four texts for two articles, in each of which judges marked three spans."""
    rows = [
        summary(f"text-{number}", OUTPUT, article=f"Article {number // 2}.", system="bart")
        for number in range(4)
    ]
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = [result(f"text-{number}", scores=(3, 2), spans=SPANS) for number in range(4)]
    return MarkedRun(write_results(tmp_path / "results.jsonl", results), data=data)


def counts(run: MarkedRun) -> Mapping[str, tuple[int, int, int, int]]:
    """Return judge -> spans, accepted, edited, rejected."""
    return {
        one.judge: (one.spans, one.accepted, one.edited, one.rejected)
        for one in judges_spans(run).judges
    }


def done(*spans: MarkedSpan, rejected: tuple[Origin, ...] = ()) -> Mark:
    return Mark(is_done=True, spans=spans, rejected=rejected)


def test_each_judge_has_the_verdicts_on_the_spans_that_it_found(run: MarkedRun) -> None:
    put_marks(
        run,
        {
            ("anna", 0, ASPECT): done(taken("Friday", 2), rejected=origins(0, 1)),
            ("ben", 0, ASPECT): done(taken("Friday", 2, "edited")),
            ("anna", 1, ASPECT): done(rejected=origins(0)),
        },
    )
    assert counts(run) == {"s1": (6, 1, 1, 2), "s2": (6, 1, 1, 1)}


def test_marks_that_are_not_done_or_hold_scores_alone_say_nothing_of_spans(run: MarkedRun) -> None:
    verdict = done(rejected=origins(0))
    put_marks(
        run,
        {
            ("anna", 0, ASPECT): verdict,
            ("anna", 1, ASPECT): Mark(rejected=origins(0)),
            ("anna", 2, ASPECT): Mark(score=3, is_done=True, scores_only=True),
        },
    )
    assert counts(run) == {"s1": (2, 0, 0, 1), "s2": (2, 0, 0, 0)}


def test_a_span_of_a_run_beside_it_counts_where_both_are_at_one_place(run: MarkedRun) -> None:
    elsewhere = Origin(run=1, span=0)
    mark = done(taken("Friday", 5, run=1), rejected=(elsewhere, *origins(1)))
    put_marks(run, {("anna", 0, ASPECT): mark})
    assert counts(run) == {"s1": (2, 1, 0, 0), "s2": (2, 1, 0, 1)}


@pytest.mark.parametrize(
    "mark",
    [done(taken("mill", 1)), done(rejected=origins(3))],
    ids=["another span", "no such span"],
)
def test_verdicts_on_other_results_are_left_out_and_counted(run: MarkedRun, mark: Mark) -> None:
    put_marks(run, {("anna", 0, ASPECT): mark, ("anna", 1, ASPECT): done(rejected=origins(0))})
    assert judges_spans(run).stale == 1
    assert counts(run) == {"s1": (2, 0, 0, 1), "s2": (2, 0, 0, 0)}


def test_marks_without_a_verdict_give_no_share(run: MarkedRun) -> None:
    put_marks(run, {("anna", 0, ASPECT): done()})
    assert judges_spans(run) == ((), 0)


def test_the_command_prints_the_share_with_an_interval(tmp_path: Path, run: MarkedRun) -> None:
    put_marks(
        run,
        {
            ("anna", number, ASPECT): done(
                taken("Friday", 2), rejected=origins(0, 1) if number == 3 else ()
            )
            for number in range(4)
        },
    )
    command = ("marks", "agreement", "results.jsonl", "--data", "texts.jsonl")
    shown = call(tmp_path, *command, "--json")
    first, second = json.loads(shown.stdout)["judges"]
    assert first.pop("kept") == pytest.approx(second.pop("kept"))
    assert first == {
        "aspect": ASPECT,
        "judge": "s1",
        "spans": 8,
        "judged": 5,
        "accepted": 4,
        "edited": 0,
        "rejected": 1,
        "sources": 2,
    }
    assert second["judge"] == "s2"

    table = call(tmp_path, *command)
    assert "Judges' spans that people keep" in table.stdout
    assert ".80" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 80
    assert "agreement needs two annotators" in table.stderr


def test_every_severity_that_judges_know_has_an_example() -> None:
    report = guideline([TASKS.aspect("summarization", "consistency")])
    severities = tables_of(report)["Severity of an error"].to_dicts()
    assert [row["severity"] for row in severities] == ["1", "2", "3", "4", "5"]
    assert severities[0]["meaning"] == "a reader would hardly notice"
    assert all(all(row.values()) for row in severities)


def test_every_aspect_of_every_task_is_explained() -> None:
    for task in TASKS.tasks():
        aspects = TASKS.aspects(task.name)
        page = report_markdown(guideline(aspects))
        for aspect in aspects:
            assert f"## {aspect.spoken.capitalize()}" in page
            for sentence in (aspect.worst, aspect.best, *aspect.confusable):
                assert " ".join(sentence.split()) in page.replace("\\", "")


def test_the_criteria_of_a_rubric_stand_in_its_place() -> None:
    rubric = Rubric.of({"name": "shop", "criteria": [{"text": "Every price is in euros"}]})
    aspect = TASKS.with_rubric(rubric).aspect("summarization", rubric.aspect)
    tables = tables_of(guideline([aspect]))
    assert list(tables)[1:] == ['"Every price is in euros"']


def test_a_guideline_needs_an_aspect() -> None:
    with pytest.raises(ConfigError, match="needs an aspect"):
        guideline([])


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


@pytest.mark.heavy
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


@pytest.mark.parametrize("about", [{}, {"aspect": "fluency"}])
def test_who_scored_a_text_and_marked_nothing_in_it_disagrees_with_who_marked_an_error(
    tmp_path: Path, about: dict[str, str]
) -> None:
    dog = {"start": 4, "end": 7, "text": "dog", "annotator": "ben", **about}
    row: dict[str, object] = {"id": "text-0", "output": "The dog sat.", "spans": [dog]}
    row["human"] = {"fluency": {"anna": 5, "ben": 2}}
    run, done = taken_in(tmp_path, row)
    assert (done.marks, done.unmatched) == (2, [])
    (aspect,) = people_agreement(run).aspects
    (pair,) = aspect.spans
    assert ((pair.first, pair.second, pair.texts), aspect.shared) == (("anna", "ben", 1), 1)
    assert pair.figures["characters.micro"].value == 0


def test_who_is_not_among_the_readers_of_a_row_only_scored_it(tmp_path: Path) -> None:
    dog = {"start": 4, "end": 7, "text": "dog", "annotator": "ben"}
    row: dict[str, object] = {"id": "text-0", "output": "The dog sat.", "spans": [dog]}
    row |= {"human": {"fluency": {"anna": 5, "ben": 2}}, "meta": {"annotators": ["ben"]}}
    run, _ = taken_in(tmp_path, row)
    looked = {each.annotator: not each.mark.scores_only for each in read_readings(run).readings}
    assert looked == {"anna": False, "ben": True}


def test_a_field_of_another_kind_under_the_name_of_readings_is_no_reading(tmp_path: Path) -> None:
    readings = [7, "ab", ["anna"], ["anna", "fluency"]]
    row: dict[str, object] = {"id": "text-0", "output": "The dog sat.", "readings": readings}
    _, done = taken_in(tmp_path, row)
    assert (done.marks, done.unmatched) == (1, [])


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


@pytest.mark.parametrize("spans", [[], [{"start": 0, "end": 3}]])
@pytest.mark.parametrize(
    ("scored", "flag", "looked"),
    [
        (["fluency"], {}, ["fluency"]),
        (["fluency", "consistency"], {}, []),
        (["fluency", "consistency"], {"aspect": "fluency"}, ["fluency"]),
        (["fluency"], {"aspect": "consistency"}, ["consistency"]),
    ],
)
def test_errors_and_their_absence_without_an_aspect_are_treated_alike(
    tmp_path: Path, spans: list[object], scored: list[str], flag: dict[str, str], looked: list[str]
) -> None:
    human = {aspect: {"anna": 4} for aspect in scored}
    row = {"id": "text-0", "output": "The dog sat.", "human": human, "spans": spans}
    run, done = taken_in(tmp_path, {**row, "meta": {"annotators": ["anna"]}}, **flag)
    found = {one.aspect: one.mark for one in read_readings(run).readings}
    assert {*found} == {*scored, *looked}
    assert [name for name, mark in found.items() if not mark.scores_only] == looked
    assert [len(found[name].spans) for name in looked] == [len(spans)] * len(looked)
    assert ["the aspect is missing" in one for one in done.unmatched] == [True] * (not looked)


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
