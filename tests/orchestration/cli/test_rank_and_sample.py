"""`spanjury rank` and `spanjury sample`, from files to tables, rows and pages."""

import importlib
import json
from collections.abc import Callable, Iterable
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

SOURCE = "The mill by the river {} burnt down on Monday night. No one was hurt. It cost {} euros."
GOOD, BAD = "The mill by the river {} burnt down on Monday.", "The mill by the {} burnt on Friday."
INPUTS = 12
Judge = Callable[[list[dict[str, object]], str], None]
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


def row(system: str, number: int, *, output: str) -> dict[str, object]:
    return summary(
        f"{system}-{number}",
        output.format(f"Aar{number}"),
        article=SOURCE.format(f"Aar{number}", 100 + number),
        system=system,
    )


def write(path: Path, rows: Iterable[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


def rows() -> list[dict[str, object]]:
    """Return the outputs of two systems, the second of which errs in every second text."""
    return [
        row(system, number, output=BAD if system == "bee" and number % 2 else GOOD)
        for number in range(INPUTS)
        for system in ("ant", "bee")
    ]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return what judges rows in a run of a name."""

    def judged(texts: list[dict[str, object]], name: str) -> None:
        write(tmp_path / f"{name}.jsonl", texts)
        flags = ("--judge", "grounding", "--judge", "form", "--aspect", "consistency")
        call(tmp_path, "evaluate", f"{name}.jsonl", *flags, "--run-dir", name, "--no-progress")

    return judged


def scored(texts: list[dict[str, object]], *, every: int = 1) -> list[dict[str, object]]:
    """Return every so manieth row with people's score: 2 where the day is wrong, else 5."""
    return [
        {**one, "human": {"consistency": 2 if "Friday" in str(one["output"]) else 5}}
        for one in texts[::every]
    ]


def test_rank_by_judges_alone_says_so(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    done = call(tmp_path, "rank", "run")
    assert "people scored no text" in " ".join(done.stdout.split())
    assert done.stdout.index("ant") < done.stdout.index("bee")


def test_rank_with_people_s_scores_writes_pages_and_json(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    write(tmp_path / "human.jsonl", scored(rows()))
    call(tmp_path, "rank", "run", "--human", "human.jsonl", "-o", "out")
    (aspect,) = json.loads((tmp_path / "out" / "ranking.json").read_text())["aspects"]
    assert aspect["basis"] == "people and judges"
    assert [one["system"] for one in aspect["systems"]] == ["ant", "bee"]
    assert [one["powered"]["plain"] for one in aspect["systems"]] == [5, 3.5]
    (pair,) = aspect["pairs"]
    assert (pair["judged"]["inputs"], pair["powered"]["marked"]) == (INPUTS, 2 * INPUTS)
    assert "people and judges" in (tmp_path / "out" / "ranking.html").read_text()


def test_rank_and_calibrate_agree_on_which_texts_are_marked(tmp_path: Path) -> None:
    write(tmp_path / "texts.jsonl", rows())
    flags = ("--judge", "grounding", "--judge", "form", "--run-dir", "run", "--no-progress")
    call(tmp_path, "evaluate", "texts.jsonl", *flags)
    spans = [{"start": 0, "end": 3, "text": "The"}]
    write(tmp_path / "human.jsonl", [{**one, "spans": spans} for one in scored(rows())])
    human = ("run", "--human", "human.jsonl")

    found = json.loads(call(tmp_path, "rank", *human, "--json").stdout)
    assert [one["aspect"] for one in found["aspects"] if one["marked"]] == ["consistency"]
    done = call(tmp_path, "calibrate", *human, "--draws", "100", "--rate", "0.3", "--json")
    assert [one["aspect"] for one in json.loads(done.stdout)["aspects"]] == ["consistency"]

    fluent = ("--aspect", "fluency")
    said = complaint(call(tmp_path, "calibrate", *human, *fluent, code=2).stderr)
    assert said == "no one marked fluency; marked: consistency"


def test_marks_outside_a_sample_count_on_no_aspect(tmp_path: Path) -> None:
    write(tmp_path / "texts.jsonl", rows())
    flags = ("--judge", "grounding", "--judge", "form", "--run-dir", "run", "--no-progress")
    call(tmp_path, "evaluate", "texts.jsonl", *flags)
    drawn, other = {"meta": {"sampling": {"inclusion": 0.5}}}, {"human": {"fluency": 4}}
    first, second = scored(rows())[:12], rows()[12:]
    human = [*({**one, **drawn} for one in first), *({**one, **other} for one in second)]
    write(tmp_path / "human.jsonl", human)

    found = json.loads(call(tmp_path, "rank", "run", "--human", "human.jsonl", "--json").stdout)
    marked = {one["aspect"]: (one["marked"], one["without_chance"]) for one in found["aspects"]}
    assert marked == {"consistency": (12, 0), "fluency": (0, 12)}
    source = MarkedSource(results=(tmp_path / "run",), human=tmp_path / "human.jsonl")
    for aspects in ((), ("fluency", "consistency"), ("consistency",)):
        read = read_marked(replace(source, aspects=aspects))
        assert {text.row.aspect for text in read.marked} == {"consistency"}


def test_runs_of_a_system_each_are_ranked_by_their_names(tmp_path: Path, judge: Judge) -> None:
    nameless = [{**one, "system": "", "id": str(one["id"])[4:]} for one in rows()]
    judge(nameless[::2], "first")
    judge(nameless[1::2], "second")
    done = call(tmp_path, "rank", "first", "second", "--json")
    (aspect,) = json.loads(done.stdout)["aspects"]
    assert [one["system"] for one in aspect["systems"]] == ["first", "second"]
    assert aspect["pairs"][0]["judged"]["inputs"] == INPUTS


def test_one_file_of_people_s_scores_serves_two_runs(tmp_path: Path, judge: Judge) -> None:
    judge(rows()[::2], "first")
    judge(rows()[1::2], "second")
    write(tmp_path / "human.jsonl", scored(rows()))
    command = ("rank", "first", "second", "--human", "human.jsonl")
    assert json.loads(call(tmp_path, *command, "--json").stdout)["people"] == "human.jsonl"
    said = " ".join(call(tmp_path, *command).stdout.split())
    assert "The two systems are shown to differ." in said
    assert "people's scores alone, because people scored all 24 texts." in said
    assert "consistency: adjacent systems" in said


def test_marks_of_the_view_are_people_s_scores(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    run = MarkedRun(tmp_path / "run")
    marks = {("anna", number, "consistency"): Mark(score=5, is_done=True) for number in range(8)}
    put_marks(run, marks)
    done = call(tmp_path, "rank", "run", "--json")
    (aspect,) = json.loads(done.stdout)["aspects"]
    assert aspect["marked"] == 8
    assert not aspect["is_weighted"]


def test_a_sample_marked_in_the_view_counts_by_its_chances(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    drawn = call(tmp_path, "sample", "run", "-n", "8", "--for", "calibration", "-o", "s.jsonl")
    assert "spanjury view run --rows s.jsonl" in drawn.stderr
    assert "score: part 1 of" in drawn.stdout
    sample = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    page = call(tmp_path, "view", "run", "--rows", "s.jsonl", "--html", "p.html")
    assert "8 of 8 results" in page.stderr
    run = MarkedRun(tmp_path / "run")
    names = [text.segment.segment_id for text in run.texts]
    numbers = [names.index(one["id"]) for one in sample]
    put_marks(run, {("a", one, "consistency"): Mark(score=4, is_done=True) for one in numbers})
    put_marks(run, {("a", 23, "consistency"): Mark(score=1, is_done=True)})
    done = call(tmp_path, "rank", "run", "--sample", "s.jsonl", "--json")
    (aspect,) = json.loads(done.stdout)["aspects"]
    assert aspect["is_weighted"]
    assert (aspect["marked"], aspect["without_chance"]) == (8, 0 if 23 in numbers else 1)


def test_a_sample_of_texts_whose_ids_end_in_their_system_is_viewed(
    tmp_path: Path, judge: Judge
) -> None:
    texts = [{**text, "id": f"{str(text['id'])[4:]}/{text['system']}"} for text in rows()]
    judge(texts, "run")
    call(tmp_path, "sample", "run", "-n", "8", "--for", "calibration", "-o", "s.jsonl")
    page = call(tmp_path, "view", "run", "--rows", "s.jsonl", "--html", "p.html")
    assert "8 of 8 results" in page.stderr


def test_sampled_rows_are_those_of_the_data_with_their_chance(tmp_path: Path, judge: Judge) -> None:
    texts = [{**one, "meta": {"doc_id": one["id"]}} for one in rows()]
    judge(texts, "run")
    call(tmp_path, "sample", "run", "-n", "10", "--for", "audit", "-o", "s.jsonl")
    sample = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    known = {str(one["id"]): one for one in texts}
    for one in sample:
        about = one["meta"].pop("sampling")
        assert one == known[one["id"]]
        assert 0 < about["inclusion"] <= 1
        assert (about["for"], about["seed"], about["of"]) == ("audit", 1, 24)


def test_meta_says_that_a_sample_is_not_all_texts(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    chances = [{"meta": {"sampling": {"inclusion": 1 / (1 + place % 2)}}} for place in range(24)]
    sample = [{**one, **about} for one, about in zip(scored(rows()), chances, strict=True)]
    write(tmp_path / "sample.jsonl", sample)
    write(tmp_path / "all.jsonl", scored(rows()))
    for name, is_said in (("sample", True), ("all", False)):
        flags = ("--draws", "0", "--no-progress")
        done = call(tmp_path, "meta", "run", "--human", f"{name}.jsonl", *flags)
        said = " ".join(done.stdout.split())
        assert ("24 texts were drawn for people with different chances" in said) == is_said


def test_bad_input_of_a_rank_is_one_clear_line(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    judge(rows()[::2], "one")
    write(tmp_path / "other.jsonl", [{**one, "human": {"style": 3}} for one in rows()])
    changed = [{**one, "output": f"{one['output']} Indeed."} for one in scored(rows())]
    write(tmp_path / "changed.jsonl", changed)
    said = {
        ("one",): "one system only, 'ant'",
        ("run", "one"): "was judged twice",
        ("run", "--aspect", "fluency"): "fluency was not judged; judged: consistency",
        ("run", "--human", "other.jsonl"): "people marked style",
        ("run", "--human", "changed.jsonl"): "other versions",
        ("run", "--sample", "other.jsonl"): "no meta.sampling",
        ("none",): "none",
    }
    for flags, words in said.items():
        assert words in complaint(call(tmp_path, "rank", *flags, code={1, 2}).stderr), flags


def test_few_marks_disagreement_and_other_scales_are_reported(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    write(tmp_path / "few.jsonl", scored(rows())[:4])
    people = [
        {**one, "human": {"consistency": {"ann": place % 2 / 2, "bob": 0.5 - place % 2 / 2}}}
        for place, one in enumerate(rows())
    ]
    write(tmp_path / "people.jsonl", people)
    few = call(tmp_path, "rank", "run", "--human", "few.jsonl")
    assert "people scored only 4 texts of the 5 needed" in " ".join(few.stdout.split())
    notes = json.loads(call(tmp_path, "rank", "run", "--human", "people.jsonl", "--json").stdout)
    assert any("no better than by chance" in one for one in notes["notes"])
    assert any("from 0 to 0.5" in one for one in notes["notes"])


def test_bad_input_of_a_sample_is_one_clear_line(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    said = {
        ("-n", "25", "-o", "s.jsonl"): "cannot sample 25 texts: ",
        ("-n", "25", "-o", "s.csv"): "rows are written as JSON Lines",  # before a text is read
        ("-n", "5", "--aspect", "fluency", "-o", "s.jsonl"): "fluency was not judged",
        ("-n", "5", "-o", "run.jsonl"): "is the file that is read",
        ("-n", "5", "--for", "disagreement", "-o", "s.jsonl"): "scored by two seats",
    }
    for flags, words in said.items():
        done = call(tmp_path, "sample", "run", *flags, code={1, 2})
        assert words in complaint(done.stderr), flags
    assert not (tmp_path / "s.jsonl").exists()


def test_a_view_of_rows_that_are_not_in_the_run_says_so(tmp_path: Path, judge: Judge) -> None:
    judge(rows(), "run")
    write(tmp_path / "strange.jsonl", [row("cow", 1, output=GOOD)])
    done = call(tmp_path, "view", "run", "--rows", "strange.jsonl", "--html", "p.html", code=1)
    assert "no text of run is among the rows to show" in complaint(done.stderr)


def test_the_benchmarks_hide_marks_and_compare_with_all(
    tmp_path: Path,
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    judge(rows(), "run")
    write(tmp_path / "human.jsonl", scored(rows()))
    monkeypatch.syspath_prepend(Path(__file__).parents[3])
    files = (str(tmp_path / "run"), "--human", str(tmp_path / "human.jsonl"), "--draws", "3")

    few = importlib.import_module("benchmarks.marked_few")
    monkeypatch.setattr("sys.argv", ["marked_few", *files, "--marks", "12"])
    few.main()
    said = capsys.readouterr().out
    assert "consistency: 12 marks of 24 texts, 3 draws" in said
    figures = dict(line.strip().rsplit(maxsplit=1) for line in said.splitlines()[1:])
    assert figures["judges alone: pairs shown to differ, rightly"] == "1.000"
    assert figures["judges alone: pairs shown to differ, wrongly"] == "0.000"

    sampled = importlib.import_module("benchmarks.sampled_marks")
    monkeypatch.setattr(sampled, "SIZES", (24,))
    monkeypatch.setattr("sys.argv", ["sampled_marks", *files, "--aspect", "consistency"])
    sampled.main()
    said = capsys.readouterr().out
    assert "24 texts, mean 4.250, 6 below" in said  # 18 of 5 and 6 of 2
    plain = next(line.split() for line in said.splitlines() if line.startswith("random"))
    assert plain[:5] == ["random", "24", "4.250", "0.000", "1.00"]

    agreeing = importlib.import_module("benchmarks.sampled_agreement")
    monkeypatch.setattr(agreeing, "SIZES", (24,))
    monkeypatch.setattr("sys.argv", ["sampled_agreement", *files, "--aspect", "consistency"])
    agreeing.main()
    first, _, *kinds = capsys.readouterr().out.splitlines()
    whole = first.removeprefix("24 texts, rho ")
    assert 0 < float(whole) <= 1
    for line in kinds[:1]:  # all texts are drawn
        assert line.split() == ["calibration", "24", whole, "0.000", whole, "0.000", "1.00"]


def score(number: int) -> int:
    """Return what people say of a text: most are good."""
    return (5, 5, 5, 5, 4, 5, 2, 5, 3, 1)[number % 10]


def text_row(number: int, **more: object) -> dict[str, object]:
    """Return a text: each article has one of two systems."""
    system = ("ant", "bee")[number % 2]
    return {
        **summary(f"text-{number}", "", article=f"Article {number // 2}.", system=system),
        **more,
    }


@pytest.fixture
def run(tmp_path: Path) -> MarkedRun:
    """Write texts, and what two seats said of them."""
    write(tmp_path / "texts.jsonl", map(text_row, range(TEXTS)))
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


@pytest.mark.heavy
@ALL
def test_marks_outside_a_sample_are_left_out_and_counted(
    tmp_path: Path, run: MarkedRun, command: tuple[str, ...]
) -> None:
    drawn = draw(tmp_path)
    outside = [one for one in range(TEXTS) if one not in drawn][:2]
    mark(run, [*drawn, *outside])
    words = said(tmp_path, *command, "--sample", "s.jsonl")
    assert "2 marked texts are left out: other texts have a chance" in words
    assert "are left out: other texts" not in said(tmp_path, *command)
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
    rows = [text_row(number, **human, **(chance if number < 6 else {})) for number in range(8)]
    write(tmp_path / "human.jsonl", rows)
    found = read_marked(
        MarkedSource(results=(tmp_path / "results.jsonl",), human=tmp_path / "human.jsonl")
    )
    assert [one.chance for one in found.marked] == [0.5] * 6
    assert [one.row.id for one in found.left_out] == ["text-6", "text-7"]
    assert "2 marked texts are left out: other texts have a chance" in " ".join(found.notes())


def test_a_run_of_drawn_texts_keeps_chances_for_its_marks(tmp_path: Path, run: MarkedRun) -> None:
    chances = {f"text-{number}": 1 / (1 + number % 3) for number in range(TEXTS)}
    rows = [
        text_row(number, meta={"sampling": {"inclusion": chances[f"text-{number}"]}})
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
        text_row(
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
    rows = [text_row(number, inputs={}, human={ASPECT: score(number)}) for number in range(TEXTS)]
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


@pytest.mark.heavy
def test_a_study_weighs_agreement_on_all_texts_by_chances(tmp_path: Path, run: MarkedRun) -> None:
    drawn = draw(tmp_path)
    mark(run, drawn)
    words = said(tmp_path, *STUDY, "--sample", "s.jsonl")
    # s1 says what people say, so that it agrees wholly, whatever texts weigh.
    assert "estimated for all texts, weighted by their chances, the agreement of all seats" in words
    assert "of single seats: s1 1.000, s2 0." in words
    by_pairs = said(tmp_path, *STUDY, "--sample", "s.jsonl", "--correlation", "tau-b")
    assert "drawn for people with different chances" in by_pairs
    assert "estimated for all texts" not in by_pairs


def test_python_and_the_command_measure_the_same_texts(tmp_path: Path, run: MarkedRun) -> None:
    drawn = draw(tmp_path)
    rows = [text_row(number, human={ASPECT: score(number)}) for number in range(TEXTS)]
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
