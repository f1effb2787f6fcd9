"""Values in rows of other programs: model outputs, passages, turns and references.

Programs wrap a text in objects: a chat API's reply in ``choices``, a run in ``outputs``, a
passage in a document. Each function unwraps one kind of value and ignores unknown forms.
"""

import ast
import json
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import Speaker

_WRAPPERS = (
    *("output", "answer", "response", "completion", "content", "text", "page_content", "result"),
    *("generated_text", "output_text", "final_output", "prediction", "summary", "message"),
    *("choices", "generations", "messages", "value", "kwargs", "data"),
)
"""Keys whose value may be an object's text, the most likely first."""
_ROLES: Mapping[str, Speaker] = {
    **dict.fromkeys(("assistant", "ai", "gpt", "model", "bot", "aimessage"), "assistant"),
    **dict.fromkeys(("user", "human", "humanmessage"), "user"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage"), "tool"),
    **dict.fromkeys(("system", "developer", "systemmessage"), "system"),
}
_DEPTH = 8  # nested objects; no known program nests deeper


class Turn(NamedTuple):
    """One message of a conversation; its role is assistant, user, tool or system."""

    role: str
    text: str


def text_of(value: object, *, depth: int = _DEPTH) -> str | None:
    """Return the only text in `value`, or None if there are none or several.

    For a conversation, this is its last turn, if the model wrote it.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and value and depth:
        return _text_of_list(value, depth=depth - 1)
    if isinstance(value, Mapping) and depth:
        for key in _WRAPPERS:
            if (text := text_of(value.get(key), depth=depth - 1)) is not None:
                return text
        texts = [text for key, text in value.items() if isinstance(text, str) and key != "error"]
        return texts[0] if len(texts) == 1 else None
    return None


def _text_of_list(value: Sequence[object], *, depth: int) -> str | None:
    if turns := turns_of(value):
        return last_reply(value) if len(turns) > 1 else turns[0].text
    objects = [part for part in value if isinstance(part, Mapping)]
    parts = [part for part in objects if "text" in str(part.get("type"))]
    if parts:
        return "".join(filter(None, (text_of(part, depth=depth) for part in parts)))
    return text_of(value[0], depth=depth) if len(value) == 1 else None


def turns_of(value: object) -> list[Turn]:
    """Return the turns of a conversation; empty if `value` is not one.

    It reads messages in the forms of OpenAI, Anthropic, LangChain and ShareGPT. A turn without
    text, such as a tool call, is left out.

    Examples
    --------
    >>> turns_of([{"role": "user", "content": "Hi"}, {"from": "gpt", "value": "Hello."}])
    [Turn(role='user', text='Hi'), Turn(role='assistant', text='Hello.')]
    """
    if not isinstance(value, list):
        return []
    if len(value) == 1 and isinstance(value[0], list):  # LangSmith: one list a prompt
        return turns_of(value[0])
    roles = [role_of(message) for message in value]
    if None in roles:
        return []
    texts = [_content_of(message) for message in value]
    return [Turn(role, text) for role, text in zip(roles, texts, strict=True) if role and text]


def role_of(message: object) -> Speaker | None:
    """Return a message's role, one of those of `Turn`; None if `message` is not a message."""
    if not isinstance(message, Mapping):
        return None
    path = message.get("id")  # LangChain: ["langchain", "schema", "messages", "AIMessage"]
    names = (
        message.get("role"),
        message.get("from"),
        message.get("type"),
        path[-1] if isinstance(path, list) and path else None,
    )
    spelt = (name.lower().removesuffix("chunk") for name in names if isinstance(name, str))
    return next((_ROLES[name] for name in spelt if name in _ROLES), None)


def _content_of(message: object) -> str:
    assert isinstance(message, Mapping)
    inner = message.get("kwargs")
    holder = inner if isinstance(inner, Mapping) else message
    values = (holder.get(key) for key in ("content", "value", "text"))
    return next((text for text in map(text_of, values) if text), "")


def last_reply(value: object) -> str | None:
    """Return the text of a conversation's last turn if the model wrote it, else None."""
    turns = turns_of(value)
    return turns[-1].text if turns and turns[-1].role == "assistant" else None


def question_in(value: object) -> str | None:
    """Return the user's last turn in a conversation; None if there is none."""
    turns = turns_of(value)
    return next((turn.text for turn in reversed(turns) if turn.role == "user"), None)


def question_of(value: object) -> str | None:
    """Return a question: the text itself, or the user's last turn in a conversation."""
    return question_in(value) or text_of(value)


def grounds_in(value: object) -> list[str] | None:
    """Return the sources of the model's last reply: tool results, or else all earlier turns."""
    turns = turns_of(value)
    if turns and turns[-1].role == "assistant":
        turns = turns[:-1]
    answers = [turn.text for turn in turns if turn.role == "tool"]
    return answers or [f"{turn.role}: {turn.text}" for turn in turns] or None


def passages_of(value: object) -> str | list[str] | None:
    """Return a text or a list of passages; None if `value` contains neither.

    A list of documents becomes a list of their texts. A table cell with a list, in the syntax of
    JSON or Python, becomes that list.

    Examples
    --------
    >>> passages_of([{"page_content": "It rained.", "metadata": {}}, "It snowed."])
    ['It rained.', 'It snowed.']
    >>> passages_of("['It rained.', 'It snowed.']")
    ['It rained.', 'It snowed.']
    >>> passages_of("[]") is None
    True
    """
    if isinstance(value, str):
        listed = _list_in(value)
        return value if listed is None else passages_of(listed)
    if isinstance(value, list):
        texts = [text_of(item) for item in value]
        return [text for text in texts if text is not None] if any(texts) else None
    if isinstance(value, Mapping) and isinstance(value.get("sentences"), list):  # HotpotQA
        return [
            "".join(filter(None, map(text_of, part))) if isinstance(part, list) else str(part)
            for part in value["sentences"]
        ]
    return text_of(value)


def _list_in(cell: str) -> list[str] | None:
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    for parse in (json.loads, _python_literal):
        try:
            value = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return value
    return None


def _python_literal(cell: str) -> object:
    with warnings.catch_warnings():  # about escapes such as "\\d" in the data
        warnings.simplefilter("ignore")
        return ast.literal_eval(cell)


def references_of(value: object) -> list[str]:
    """Return the reference texts in `value`.

    Examples
    --------
    >>> references_of({"text": ["1932", "in 1932"], "answer_start": [3, 0]})
    ['1932', 'in 1932']
    >>> references_of("['1932', 'in 1932']")
    ['1932', 'in 1932']
    """
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):  # SQuAD
        value = value["text"]
    texts = passages_of(value)
    if texts is None:
        return []
    return [texts] if isinstance(texts, str) else [*dict.fromkeys(texts)]
