"""Extract the conversation from the result of an agent's run, whatever library ran it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    if callable(listed := getattr(result, "to_input_list", None)):  # of OpenAI's Agents SDK
        agent = getattr(result, "last_agent", None)
        prompt = getattr(agent, "instructions", None)
        return Conversation(
            messages=listed(),
            instructions=({"role": "system", "content": prompt},)
            if isinstance(prompt, str)
            else (),
            tools=getattr(agent, "tools", ()),
        )
    if callable(listed := getattr(result, "all_messages", None)):  # of pydantic-ai
        return Conversation(messages=listed())
    messages = result.get("messages") if isinstance(result, Mapping) else result
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise ConfigError(
            f"the run returned an object of type {type(result).__name__}, expected messages or an"
            " object that has them"
        )
    return Conversation(messages=messages)
