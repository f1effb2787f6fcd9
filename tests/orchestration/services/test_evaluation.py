"""Many texts from Python: in order, resumed, left early, limited."""

import json
import os
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import cast

import anyio
import numpy as np
import pandas as pd
import polars as pl
import pytest
from fakes.judges import FixedJudge
from fakes.memory import values_in
from loopback.answers import chat
from loopback.server import LoopbackServer

import spanjury
from spanjury import exams
from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    Decision,
    Report,
    RunStoppedError,
    Segment,
)
from spanjury.judges.text.turns import in_turn
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.judging import evaluation
from spanjury.orchestration.services.judging.check import Request
from spanjury.orchestration.services.judging.panels import panel_config
from spanjury.orchestration.wiring.config import ModelConfig

RULES = ("grounding", "form")
GOOD = chat("No Error\n\nOverall score: Good\nExplanation of the score: It is fine.")


def rows(count: int) -> list[dict[str, object]]:
    return [
        {"id": str(n), "inputs": {"Article": f"It has {n} doors."}, "output": f"It has {n} doors."}
        for n in range(count)
    ]


def test_every_row_has_a_report_in_the_order_of_the_data() -> None:
    reports = spanjury.evaluate(rows(30), judges=RULES)
    assert [report.segment.segment_id for report in reports] == [str(n) for n in range(30)]
    assert (repr(reports), len(reports.results)) == ("<TextReports: 30 texts; 30 ok>", 60)
    assert repr(reports[:2]) == "<TextReports: 2 texts; 2 ok>"


@pytest.mark.heavy
async def test_reports_come_while_later_texts_are_still_judged() -> None:
    done = 0
    async for report in spanjury.aevaluate(rows(3000), judges=["form"], aspects=["fluency"]):
        done += 1
        assert report.segment.segment_id == str(done - 1)
    assert done == 3000


@pytest.mark.heavy
async def test_leaving_early_ends_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[evaluation.BatchThread] = []

    class Noted(evaluation.BatchThread):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[arg-type]  # handed through
            made.append(self)

    monkeypatch.setattr("spanjury.orchestration.services.judging.evaluation.BatchThread", Noted)
    reports = cast(
        "AsyncGenerator[spanjury.TextReport]", spanjury.aevaluate(rows(20_000), judges=RULES)
    )
    async with aclosing(reports):
        async for _ in reports:
            break
    assert not made[0]._thread.is_alive()
    assert made[0].progress().done < 20_000


def test_the_batch_waits_for_who_takes_its_reports() -> None:
    fluency = spanjury.find_aspect("fluency")
    texts = [
        Request(segment=spanjury.Segment(segment_id=str(n), output="A."), aspects=(fluency,))
        for n in range(2000)
    ]
    terms = evaluation.Terms(panel=panel_config(judges=["form"]))
    batch = evaluation.BatchThread(terms, lambda: iter(texts), total=len(texts))
    taken = len(batch.take())
    batch._thread.join(1.0)
    ahead = batch.progress().done - taken
    assert evaluation._AHEAD <= ahead < 2000 - taken
    while reports := batch.take():
        taken += len(reports)
    assert taken == 2000


def test_over_the_same_memory_nothing_is_asked_twice(tmp_path: Path) -> None:
    with LoopbackServer(GOOD) as server:
        model = ModelConfig(name="openai-compatible/judge", base_url=server.base_url)

        def again(count: int) -> spanjury.TextReports:
            return spanjury.evaluate(
                rows(count),
                models=[model],
                aspects=["fluency"],
                memory=tmp_path / "memory.sqlite3",
                failures=FailurePolicy(preflight=False),
            )

        assert again(5)[0].scores == {"fluency": 4.0}
        asked = len(server.requests)
        assert [report.scores for report in again(5)] == [{"fluency": 4.0}] * 5
        assert len(server.requests) == asked
        again(7)
        assert len(server.requests) == asked + 2


def test_a_whole_row_is_shown_without_its_lost_reports_and_replies(tmp_path: Path) -> None:
    memory = tmp_path / "memory.sqlite3"
    with LoopbackServer(GOOD) as server:
        model = ModelConfig(name="openai-compatible/judge", base_url=server.base_url)

        def judged() -> spanjury.TextReports:
            return spanjury.evaluate(
                rows(3),
                models=[model],
                aspects=["fluency"],
                memory=memory,
                failures=FailurePolicy(preflight=False),
            )

        whole = judged()
        values = values_in(memory)
        lost = [(key,) for key, value in values.items() if value[:7] in {b'{"text"', b'{"outco'}]
        assert len(lost) == 6, "a reply and a report of each row"
        with sqlite3.connect(memory) as database:
            database.executemany("DELETE FROM memory WHERE key = ?", lost)
        asked = len(server.requests)
        again = judged()
        assert len(server.requests) == asked
    assert [report.scores for report in again] == [report.scores for report in whole]
    assert [report.results[0].report.seats for report in again] == [()] * 3


def test_results_are_written_as_the_command_writes_them(tmp_path: Path) -> None:
    reports = spanjury.evaluate(rows(4), judges=RULES, output=tmp_path / "results.jsonl")
    lines = (tmp_path / "results.jsonl").read_text("utf-8").splitlines()
    written = [json.loads(line) for line in lines]
    made = [row for report in reports for row in json.loads(report.to_json())["results"]]
    assert written == made


@pytest.mark.heavy
def test_a_limit_ends_it_after_what_is_complete() -> None:
    done: list[str] = []

    async def take() -> None:
        limits = Limits(max_seconds=0.3)
        async for report in spanjury.aevaluate(rows(30_000), judges=RULES, limits=limits):
            done.append(report.segment.segment_id)  # noqa: PERF401  those before an error count

    with pytest.raises(RunStoppedError, match="seconds are over"):
        anyio.run(take)
    assert done == [str(n) for n in range(len(done))]
    assert len(done) < 30_000


def test_progress_is_given_report_by_report() -> None:
    seen: list[tuple[int, int]] = []
    spanjury.evaluate(
        rows(10),
        judges=RULES,
        on_progress=lambda progress: seen.append((progress.done, progress.total)),
    )
    assert (len(seen), seen[-1]) == (10, (20, 20))


def test_data_frames_are_rows_and_reports_become_data_frames() -> None:
    columns = {"inputs.Article": ["It is 5.", None], "output": ["It is 6.", "It is 7."]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        reports = spanjury.evaluate(frame, judges=RULES)
        assert [report.decision and report.decision.value for report in reports] == ["faulty", None]
        table = reports.to_pandas()
        assert table["aspect"].tolist() == ["consistency", "fluency"] * 2
        assert table["output"].tolist() == ["It is 6."] * 2 + ["It is 7."] * 2
        assert table["score"].isna().tolist() == [False, False, True, False]
        assert reports.to_polars().rows(named=True)[2]["score"] is None
        assert "abstained" in reports._repr_html_()
        spans = reports.to_pandas(rows="spans")
        assert spans[["id", "aspect", "start", "end", "text"]].to_numpy().tolist() == [
            ["line-1", "consistency", 6, 7, "6"]
        ]
        assert spans.columns.tolist() == reports.to_polars(rows="spans").columns
        with pytest.raises(ConfigError, match="rows: .*assessments"):
            reports.to_pandas(rows="texts")  # type: ignore[arg-type]


def test_a_dataset_of_hugging_face_is_the_rows_that_it_yields() -> None:
    class Dataset(list[dict[str, object]]):
        def to_dict(self, batch_size: int | None = None) -> dict[str, list[object]]:
            raise AssertionError(batch_size)  # gives columns, not rows

    (report,) = spanjury.evaluate(Dataset([{"id": "a", "output": "It is 6."}]), judges=["form"])
    assert report.segment.segment_id == "a"


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_passages_in_memory_are_lists_tuples_or_arrays(kind: Callable[..., object]) -> None:
    row = {"question": "Which year?", "answer": "It is 6.", "contexts": kind(["It is 5.", "No."])}
    for data in ([row], pd.DataFrame([row])):
        (report,) = spanjury.evaluate(data, judges=RULES, aspects="faithfulness")
        assert [*report.segment.inputs.values()] == ["Which year?", "It is 5.", "No."]
        assert report.decision is Decision.FAULTY


def test_a_missing_value_of_a_data_frame_is_null() -> None:
    columns = {"question": ["a", "b"], "contexts": [["c"]] * 2, "answer": ["It is 6.", None]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        with pytest.raises(DataError, match="line 2: answer: got null, expected a text"):
            spanjury.evaluate(frame, judges=RULES)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (5, ConfigError, "rows, a data frame or a path, got int"),
        ({"output": "x"}, ConfigError, "got dict"),
        ([], DataError, "rows: has no rows"),
        ([{"input": "x"}], DataError, "rows, line 1: the row has no output"),
        ("absent.jsonl", DataError, "absent.jsonl: cannot be read"),
        ([{"id": "a", "output": "x"}] * 2, DataError, "line 2: line 1 already has the id 'a'"),
    ],
)
def test_bad_data_fail_before_any_judge(data: object, error: type[Exception], message: str) -> None:
    judge = FixedJudge(says=AssertionError("it was asked"))
    with pytest.raises(error, match=message):
        spanjury.evaluate(data, judges=[judge])


@pytest.mark.parametrize("limit", [0, -3, "3", True])
def test_a_limit_that_is_no_number_of_rows_is_refused(limit: object) -> None:
    message = f"limit is a whole number of rows, 1 or more, got {limit!r}"
    with pytest.raises(ConfigError, match=message):
        spanjury.evaluate(rows(2), judges=RULES, limit=limit)  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ConfigError, match=f"limit .* whole number.*, got {limit!r}"):
        exams.perturb(rows(2), recipe="flaws", limit=limit)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"aspects": 3}, "aspects must be a text or a list of texts, got 3"),
        ({"judges": 3}, "judges must be a text, a Judge, a SeatConfig or a list of .*, got 3"),
        ({"aspects_files": "a.toml"}, "aspects_files must be a list of paths, got 'a.toml'"),
        ({"output": 3}, "output must be a path, a text or None, got 3"),
        ({"failures": 3}, "failures must be a FailurePolicy, got 3"),
        ({"on_progress": 3}, "on_progress must be a function or None, got 3"),
        ({"skip_bad_rows": "no"}, "skip_bad_rows must be True or False, got 'no'"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_name(
    wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}$"):
        spanjury.evaluate(rows(1), **wrong)  # type: ignore[arg-type]  # the mistake


class ProcessJudge:
    """A judge whose rationale is the id of the process that did its work."""

    signature = "process"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=3, rationale=str(await in_turn(os.getpid, length=1)))


@pytest.mark.parametrize("workers", [None, 1])
def test_judges_work_in_other_processes_if_workers_are_asked_for(workers: int | None) -> None:
    reports = spanjury.evaluate(
        rows(2), judges=[ProcessJudge()], aspects="fluency", workers=workers
    )
    processes = {report["fluency"].seats[0].report.rationale for report in reports}
    assert (processes == {str(os.getpid())}) is (workers is None)


@pytest.mark.parametrize("workers", [-1, True, "three"])
def test_a_number_of_workers_that_cannot_be_is_refused(workers: object) -> None:
    with pytest.raises(ConfigError, match=f"^workers must be .*, got {workers!r}$"):
        spanjury.evaluate(rows(1), workers=workers)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(
    "build",
    [
        lambda value: spanjury.Limits(max_calls=value),
        lambda value: spanjury.FailurePolicy(usable_window=value),
        lambda value: spanjury.PanelConfig(processes=value),
        lambda value: spanjury.ModelConfig(name="m", attempts=value),
        lambda value: spanjury.open_panel(seed=value),
    ],
)
@pytest.mark.parametrize("value", [True, "3", 2.5])
def test_settings_take_no_truth_value_or_text_for_a_whole_number(
    build: Callable[[object], object], value: object
) -> None:
    with pytest.raises(ConfigError, match=f"must be a whole number.*, got {value!r}"):
        build(value)


def test_rows_that_cannot_be_read_are_skipped_where_they_may_be() -> None:
    data = [{"output": "x"}, {"input": "y"}, {"output": "z"}]
    judge = FixedJudge(says=Report(score=5))
    reports = spanjury.evaluate(data, judges=[judge], aspects=["fluency"], skip_bad_rows=True)
    assert [report.text for report in reports] == ["x", "z"]


def test_failing_rows_are_named_as_the_command_names_them() -> None:
    texts = [{"id": "a", "inputs": {"Article": "It has 3 doors."}, "output": "It has 4 doors."}]
    reports = spanjury.evaluate([*texts, *rows(2)], judges=RULES)
    (failure,) = reports.failing("severity>=3")
    assert (failure.segment_id, [span.text for span in failure.spans]) == ("a", ["4"])
    with pytest.raises(ConfigError, match="fields: severity"):
        reports.failing("severity")


async def test_an_open_panel_is_refused_with_the_reason() -> None:
    async with spanjury.open_panel(judges=RULES) as panel:
        with pytest.raises(spanjury.EvaluationError, match="judged in another event loop: pass"):
            async for _ in spanjury.aevaluate(rows(1), panel=panel):  # type: ignore[arg-type]  # the mistake
                pass
