"""A node for graphs of LangGraph: it reviews the messages in the state, and sends the agent back.

The node needs nothing of LangGraph's: a graph takes any function from a state to its changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, JudgeError
from spanjury.judges.core.transcript import Position
from spanjury.orchestration.agents.conditions import FAIL_ON, parsed
from spanjury.orchestration.agents.reviewing import Rejection, Review, areview, waiting_calls
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import as_trajectory

State = Mapping[str, object]
"""The state of a graph, with ``messages``."""

_END = "__end__"
"""The name that LangGraph's END has."""
_MARK = "spanjury"
"""The key in a message's ``additional_kwargs`` under which feedback carries its rejection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryNode:
    """The node that `jury_node` returns; `sync` is for graphs that are invoked without await."""

    panel: Panel | PanelConfig | Path | str | None
    tools: Sequence[object]
    rounds: int
    task: str | None
    aspects: str | Aspect | Sequence[str | Aspect]
    fail_on: str | Sequence[str]
    agent: str
    tool_node: str

    async def __call__(self, state: State) -> dict[str, object]:
        """Return the feedback to add to the state; nothing if nothing fails.

        Raise `JudgeError` if the judges could not read what the agent did.
        """
        messages = _messages(state)
        rejections = _rejections(messages)
        if len(rejections) >= self.rounds:
            return {}
        review = await areview(
            messages,
            tools=self.tools,
            panel=self.panel,
            task=self.task,
            aspects=self.aspects,
            fail_on=self.fail_on,
        )
        return {"messages": [*review.messages]}

    def sync(self, state: State) -> dict[str, object]:
        """Do the same in a graph that is not asynchronous."""
        return run_synchronously(partial(self, state))

    def route(self, state: State) -> str:
        """Return the next node: the agent after feedback, its tools for calls, else the end."""
        messages = _messages(state)
