"""Extract the conversation from the result of an agent's run, whatever library ran it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spanjury.judges.core import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages of a result, and the agent's instructions and tools."""

    messages: Sequence[object]
    instructions: tuple[object, ...] = ()
    tools: Sequence[object] = ()


def conversation_of(result: object) -> Conversation:
    """Return the conversation in the result of an agent's run.

    Raise `ConfigError` if there is none.
    """
    if isinstance(result, RunOfOpenAI):
        agent = result.last_agent
        prompt = getattr(agent, "instructions", None)
        return Conversation(
            messages=result.to_input_list(),
            instructions=({"role": "system", "content": prompt},)
            if isinstance(prompt, str)
            else (),
            tools=getattr(agent, "tools", ()),
        )
    if isinstance(result, RunOfPydantic):
        return Conversation(messages=result.all_messages())
    messages = result.get("messages") if isinstance(result, Mapping) else result
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise ConfigError(
            f"the run returned a {type(result).__name__}, expected messages or an object that has"
            " them"
        )
    return Conversation(messages=messages)


@runtime_checkable
class RunOfOpenAI(Protocol):
    """The part of a result of OpenAI's Agents SDK that a review needs."""

    @property
    def last_agent(self) -> object:
        """The agent that answered."""
        ...

    def to_input_list(self) -> list[object]:
        """Return all messages."""
        ...


@runtime_checkable
class RunOfPydantic(Protocol):
    """The part of a result of pydantic-ai that a review needs."""

    def all_messages(self) -> list[object]:
        """Return all messages."""
        ...
