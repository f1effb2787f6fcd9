"""The watch: what was taken on is judged and sent, once, whatever happens meanwhile."""

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from anyio import Event, create_task_group, fail_after, move_on_after
from anyio.lowlevel import checkpoint
from fakes.otlp_traffic import RIGHT, WRONG, exported, trace_id
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer, Received

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    Report,
    Segment,
    SinkRefusedError,
    StoreError,
    TransientModelError,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.services.serving.quotas import Quotas
from spanjury.orchestration.services.serving.watching import delivery
from spanjury.orchestration.services.serving.watching.drift import Alert, DriftPlan, Window
from spanjury.orchestration.services.serving.watching.sampling import Sampling, parse_rule
from spanjury.orchestration.services.serving.watching.watch import Watch, WatchPlan, open_watch
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.traffic import JSON, Arrival, Outgoing, TrafficStore

pytestmark = pytest.mark.asyncio_only

RULES = PanelConfig(seats=(SeatConfig(judge="grounding"),))
DONE = Answer(body="{}")


class Watching:
    """A watch in a folder, and what it reported and said."""

    def __init__(self, folder: Path, *sinks: str, **settings: object) -> None:
        plan = WatchPlan(
            panel=RULES, folder=folder, aspects=("faithfulness",), sinks=sinks, settle=0.0
        )
        self.plan: WatchPlan = replace(plan, **settings)  # type: ignore[arg-type]
        self.reports: list[Window | Alert] = []
        self.lines: list[str] = []
        self.stop_token = StopToken()

    def open(self) -> AbstractAsyncContextManager[Watch]:
        return open_watch(
            self.plan,
            emit=self.reports.append,
            say=self.lines.append,
            stop_token=self.stop_token,
        )

    async def judge(self, *bodies: bytes) -> Watch:
        """Take requests on and do all there is to do."""
        async with self.open() as watch:
            for body in bodies:
                await watch.accept(body, JSON)
            await watch.run(lambda: False, once=True)
        return watch


def otlp(server: LoopbackServer) -> str:
    return f"otlp:url={server.base_url.removesuffix('/v1')}"


def asking(server: LoopbackServer) -> PanelConfig:
    served = ModelConfig(name="openai-compatible/judge", base_url=server.base_url)
    return PanelConfig(seats=(SeatConfig(judge="geval"),), models=(served,))


def judged(requests: Sequence[Received]) -> list[tuple[str, str]]:
    """Return trace and id of each score that was sent."""
    records = [
        record
        for request in requests
        for record in request.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"]  # type: ignore[index]
    ]
    ids = [
        item["value"]["stringValue"]
        for record in records
        for item in record["attributes"]
        if item["key"] == "spanjury.score_id"
    ]
    return [(record.get("traceId", ""), score) for record, score in zip(records, ids, strict=True)]


@pytest.fixture(autouse=True)
def in_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing wait for long."""
    monkeypatch.setattr(delivery, "_PAUSES", (0.01,))
    monkeypatch.setattr(delivery, "_REFUSED_PAUSES", (0.0, 0.0))


async def test_traces_are_judged_and_sent_and_kept_in_a_file(tmp_path: Path) -> None:
    with LoopbackServer(DONE) as server:
        watching = Watching(tmp_path / "state", otlp(server), output=tmp_path / "out.jsonl")
        watch = await watching.judge(exported(1, RIGHT), exported(2, WRONG))
        scores = judged(server.requests)
    assert {trace for trace, _ in scores} == {trace_id(1), trace_id(2)}
    rows = list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines()))
    assert {row["id"]: row["decision"] for row in rows} == {
        trace_id(1): "ok",
        trace_id(2): "faulty",
    }
    assert watch.count.judged == 2


async def test_what_comes_again_is_not_judged_again(tmp_path: Path) -> None:
    with LoopbackServer(DONE) as server:
        watching = Watching(tmp_path, otlp(server), output=tmp_path / "out.jsonl")
        await watching.judge(exported(1, RIGHT), exported(1, RIGHT))
        await watching.judge(exported(1, WRONG), exported(2, RIGHT))
        scores = judged(server.requests)
    assert [trace for trace, _ in scores] == [trace_id(1), trace_id(2)]
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 2


async def test_what_was_taken_on_is_judged_by_the_next_watch(tmp_path: Path) -> None:
    watching = Watching(tmp_path, output=tmp_path / "out.jsonl")
    async with watching.open() as watch:
        await watch.accept(exported(1, RIGHT), JSON)
    await watching.judge()
    (row,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(row)["id"] == trace_id(1)


OTHER = '{"id": "other"}\n'


@pytest.mark.parametrize(
    ("written", "others", "ids"),
    [
        (40, "", [trace_id(1), trace_id(2)]),
        (None, "", [trace_id(1), trace_id(2)]),
        (None, OTHER, [trace_id(1), "other", trace_id(2)]),
        (0, OTHER, ["other", trace_id(1), trace_id(2)]),
    ],
)
async def test_a_row_that_a_killed_watch_had_written_is_there_once(
    tmp_path: Path, written: int | None, others: str, ids: list[str]
) -> None:
    out = tmp_path / "out.jsonl"
    watching = Watching(tmp_path, output=out)
    await watching.judge(exported(1, RIGHT))
    with TrafficStore(tmp_path / "traffic.sqlite3") as store:  # as before the row was noted
        await store.deliver(f"file:{out}", 0, size=0)
    out.write_bytes(out.read_bytes()[:written])
    if others:
        with out.open("a") as file:
            file.write(others)
    await watching.judge(exported(2, RIGHT))
    rows = list(map(json.loads, out.read_text().splitlines()))
    assert [row["id"] for row in rows] == ids


async def test_what_another_program_wrote_to_the_output_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text('{"id": "first"}')
    watching = Watching(tmp_path / "state", output=out)
    await watching.judge(exported(1, RIGHT))
    with out.open("a") as file:
        file.write('{"id": "second"}\n')
    await watching.judge(exported(2, RIGHT))
    rows = list(map(json.loads, out.read_text().splitlines()))
    assert [row["id"] for row in rows] == ["first", trace_id(1), "second", trace_id(2)]


async def test_an_output_that_is_moved_away_is_created_again(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    watching = Watching(tmp_path / "state", output=out)
    async with watching.open() as watch:
        for number in range(2):
            await watch.accept(exported(number, RIGHT), JSON)
            await watch.run(lambda: False, once=True)
            out.rename(tmp_path / f"out.jsonl.{number}")
    rows = [json.loads((tmp_path / f"out.jsonl.{number}").read_text()) for number in range(2)]
    assert [row["id"] for row in rows] == [trace_id(0), trace_id(1)]


async def test_scores_wait_for_a_service_and_keep_their_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch_module = "spanjury.orchestration.services.serving.watching.watch._FLUSH_SECONDS"
    monkeypatch.setattr(watch_module, 0.2)
    with LoopbackServer(failure(503)) as server:
        name = otlp(server)
        watching = Watching(tmp_path, name)
        await watching.judge(exported(1, RIGHT))
        assert len(server.requests) > 1
        server._answers[:] = [DONE]
        before = judged(server.requests)
        await watching.judge()
        scores = judged(server.requests)
    assert len(set(scores)) == 1
    assert scores[len(before) :] == before[:1]
    assert "scores wait on disk" in watching.lines[0]


async def test_a_refused_score_costs_no_other(tmp_path: Path) -> None:
    scores = [Outgoing(identity=name, body=name.encode()) for name in ("first", "second", "third")]
    batches: list[list[bytes]] = []
    lines: list[str] = []

    async def send(batch: Sequence[Outgoing]) -> None:
        batches.append([each.body for each in batch])
        if b"second" in batches[-1]:
            raise SinkRefusedError("unknown trace")

    dropped = Event()

    def say(line: str) -> None:
        lines.append(line)
        dropped.set()

    with TrafficStore(tmp_path / "traffic.sqlite3") as store:
        await store.accept([Arrival(trace="t", span="s", body=b"", due=0.0)])
        await store.end("t", scores)
        sending = delivery.Delivery("sink", send, store=store, bell=delivery.Bell(), say=say)
        async with create_task_group() as group:
            group.start_soon(sending.run)
            await dropped.wait()
            while store.refused("sink", limit=9):  # until the commit that follows
                await checkpoint()
            group.cancel_scope.cancel()
        assert store.refused("sink", limit=9) == []
        assert (sending.count.sent, sending.is_done) == (2, True)
    assert batches == [
        [b"first", b"second", b"third"],
        *([name] for name in (b"first", b"second", b"third", b"second", b"second")),
    ]
    assert "refused 3 times" in lines[0]


async def test_a_change_is_reported_once_and_posted(tmp_path: Path) -> None:
    with LoopbackServer(DONE) as server:
        plan = DriftPlan(window=10, baseline=20, texts_per_false_alert=100)
        watching = Watching(tmp_path, drift=plan, webhook=server.base_url)
        await watching.judge(*(exported(number, RIGHT) for number in range(30)))
        assert not any(isinstance(report, Alert) for report in watching.reports)
        await watching.judge(*(exported(number, WRONG) for number in range(30, 60)))
        posted = [request.body for request in server.requests]
    alerts = [report for report in watching.reports if isinstance(report, Alert)]
    assert {alert.before.name for alert in alerts} == {"faulty", "score"}
    assert [body["alert_id"] for body in posted] == [alert.alert_id for alert in alerts]
    assert "the share of faulty texts rose, from 0.0%" in " ".join(map(str, alerts))
    windows = [report for report in watching.reports if isinstance(report, Window)]
    assert [window.is_baseline for window in windows][:3] == [True, False, False]
    assert windows[0].figures[1].value == 0


async def test_a_sample_leaves_traces_out_but_for_those_that_rules_name(tmp_path: Path) -> None:
    sampling = Sampling(rate=0.0, always=(parse_rule("errors"), parse_rule("length > 40")))
    long = f"{RIGHT} It is 503 metres long."
    watching = Watching(tmp_path, sampling=sampling, output=tmp_path / "out.jsonl")
    watch = await watching.judge(
        exported(1, RIGHT), exported(2, RIGHT, failed=True), exported(3, long)
    )
    assert (watch.count.judged, watch.count.skipped) == (2, 1)
    ids = [json.loads(row)["id"] for row in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert set(ids) == {trace_id(2), trace_id(3)}


async def test_a_share_of_the_traces_is_chosen_by_their_ids(tmp_path: Path) -> None:
    watching = Watching(tmp_path, sampling=Sampling(rate=0.5))
    watch = await watching.judge(*(exported(number, RIGHT) for number in range(40)))
    assert 10 <= watch.count.judged <= 30
    assert watch.count.judged + watch.count.skipped == 40


class SilentModel:
    """A judge whose model never answers."""

    signature = "silent|1"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        raise TransientModelError("no answer")


async def test_a_trace_that_no_model_answers_for_waits(tmp_path: Path) -> None:
    panel = PanelConfig(seats=(SeatConfig(judge=SilentModel(), name="silent"),))
    watching = Watching(tmp_path, panel=panel)
    async with watching.open() as watch:
        await watch.accept(exported(1, RIGHT), JSON)
        await watch.run(lambda: watch.count.postponed == 1)
        assert watch.status()["waiting"] == 1
        assert watch.count.judged == 0


async def test_a_trace_under_way_at_a_stop_asks_no_model_and_waits(tmp_path: Path) -> None:
    looks = iter((False, True))
    with LoopbackServer(DONE) as server:
        watching = Watching(tmp_path / "state", panel=asking(server))
        async with watching.open() as watch:
            await watch.accept(exported(1, RIGHT), JSON)
            watching.stop_token.request("interrupted")
            await watch.run(lambda: next(looks))
            assert watch.status()["waiting"] == 1
        assert not server.requests


async def test_traces_beyond_the_budget_wait(tmp_path: Path) -> None:
    with LoopbackServer(chat("Score: 4")) as server:
        watching = Watching(tmp_path, panel=asking(server), quotas=Quotas(calls=2, per="day"))
        async with watching.open() as watch:
            for number in range(6):
                await watch.accept(exported(number, f"{RIGHT} {number}"), JSON)
            await watch.run(lambda: bool(watching.lines))
        assert len(server.requests) <= 2
    assert watch.count.judged + 1 <= 3
    assert "traces wait on disk until" in watching.lines[0]


async def test_a_watch_of_what_is_there_ends_once_nothing_more_may_be_spent(tmp_path: Path) -> None:
    with LoopbackServer(chat("Score: 4")) as server:
        watching = Watching(tmp_path, panel=asking(server), quotas=Quotas(calls=2))
        with fail_after(60):
            watch = await watching.judge(*(exported(n, f"{RIGHT} {n}") for n in range(6)))
        assert len(server.requests) <= 2
    assert watch.count.judged <= 2
    assert "traces wait on disk until it is raised" in watching.lines[0]


async def test_a_watch_without_budget_asks_its_store_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    next_due = TrafficStore.next_due

    def counted(store: TrafficStore) -> float | None:
        nonlocal looks
        looks += 1
        return next_due(store)

    monkeypatch.setattr(TrafficStore, "next_due", counted)
    with LoopbackServer(chat("Score: 4")) as server:
        watching = Watching(tmp_path, panel=asking(server), quotas=Quotas(calls=1, per="day"))
        async with watching.open() as watch:
            for number in range(3):
                await watch.accept(exported(number, f"{RIGHT} {number}"), JSON)
            with move_on_after(2):
                await watch.run(lambda: False)
    assert watching.lines
    assert looks < 30


async def test_a_trace_without_a_text_is_counted_and_ends(tmp_path: Path) -> None:
    empty = exported(1, "")
    watching = Watching(tmp_path)
    watch = await watching.judge(empty, exported(2, RIGHT))
    assert (watch.count.unreadable, watch.count.judged) == (1, 1)
    assert f"not judged: trace {trace_id(1)}" in watching.lines[0]


async def test_two_watches_do_not_share_a_folder(tmp_path: Path) -> None:
    async with Watching(tmp_path).open():
        with pytest.raises(StoreError, match="in use by process"):
            async with Watching(tmp_path).open():
                pass


async def test_a_file_is_followed_and_no_line_is_read_twice(tmp_path: Path) -> None:
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    row = {"task": "summarization", "inputs": {"Article": "It opened in 1932."}}
    lines = [json.dumps({"output": f"It opened in 193{digit}.", **row}) for digit in range(3)]
    watching = Watching(tmp_path / "state", aspects=("consistency",), output=out)

    async def read() -> Watch:
        async with watching.open() as watch:
            await watch.run(lambda: False, file=data, once=True)
        return watch

    data.write_text(f"{lines[0]}\n{lines[1]}\n{lines[2][:40]}")
    await read()
    assert f"{data}, line 3: has no line end yet" in watching.lines[0]
    data.write_text(
        f"{lines[0]}\n{lines[1]}\nnot a row\n{lines[2]}\n{exported(9, RIGHT).decode()}\n"
    )
    watch = await read()
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert len(set(ids)) == 4
    assert trace_id(9) in ids
    assert (watch.count.judged, watch.count.unreadable) == (2, 1)
    with pytest.raises(DataError, match="cannot be read"):
        async with watching.open() as opened:
            await opened.run(lambda: False, file=tmp_path / "none.jsonl", once=True)


async def test_a_file_that_does_not_exist_is_waited_for(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    watching = Watching(tmp_path / "state")
    async with watching.open() as watch:
        await watch.run(lambda: bool(watching.lines), file=data)
        data.write_bytes(exported(1, RIGHT) + b"\n")
        await watch.run(lambda: watch.count.judged == 1, file=data)
    assert watching.lines == [f"{data} does not exist: waiting for it"]


async def test_rows_of_one_trace_are_judged_each_and_their_results_name_the_trace(
    tmp_path: Path,
) -> None:
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    text = {"task": "summarization", "input": "It opened in 1932.", "output": "It opened in 1932."}
    rows = [
        {"id": "first", "trace_id": trace_id(1), **text},
        {"id": "second", "trace_id": trace_id(1), **text},
        {"id": "first", "trace_id": trace_id(1), **text},
        {"id": "first", "trace_id": trace_id(2), **text},
        {"id": "first", "system": "another", **text},
        {"trace_id": trace_id(3), **text},
        {"trace_id": trace_id(3), **text},
        {"trace_id": trace_id(3), **text, "output": "It opened in 1940."},
    ]
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with LoopbackServer(DONE) as server:
        settings = {"aspects": ("consistency",), "output": out}
        watching = Watching(tmp_path / "state", otlp(server), **settings)
        async with watching.open() as watch:
            await watch.accept(exported(4, RIGHT), JSON)
            await watch.run(lambda: False, file=data, once=True)
        scores = judged(server.requests)
    results = [json.loads(line) for line in out.read_text().splitlines()]
    named = [(row.get("trace_id", ""), row["id"].partition("-")[0]) for row in results]
    expected = [("", "first"), (trace_id(2), "first"), *2 * [(trace_id(3), "row")]]
    expected += [(trace_id(1), "first"), (trace_id(1), "second"), (trace_id(4), trace_id(4))]
    assert sorted(named) == sorted(expected)
    assert len({score for _, score in scores}) == len(results)


@pytest.mark.parametrize("rule", ["error", "length>", "length>x", "seconds<3"])
def test_other_rules_are_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="expected errors"):
        parse_rule(rule)


def test_other_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="share"):
        Sampling(rate=1.5)
    with pytest.raises(ConfigError, match="baseline"):
        DriftPlan(baseline=3)
