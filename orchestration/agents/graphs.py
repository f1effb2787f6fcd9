"""A node for graphs of LangGraph: it reviews the messages in the state, and sends the agent back.

The node needs nothing of LangGraph: a graph takes any function from its state to changes of it.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from spanjury.judges.core import Aspect, ConfigError, JudgeError, check_arguments
from spanjury.judges.core.transcript import Position
from spanjury.orchestration.agents.conditions import FAIL_ON, terms_of
from spanjury.orchestration.agents.reviewing import Rejection, Review, areview
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import as_trajectory, check_tools

State = Mapping[str, object]
"""The state of a graph, with ``messages``."""

OnFailure = Literal["raise", "accept"]

_END = "__end__"
"""The value of LangGraph's END."""
_MARK = "spanjury"
"""The key in the ``additional_kwargs`` of feedback under which its rejection is stored."""
_USER = frozenset({"user", "human"})


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryNode:
    """The node that `jury_node` returns, and the edge behind it.

    It is stateless: what was rejected is in the messages of the graph's state.
    """

    review: Callable[..., Awaitable[Review]]
    rounds: int
    on_failure: OnFailure
    agent: str
    carry_out: str

    async def __call__(self, state: State) -> dict[str, object]:
        """Return the feedback to add to the messages; none if nothing fails.

        Raise `JudgeError` as `on_failure` says.
        """
        messages = _messages(state)
        rejections = [*_rejections(messages)]
        since = len(messages) - len(_since_request(messages))
        review = await self.review(messages, since=since, after=rejections)
        used = len([*_rejections(_since_request(messages))])
        if review.messages and used < self.rounds:
            mark = {_MARK: asdict(review.rejections[-1])}
            return {"messages": [{**m, "additional_kwargs": mark} for m in review.messages]}
        if not review.passed and self.on_failure == "raise":
            reasons = review.unread.items()
            raise JudgeError(
                f"the agent was sent back {used} times and still fails: {review.feedback}"
                if review.messages
                else f"not judged: {'; '.join(f'{name}: {why}' for name, why in reasons)}"
            )
        return {"messages": []}

    def sync(self, state: State) -> dict[str, object]:
        """Do the same in a graph that is invoked without ``await``."""
        return run_synchronously(partial(self.__call__, state))

    def route(self, state: State) -> str:
        """Return the next node: the agent after feedback, its tools after calls, else the end."""
        messages = _messages(state)
        if _rejection(messages[-1]):
            return self.agent
        return self.carry_out if as_trajectory(messages).turns[-1].calls else _END


def jury_node(  # noqa: PLR0913  all have defaults
    panel: Panel | PanelConfig | Path | str | None = None,
    *,
    tools: Sequence[object] = (),
    rounds: int = 2,
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    fail_on: str | Sequence[str] = FAIL_ON,
    on_failure: OnFailure = "raise",
    agent: str = "agent",
    carry_out: str = "tools",
) -> JuryNode:
    """Return a node for LangGraph that judges the agent's messages before a graph goes on.

    Add its `route` as the conditional edge behind it. If the edge from the agent leads to this
    node, calls are judged before they are carried out, and the answer before the graph ends.

    Parameters
    ----------
    panel
        An open panel, which is quicker; or a description of one, which is opened for each review;
        None for the offline judges. An open panel belongs to one event loop: not with `sync`.
    tools
        The agent's tools, as they are bound to its model.
    rounds
        How often the agent is sent back at most for one request of the user.
    task, aspects, fail_on
        As in `areview`.
    on_failure
        For messages that fail after all rounds, or that no judge could read: ``raise`` a
        `JudgeError`, or ``accept`` them.
    agent, carry_out
        The names of the nodes that ask the model, and that carry out its calls.

    Raises
    ------
    ConfigError
        If a name is unknown, a tool has no specification, a condition cannot be read or is about an
        aspect that nothing is judged on, the policy cannot be read, or `rounds` is negative.
    """
    check_arguments(jury_node, locals())
    terms_of(task=task, aspects=aspects, fail_on=fail_on)  # fail before the graph runs
    check_tools(tools)
    if rounds < 0:
        raise ConfigError(f"rounds must be 0 or more, got {rounds!r}")
    return JuryNode(
        review=partial(
            areview, tools=tools, panel=panel, task=task, aspects=aspects, fail_on=fail_on
        ),
        rounds=rounds,
        on_failure=on_failure,
        agent=agent,
        carry_out=carry_out,
    )


def _messages(state: State) -> Sequence[object]:
    messages = state.get("messages")
    if not isinstance(messages, Sequence) or not messages:
        raise ConfigError("the state of the graph has no messages under the key 'messages'")
    return messages


def _since_request(messages: Sequence[object]) -> Sequence[object]:
    """Return what follows the user's last message that is no feedback."""
    asked = [
        index
        for index, message in enumerate(messages)
        if (_field(message, "role") or _field(message, "type")) in _USER and not _rejection(message)
    ]
    return messages[max(asked, default=0) :]


def _rejections(messages: Sequence[object]) -> Iterator[Rejection]:
    """Yield what was rejected so far; feedback on several calls is one rejection."""
    turns = 0
    for rejection in filter(None, map(_rejection, messages)):
        if rejection.turns != turns:
            yield rejection
        turns = rejection.turns


def _rejection(message: object) -> Rejection | None:
    extra = _field(message, "additional_kwargs")
    stored = extra.get(_MARK) if isinstance(extra, Mapping) else None
    if not isinstance(stored, Mapping):
        return None
    positions = tuple(Position(**position) for position in stored["positions"])
    return Rejection(turns=stored["turns"], answers=stored["answers"], positions=positions)


def _field(message: object, name: str) -> object:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)
