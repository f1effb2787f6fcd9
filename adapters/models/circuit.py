"""Circuit breakers: a run calls a model only as long as the model answers.

A `Guard` belongs to one run and has a `Circuit` for each of its models. While a circuit is
closed, calls pass. While it is open, they wait, and one small request, the probe, is repeated
until the model answers. A circuit is open

- at first, so that the first probe is the preflight, before anything is paid;
- after `PATIENCE` transient failures in a row, from any of the model's servers;
- after any call whose last attempt failed for a reason that may be the model's. If the next probe
  is answered, the call fails; otherwise it waits for the end of the outage, and is repeated.

A model may answer every probe but no call. So after a number of failures without a reply,
`UsableShare.enough`, the last failed call serves as the probe.

The run fails if a model refuses the key, the name or the address, raises the same complaint about
every request, is silent for longer than the longest outage, or gives too few usable answers. Then
every waiting and later call raises `RunFailedError`. Without a preflight, the first call goes
ahead of the others, so that a wrong key costs only one call.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial

import anyio

from spanjury.adapters.models.model_errors import asked_wait
from spanjury.adapters.models.outage import ALIKE, Complaints, Outage, UsableShare
from spanjury.judges.core import (
    ChatRequest,
    Decoding,
    EventLog,
    Form,
    FormRefusedError,
    LogprobsRefusedError,
    Message,
    ModelError,
    RateLimitedModelError,
    Reply,
    Report,
    RunFailedError,
    TransientModelError,
    UnusableModelError,
    first_error_alone,
    kind_of,
)
from spanjury.judges.core.lazy import lazily

with lazily():
    import tenacity

__all__ = ["ALIKE", "NO_REPLY", "PATIENCE", "PROBE", "Circuit", "Guard", "failure_of"]

PROBE = ChatRequest(
    messages=(Message(role="user", content="Answer with the single word: ready"),),
    decoding=Decoding(max_tokens=16),
)
"""The small request that tests whether a model answers."""

PATIENCE = 5
"""Number of transient failures in a row after which calls wait."""

NO_REPLY = (TransientModelError, UnusableModelError)
"""Errors of calls without a reply that say nothing against the request: it may be repeated."""

_LONGEST_PAUSE = 10.0  # seconds between probes; the first pause is 1 s, each doubles
_PAYMENT_REQUIRED = 402
_PAY = "its provider wants to be paid: check the credit of the account, and its limits"

log = EventLog()

Ask = Callable[[ChatRequest], Awaitable[Reply]]


class Guard:
    """The circuits of one run.

    Calls wait at most `max_outage` seconds for a model that does not answer; with 0 they fail at
    once. The wait is logged after `silence` seconds without a reply to a probe.

    With `preflight`, each model must answer a probe before its first call; without it, the first
    call goes `head_start` seconds ahead of the others. `is_fresh` means that nothing is cached, so
    that the run will need all its models: then all are probed before the first call to any of
    them. Otherwise each is probed when it is first needed.

    `new_share` makes the check of whether too few of a model's answers are usable.

    Some mappings are filled during the run, by the model's name. `tokenizers` has the source of its
    special tokens, `forms` the form to which its server constrains each kind of reply, and
    `log_probabilities` whether it returns them.
    """

    def __init__(
        self,
        *,
        max_outage: float = 60.0,
        preflight: bool = True,
        is_fresh: bool = True,
        new_share: Callable[[], UsableShare] = UsableShare,
        silence: float = 5.0,
        head_start: float = 1.0,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.max_outage = max_outage
        self.new_share = new_share
        self.silence = silence
        self.head_start = head_start
        self.clock = clock
        self.sleep = sleep
        self._preflight = preflight
        self.is_fresh = is_fresh
        self.tokenizers: dict[str, str] = {}
        self.forms: dict[str, Mapping[str, Form]] = {}
        self.log_probabilities: dict[str, str] = {}
        self._circuits: dict[Hashable, Circuit] = {}
        self._failure = ""

    def circuit(
        self, key: Hashable, *, name: str, where: str = "", is_local: bool = False
    ) -> "Circuit":
        """Return the circuit of a model; the same one for the whole run.

        `key` identifies the model within the run; `name` is for messages, and `where` for those
        that tell users what calls wait for. A model that `is_local` runs in this process; opening
        it has shown that it works.
        """
        if key not in self._circuits:
            is_closed = is_local or not self._preflight
            self._circuits[key] = Circuit(
                self, name=name, where=where or name, is_closed=is_closed, has_answered=is_local
            )
        return self._circuits[key]

    @property
    def has_failed(self) -> bool:
        """True if the run has failed."""
        return bool(self._failure)

    def fail(self, message: str) -> None:
        """Fail the run; of several reasons, the first is raised."""
        self._failure = self._failure or message

    def require_success(self) -> None:
        """Raise `RunFailedError` if the run has failed, even if an earlier one was caught."""
        if self._failure:
            raise RunFailedError(self._failure)

    async def preflight(self, first: "Circuit") -> None:
        """Probe `first`, and in a fresh run also all models that were never probed."""
        others = self._circuits.values() if self.is_fresh and self._preflight else ()
        waiting = [other for other in others if other.is_untried and other is not first]

        async def attempt(circuit: Circuit) -> None:
            await circuit.try_until_answered()
            if self._failure:
                group.cancel_scope.cancel()

        for circuit in (first, *waiting):
            circuit.is_held = True  # no model is called before all of them have answered
        try:
            with first_error_alone():
                async with anyio.create_task_group() as group:
                    for circuit in (first, *waiting):
                        group.start_soon(attempt, circuit)
        finally:
            for circuit in (first, *waiting):
                circuit.release()


class Circuit:
    """The circuit breaker for one model; `Guard` makes it.

    If it `is_closed`, calls pass at once, without a preflight.
    """

    def __init__(
        self, guard: Guard, *, name: str, where: str, is_closed: bool, has_answered: bool
    ) -> None:
        self.is_held = False
        self._guard = guard
        self._name = name
        self._is_closed = is_closed
        self._has_answered = has_answered
        self._has_first = False
        self._complaints = Complaints()
        self._outage = Outage(
            name, where=where, longest=guard.max_outage, silence=guard.silence, clock=guard.clock
        )
        self._share = guard.new_share()
        self._ask: Ask | None = None
        self._failed = PROBE
        self._unanswered = 0
        self._failures = 0
        self._refusals = 0
        self._outages = 0
        self._is_tried_now = False
        self._changed = anyio.Event()

    @property
    def is_closed(self) -> bool:
        """True if calls may pass."""
        return self._is_closed and not self.is_held and not self._guard.has_failed

    @property
    def is_untried(self) -> bool:
        """True if the model is open, has never answered, and is not being probed."""
        return self._ask is not None and not self._has_answered and not self._is_tried_now

    def waiting(self, now: float) -> str:
        """Return the note of `Outage.waiting`, or "" if the run has failed."""
        return "" if self._guard.has_failed else self._outage.waiting(now)

    def attach(self, ask: Ask) -> None:
        """Register the function that sends probes to the opened model."""
        self._ask = ask

    def detach(self) -> None:
        """Forget the model, which is being closed."""
        self._ask = None

    def ended(self, error: ModelError | None, request: ChatRequest) -> None:
        """Record how one attempt at `request` ended: with `error`, or with a reply.

        Any error that is not transient shows that the server is up, and so does the transient one
        about too many requests.
        """
        match error:
            case None:
                self._complaints.replied()
                self._answered(request)
            case UnusableModelError():
                self._refusals += 1
            case RateLimitedModelError():
                self._failures = self._unanswered = 0
            case TransientModelError():
                if request is not PROBE:
                    self._unanswered += 1
                    self._failed = request
                self._failures += 1
                if self._failures >= PATIENCE:
                    self._open(error)
            case (
                FormRefusedError() | LogprobsRefusedError(names_them=True)
            ):  # the request is sent in another form
                self._answered(request)
            case _:
                self._answered(request)
                self._complaints.add(error)
                self._judge_complaints(error)

    def judged(self, report: Report) -> None:
        """Record whether the model's replies in one assessment were usable."""
        self._share.add(report)
        if self._share.is_too_small:
            self._guard.fail(f"model {self._name} is of no use: {self._share}")

    async def follow(self) -> None:
        """Let the very first call go ahead: later ones wait for its answer or the head start."""
        if not self._is_new():
            return
        if not self._has_first:
            self._has_first = True
            return
        with anyio.move_on_after(self._guard.head_start):
            while self._is_new():
                await self._changed.wait()

    def _is_new(self) -> bool:
        """Return whether calls may pass although the model has not answered any yet."""
        return self.is_closed and not self._has_answered

    async def pause(self, seconds: float, error: ModelError) -> float:
        """Start the wait after an attempt that ended in `error`; return the seconds left of it."""
        return await self._outage.pause(seconds, error, sleep=self._guard.sleep)

    async def ready(self) -> None:
        """Wait until the model may be called.

        Raises `RunFailedError` if a model of the run cannot be used, or did not answer in time.
        """
        self._guard.require_success()
        while not self.is_closed:
            if self._is_tried_now or self.is_held:
                await self._changed.wait()
            elif self._has_answered:
                await self.try_until_answered()
            else:
                await self._guard.preflight(self)
            self._guard.require_success()

    async def is_own(self, error: ModelError) -> bool:
        """Return whether `error`, a call's last one, was caused by the call itself.

        It was if the model answers a probe at once. Otherwise the call must be repeated, and this
        returns after the end of the outage.

        Raises `RunFailedError` as `ready` does.
        """
        outages = self._outages
        self._open(error)
        await self.ready()
        return self._outages == outages

    async def try_until_answered(self) -> None:
        """Probe until the model answers or the run fails."""
        self._is_tried_now = True
        probing = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(NO_REPLY),
            wait=partial(self._wait, since=self._guard.clock()),
            stop=lambda _: self._guard.has_failed,
            before_sleep=lambda state: self._outage.begin(failure_of(state)),
            sleep=self._guard.sleep,
            retry_error_callback=lambda _: None,
        )
        try:
            await probing(self._outage.watch, self._probe)
        finally:
            self._is_tried_now = False
            self._notify()

    def release(self) -> None:
        """Let the calls pass that a preflight was holding back."""
        self.is_held = False
        self._notify()

    async def _probe(self) -> None:
        """Send one probe; raise the error if the model did not answer."""
        assert self._ask is not None, "a circuit is asked by those only who have its model"
        request = self._failed if self._is_doubtful else PROBE
        try:
            await self._ask(request)
        except NO_REPLY:
            raise
        except ModelError as complaint:  # about the request: the model is up
            self._answered(request)
            self._complaints.add_of_probe(complaint)
            self._judge_complaints(complaint)
        log.info("circuit.closed", model=self._name)
        self._is_closed = True

    @property
    def _is_doubtful(self) -> bool:
        """True if an answer to the small probe would not prove that calls succeed."""
        return self._unanswered >= self._share.enough

    def _wait(self, state: "tenacity.RetryCallState", *, since: float) -> float:
        """Return the seconds until the next probe; fail the run if there is to be none."""
        self._outages += 1
        error, pause = failure_of(state), tenacity.wait_exponential(max=_LONGEST_PAUSE)(state)
        if isinstance(error, UnusableModelError):
            if not self._has_answered or self._refusals >= ALIKE:
                is_unpaid = error.status == _PAYMENT_REQUIRED
                advice = _PAY if is_unpaid else "check its name, its key and its address"
                self._guard.fail(f"model {self._name} cannot be used: {error}; {advice}")
            return pause
        longest = self._guard.max_outage
        left, asked = since + longest - self._guard.clock(), asked_wait(error)
        if left <= 0 or asked > left:
            self._guard.fail(
                f"model {self._name} {self._silence(asked, is_over=left <= 0)}: {error}"
            )
        return min(max(pause, asked), left)

    def _silence(self, asked: float, *, is_over: bool) -> str:
        """Say for how long the model did not answer, or wants to wait."""
        longest = self._guard.max_outage
        if not is_over:
            return f"asks to wait {asked:g} s, beyond the {longest:g} s of --max-outage"
        if self._is_doubtful:
            calls = f"the last {self._unanswered} calls in {longest:g} s (--max-outage)"
            return f"has answered none of {calls}; with --min-usable 0 each row fails by itself"
        if not longest:
            return "does not answer (--max-outage 0)"
        return f"has not answered for {longest:g} s (--max-outage)"

    def _answered(self, request: ChatRequest) -> None:
        if request is not PROBE:
            self._unanswered = 0
        if not self._has_answered:
            self._has_answered = True
            self._notify()
        self._failures = self._refusals = 0
        self._outage.end()

    def _judge_complaints(self, error: ModelError) -> None:
        """Probe the model, or fail the run, if all complaints are alike."""
        if self._complaints.are_suspicious:
            self._open(error)
        elif self._complaints.are_of_all:
            self._guard.fail(
                f"model {self._name} has replied to nothing, and says the same of whatever it is"
                f" asked: {error}; check its name, its options and its address"
            )

    def _open(self, error: ModelError) -> None:
        if self._is_closed:
            log.warning("circuit.opened", model=self._name, error=kind_of(error))
        self._is_closed = False

    def _notify(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def failure_of(state: "tenacity.RetryCallState") -> ModelError:
    """Return the error of the last attempt."""
    error = state.outcome and state.outcome.exception()
    assert isinstance(error, ModelError), "no other failure is retried"
    return error
