"""Damage written by a model, which is asked at most twice, and whose reply is checked.

The kinds of damage are those that a model wrote in [1]. Without a model, rules with the same aim
replace it. A check returns what is wrong, in the words that the model receives, or an empty text.

References
----------
.. [1] Wang et al. (2025), DHP Benchmark: Are LLMs Good NLG Evaluators?, section 3.1, table 2.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    PerturbationError,
    Reply,
    ReplySchema,
    choices_for,
    fingerprint,
    signature,
)
from spanjury.judges.core.strict_schema import strict_schema
from spanjury.judges.text import (
    defused,
    fence,
    field_mark,
    fill_template,
    folded_words,
    object_in,
    read_template,
)
from spanjury.perturbations.edits import Damage, edits_between
from spanjury.perturbations.perturbation import Case, NothingToDamageError, Perturbation
from spanjury.perturbations.text.discourse import rewrite_and_insert
from spanjury.perturbations.text.mixtures import fictional_details, grammar_errors
from spanjury.perturbations.text.passages import passages
from spanjury.perturbations.text.places import require_count

_TRIES = 2
PACKAGE = "spanjury.perturbations"
_FIELD = "text"
FORM_TEMPLATES = ("in-json.txt", "reask-in-json.txt")
"""Templates of `PACKAGE` that go with any prompt."""
_FENCE = re.compile(r"```[\w-]*\n(?P<text>.*?)\n?```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|okay|of course|here(?:'s| is| are)|the (?:changed|revised|modified)|changed"
    r"|revised|modified)\b[^\n]{0,80}?:\s+",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"))
_FEWEST_TOKENS = 256
_WORDS_A_CHANGE = 6  # a long name, or a clause bent by an error
_MOST_CHANGED = 0.5  # share of words; with more than this changed, it is another text
_NAME_INSIDE = re.compile(r"(?<=[\w,;] )[A-Z]\w+|\d[\d.,]*\d|\d")
_SHORTEST, _LONGEST = 0.4, 2.5  # times the number of words of the sentence that is repeated


class Generated(NamedTuple):
    """Text that a model finally wrote."""

    text: str
    problem: str
    """Reason why it cannot be used, as sent to the model; empty if it can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """Request to a model to write a text.

    `package` has the templates ``system.txt`` and ``reask.txt``. `read` returns the text that a
    reply contains; `check` returns why a text cannot be used, or an empty text.
    """

    package: str
    prompt: str
    decoding: Decoding
    read: Callable[[str], str]
    check: Callable[[str], str]

    async def sent_to(self, model: ChatModel) -> Generated:
        """Return the first reply that passes, or else the second one.

        A reply that does not pass is sent back once with the reason. Raises `ModelError` if the
        model gives no reply.
        """
        mark = field_mark([self.prompt])
        request, model = self._request(mark), defused(model)
        generated = Generated("", "")
        for _ in range(_TRIES):
            reply = await model.complete(request)
            generated = self._generated(reply, mark=mark)
            if not generated.problem:
                break
            request = self._again(request, reply, problem=generated.problem)
        return generated

    def _request(self, mark: str) -> ChatRequest:
        """Return a request for the text alone, or inside an object if the server takes a schema."""
        system = Message(role="system", content=read_template(self.package, "system.txt"))
        in_json = fill_template(PACKAGE, "in-json.txt", {"code": mark})
        plain, in_object = (
            ChatRequest(
                messages=(system, Message(role="user", content=prompt)), decoding=self.decoding
            )
            for prompt in (self.prompt, f"{self.prompt}\n\n{in_json}")
        )
        # The name of the field occurs in no text of the request.
        form = {"type": "object", "properties": {f"{_FIELD}_{mark}": {"type": "string"}}}
        schema = ReplySchema(name=_FIELD, text=json.dumps(strict_schema(form, bounded=False)))
        decoding = replace(self.decoding, schema=schema)
        return replace(plain, variants=(replace(in_object, decoding=decoding),))

    def _generated(self, reply: Reply, *, mark: str) -> Generated:
        fields = object_in(reply.text) or {}
        written = fields.get(f"{_FIELD}_{mark}")
        text = self.read(written if isinstance(written, str) else reply.text)
        if not isinstance(written, str) and any(name.startswith(f"{_FIELD}_") for name in fields):
            return Generated(text, "its name is not that of the form")
        if reply.finish is not Finish.STOP:
            return Generated(text, f"the reply is not complete ({reply.finish.value})")
        return Generated(text, self.check(text) if text else "the reply is empty")

    def _again(self, request: ChatRequest, reply: Reply, *, problem: str) -> ChatRequest:
        """Return the conversation extended by the reply and its problem."""
        reask = fill_template(self.package, "reask.txt", {"problem": problem})
        answer = Message(role="assistant", content=reply.text)

        def again(variant: ChatRequest, words: str) -> ChatRequest:
            messages = (*variant.messages, answer, Message(role="user", content=words))
            return replace(variant, messages=messages)

        in_json = f"{reask}\n{read_template(PACKAGE, 'reask-in-json.txt')}"
        variants = tuple(again(variant, in_json) for variant in request.variants)
        return replace(again(request, reask), variants=variants)


def cleaned(reply: str, *, text: str, marks: tuple[str, ...] = ()) -> str:
    r"""Return the text that `reply` gives as the changed form of `text`.

    Code fences, quotation marks around the whole reply, introductory words and lines that contain
    one of `marks` are removed, each only if `text` itself has nothing similar.
    """
    lines = (line for line in reply.splitlines() if not any(mark in line for mark in marks))
    meant = "\n".join(lines).strip()
    fenced = _FENCE.search(meant)
    if fenced and "```" not in text:
        meant = fenced["text"].strip()
    if not _PREAMBLE.match(text):
        meant = _PREAMBLE.sub("", meant, count=1) if _PREAMBLE.match(meant) else meant
    return _unquoted(meant, text=text.strip())


def _unquoted(meant: str, *, text: str) -> str:
    for opening, closing in _QUOTES:
        quoted = meant.startswith(opening) and meant.endswith(closing) and len(meant) > 1
        if quoted and not (text.startswith(opening) and text.endswith(closing)):
            return meant[1:-1].strip()
    return meant


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPerturbation:
    """A kind of damage that a model is asked to do; shareable, cancellable at every await.

    `twin` is the rule that has the same aim, level and effects.
    """

    kind: str
    twin: Perturbation

    @property
    def signature(self) -> str:
        """The kind, and a digest of all prompts."""
        names = ("system.txt", "ask.txt", "reask.txt", *FORM_TEMPLATES, f"{self.kind}.txt")
        prompts = fingerprint(*(read_template(PACKAGE, name) for name in names))
        return signature(self.kind, prompts=prompts)

    async def damage(
        self, case: Case, model: ChatModel, *, k: int = 1, seed: int | None = None
    ) -> Damage:
        """Have the text of `case` damaged by `model` in about `k` positions.

        The most likely reply is used. One that does not pass the check is sent back once with the
        reason. Raises `NothingToDamageError` if the text is empty, or both replies leave it
        unchanged. Raises `PerturbationError` if the second reply does not pass the check either, or
        `k` is less than 1. Raises `ModelError` if the model gives no reply.
        """
        require_count(k)
        if not case.text.strip():
            raise NothingToDamageError("the text is empty")
        generated = await self._request(case.text, k=k, seed=seed).sent_to(model)
        if not generated.problem:
            begin = len(case.text) - len(case.text.lstrip())  # white space at both ends is kept
            new = case.text[:begin] + generated.text + case.text[len(case.text.rstrip()) :]
            return Damage.of(case.text, edits_between(case.text, new))
        if generated.text.split() == case.text.split():
            raise NothingToDamageError("the model left the text as it was, twice")
        raise PerturbationError(f"the model, asked twice, did no {self.kind}: {generated.problem}")

    def _request(self, text: str, *, k: int, seed: int | None) -> GenerationRequest:
        fenced = fence({"Text": text})
        change = fill_template(PACKAGE, f"{self.kind}.txt", {"count": str(k)})
        slots = {"material": fenced.text, "mark": fenced.mark, "change": change}
        return GenerationRequest(
            package=PACKAGE,
            prompt=fill_template(PACKAGE, "ask.txt", slots),
            # A token has 3 to 5 characters, so the reply may be several times as long as the text.
            decoding=Decoding(seed=seed, max_tokens=max(_FEWEST_TOKENS, len(text))),
            read=partial(cleaned, text=text, marks=fenced.marks),
            check=lambda reply: _KINDS[self.kind].check(text.strip(), reply, k),
        )


def generated_perturbation(kind: str) -> GeneratedPerturbation:
    """Return the generated perturbation called `kind`.

    Raises `ConfigError` if there is none; the message lists the choices.
    """
    if kind not in _KINDS:
        raise ConfigError(f"no model can do the damage {kind!r}; {choices_for(kind, _KINDS)}")
    return GeneratedPerturbation(kind=kind, twin=_KINDS[kind].twin)


def _check_entities(clean: str, damaged: str, k: int) -> str:
    """Check that at most `k` names or numbers were replaced, and no sentence added or removed."""
    if problem := _extent(clean, damaged, k=2 * k):
        return problem
    if len(passages(clean)) != len(passages(damaged)):
        return "the number of sentences has changed"
    before, after = _words(clean), _words(damaged)
    if not any(map(_is_name, after - before)) and not any(map(_is_name, before - after)):
        return "no name, number or term has become another"
    return ""


def _check_grammar(clean: str, damaged: str, k: int) -> str:
    """Check that there are at least `k` changes, and that names and numbers are unchanged."""
    if problem := _extent(clean, damaged, k=k):
        return problem
    if len(edits_between(clean, damaged)) < k:
        return f"fewer than {k} places have changed"
    lost = Counter(_NAME_INSIDE.findall(clean)) - Counter(_NAME_INSIDE.findall(damaged))
    return f"{next(iter(lost))!r} is missing" if lost else ""


def _check_insertion(clean: str, damaged: str, k: int) -> str:
    """Check that `k` sentences were added, each a rewording of the one before it."""
    before = [passage.text for passage in passages(clean)]
    after = [passage.text for passage in passages(damaged)]
    if len(after) != len(before) + k:
        return f"{len(after) - len(before)} sentences were added instead of {k}"
    kept = iter(after)
    if not all(sentence in kept for sentence in before):
        return "not all sentences of the text are there, word for word and in their order"
    spare = Counter(before)
    for original, added in pairwise(["", *after]):
        if spare[added] > 0:
            spare[added] -= 1
        elif problem := _wording(original, added):
            return problem
    return ""


class _Kind(NamedTuple):
    """A kind of damage that a model can be asked for.

    ``check(clean, damaged, k)`` returns a problem, or an empty text; `k` changes were asked for.
    """

    twin: Perturbation
    check: Callable[[str, str, int], str]


_KINDS: Mapping[str, _Kind] = {
    "fictional-entities": _Kind(fictional_details, _check_entities),
    "grammatical-errors": _Kind(grammar_errors, _check_grammar),
    "rewrite-and-insert": _Kind(rewrite_and_insert, _check_insertion),
}


def _extent(clean: str, damaged: str, *, k: int) -> str:
    """Return a problem if nothing, or more than `k` changes can explain, is different."""
    before, after = _words(clean), _words(damaged)
    changed = max((before - after).total(), (after - before).total())
    if clean.split() == damaged.split():
        return "nothing has changed"
    if changed > max(k * _WORDS_A_CHANGE, 1) or changed > max(_MOST_CHANGED * before.total(), 2):
        return f"{changed} of {before.total()} words have changed, which is too much"
    return ""


def _wording(original: str, added: str) -> str:
    """Return the problem with a sentence that should express `original` in other words."""
    old, new = folded_words(original), folded_words(added)
    if old == new:
        return f"{added!r} repeats a sentence word for word"
    if not _SHORTEST * len(old) <= len(new) <= _LONGEST * len(old):
        return f"{added!r} is too short or too long for the sentence before it"
    if not {word for word in old if len(word) > 3} & set(new):  # noqa: PLR2004 - no function word
        return f"{added!r} has nothing to do with the sentence before it"
    return ""


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+(?:[.,'’-]\w+)*", text))


def _is_name(word: str) -> bool:
    """Return whether a word can be an entity: a number, a name or a long term."""
    return word[0].isdigit() or word[0].isupper() or len(word) > 5  # noqa: PLR2004
