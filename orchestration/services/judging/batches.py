"""A run whose models answer through batch APIs: requests go out as files, and replies come back.

Each round assesses all rows of the run. Requests without a remembered reply are written to files,
which are sent to the models' servers (`Sending`) or left for the user (`Files`). When the replies
have arrived, the next round uses them, and may need further requests. Once no reply is missing, the
run proceeds like any other, over a memory that holds all replies.

The state of each sent batch is in the memory of the run, and is on disk before and after each step,
so that a run that is killed at any point sends no batch twice and loses no reply.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from anyio import to_thread

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DeferredError,
    Memory,
    ModelError,
    Outcome,
    PermanentModelError,
    RunFailedError,
    RunStoppedError,
    Segment,
    TransientModelError,
    first_error_alone,
)
from spanjury.judges.core.keys import digest
from spanjury.orchestration.engine.batch import assess_in_order
from spanjury.orchestration.engine.deferral import Deferral, Requests
from spanjury.orchestration.engine.spending import NOTHING, Spending
from spanjury.orchestration.services.judging.session import RunSession
from spanjury.orchestration.wiring.batch_files import (
    AnswerFile,
    BatchStatus,
    RequestFile,
    answers_in,
    litellm_batches,
    open_server,
    read_answers,
    write_answers,
)
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.seats import asked_models

T = TypeVar("T")
Note = Callable[[str], None]
"""Shows a line to the user."""

FOLDER = "batches"
"""Name of the folder, within the run's folder, for the files of batches under way."""
_KEY = digest("batches")
_ATTEMPTS = 3
_FIRST_WAIT, _LONGEST_WAIT, _GROWTH = 1.0, 60.0, 1.5
"""Seconds between two queries of a batch's state."""
_TICK = 0.25
"""Seconds after which a wait checks for a request to stop."""
_LONGEST_OUTAGE = 3600.0
"""Seconds that a batch server may fail to answer before the run ends; the run can be resumed."""
_NAMED = 3


async def ask_in_rounds(
    batches: "Batches",
    session: RunSession,
    read: Callable[[], Iterator[tuple[Segment, Aspect]]],
    *,
    panel: PanelConfig,
    again: frozenset[Outcome],
    begun: Callable[[], None],
) -> Deferral:
    """Request all replies that the rows need, round by round; return the completed deferral.

    `read` begins to read the pairs, in a thread; `begun` is called before anything is sent.

    Raise `DeferredError` if the user must obtain the replies, and the errors of a run that stops or
    fails.
    """
    if session.memory is None:
        raise ConfigError("batches need the memory of a run: leave out --no-memory")
    deferral = await batches.open(session, panel)
    is_stuck = False
    while True:
        deferral.begin_round()
        try:
            await _round(deferral, session, read, panel=panel, again=again)
        except BaseException:
            for requests in deferral.requests:
                assert isinstance(requests.file, RequestFile)
                requests.file.discard()
                deferral.meter.release_deferred(requests.reserved)
            raise
        finally:
            deferral.end_round()
        if not deferral.lacking:
            return deferral
        if deferral.reserves and not deferral.requests:  # other reservations are released now
            if is_stuck:
                raise RunStoppedError("the limits of the run do not allow for the next requests")
            is_stuck = True
            continue
        is_stuck = False
        begun()
        await batches.send(session)


async def _round(
    deferral: Deferral,
    session: RunSession,
    read: Callable[[], Iterator[tuple[Segment, Aspect]]],
    *,
    panel: PanelConfig,
    again: frozenset[Outcome],
) -> None:
    async with session.open_panel(panel, again=again, deferral=deferral) as opened:

        async def assess(segment: Segment, aspect: Aspect) -> None:
            if aspect.criteria:  # a rubric's result follows from those of its criteria
                return
            with suppress(DeferredError):
                await opened.assess(segment, aspect)

        pairs = await to_thread.run_sync(read)
        await assess_in_order(
            pairs,
            assess,
            write=lambda _: None,
            workers=panel.workers,
            stop_token=session.stop_token,
        )
    _require_going_on(session)


def _require_going_on(session: RunSession) -> None:
    token = session.stop_token
    if token.is_requested:
        token.interrupted = True
        raise RunStoppedError(token.reason)


class Files:
    """Batches that the user sends: requests are written to one file, and replies read from another.

    `note` shows lines to the user. `out` receives the requests without a reply; further files are
    numbered from 2 if they do not fit into one. `answered` is the output of a batch. Either is None
    if there is no such file.
    """

    def __init__(self, *, out: Path | None, answered: Path | None, note: Note) -> None:
        self._out = out
        self._answered = answered
        self._note = note
        self._deferral: Deferral | None = None
        self._file: AnswerFile | None = None
        self._count = 0

    async def open(self, session: RunSession, panel: PanelConfig) -> Deferral:
        """Read the replies; raise `DataError` if the file cannot be read."""
        del panel
        self._deferral = deferral = Deferral(
            meter=session.meter,
            open_file=None if self._out is None else self._open_file,
            reserves=False,
        )
        if self._answered is not None:
            self._file = await to_thread.run_sync(read_answers, self._answered)
            deferral.answered(answers_in(self._file))
        return deferral

    def _open_file(self, _: str) -> RequestFile:
        assert self._out is not None
        self._count += 1
        number = f"-{self._count}" if self._count > 1 else ""
        return RequestFile(self._out.with_name(f"{self._out.stem}{number}{self._out.suffix}"))

    async def send(self, session: RunSession) -> None:
        """Finish the files, and raise `DeferredError`: the user sends them."""
        assert self._deferral is not None
        self._say_answers(session)
        for requests in self._deferral.requests:
            await to_thread.run_sync(_finish, requests)
            count, path = len(requests.keys), requests.file.path
            self._note(f"{count:,} requests to {requests.model} are in {path}")
        deferred = DeferredError(f"{self._deferral.lacking:,} replies are lacking")
        deferred.is_written = self._out is not None
        raise deferred

    async def close(self, session: RunSession) -> None:
        """Report what the replies contained."""
        self._say_answers(session)

    def _say_answers(self, session: RunSession) -> None:
        if self._file is None or self._deferral is None or session.memory is None:
            return
        unasked = self._deferral.unasked(self._file.lines)
        foreign = [key for key in unasked if session.memory.get(key) is None]
        _note_file(self._note, self._file, kept=len(unasked) - len(foreign), foreign=foreign)


class _Batch(msgspec.Struct, kw_only=True):
    """The state of a batch.

    `name` is the name of its request file without suffix; `reserved` holds calls, tokens and
    dollars. `may_be_begun` says whether the server was asked to begin it, whatever the outcome.
    `answers` is None until they are collected.
    """

    name: str
    model: str
    requests: int
    reserved: tuple[int, int, float]
    file_id: str = ""
    may_be_begun: bool = False
    batch_id: str = ""
    answers: list[str] | None = None


class _State(msgspec.Struct, kw_only=True):
    """The batches whose replies are not all remembered, and the number of batches so far."""

    count: int = 0
    batches: list[_Batch] = []


_STATES = msgspec.json.Decoder(_State)
_ENCODER = msgspec.json.Encoder()


class Sending:
    """Batches that are sent to the servers of their models, and collected.

    `folder` holds their files until every reply is remembered; `note` shows lines to the user.
    """

    def __init__(self, folder: Path, *, note: Note) -> None:
        self._folder = folder
        self._note = note
        self._state = _State()
        self._models: Mapping[str, ModelConfig] = {}
        self._deferral: Deferral | None = None
        self._memory: Memory | None = None

    async def open(self, session: RunSession, panel: PanelConfig) -> Deferral:
        """Collect the batches that an earlier session of the run has sent or was about to send."""
        self._memory = session.memory
        assert self._memory is not None
        self._models = asked_models(panel)
        self._state = _STATES.decode(self._memory.get(_KEY) or b"{}")
        # The user gives a batch up by deleting its file.
        self._state.batches = [
            batch for batch in self._state.batches if self._requests_of(batch).exists()
        ]
        self._deferral = deferral = Deferral(
            meter=session.meter,
            open_file=self._open_file,
            reserves=True,
            attempts=_ATTEMPTS,
            asks_tokenizers=True,
        )
        for batch in self._state.batches:
            session.meter.defer_again(Spending(*batch.reserved))
            if batch.answers is not None:
                await self._take_up(batch)
        await self._collect(session)
        return deferral

    def _open_file(self, _: str) -> RequestFile:
        assert self._deferral is not None
        number = self._state.count + len(self._deferral.requests) + 1
        return RequestFile(self._folder / f"{number:04}.jsonl")

    def _requests_of(self, batch: _Batch) -> Path:
        return self._folder / f"{batch.name}.jsonl"

    async def send(self, session: RunSession) -> None:
        """Send the files of the round, and return once all batches are collected."""
        assert self._deferral is not None
        for requests in self._deferral.requests:
            await to_thread.run_sync(_finish, requests)
            reserved = requests.reserved
            batch = _Batch(
                name=requests.file.path.stem,
                model=requests.model,
                requests=len(requests.keys),
                reserved=(reserved.calls, reserved.tokens, reserved.dollars),
            )
            self._state.batches.append(batch)
            self._state.count += 1
        await self._keep()
        await self._collect(session)

    async def close(self, session: RunSession) -> None:
        """Forget the batches, and delete their files."""
        del session
        if not self._state.batches:
            return
        self._state.batches = []
        await self._keep()
        for path in self._folder.glob("[0-9]*.jsonl*"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # another file is there
            self._folder.rmdir()

    async def _keep(self) -> None:
        assert self._memory is not None
        await self._memory.put(_KEY, _ENCODER.encode(self._state))

    async def _collect(self, session: RunSession) -> None:
        """Send and collect all open batches; raise `RunFailedError` if one fails."""
        open_batches = [batch for batch in self._state.batches if batch.answers is None]
        names = {batch.model for batch in open_batches}
        if missing := names - self._models.keys():
            raise ConfigError(
                f"a batch of {', '.join(sorted(missing))} is under way, which is not on the panel:"
                " resume the run with this model first"
            )
        async with AsyncExitStack() as stack:
            servers = {
                name: await stack.enter_async_context(open_server(self._models[name]))
                for name in names
            }
            with first_error_alone():
                async with anyio.create_task_group() as group:
                    for batch in open_batches:
                        server = servers[batch.model]
                        sent = _Sent(batch, server, session, note=self._note, keep=self._keep)
                        group.start_soon(self._collected, sent)

    async def _collected(self, sent: "_Sent") -> None:
        """Wait for a batch to end and use its replies; raise if it failed as a whole."""
        batch, session = sent.batch, sent.session
        status = await sent.ended(self._requests_of(batch))
        if status.state == "failed":
            self._state.batches.remove(batch)
            session.meter.release_deferred(Spending(*batch.reserved))
            await self._keep()
            raise RunFailedError(
                f"batch {status.batch_id} of {batch.model} has failed:"
                f" {status.reason or 'its server does not say why'}"
            )
        names = []
        for number, file_id in enumerate(status.files, start=1):
            content = await sent.downloaded(file_id)
            names.append(f"{batch.name}-answers-{number}.jsonl")
            await to_thread.run_sync(write_answers, self._folder / names[-1], content)
        batch.answers = names
        await self._keep()
        if not await self._take_up(batch):
            raise RunFailedError(f"batch {status.batch_id} of {batch.model} has answered nothing")
        if status.state == "cancelled":
            raise RunFailedError(
                f"batch {status.batch_id} of {batch.model} was cancelled: a resume sends what it"
                " has not answered"
            )

    async def _take_up(self, batch: _Batch) -> bool:
        """Pass the replies of a batch to the deferral; return whether there are any."""
        assert self._deferral is not None
        reserved, has_any = Spending(*batch.reserved), False
        for name in batch.answers or ():
            file = await to_thread.run_sync(read_answers, self._folder / name)
            self._deferral.answered(answers_in(file), reserved=reserved)
            reserved, has_any = NOTHING, has_any or bool(file.lines)
            _note_file(self._note, file)
        self._deferral.answered({}, reserved=reserved)
        return has_any


Batches = Files | Sending
"""Takes the requests of each round, and returns when replies are available."""


class _Sent:
    """A batch under way; the state after each step is stored before the next begins."""

    def __init__(
        self,
        batch: _Batch,
        server: "litellm_batches.LiteLLMBatches",
        session: RunSession,
        *,
        note: Note,
        keep: Callable[[], Awaitable[None]],
    ) -> None:
        self.batch = batch
        self.session = session
        self._server = server
        self._note = note
        self._keep = keep

    async def ended(self, path: Path) -> BatchStatus:
        """Do the steps that are left, and return the state of the batch once it has ended."""
        batch, server = self.batch, self._server
        if not batch.file_id:
            batch.file_id = await self._patiently(lambda: server.upload(path))
            await self._keep()
        if not batch.batch_id:
            batch.batch_id = (await self._patiently(self._begin)).batch_id
            await self._keep()
            self._note(
                f"batch {batch.batch_id}: {batch.requests:,} requests to {batch.model} are sent;"
                " the run waits for its answers, and may be stopped and resumed meanwhile"
            )
        wait, done = _FIRST_WAIT, -1
        while True:
            status = await self._patiently(lambda: server.retrieve(batch.batch_id))
            if status.state != "under way":
                break
            if status.done != done and done >= 0:
                self._note(f"batch {batch.batch_id}: {status.done:,} of {status.total:,} are done")
                wait = _FIRST_WAIT
            done = status.done
            await self._sleep(wait)
            wait = min(_LONGEST_WAIT, wait * _GROWTH)
        self._note(f"batch {batch.batch_id} is {status.state}")
        return status

    async def downloaded(self, file_id: str) -> bytes:
        """Return the content of a file."""
        return await self._patiently(lambda: self._server.download(file_id))

    async def _begin(self) -> BatchStatus:
        """Begin the batch, unless an earlier call began it and its response was lost."""
        batch = self.batch
        if batch.may_be_begun:
            try:
                begun = await self._server.find(batch.file_id)
            except PermanentModelError as error:
                raise RunFailedError(
                    f"the server does not say whether it has begun a batch of {batch.model}: delete"
                    f" the folder {FOLDER}/ of the run to send its requests again ({error})"
                ) from error
            if begun is not None:
                return begun
        else:
            batch.may_be_begun = True
            await self._keep()
        return await self._server.create(batch.file_id)

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Retry until the server answers; raise `RunFailedError` if it refuses or stays silent."""
        wait, until = _FIRST_WAIT, None
        while True:
            try:
                return await ask()
            except TransientModelError as error:
                now = anyio.current_time()
                if until is None:
                    until = now + _LONGEST_OUTAGE
                    self._note(f"waiting for the batches of {self.batch.model}: {error}")
                if now >= until:
                    raise RunFailedError(f"batches of {self.batch.model}: {error}") from error
            except ModelError as error:
                raise RunFailedError(f"batches of {self.batch.model}: {error}") from error
            await self._sleep(wait)
            wait = min(_LONGEST_WAIT, wait * _GROWTH)

    async def _sleep(self, seconds: float) -> None:
        """Sleep; raise `RunStoppedError` if the run should stop."""
        until = anyio.current_time() + seconds
        while (left := until - anyio.current_time()) > 0:
            _require_going_on(self.session)
            await anyio.sleep(min(_TICK, left))


def _finish(requests: Requests) -> None:
    assert isinstance(requests.file, RequestFile)
    requests.file.finish()


def _note_file(note: Note, file: AnswerFile, *, kept: int = 0, foreign: Sequence[str] = ()) -> None:
    """Report the contents of an answer file, including unusable lines."""
    replies = sum(line.reply is not None for line in file.lines.values())
    note(f"{file.path}: {replies:,} replies" + (f", {kept:,} of them kept before" * bool(kept)))
    for code, count in file.errors.most_common():
        note(f"  {count:,} requests without a reply: {code}")
    _note_some(note, "damaged lines", list(map(str, file.damaged)))
    _note_some(note, "second answers to a request, at lines", list(map(str, file.doubled)))
    _note_some(note, "answers to no request of this run", foreign)


def _note_some(note: Note, what: str, names: Sequence[str]) -> None:
    if names:
        more = ", …" * (len(names) > _NAMED)
        note(f"  {len(names):,} {what}: {', '.join(names[:_NAMED])}{more}")
