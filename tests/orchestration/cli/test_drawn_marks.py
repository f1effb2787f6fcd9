"""Marks of a drawn sample, and the inputs of texts, in every command that reads people's marks."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.marked_runs import put_marks
from fakes.result_files import result, write_results
from fakes.rows import summary

from spanjury import exams
from spanjury.orchestration.services.people.marked_texts import (
    MarkedSource,
    read_marked,
    read_unmarked,
)
from spanjury.orchestration.services.people.marks.mark import Mark
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun

TEXTS, DRAWN = 40, 24
ASPECT = "consistency"
RUN = ("results.jsonl", "--data", "texts.jsonl")
STUDY = ("panel", "study", *RUN, "--draws", "0")
CASCADE = ("panel", "cascade", *RUN, "--draws", "0", "--stage", "s1", "--stage", "s2")
CALIBRATE = ("calibrate", *RUN, "--draws", "100")
META = ("meta", *RUN, "--draws", "0", "--no-progress", "--level", "pooled")
RANK = ("rank", *RUN)
ALL = pytest.mark.parametrize(
    "command", [STUDY, CASCADE, CALIBRATE, META, RANK], ids=lambda words: " ".join(words[:2])
)


def score(number: int) -> int:
    """Return what people say of a text: most are good."""
    return (5, 5, 5, 5, 4, 5, 2, 5, 3, 1)[number % 10]


def row(number: int, **more: object) -> dict[str, object]:
    """Return a text: each article has one of two systems."""
    system = ("ant", "bee")[number % 2]
    return {
        **summary(f"text-{number}", "", article=f"Article {number // 2}.", system=system),
        **more,
    }


def write(path: Path, rows: Iterable[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


@pytest.fixture
def run(tmp_path: Path) -> MarkedRun:
    """Write texts, and what two seats said of them."""
    write(tmp_path / "texts.jsonl", map(row, range(TEXTS)))
    results = [
        result(
            f"text-{number}",
            system=("ant", "bee")[number % 2],
            aspect=ASPECT,
            scores=[score(number), max(1, score(number) - number % 3)],
        )
        for number in range(TEXTS)
    ]
    averaged = [replace(one, report=replace(one.report, aggregation="mean")) for one in results]
    write_results(tmp_path / "results.jsonl", averaged)
    return MarkedRun(tmp_path / "results.jsonl", data=tmp_path / "texts.jsonl")


def mark(run: MarkedRun, numbers: Iterable[int]) -> None:
    marks = {("anna", one, ASPECT): Mark(score=score(one), is_done=True) for one in numbers}
    put_marks(run, marks)


def draw(folder: Path) -> dict[int, float]:
    """Draw a sample; return the number of each text in it -> its chance."""
    call(folder, "sample", *RUN, "-n", str(DRAWN), "-o", "s.jsonl")
    rows = [json.loads(line) for line in (folder / "s.jsonl").read_text().splitlines()]
    return {int(one["id"][5:]): one["meta"]["sampling"]["inclusion"] for one in rows}


def said(folder: Path, *command: str) -> str:
    """Return all that a command prints, in one line."""
    done = call(folder, *command)
    return " ".join(f"{done.stdout} {done.stderr}".split())


@ALL
def test_marks_outside_a_sample_are_left_out_and_counted(
    tmp_path: Path, run: MarkedRun, command: tuple[str, ...]
) -> None:
    drawn = draw(tmp_path)
    outside = [one for one in range(TEXTS) if one not in drawn][:2]
    mark(run, [*drawn, *outside])
    words = said(tmp_path, *command, "--sample", "s.jsonl")
    assert "2 marked texts are left out: others have a chance" in words
    assert "are left out: others" not in said(tmp_path, *command)
    if command is not RANK:  # whose estimates weigh texts by their chances
        weights = [1 / one for one in drawn.values()]
        effective = sum(weights) ** 2 / sum(one**2 for one in weights)
        assert f"{DRAWN} texts were drawn for people with different chances" in words
        assert f"would rest on about {effective:.0f} texts" in words


@ALL
def test_a_sample_of_other_texts_is_refused_in_a_line(
    tmp_path: Path, run: MarkedRun, command: tuple[str, ...]
) -> None:
    drawn = draw(tmp_path)
    mark(run, [one for one in range(TEXTS) if one not in drawn])
    done = call(tmp_path, *command, "--sample", "s.jsonl", code=1)
    assert "no marked text is in s.jsonl" in complaint(done.stderr)


def test_a_mark_has_the_chance_that_the_sample_names(tmp_path: Path, run: MarkedRun) -> None:
    drawn = draw(tmp_path)
    outside = next(one for one in range(TEXTS) if one not in drawn)
    mark(run, [*drawn, outside])
    results, data = tmp_path / "results.jsonl", tmp_path / "texts.jsonl"
    found = read_marked(MarkedSource(results=(results,), sample=tmp_path / "s.jsonl", data=data))
    assert {int(one.row.id[5:]): one.chance for one in found.marked} == drawn
    (left,) = found.left_out
    assert (left.row.id, left.human) == (f"text-{outside}", score(outside))
    assert all(
        one.chance is None for one in read_marked(MarkedSource(results=(results,), data=data)).texts
    )


def test_chances_in_peoples_rows_need_no_sample(tmp_path: Path, run: MarkedRun) -> None:
    chance = {"meta": {"sampling": {"inclusion": 0.5}}}
    human = {"human": {ASPECT: 3}}
    rows = [row(number, **human, **(chance if number < 6 else {})) for number in range(8)]
    write(tmp_path / "human.jsonl", rows)
    found = read_marked(
        MarkedSource(results=(tmp_path / "results.jsonl",), human=tmp_path / "human.jsonl")
    )
    assert [one.chance for one in found.marked] == [0.5] * 6
    assert [one.row.id for one in found.left_out] == ["text-6", "text-7"]
    assert "2 marked texts are left out: others have a chance" in " ".join(found.notes())


def test_a_run_of_drawn_texts_keeps_chances_for_its_marks(tmp_path: Path, run: MarkedRun) -> None:
    chances = {f"text-{number}": 1 / (1 + number % 3) for number in range(TEXTS)}
    rows = [
        row(number, meta={"sampling": {"inclusion": chances[f"text-{number}"]}})
        for number in range(TEXTS)
    ]
    write(tmp_path / "texts.jsonl", rows)
    mark(run, range(9))
    found = read_marked(
        MarkedSource(results=(tmp_path / "results.jsonl",), data=tmp_path / "texts.jsonl")
    )
    assert [one.chance for one in found.marked] == pytest.approx([1, 1 / 2, 1 / 3] * 3)


@pytest.mark.parametrize("command", [STUDY, CALIBRATE], ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("header", ["", "Prompt"])
def test_texts_that_the_run_judged_say_what_is_of_one_article(
    tmp_path: Path, run: MarkedRun, command: tuple[str, ...], header: str
) -> None:
    rows = [
        row(
            number,
            inputs={header: f"Read {number}."} if header else {},
            human={ASPECT: score(number)},
        )
        for number in range(TEXTS)
    ]
    write(tmp_path / "human.jsonl", rows)
    known = call(tmp_path, *command, "--human", "human.jsonl", "--json")
    (about,) = json.loads(known.stdout)["aspects"]
    assert about["sources"] == TEXTS // 2
    assert "they have no input id" not in known.stdout


@pytest.mark.parametrize(
    "command", [STUDY, CALIBRATE, CASCADE, RANK], ids=lambda words: " ".join(words[:2])
)
def test_texts_without_an_input_are_reported_once(
    tmp_path: Path, run: MarkedRun, command: tuple[str, ...]
) -> None:
    rows = [row(number, inputs={}, human={ASPECT: score(number)}) for number in range(TEXTS)]
    write(tmp_path / "human.jsonl", rows)
    without = [one for one in command if one not in {"--data", "texts.jsonl"}]
    words = said(tmp_path, *without, "--human", "human.jsonl")
    assert words.count("they have no input id, so each id counts as one input") == 1


def test_a_run_without_marks_has_the_inputs_of_its_texts(tmp_path: Path, run: MarkedRun) -> None:
    results = tmp_path / "results.jsonl"
    found = read_unmarked(results, data=tmp_path / "texts.jsonl")
    assert len({one.source for one in found.texts}) == TEXTS // 2
    assert not [*found.notes()]
    (note,) = read_unmarked(results).notes()
    assert note.startswith("40 texts: they have no input id")


def test_a_study_weighs_agreement_on_all_texts_by_chances(tmp_path: Path, run: MarkedRun) -> None:
    drawn = draw(tmp_path)
    mark(run, drawn)
    words = said(tmp_path, *STUDY, "--sample", "s.jsonl")
    # s1 says what people say, so that it agrees wholly, whatever texts weigh.
    assert "weighed by the chances, as an estimate for all texts, the mean of all seats" in words
    assert "alone, s1 by 1.000, s2 by 0." in words
    by_pairs = said(tmp_path, *STUDY, "--sample", "s.jsonl", "--correlation", "tau-b")
    assert "drawn for people with different chances" in by_pairs
    assert "as an estimate for all texts" not in by_pairs


def test_python_and_the_command_measure_the_same_texts(tmp_path: Path, run: MarkedRun) -> None:
    drawn = draw(tmp_path)
    rows = [row(number, human={ASPECT: score(number)}) for number in range(TEXTS)]
    write(tmp_path / "human.jsonl", rows)
    human, sample = tmp_path / "human.jsonl", tmp_path / "s.jsonl"
    found = exams.meta(
        tmp_path / "results.jsonl", human=human, sample=sample, draws=0, level="pooled"
    )
    flags = ("--human", "human.jsonl", "--sample", "s.jsonl", "--json")
    shown = json.loads(call(tmp_path, *META, *flags).stdout)
    assert [one.items for one in found.result.agreements] == [len(drawn)] * 3
    assert shown["notes"] == list(found.result.notes)
    assert shown["notes"][0].startswith(f"{TEXTS - DRAWN} marked texts are left out")
    assert shown["agreements"] == json.loads(json.dumps(found.values["agreements"]))
