"""Exams from Python: the same findings as the commands', in hand."""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
import pandas as pd
import pytest
from fakes.command import call
from fakes.judges import FixedJudge
from fakes.processes import completed
from fakes.viewed_runs import open_run
from loopback.answers import chat
from loopback.server import LoopbackServer

import spanjury
from spanjury import exams
from spanjury.judges.core import ConfigError, DataError, Report, RunStoppedError
from spanjury.orchestration.engine.progress import Progress
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.judging.exam_texts import TWINS
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

GOOD = chat("No Error\n\nOverall score: Good\nExplanation of the score: It is fine.")
FLUENCY = ("--aspect", "fluency", "--no-progress")
Study = Callable[[object], exams.StudyReport[object]]
PEOPLE, RESULTS = "people.jsonl", "results.jsonl"
ROWS = [
    {
        "id": f"{system}-{number}",
        "system": system,
        "inputs": {"Article": f"The bridge opened in {1900 + number}. It has three lanes."},
        "output": f"The bridge opened in {1900 + number + late}.",
        "human": {"consistency": {"ann": 2 if late else 5 - number % 2}},
    }
    for number in range(12)
    for system, late in (("careful", 0), ("hasty", 3))
]
COMMANDS: dict[str, tuple[tuple[str, ...], Study]] = {
    "calibrate": (
        ("calibrate", "--draws", "100", "--rate", "0.3", "-o", "by-command.toml"),
        lambda human: exams.calibrate(
            RESULTS, human=human, draws=100, rate=0.3, output="from-python.toml"
        ),
    ),
    "study": (
        ("panel", "study", "--draws", "20", "--cost", "seconds"),
        lambda human: exams.panel_study(RESULTS, human=human, draws=20, cost="seconds"),
    ),
    "cascade": (
        ("panel", "cascade", "--draws", "0", "--cost", "seconds", "--write", "by-command.toml"),
        lambda human: exams.panel_cascade(
            RESULTS, human=human, draws=0, cost="seconds", output="from-python.toml"
        ),
    ),
    "rank": (("rank",), lambda human: exams.rank(RESULTS, human=human)),
}


def demo(count: int) -> list[spanjury.Segment]:
    return [*islice(spanjury.read_segments(exams.DEMO), count)]


def texts_in(folder: Path) -> dict[str, str]:
    """Return what a folder holds, without the memory of the run and pictures."""
    return {
        path.name: path.read_text("utf-8")
        for path in folder.iterdir()
        if path.suffix in {".md", ".json", ".jsonl"}
    }


@pytest.mark.parametrize(
    ("command", "options", "exam"),
    [
        (
            ("exam", "robustness"),
            ("--limit", "2", "--attack", "authority", "--seed", "3", *FLUENCY),
            lambda data: exams.robustness(
                data, judges="form", attacks="authority", aspects="fluency", limit=2, seed=3
            ),
        ),
        (
            ("exam", "faithfulness"),
            ("--limit", "2", *FLUENCY),
            lambda data: exams.faithfulness(data, judges="form", aspects="fluency", limit=2),
        ),
        (
            ("exam", "discernment"),
            ("--limit", "2", "--recipe", "bias", *FLUENCY),
            lambda data: exams.discernment(
                data, judges="form", recipe="bias", aspects="fluency", limit=2
            ),
        ),
        (
            ("bench", "spans"),
            ("--draws", "20", *FLUENCY),
            lambda data: exams.span_bench(data, judges="form", draws=20, aspects="fluency"),
        ),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_a_report_saves_what_the_command_writes(
    command: tuple[str, ...],
    options: tuple[str, ...],
    exam: Callable[[Path], exams.StudyReport[object]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = tmp_path / "texts.jsonl"
    exams.perturb(exams.DEMO, recipe="flaws", limit=2).save(data)
    call(
        tmp_path,
        *command,
        str(data),
        "--judge",
        "form",
        *options,
        "-o",
        str(tmp_path / "by-command"),
    )
    capsys.readouterr()
    report = exam(data)
    written = report.save(tmp_path / "from-python")
    assert capsys.readouterr() == ("", "")
    assert texts_in(tmp_path / "from-python") == texts_in(tmp_path / "by-command")
    report.save_page(tmp_path / "alone.html")
    assert (tmp_path / "alone.html").read_bytes() == (
        tmp_path / "by-command" / "report.html"
    ).read_bytes()
    assert {path.suffix for path in written} >= {".md", ".html", ".json", ".jsonl"}
    with open_run(tmp_path / "from-python") as view:
        details = json.loads(msgspec.json.encode(view.details(range(view.rows))))
        assert view.notes() == []
        assert all(row["text"] is not None for row in details["rows"])
    assert json.loads(report.to_json()) == json.loads(
        (tmp_path / "by-command" / "findings.json").read_text("utf-8")
    )


def test_tables_are_rows_that_a_data_frame_takes() -> None:
    report = exams.robustness(
        demo(2), judges="form", attacks=["authority-claim"], aspects="fluency"
    )
    assert [*pd.DataFrame(report.tables["By judge"].to_dicts())["judge"]] == ["whole panel"]
    measure = report.measures["robustness.attack_success"]
    assert measure.value == report.to_dict()["card"]["measures"][0]["value"]  # type: ignore[index]
    assert repr(report).startswith("<StudyReport 'Robustness': robustness.attack_success ")
    assert report.to_markdown().startswith("# Robustness\n")
    shown = report._repr_html_()
    assert shown.startswith("<article>")
    assert "<style" not in shown
    assert "<html" not in shown


def test_texts_are_the_same_from_a_file_as_rows_as_segments_and_in_a_data_frame() -> None:
    rows = [
        {"id": one.segment_id, "task": one.task, "inputs": one.inputs, "output": one.output}
        for one in demo(2)
    ]
    frame = pd.DataFrame(
        {"id": row["id"], "task": row["task"], "summary": row["output"]} for row in rows
    )

    def scores(data: object, columns: tuple[str, ...] = ()) -> Sequence[ScoreRow]:
        report = exams.robustness(
            data,
            judges="form",
            attacks="authority-claim",
            aspects="fluency",
            limit=2,
            columns=columns,
        )
        assert report.scores is not None
        return report.scores.rows

    whole = scores(exams.DEMO)
    assert scores(rows) == scores(demo(5)) == whole
    # A judge of fluency reads no source, so that a frame without sources is the same to it.
    assert [(row.text, row.clean, row.damaged) for row in scores(frame, ("output=summary",))] == [
        (row.text, row.clean, row.damaged) for row in whole
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "has no rows"),
        (7, "must be rows, a data frame or a path, got int"),
        ([{"task": "summarization"}], "rows, line 1: the row has no output"),
        ([*demo(1), *demo(1)], "rows, line 2: line 1 already has the id .*"),
        ("no-such-file.jsonl", "no-such-file.jsonl"),
    ],
)
def test_texts_that_cannot_be_read_are_errors_of_ours(data: object, message: str) -> None:
    with pytest.raises((DataError, ConfigError), match=message):
        exams.discernment(data, judges="form")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seed": "3"}, "seed must be a whole number or None, got '3'"),
        ({"repeats": 2.5}, "repeats must be a whole number, got 2.5"),
        ({"repeats": True}, "repeats must be a whole number, got True"),
        ({"repeats": 0}, "repeats must be 1 or more, got 0"),
        ({"limit": True}, "limit must be a whole number or None, got True"),
        ({"mode": "papr"}, "mode must be 'calibrated', 'wilson' or 'paper', got 'papr'"),
        ({"weights": {"typos": 3}}, r"weights\['typos'\] must be a dict, got 3"),
        ({"aspects": ["fluency", 3]}, r"aspects\[1\] must be a text or an Aspect, got 3"),
        ({"columns": "output=summary"}, "columns must be a list of texts, got 'output=summary'"),
        ({"limits": 3}, "limits must be a Limits, got 3"),
    ],
)
def test_a_parameter_of_another_type_is_refused_before_a_text_is_judged(
    parameters: dict[str, object], message: str
) -> None:
    judge = FixedJudge(says=AssertionError("it was asked"))
    with pytest.raises(ConfigError, match=f"^{message}$"):
        exams.discernment(demo(1), judges=judge, **parameters)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (1.5, r"rate must be 0\.5 or less, got 1\.5"),
        (Decimal("1.5"), r"rate must be 0\.5 or less, got 1\.5"),
        (math.nan, r"rate must be .*, got nan"),
    ],
)
def test_a_parameter_out_of_its_bounds_is_refused(rate: float, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}$"):
        exams.calibrate("results.jsonl", rate=rate)


def test_each_number_of_a_list_is_within_the_bounds() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Levels:
        levels: Annotated[Sequence[float], Parameter("Levels.", min=0)] = ()

        async def answer(self) -> Sequence[float]:
            return self.levels

    _, levels = from_python(Levels, name="levels")
    assert levels(levels=[0, 0.5]) == [0, 0.5]
    assert levels(levels=iter([0, 0.5])) == (0, 0.5)  # type: ignore[arg-type]  # the point
    with pytest.raises(ConfigError, match=r"^levels must be 0 or more, got -0\.5$"):
        levels(levels=[0.5, -0.5])
    with pytest.raises(ConfigError, match="^levels must be 0 or more, got "):
        levels(levels=np.array([0.5, -0.5]))  # type: ignore[arg-type]  # the point


def test_an_iterator_is_taken_as_a_list_also_without_a_keyword() -> None:
    @dataclass(frozen=True)
    class Names:
        names: Annotated[Sequence[str], Parameter("Names.")]

        async def answer(self) -> Sequence[str]:
            return self.names

    _, names = from_python(Names, name="names")
    assert names(iter("ab")) == ("a", "b")  # type: ignore[arg-type]  # the point


def test_a_judge_of_ones_own_is_examined() -> None:
    judge = FixedJudge(says=Report(score=3.0))
    for judges, name in ((judge, "FixedJudge"), ([SeatConfig(judge=judge, name="mine")], "mine")):
        report = exams.discernment(demo(2), judges=judges, recipe="flaws", aspects=["consistency"])
        assert {row.damaged for row in report.result.scores} == {3.0}
        assert [*report.result.examinee.seats] == [name]


def test_an_aspect_may_be_an_object() -> None:
    aspect = spanjury.find_aspect("fluency")
    report = exams.robustness(demo(1), judges="form", attacks="authority-claim", aspects=aspect)
    assert report.scores is not None
    assert {row.aspect for row in report.scores.rows} == {"fluency"}


def test_a_panel_stands_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name no others"):
        exams.discernment(exams.DEMO, panel=PanelConfig(), judges="form")
    file = tmp_path / "panel.toml"
    file.write_text('[[seats]]\njudge = "form"\n')
    for panel in (file, str(file), PanelConfig(seats=(SeatConfig(judge="form"),))):
        report = exams.robustness(
            demo(1), panel=panel, attacks="authority-claim", aspects="fluency"
        )
        assert [*report.result.examinee.seats] == ["form"]


def test_weights_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(ConfigError, match="'typos' must sum to 1"):
        exams.discernment(exams.DEMO, judges="form", weights={"typos": {"fluency": 0.7}})


async def test_results_and_progress_come_while_the_exam_runs() -> None:
    results: list[spanjury.PanelReport] = []
    progress: list[Progress] = []
    await exams.arobustness(
        demo(2),
        judges=["form"],
        attacks=["authority-claim"],
        aspects="fluency",
        on_result=lambda result: results.append(result.report),
        on_progress=progress.append,
    )
    assert [one.done for one in progress] == [*range(1, len(results) + 1)]
    assert progress[-1].done == progress[-1].total


async def test_progress_ends_at_all_texts_although_most_have_nothing_to_damage() -> None:
    progress: list[Progress] = []
    texts = spanjury.read_segments(TWINS)
    await exams.adiscernment(
        [*islice(texts, 4)],
        recipe="written",
        judges=["form"],
        aspects="fluency",
        on_progress=progress.append,
    )
    assert progress[-1].done == progress[-1].total


async def test_an_exam_that_is_cancelled_ends() -> None:
    with anyio.move_on_after(0.2) as scope:
        await exams.adiscernment(exams.DEMO, judges=["grounding", "form"])
    assert scope.cancelled_caught


def test_an_exam_inside_a_running_loop_uses_another_thread() -> None:
    async def notebook() -> object:
        report = exams.robustness(
            demo(1), judges="form", attacks="authority-claim", aspects="fluency"
        )
        return report.to_dict()

    assert (
        anyio.run(notebook)
        == exams.robustness(
            demo(1), judges="form", attacks="authority-claim", aspects="fluency"
        ).to_dict()
    )


def test_stopping_an_exam_loses_nothing_with_a_memory(tmp_path: Path) -> None:
    stop = exams.StopToken()
    seen: list[str] = []

    def enough(result: object) -> None:
        seen.append("result")
        if len(seen) == 3:
            stop.request("enough was seen")

    with LoopbackServer(GOOD) as server:

        def examined(memory: str = "memory.sqlite3", **terms: object) -> exams.StudyReport[object]:
            return exams.robustness(
                demo(3),
                judges="annotator",
                models=ModelConfig(name="openai-compatible/judge", base_url=server.base_url),
                attacks="authority-claim",
                aspects="fluency",
                memory=tmp_path / "new" / memory,
                failures=exams.FailurePolicy(preflight=False),
                **terms,  # type: ignore[arg-type]  # the terms of each call below
            )

        with pytest.raises(RunStoppedError, match="enough was seen"):
            examined(on_result=enough, stop_token=stop)
        assert server.requests
        report = examined()
        assert report.scores is not None
        asked = len(server.requests)
        assert examined().scores == report.scores
        assert len(server.requests) == asked
        assert examined("another.sqlite3").scores == report.scores
        assert len(server.requests) == 2 * asked


def test_a_limit_ends_an_exam() -> None:
    with pytest.raises(RunStoppedError, match="seconds are over"):
        exams.discernment(
            exams.DEMO, judges=["grounding", "form"], limits=exams.Limits(max_seconds=0.01)
        )


def test_two_judges_are_compared_by_their_reports_as_by_their_folders(tmp_path: Path) -> None:
    def examined(judge: str) -> exams.StudyReport[object]:
        return exams.robustness(
            demo(4), judges=judge, attacks=["authority-claim", "json-review"], aspects="fluency"
        )

    first, second = examined("form"), examined("form:max_spans=1")
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    in_hand = exams.compare_exams(first, second, draws=100)
    by_folders = exams.compare_exams(tmp_path / "a", str(tmp_path / "b"), draws=100)
    assert in_hand.to_dict() == by_folders.to_dict()
    assert in_hand.document.sections == by_folders.document.sections
    in_hand.save(tmp_path / "c")
    call(tmp_path, "exam", "compare", str(tmp_path / "a"), str(tmp_path / "b"), "--draws", "100",
         "-o", str(tmp_path / "d"))  # fmt: skip
    values = [(tmp_path / name / "comparison.json").read_text("utf-8") for name in "cd"]
    assert values[0] == values[1]


def test_runs_without_scores_cannot_be_compared() -> None:
    damaged = exams.perturb(exams.DEMO, recipe="flaws", limit=1)
    bench = exams.span_bench(damaged.segments, judges="form", draws=0)
    with pytest.raises(ConfigError, match="no scores by which judges can be compared"):
        exams.compare_exams(bench, bench)


def test_sets_in_memory_stay_apart_on_a_bench() -> None:
    damaged = exams.perturb(exams.DEMO, recipe="flaws", limit=2).segments
    report = exams.span_bench([damaged, damaged[:3]], judges="grounding", draws=0)
    assert [one.name for one in report.result.findings.sets] == ["texts 1", "texts 2"]
    assert report.measures["characters.f1.texts-1"].value is not None
    alone = exams.span_bench(damaged, judges="grounding", draws=0)
    assert [one.name for one in alone.result.findings.sets] == ["texts from Python"]
    with pytest.raises(ConfigError, match="the name of one aspect"):
        exams.span_bench(damaged, judges="grounding", aspects=["consistency", "fluency"])


def test_damaged_texts_are_those_of_the_command(tmp_path: Path) -> None:
    damaged = exams.perturb(exams.DEMO, recipe="standard", limit=3, seed=5)
    assert damaged.save(tmp_path / "a.jsonl") == len(damaged.segments)
    options = ("--recipe", "standard", "--limit", "3", "--seed", "5", "-o", "b.jsonl")
    call(tmp_path, "perturb", str(exams.DEMO), *options)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert sum(damaged.skipped.values()) == 3 * 14 - len(damaged.segments)
    for segment in damaged.segments:
        assert [segment.output[one.start : one.end] for one in segment.gold] == [
            one.text for one in segment.gold
        ]


def test_damage_that_spares_the_judged_aspect_is_no_error_in_the_bench() -> None:
    damaged = exams.perturb(exams.DEMO, recipe="full", limit=2).segments
    conditions = {"change-case", "typos", "negate", "prompt-injection", "whitespace"}
    texts = [text for text in damaged if text.meta["treatment"] in conditions]
    bench = exams.span_bench(texts, judges="grounding", draws=0)
    (judged,) = bench.result.findings.sets
    counts = Counter(text.meta["treatment"] for text in texts)
    assert counts.keys() == conditions
    assert judged.faulty == counts["negate"]
    assert judged.error_free == counts["change-case"] + counts["whitespace"]
    assert judged.unknown == counts["typos"] + counts["prompt-injection"]


def test_runs_are_compared_with_each_other_and_with_people(tmp_path: Path) -> None:
    texts = exams.perturb(exams.DEMO, recipe="flaws", limit=4).segments
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path, judges in zip(paths, (["grounding"], ["grounding:max_spans=1"]), strict=True):
        spanjury.evaluate(texts, judges=judges, aspects=["consistency"], output=path)
    compared = exams.compare(*paths, draws=50)
    difference, seat = compared.result.differences
    assert (difference.scorer, seat.scorer) == ("panel", "grounding")
    assert compared.answer.startswith("No score is shown to differ between the two runs")
    assert difference.texts == len(texts)
    assert [path.name for path in compared.save(tmp_path / "c")] == [
        "comparison.md",
        "comparison.html",
        "comparison.json",
    ]
    parts: list[str] = []
    found = exams.meta(paths, human=texts, draws=0, on_part=parts.append)
    assert parts == ["spans of consistency"]
    assert found.to_dict()["data"] == "texts from Python"
    assert {row["judge"] for row in found.tables["Spans of consistency"].to_dicts()} >= {
        "grounding (one)", "grounding (two)"
    }  # fmt: skip
    spanjury.evaluate(texts, judges=["form"], aspects=["fluency"], output=tmp_path / "f.jsonl")
    with pytest.raises(DataError, match="have no score in common"):
        exams.compare(paths[0], tmp_path / "f.jsonl")


def test_the_face_loads_nothing_until_an_exam_is_named() -> None:
    script = (
        "import sys; import spanjury.exams;"
        "print(sorted({'anyio', 'numpy', 'pydantic', 'rich', 'scipy'} & sys.modules.keys()))"
    )
    done = completed([sys.executable, "-c", script])
    assert done.stdout.strip() == "[]"


def test_each_function_has_a_twin_that_explains_the_same() -> None:
    plain = [name for name in exams.__all__ if f"a{name}" in exams.__all__]
    assert len(plain) == 15
    for name in plain:
        function, twin = getattr(exams, name), getattr(exams, f"a{name}")
        assert (function.__name__, twin.__name__) == (name, f"a{name}")
        assert function.__doc__ == twin.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = exams.nonsense  # type: ignore[attr-defined]  # the point is that it is absent


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the texts by two offline judges, and keep people's scores beside."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / PEOPLE).write_text("\n".join(map(json.dumps, ROWS)))
    judges = ("grounding", "reader")
    spanjury.evaluate(ROWS, judges=judges, aspects="consistency", output=folder / RESULTS)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_study_from_python_is_that_of_the_command(
    name: str, judged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(judged)
    words, study = COMMANDS[name]
    report = study(PEOPLE)
    assert capsys.readouterr() == ("", "")
    done = call(judged, *words, RESULTS, "--human", PEOPLE, "--json")
    assert json.loads(report.to_json()) == json.loads(done.stdout)
    assert all(table.to_dicts() for table in report.tables.values())
    for by_command in judged.glob("by-command.toml"):
        assert by_command.read_text() == Path("from-python.toml").read_text()
        by_command.unlink()
    assert {path.suffix for path in report.save(judged / name)} == {".md", ".html", ".json"}


@pytest.mark.parametrize("name", COMMANDS)
def test_people_may_be_rows(name: str, judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(judged)
    _, study = COMMANDS[name]
    of_file, of_rows = study(PEOPLE).to_json(), study(ROWS).to_json()
    # The digest of a calibration is of where its marks are from, too.
    one, other = (re.sub('"digest": ".*"', "", one) for one in (of_file, of_rows))
    assert other.replace("texts from Python", PEOPLE) == one


def test_a_run_without_marks_explains_how_to_make_them(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(judged)
    with pytest.raises(ConfigError, match="make some with 'spanjury view results.jsonl'"):
        exams.calibrate(RESULTS, data=PEOPLE)


async def test_each_may_be_awaited(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(judged)
    ranked = await exams.arank(RESULTS, human=PEOPLE, aspects="consistency")
    assert [one.aspect for one in ranked.result.aspects] == ["consistency"]
