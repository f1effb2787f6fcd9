"""A trajectory: the turns of a user, an agent and its tools."""

from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from spanjury.judges.core.chat import ToolCall, ToolSpec

Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn.

    Parameters
    ----------
    role
        Who speaks; the agent is the assistant.
    text
        The speaker's words, or a tool's result.
    calls
        The tool calls of an assistant's turn, in order.
    call_id
        For a tool's turn, the id of the call that it answers.
    name
        For a tool's turn, the name of the tool.
    failed
        True for a tool's turn that reports an error.
    images
        URLs or names of images that belong to the turn; judges see no images.
    """

    role: Speaker
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    failed: bool = False
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Turns in order, and the tools that the agent could call; `tools` is empty if unknown.

    Raises `ValueError` if there is no turn of the assistant.
    """

    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()

    def __post_init__(self) -> None:
        if not any(turn.role == "assistant" for turn in self.turns):
            raise ValueError("a trajectory needs a turn of the assistant's")

    def caller_of(self, number: int) -> ToolCall | None:
        """Return the call that turn `number` answers, by its id or else by its order, or None."""
        turn = self.turns[number - 1]
        before = self.turns[: number - 1]
        if turn.role != "tool":
            return None
        calls = [call for earlier in before for call in earlier.calls]
        if turn.call_id:
            named = (call for call in reversed(calls) if call.call_id == turn.call_id)
            return next(named, None)
        results = sum(
            1 for _ in takewhile(lambda earlier: earlier.role == "tool", reversed(before))
        )
        unnamed = next((earlier.calls for earlier in reversed(before) if earlier.calls), ())
        return unnamed[results] if results < len(unnamed) else None
