"""Typed replies: ask a model for an object of a Python type.

Judges of other packages use it. The JSON schema of the type constrains the reply if the server
supports this; otherwise the prompt describes it. pydantic validates the reply, whose words from an
enumeration may be in any case. The request is repeated once if the reply is invalid, with the
reason, or if it broke off, with twice the tokens. A reply that is still unusable yields an outcome
and no value. `ModelError` is raised if the model gives no reply at all.

The key of the object contains a mark that occurs in no text of the request, so an object that a
model copies from a judged text never passes for the reply.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar, cast

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Decoding,
    Message,
    Outcome,
    Reply,
    ReplySchema,
    Report,
    TokenLogprob,
    Usage,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.strict_schema import strict_schema
from spanjury.judges.llm.asking import ask
from spanjury.judges.llm.json_form import marked_field
from spanjury.judges.llm.wording import fill_template
from spanjury.judges.text import field_mark

with lazily():
    import pydantic

T = TypeVar("T")

_FIELD = "answer"
_MARKED = f"{_FIELD}_$code"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReply(Generic[T]):
    """The object in a model's reply, or the outcome without one.

    Parameters
    ----------
    value
        None iff the outcome is not `Outcome.SCORED`.
    reason
        Why there is no value; empty if there is one.
    text
        The reply, word for word.
    logprobs
        Log-probabilities of its tokens, if `Decoding.logprobs` requested them and the server gave
        them.
    """

    value: T | None
    outcome: Outcome
    reason: str
    text: str
    usage: Usage
    logprobs: tuple[TokenLogprob, ...] = ()

    @property
    def unscored(self) -> Report:
        """The report of a judge that got no value; raises `ValueError` if there is one."""
        return Report(outcome=self.outcome, reason=self.reason, reply=self.text, usage=self.usage)


async def ask_for(
    reply_type: type[T],
    *,
    model: ChatModel,
    messages: Sequence[Message],
    decoding: Decoding = Decoding(),
    logprobs_near: tuple[str, ...] = (),
) -> TypedReply[T]:
    """Ask `model` for an object of `reply_type`, and retry once if its reply is not one.

    Raises `ModelError` if the model gives no reply, and `ValueError` if a field of the type has no
    JSON schema.

    Parameters
    ----------
    reply_type
        A pydantic model, a dataclass or another type that pydantic supports, with a docstring or
        ``Field(description=…)`` if its names are not self-explanatory. Every field is requested,
        even one with a default.
    messages
        The conversation, ending with a user message, to which the form of the reply is appended.
    decoding
        Decoding parameters; the schema is set here.
    logprobs_near
        Keys in the reply, in lower case, near which log-probabilities matter; empty for all.
    """
    typed = _typed(reply_type)  # type: ignore[arg-type]  # every class is hashable
    mark = field_mark([message.content for message in messages])
    plain = ChatRequest(
        messages=_asking(messages, typed, mark=mark), decoding=decoding, logprobs_near=logprobs_near
    )
    variants = tuple(
        replace(plain, decoding=replace(decoding, schema=_marked(schema, mark=mark)))
        for schema in (typed.bounded, typed.schema)
    )
    answer = await ask(
        model,
        replace(plain, variants=variants),
        read=lambda reply: _read(reply, typed, mark=mark),
        reask=_reask,
    )
    is_scored = answer.outcome is Outcome.SCORED
    broke_off = answer.outcome is Outcome.TRUNCATED
    return TypedReply(
        # The adapter of the type made the value.
        value=cast("T", answer.reading.value) if is_scored else None,
        outcome=answer.outcome,
        reason="the reply broke off" if broke_off else answer.reason,
        text=answer.reply.text,
        usage=answer.usage,
        logprobs=answer.reply.logprobs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    """A requested type: its validator, and its schema as text, with limits and without."""

    adapter: "pydantic.TypeAdapter[object]"
    whole: Mapping[str, object]
    definitions: Mapping[str, object]
    described: str
    bounded: ReplySchema
    schema: ReplySchema


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    value: object = None
    problem: str = ""


@lru_cache(maxsize=64)
def _typed(reply_type: type[object]) -> _Typed:
    try:
        adapter = pydantic.TypeAdapter(reply_type)
        whole = adapter.json_schema()
    except pydantic.PydanticUserError as error:
        raise ValueError(f"{reply_type!r} has no JSON schema: {error}") from error
    definitions = whole.pop("$defs", {})
    name = _NOT_IN_NAMES.sub("-", getattr(reply_type, "__name__", "reply"))[:48]

    def schema(*, bounded: bool) -> ReplySchema:
        named = {"$defs": definitions} if definitions else {}
        outer = {"type": "object", "properties": {_MARKED: whole}, **named}
        text = json.dumps(strict_schema(outer, bounded=bounded), ensure_ascii=False)
        return ReplySchema(name=name, text=text, bounded=bounded)

    described = json.dumps({**whole, "$defs": definitions} if definitions else whole)
    return _Typed(
        adapter=adapter,
        whole=whole,
        definitions=definitions,
        described=described,
        bounded=schema(bounded=True),
        schema=schema(bounded=False),
    )


def _marked(schema: ReplySchema, *, mark: str) -> ReplySchema:
    """Return a schema whose only field carries the mark."""
    return replace(schema, text=schema.text.replace(_MARKED, f"{_FIELD}_{mark}"))


def _asking(messages: Sequence[Message], typed: _Typed, *, mark: str) -> tuple[Message, ...]:
    *before, last = messages
    form = fill_template("typed.txt", {"code": mark, "schema": typed.described})
    return (*before, replace(last, content=f"{last.content}\n\n{form}"))


def _read(reply: Reply, typed: _Typed, *, mark: str) -> _Reading:
    match = marked_field(reply.text, _FIELD, mark=mark)
    if match is None:
        return _Reading(problem=f"it is no JSON object with the name {_FIELD}_{mark} alone")
    try:
        respelt = _respelt(match[0], typed.whole, typed.definitions)
        value = typed.adapter.validate_json(json.dumps(respelt))
    except pydantic.ValidationError as error:
        return _Reading(problem=_mismatch(error))
    return _Reading(value=value)


def _respelt(value: object, schema: object, definitions: Mapping[str, object]) -> object:
    """Return `value` with each word of an enumeration spelt as in `schema`."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(reference := schema.get("$ref"), str):
        inner = [definitions.get(reference.rpartition("/")[2])]
    else:
        inner = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(inner) == 1:
        return _respelt(value, inner[0], definitions)
    if isinstance(value, str):
        return _respelt_word(value, [*schema.get("enum", ()), schema.get("const")])
    if isinstance(value, list):
        return [_respelt(item, schema.get("items"), definitions) for item in value]
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return {
            name: _respelt(inner, fields.get(name), definitions) for name, inner in value.items()
        }
    return value


def _respelt_word(word: str, spellings: Sequence[object]) -> str:
    """Return the only one of `spellings` that is `word` in another case, or else `word`."""
    folded = word.strip().casefold()
    alike = [text for text in spellings if isinstance(text, str) and text.casefold() == folded]
    return alike[0] if len(alike) == 1 else word


def _mismatch(error: "pydantic.ValidationError") -> str:
    """Describe what is invalid, without the values themselves."""
    problems = [
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    ]
    more = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


def _reask(problem: str) -> Message:
    return Message(role="user", content=fill_template("typed-reask.txt", {"problem": problem}))
