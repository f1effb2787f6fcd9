"""The watch over live traffic: traces are stored, sampled, judged, and reported.

A trace is accepted (`Watch.accept`), judged, put into the outbox, and sent to every sink. Each step
is on disk before the next begins. After kill -9 a trace may be judged a second time, but its
results exist once; a sink may receive a score twice, with the same id.
"""

import json
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from uuid import UUID, uuid5

from anyio import Path as AsyncPath
from anyio import create_memory_object_stream, create_task_group, current_time, move_on_after, sleep
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from spanjury.judges.core import (
    UNANSWERED,
    ConfigError,
    DataError,
    EventLog,
    OverBudgetError,
    Result,
    RunStoppedError,
    StoreError,
    TraceScore,
    first_error_alone,
    hide,
    one_line,
)
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.metering import Meter, paid_by
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.spending import Spending
from spanjury.orchestration.engine.stopping import GRACE, StopToken
from spanjury.orchestration.services.judging.check import judge_at_once
from spanjury.orchestration.services.serving.quotas import QuotaError, Quotas, TenantLedger
from spanjury.orchestration.services.serving.watching.delivery import (
    Bell,
    Delivery,
    FileDelivery,
    file_delivery,
    to_sink,
)
from spanjury.orchestration.services.serving.watching.drift import (
    Alert,
    DriftMonitor,
    DriftPlan,
    Window,
)
from spanjury.orchestration.services.serving.watching.sampling import Sampling
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.results import check_output, result_line
from spanjury.orchestration.wiring.runs import SqliteMemory
from spanjury.orchestration.wiring.traffic import (
    Arrival,
    LineTail,
    Outgoing,
    ReadSpans,
    TailPosition,
    Trace,
    TrafficReader,
    TrafficStore,
    WaitingTrace,
    Webhook,
    follow,
    open_sink,
    outgoing_score,
    read_request,
)

log = EventLog()

_STORE, _MEMORY = "traffic.sqlite3", "memory.sqlite3"
_DRIFT = "drift"
_NAMES = UUID("5f1d3f0a-94c5-4f0e-8a36-2f1c8b0f7d11")
"""Namespace of the ids of scores."""
_LOOK = 0.5
"""Seconds after which the store is checked even without a wake-up."""
_RETRIES = 4
_RETRY_SECONDS = 15.0
"""Most retries of a trace if no model answered, and seconds before the first."""
_AHEAD = 4
"""Traces per worker that are taken from the store in advance."""
_LINES = 200
"""Lines of a file that are accepted in one transaction."""
_HELD_BACK = 2_000
"""Waiting traces beyond which no more of a file is read."""
_FLUSH_SECONDS = 5.0
"""Seconds for sinks to receive what is left at the end."""
_PRUNE_SECONDS = 60.0
_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPlan:
    """The settings of a watch.

    Judges may spend the calls and dollars of `quotas`; traces beyond them wait. Services that
    receive scores are in `sinks`, as ``NAME:option=value,…``. A trace waits `settle` seconds for
    further spans after its root has arrived, and `longest` without a root. Traces and scores are
    kept for `keep_hours` once every sink has them. While `most_waiting` traces wait to be judged,
    senders are asked to retry later.
    """

    panel: PanelConfig
    folder: Path
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    drift: DriftPlan = field(default_factory=DriftPlan)
    quotas: Quotas = field(default_factory=Quotas)
    sinks: tuple[str, ...] = ()
    output: Path | None = None
    webhook: str | None = None
    settle: float = 1.0
    longest: float = 30.0
    keep_hours: float = 24.0
    most_waiting: int = 100_000


@dataclass(slots=True)
class TrafficCount:
    """The work of a watch since it began."""

    spans: int = 0
    judged: int = 0
    skipped: int = 0
    """Traces that the sampling skipped."""
    unreadable: int = 0
    """Traces and lines without a text to judge."""
    postponed: int = 0
    """Judgements that wait because no model answered."""
    alerts: int = 0


class Budget:
    """The calls that judges may make in a period; beyond them `reserve` raises `OverBudgetError`.

    A cascade then continues without its expensive seats. Any other panel waits until `free_again`.
    """

    def __init__(self, ledger: TenantLedger) -> None:
        self._ledger = ledger
        self.free_again: datetime | None = None

    async def reserve(self, most: Spending) -> Meter:
        """Reserve a call; return the ledger to settle it in."""
        try:
            return await self._ledger.reserve(most)
        except QuotaError as error:
            self.free_again = error.free_again
            raise OverBudgetError(str(error)) from error


class Watch:
    """An open watch; `open_watch` opens one.

    `emit` is called with each window and alert once it is on disk, `say` with a line for the user.
    """

    def __init__(
        self,
        plan: WatchPlan,
        *,
        store: TrafficStore,
        panel: Panel,
        budget: Budget | None,
        emit: Callable[[Window | Alert], None],
        say: Callable[[str], None],
    ) -> None:
        self.count = TrafficCount()
        self.deliveries: list[Delivery | FileDelivery] = []
        self.sent = Bell()
        self._plan = plan
        self._store = store
        self._panel = panel
        self._budget = budget
        self._emit = emit
        self._say = say
        self._came = Bell()
        self._reader = TrafficReader(columns=plan.columns, settle=plan.settle, longest=plan.longest)
        self._catalogue = Catalogue.load(*plan.aspects_files)
        self._drift = DriftMonitor(plan.drift, store.state(_DRIFT))
        self._under_way: set[str] = set()
        self._waiting = (0.0, 0)  # when waiting traces were last counted, and their number
        self._has_read = True
        self._free = 0.0  # time from which the budget allows calls

    @property
    def is_full(self) -> bool:
        """True if no more traces can be accepted for now."""
        moment, count = self._waiting  # each request asks, but the store is not queried each time
        if time.monotonic() - moment > _LOOK:
            count = self._store.waiting()
            self._waiting = (time.monotonic(), count)
        return count >= self._plan.most_waiting

    def status(self) -> dict[str, object]:
        """Return counts of the work so far and of waiting traces, as a JSON object."""
        sinks = {
            each.name: asdict(each.count) for each in self.deliveries if isinstance(each, Delivery)
        }
        return {**asdict(self.count), "waiting": self._store.waiting(), "sinks": sinks}

    async def accept(self, body: bytes, media_type: str) -> ReadSpans:
        """Accept the valid spans of an OTLP request; they are on disk on return.

        Raise `DataError` if the request is invalid, and `StoreError` if it cannot be stored.
        """
        read = read_request(body, media_type)
        await self._take(self._reader.span_arrivals(read.spans, now=time.time()))
        return read

    async def _take(
        self, arrivals: Sequence[Arrival], *, states: dict[str, bytes] | None = None
    ) -> None:
        if arrivals or states:
            await self._store.accept(arrivals, states=states)
            self.count.spans += len(arrivals)
            self._came.ring()

    async def _follow(self, path: Path, *, once: bool) -> None:
        """Accept the lines of a file, and lines appended later unless `once`."""
        name = f"tail:{await AsyncPath(path).resolve()}"
        is_missing = False
        with follow(path, position=self._store.state(name), is_whole=once) as tail:
            while True:
                position, arrivals = self._read(tail, path)
                if tail.is_missing and not is_missing:
                    self._say(f"{path} does not exist: waiting for it")
                is_missing = tail.is_missing
                if position is None and once:
                    if tail.unfinished:
                        last = f"{path}, line {tail.unfinished}"
                        self._say(f"{last}: has no line end yet, so it is left to the next watch")
                    self._has_read = True
                    return
                states = {} if position is None else {name: position.encoded()}
                await self._take(arrivals, states=states)
                if position is None:
                    await sleep(_LOOK)
                while self._store.waiting() > _HELD_BACK:
                    await self.sent.wait(_LOOK)

    def _read(self, tail: LineTail, path: Path) -> tuple[TailPosition | None, list[Arrival]]:
        """Return the next lines' traces, and the position after them if there are lines."""
        arrivals: list[Arrival] = []
        position = None
        for line in islice(tail.added(), _LINES):
            position, problem = line.position, ""
            try:
                if line.text.strip() or line.fault:
                    of_line, problem = self._reader.line_arrivals(line, now=time.time())
                    arrivals += of_line
            except DataError as error:
                problem = str(error)
            if problem:
                self._note_problem(f"{path}, line {line.number}: {problem}")
        return position, arrivals

    async def run(
        self, stop: Callable[[], bool], *, file: Path | None = None, once: bool = False
    ) -> None:
        """Judge and send until `stop` returns True.

        At the end, work under way gets some seconds; what is left then waits on disk. Raise
        `DataError` if the file cannot be read. Lines of `file` are read, including lines appended
        later; with `once`, the watch ends when all lines are done.
        """
        self._has_read = file is None

        async def prune() -> None:
            sinks = [each.name for each in self.deliveries if each.name != "webhook"]
            while True:
                await sleep(_PRUNE_SECONDS)
                before = time.time() - 3600 * self._plan.keep_hours
                await self._store.prune(sinks, before=before)

        with first_error_alone(), paid_by(self._budget):
            async with create_task_group() as sending:
                for delivery in self.deliveries:
                    sending.start_soon(delivery.run)
                sending.start_soon(prune)
                if file is not None:
                    sending.start_soon(partial(self._follow, file, once=once))
                await self._judge_until(stop, until_idle=once)
                with move_on_after(_FLUSH_SECONDS):
                    while not all(delivery.is_done for delivery in self.deliveries):
                        await self.sent.wait(_LOOK / 5)
                sending.cancel_scope.cancel()

    async def _judge_until(self, stop: Callable[[], bool], *, until_idle: bool) -> None:
        workers = self._plan.panel.workers
        room = _AHEAD * workers
        send, receive = create_memory_object_stream[WaitingTrace](room)
        async with create_task_group() as judging:
            for _ in range(workers):
                judging.start_soon(self._work, receive.clone())
            receive.close()
            async with send:
                while not stop():
                    if await self._feed(send, room=room):
                        continue
                    due = self._store.next_due()
                    has_none = math.isinf(self._free) or (self._has_read and due is None)
                    if until_idle and has_none and not self._under_way:
                        return
                    pause = _LOOK
                    if due is not None and not self._under_way:
                        pause = min(_LOOK, max(0.01, max(due, self._free) - time.time()))
                    await self._came.wait(pause)
            judging.cancel_scope.deadline = current_time() + GRACE

    async def _feed(self, send: MemoryObjectSendStream[WaitingTrace], *, room: int) -> bool:
        """Pass traces to the workers; return whether there were any."""
        if time.time() < self._free or len(self._under_way) >= room:
            return False
        ready = self._store.ready(limit=room - len(self._under_way), without=self._under_way)
        for waiting in ready:
            self._under_way.add(waiting.trace)
            await send.send(waiting)
        return bool(ready)

    async def _work(self, receive: MemoryObjectReceiveStream[WaitingTrace]) -> None:
        async with receive:
            async for waiting in receive:
                try:
                    await self._handle(waiting)
                finally:
                    self._under_way.discard(waiting.trace)
                    self._came.ring()

    async def _handle(self, waiting: WaitingTrace) -> None:
        """Finish a trace, or postpone it."""
        if not waiting.bodies:  # late spans of a trace that was judged already
            await self._store.end(waiting.trace)
            return
        try:
            trace = self._reader.trace(waiting)
            if not self._plan.sampling.chooses(trace):
                self.count.skipped += 1
                await self._store.end(waiting.trace)
                return
            plan = self._plan
            pairs = pair([trace.segment], self._catalogue, task=plan.task, aspects=plan.aspects)
            results = await judge_at_once(self._panel, list(pairs))
        except (ConfigError, DataError) as error:
            self._note_problem(f"trace {waiting.trace}: {error}")
            await self._store.end(waiting.trace)
            return
        except OverBudgetError as error:
            self._wait_for_budget(error)
            return
        except RunStoppedError:  # the next watch judges it
            return
        answered = not any(result.report.outcome in UNANSWERED for result in results)
        if not answered and waiting.tries < _RETRIES:
            self.count.postponed += 1
            due = time.time() + _RETRY_SECONDS * 2**waiting.tries
            await self._store.postpone(waiting.trace, due=due)
            return
        await self._finish(trace, results)

    async def _finish(self, trace: Trace, results: Sequence[Result]) -> None:
        """Store the results and all that follows from them, then report."""
        judged = time.time_ns()
        named = trace.trace_id if trace.names_trace else ""
        outgoing = [
            outgoing_score(
                _score(trace, result, judged=judged), result_line(result, trace_id=named)
            )
            for result in results
        ]
        reports = [
            report
            for result in results
            for report in self._drift.add(result, trace_id=trace.trace_id)
        ]
        alerts = [report for report in reports if isinstance(report, Alert)]
        for alert in alerts:
            body = json.dumps(alert.as_row(), ensure_ascii=False).encode("utf-8", "replace")
            outgoing.append(Outgoing(kind="alert", identity=alert.alert_id, body=body))
        await self._store.end(trace.key, outgoing, states={_DRIFT: self._drift.state})
        self.count.judged += 1
        self.count.alerts += len(alerts)
        self.sent.ring()
        for report in reports:
            self._emit(report)

    def _wait_for_budget(self, error: OverBudgetError) -> None:
        if time.time() < self._free:
            return
        free = None if self._budget is None else self._budget.free_again
        self._free = float("inf") if free is None else free.timestamp()
        until = "until it is raised" if free is None else f"until {free:%Y-%m-%dT%H:%MZ}"
        self._say(f"{error}: traces wait on disk {until}")

    def _note_problem(self, problem: str) -> None:
        """Show only the first few: a program without texts causes one with every trace."""
        self.count.unreadable += 1
        log.warning("traffic.trace_skipped", error=problem)
        if self.count.unreadable <= _SHOWN_PROBLEMS:
            self._say(f"not judged: {problem}")
        if self.count.unreadable == _SHOWN_PROBLEMS:
            self._say("further traces without a text that can be judged are only counted")


@asynccontextmanager
async def open_watch(
    plan: WatchPlan,
    *,
    emit: Callable[[Window | Alert], None],
    say: Callable[[str], None],
    stop_token: StopToken | None = None,
) -> AsyncIterator[Watch]:
    """Open the store, the panel and the sinks of a watch, and close them at the end.

    Once `stop_token` is requested, no call is sent, and traces that need one stay on disk.

    Raise `ConfigError` if a name is unknown, a key is missing or the output is named a table, and
    `StoreError` if the folder cannot be used, or another watch uses it.
    """
    if plan.output is not None:
        check_output(plan.output)
    async with AsyncExitStack() as stack:
        try:
            plan.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{plan.folder}: cannot be made: {error.strerror}") from error
        deliver = []  # functions that make a delivery once the store is open
        for spec in plan.sinks:
            _, sink = open_sink(spec)
            stack.push_async_callback(sink.aclose)
            deliver.append(partial(Delivery, spec, to_sink(sink)))
        if plan.webhook is not None:
            hook = Webhook(plan.webhook)
            stack.push_async_callback(hook.aclose)

            async def post(batch: Sequence[Outgoing]) -> None:
                await hook.send([json.loads(each.body) for each in batch])

            deliver.append(partial(Delivery, "webhook", post, kind="alert"))
        store = stack.enter_context(TrafficStore(plan.folder / _STORE))
        memory = None
        if plan.panel.models or any(seat.model is not None for seat in plan.panel.seats):
            memory = stack.enter_context(SqliteMemory(plan.folder / _MEMORY))
        budget = None
        if memory is not None and (plan.quotas.calls or plan.quotas.dollars):
            ledger = TenantLedger("watch", plan.quotas, memory=memory)
            budget = Budget(stack.enter_context(ledger))
        meter = Meter(stop_token=stop_token)
        panel = await stack.enter_async_context(
            open_configured_panel(plan.panel, memory=memory, meter=meter)
        )
        watch = Watch(plan, store=store, panel=panel, budget=budget, emit=emit, say=say)
        watch.deliveries += [make(store=store, bell=watch.sent, say=say) for make in deliver]
        if plan.output is not None:
            opening = file_delivery(plan.output, store=store, bell=watch.sent)
            watch.deliveries.append(await stack.enter_async_context(opening))
        yield watch


def _score(trace: Trace, result: Result, *, judged: int) -> TraceScore:
    report, scale = result.report, result.aspect.scale
    task = result.aspect.task.name
    return TraceScore(
        score_id=str(uuid5(_NAMES, f"{trace.key}/{task}/{result.aspect.name}")),
        trace_id=trace.trace_id,
        span_id=trace.span_id,
        aspect=result.aspect.name,
        task=task,
        outcome=report.outcome.value,
        score=report.score,
        low=scale.low,
        high=scale.high,
        label="" if report.score is None else scale.label(report.score),
        decision=report.decision.value if report.decision else "",
        error_probability=report.error_probability,
        explanation=hide(_explanation(result)),
        signature=report.signature,
        started=trace.started,
        judged=judged,
        names=trace.names,
    )


def _explanation(result: Result) -> str:
    """Return the errors and the reasons as text, one error a line."""
    report = result.report
    errors = [
        f"{span.text!r}, severity {span.severity}: {one_line(span.explanation)}"
        for span in report.spans
    ]
    doubts = [f"{part.text!r} is not verified: {part.reason}" for part in report.unverified]
    rest = [] if errors else [report.rationale or report.reason]
    return "\n".join(filter(None, [*errors, *doubts, *rest]))
