"""Guardians: chat models that say of one claim at a time whether a passage supports it.

A guardian is a checker that asks a chat model: the judge `checker` cuts claims and passages, pools
the answers and writes the report. This module has the prompt forms that the models were trained on,
and one for models that were not trained for it.

===========  =============================================================  ======================
form         conversation                                                   reply
===========  =============================================================  ======================
``granite``  documents for the chat template, the text as the assistant's   ``<score>yes</score>``
             turn, the criterion as the user's                              if it is ungrounded
``bespoke``  a system message, then document and claim                      ``Yes`` or ``No``
``lynx``     question, document and answer                                  reasons and ``PASS`` or
                                                                            ``FAIL``, in JSON
``plain``    examples, then document and statement, for any chat model      ``True`` or ``False``
``tuned``    document and statement, for the models ``tuned/FILE``          ``True`` or ``False``
===========  =============================================================  ======================

The wording is ours; `template` and `system` name files with that of a model's card.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, Literal

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    CheckedPairs,
    CheckerLimits,
    ClaimPair,
    ClaimSupport,
    ClaimUnit,
    Decoding,
    Located,
    Message,
    Outcome,
    PermanentModelError,
    Reply,
    Segment,
    Usage,
    WordSupport,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, RIVALS, shares, value_token
from spanjury.judges.llm.asking import Answer, ask, asked_together
from spanjury.judges.llm.guardian_words import Marks, TrainedAnswer, read_answer, words
from spanjury.judges.llm.wording import read_template
from spanjury.judges.text import Locator, Template, fence, object_in

_QUESTION = "Question"
_NON_COMMERCIAL = "CC BY-NC 4.0, no commercial use"
_TOKEN_BYTES = 3  # bytes per token, rather too few, so that no passage is too long
_LEAST_LENGTH = 200
_LETTERS_A_TOKEN = 8  # twice as many as in prose; a prompt with fewer tokens was cut
_THOUGHT_TOKENS = 2048
_SHOWN = 600  # characters of a model's reasons
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{3,300})[\"”]")
_THOUGHT = re.compile(r"<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_USUAL_LIMITS = CheckerLimits()
_PLAIN_LIMITS = CheckerLimits(threshold=0.45, vouched=0.15, trusts_words=False)
"""Limits of a model that was not trained for the question, and that supports too readily.

Of 336 sentences of ``training/reader``, Qwen2.5-Coder-1.5B-Instruct puts 4 % of the right ones
above the first and 5 % of the wrong ones below the second."""

_TUNED_LIMITS = CheckerLimits(threshold=0.8, vouched=0.15, trusts_words=False)
"""Limits of the model with our adapter: of new texts of five sets, 7 % of the right ones are above
the first (0 to 20 % by set), and 9 % of the wrong ones are below the second (2 to 22 %)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """The form of prompts and answers that models were trained on.

    Parameters
    ----------
    system, user
        Our templates of the system message and the last user message; an empty name for none.
    slots
        Variables of the user's template.
    apart
        Canonical headers of inputs with a variable of their own.
    max_tokens
        Tokens of a reply, without reasoning.
    value
        Pattern of the answers in a reply.
    right, wrong
        The answers, folded.
    near
        Words near the answer in a reply that says more.
    licence
        Licence of the models if it forbids commercial use; else empty.
    examples
        TOML file of answered examples, which precede the question; empty for none.
    limits
        Limits for models that were asked in this form.
    """

    system: str = ""
    user: str
    slots: frozenset[str]
    unit: ClaimUnit
    apart: tuple[str, ...] = ()
    max_tokens: int
    value: re.Pattern[str]
    right: str
    wrong: str
    near: tuple[str, ...] = ()
    marks: Marks
    licence: str = ""
    examples: str = ""
    limits: CheckerLimits = _USUAL_LIMITS


def _one_word(words: str, *, after: str) -> re.Pattern[str]:
    """Return a pattern of an answer in one of `words`, at the beginning or after a label."""
    label = rf"\b(?:{after})(?:\s+is)?\W*"
    rest = rf"(?P<value>{words})\b(?!\s*(?:or\b|/))"
    return re.compile(rf"(?:\A\W*|{label}){rest}", re.IGNORECASE)


_GRANITE = "granite"
GuardianForm = Literal["granite", "bespoke", "lynx", "plain", "tuned"]
"""Name of the form: that of Granite Guardian, Bespoke-MiniCheck or Lynx, for any chat model, or for
the model that was trained by this project.
"""

_PLAIN = _Form(
    system="guardian-plain-system.txt",
    user="guardian-plain.txt",
    slots=frozenset({"document", "claim"}),
    unit="sentence",
    max_tokens=8,
    value=_one_word("true|false", after="answer|verdict|statement|claim|it|that|this"),
    right="true",
    wrong="false",
    marks=Marks(labels=re.compile(r"^(?=(?:Document|Statement):)", re.MULTILINE)),
    examples="guardian-plain-examples.toml",
    limits=_PLAIN_LIMITS,
)
_FORMS: Mapping[str, _Form] = {
    "granite": _Form(
        user="guardian-granite.txt",
        slots=frozenset(),
        unit="sentence",
        apart=(_QUESTION,),
        max_tokens=64,
        value=re.compile(r"<score>\s*(?P<value>yes|no)\b", re.IGNORECASE),
        right="no",
        wrong="yes",
        near=("score",),
        marks=Marks(
            tags=re.compile(r"</?(?:score|guardian|confidence|(?:no-)?think)>", re.IGNORECASE),
            labels=re.compile(r"^(?=### (?:Criteria|Scoring Schema))", re.MULTILINE),
        ),
    ),
    "bespoke": _Form(
        system="guardian-bespoke-system.txt",
        user="guardian-bespoke.txt",
        slots=frozenset({"document", "claim"}),
        unit="sentence",
        max_tokens=8,
        value=_one_word("yes|no", after="answer|verdict"),
        right="yes",
        wrong="no",
        marks=Marks(
            tags=re.compile(r"\[/?(?:DOCUMENT|CLAIM)\]"),
            labels=re.compile(r"^(?=(?:Document|Claim):)", re.MULTILINE),
        ),
        licence=_NON_COMMERCIAL,
    ),
    "lynx": _Form(
        user="guardian-lynx.txt",
        slots=frozenset({"question", "document", "claim"}),
        unit="answer",
        apart=(_QUESTION,),
        max_tokens=1024,
        value=re.compile(r"[\"']SCORE[\"']\s*:\s*[\"']?(?P<value>PASS|FAIL)\b", re.IGNORECASE),
        right="pass",
        wrong="fail",
        near=("score",),
        marks=Marks(
            tags=re.compile(r"[\"'](?:SCORE|REASONING)[\"']\s*:", re.IGNORECASE),
            labels=re.compile(r"^(?=--$|(?:QUESTION|DOCUMENT|ANSWER)[^\n:]{0,80}:)", re.MULTILINE),
        ),
        licence=_NON_COMMERCIAL,
    ),
    "plain": _PLAIN,
    "tuned": replace(_PLAIN, user="guardian-tuned.txt", examples="", limits=_TUNED_LIMITS),
}


def tuned_question() -> tuple[str, str, str, str]:
    """Return the system message, the user's template and the two answers of the form ``tuned``."""
    form = _FORMS["tuned"]
    system, user = read_template(form.system), read_template(form.user)
    return system, user, form.right.capitalize(), form.wrong.capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guardian:
    """Ask a chat model about each claim: one trained to check facts, or any other in one word.

    Raises `ValueError` if an option does not suit the form, a number is out of range, or a file
    is invalid.

    Parameters
    ----------
    model
        Chat model of the form.
    form
        Form that the model was trained on; ``plain`` for a model that was trained on none.
    claim
        Unit of one request: a sentence, or the whole answer; None for the unit of its training,
        answers for Lynx and sentences for the others.
    think
        Whether Granite Guardian gives reasons before its answer.
    documents
        Whether Granite Guardian gets the source through its chat template, as trained, or in a
        message, for servers that pass no documents to a template.
    examples
        Whether the form ``plain`` shows six answered examples before its question. A small model
        needs them.
    template, system
        Files with the wording of a model's card, to replace ours: of the last user message, with
        ``$document``, ``$claim`` and ``$question`` as in the form, and of the system message.
    max_length
        Maximum number of tokens of a passage and a claim together, estimated.
    max_tokens
        Maximum number of tokens of a reply, doubled once for a reply that broke off; None for the
        default of the form.
    seed
        Passed to servers that accept one.
    """

    blind_spots: ClassVar[str] = (
        "what follows only from several passages of the input together; how much an error matters; "
        "whatever its model was not trained to see"
    )
    licence: ClassVar[str] = (
        "Bespoke-MiniCheck-7B and Lynx are CC BY-NC 4.0, for non-commercial use only; "
        "Granite Guardian is Apache-2.0"
    )

    model: ChatModel
    form: GuardianForm = "granite"
    claim: Literal["sentence", "answer"] | None = None
    think: bool = False
    documents: Literal["template", "message"] = "template"
    examples: bool = True
    template: Path | None = None
    system: Path | None = None
    max_length: int = 6000
    max_tokens: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.form not in _FORMS:
            raise ValueError(f"form must be {', '.join(_FORMS)}, got {self.form!r}")
        if self.form != _GRANITE and (self.think or self.documents != "template"):
            raise ValueError(f"think and documents are of form {_GRANITE}, not of {self.form}")
        if not (self.examples or self._form.examples):
            raise ValueError(f"form {self.form} has no examples to leave out")
        if self.max_length < _LEAST_LENGTH:
            raise ValueError(f"max_length must be {_LEAST_LENGTH} or more, got {self.max_length!r}")
        self._user_words()
        self._system_words()
        self._decoding()  # raises for a bad number or file now

    @property
    def signature(self) -> str:
        """Form, model, templates, decoding, code, and a licence that forbids commercial use."""
        licence = self._form.licence
        return signature(
            "guardian",
            form=self.form,
            **({"licence": licence} if licence else {}),
            model=self.model.signature,
            words=fingerprint(
                *self._user_words().pieces, *self._system_words().pieces, *map(str, self._shown())
            ),
            unit=self.unit,
            think=self.think,
            documents=self.documents,
            max_length=self.max_length,
            max_tokens=self._decoding().max_tokens,
            seed=self.seed,
            code=code_digest(__name__),
        )

    @property
    def judge(self) -> str:
        """Name by which thresholds know the judge that asks it.

        They were measured with one model; another that is asked in its form gets none of its rates.
        """
        is_measured = self.form == "tuned" and self.model.signature.startswith("tuned|")
        return "tuned" if is_measured else "checker"

    @property
    def unit(self) -> ClaimUnit:
        """A sentence or an answer."""
        return self.claim or self._form.unit

    @property
    def apart(self) -> tuple[str, ...]:
        """The question, if the form has a variable for it."""
        return self._form.apart

    @property
    def limits(self) -> CheckerLimits:
        """The limits of the form."""
        return self._form.limits

    def room(self) -> int:
        """Return the maximum number of tokens of a passage and a claim together."""
        return self.max_length

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate of the tokens of each text, from its bytes."""
        return [len(text.encode(errors="replace")) // _TOKEN_BYTES + 1 for text in texts]

    async def ask(
        self, pairs: Sequence[ClaimPair], *, segment: Segment, aspect: Aspect
    ) -> CheckedPairs:
        """Ask about every pair in a separate call.

        After a reply without an answer the model is sampled once more; then the segment has no
        score. Raises `ModelError` if the model gives no reply, or its server dropped the documents.
        """
        question = "\n\n".join(
            text
            for header, text in aspect.view(segment.inputs).items()
            if aspect.task.canonical_header(header) in self.apart
        )
        task = " ".join(aspect.task.description.split())
        answers = await asked_together(
            [partial(self._ask, pair, question=question, task=task) for pair in pairs]
        )
        usage = sum((answer.usage for answer in answers), Usage())
        failed = next((each for each in answers if each.outcome is not Outcome.SCORED), None)
        if failed is not None:
            return CheckedPairs(unscored=replace(failed.unscored, usage=usage), usage=usage)
        return CheckedPairs(
            answers=tuple(map(self._support, pairs, answers)),
            reply="\n\n".join(answer.reply.text for answer in answers),
            usage=usage,
            note=f"Licence of the model: {licence}." if (licence := self._form.licence) else "",
        )

    async def _ask(self, pair: ClaimPair, *, question: str, task: str) -> Answer[TrainedAnswer]:
        request = ChatRequest(
            messages=self._messages(pair, question=question, task=task),
            decoding=self._decoding(),
            logprobs_near=self._form.near,
        )
        answer = await ask(self.model, request, read=self._read, reask=None)
        _require_documents(request, answer.reply)
        return answer

    def _messages(self, pair: ClaimPair, *, question: str, task: str) -> tuple[Message, ...]:
        changed = self._form.marks.changed_in
        document, claim, asked = map(changed, (pair.passage, pair.claim, question))
        messages = []
        if instructions := self._system_words().fill({}):
            messages.append(Message(role="system", content=instructions, own=True))
        if self.form == _GRANITE:
            if self.documents == "template":
                messages.append(Message(role="document", content=document))
                messages += [Message(role="user", content=asked)] if asked else []
            else:
                texts = {"Document": document, **({_QUESTION: asked} if asked else {})}
                messages.append(Message(role="user", content=fence(texts).text))
            criterion = self._user_words().fill({})
            messages.append(Message(role="assistant", content=claim))
            messages.append(Message(role="user", content=criterion, own=True))
        else:
            for example in self._shown():
                shown = self._user_words().fill(
                    {"document": example["document"], "claim": example["claim"]}
                )
                messages.append(Message(role="user", content=shown, own=True))
                messages.append(Message(role="assistant", content=example["answer"], own=True))
            slots = {"document": document, "claim": claim, "question": asked or task}
            messages.append(Message(role="user", content=self._user_words().fill(slots)))
        return tuple(messages)

    def _read(self, reply: Reply) -> TrainedAnswer:
        choices = " or ".join(sorted((self._form.right, self._form.wrong), reverse=True))
        return read_answer(
            reply,
            self._form.value,
            unclear=f"the reply has no clear answer ({choices})",
            reasons=partial(_reasons, reply),
        )

    def _support(self, pair: ClaimPair, answer: Answer[TrainedAnswer]) -> ClaimSupport:
        form, verdict = self._form, answer.reading
        supported, is_stated = float(verdict.value == form.right), False
        if token := value_token(answer.reply.logprobs, form.value):
            likely = shares(token, (form.right, form.wrong))
            if (total := sum(likely.values())) >= LEAST_SHARE:
                supported, is_stated = min(1.0, likely[form.right] / total), True
        return ClaimSupport(
            supported=supported,
            words=tuple(_quoted(verdict.reasons, pair, supported=supported)),
            is_stated=is_stated,
            explanation=verdict.reasons,
        )

    @property
    def _form(self) -> _Form:
        return _FORMS[self.form]

    def _user_words(self) -> Template:
        name = "guardian-granite-think.txt" if self.think else self._form.user
        return words(name, self.template, slots=self._form.slots)

    def _system_words(self) -> Template:
        return words(self._form.system, self.system, slots=frozenset())

    def _shown(self) -> Sequence[Mapping[str, str]]:
        """Return the answered examples: document, claim and answer of each."""
        return _examples(self._form.examples) if self.examples and self._form.examples else ()

    def _decoding(self) -> Decoding:
        usual = self._form.max_tokens + (_THOUGHT_TOKENS if self.think else 0)
        most = usual if self.max_tokens is None else self.max_tokens
        return Decoding(seed=self.seed, max_tokens=most, logprobs=RIVALS)


@cache
def _examples(name: str) -> Sequence[Mapping[str, str]]:
    examples: list[dict[str, str]] = tomllib.loads(read_template(name))["examples"]
    return examples


def _reasons(reply: Reply, text: str) -> str:
    """Return the model's reasons, from a JSON object or before its answer, cut to a length."""
    listed = (object_in(text) or {}).get("REASONING", "")
    if isinstance(listed, list):
        listed = " ".join(map(str, listed))
    thought = reply.reasoning or " ".join(_THOUGHT.findall(reply.text))
    line = " ".join((str(listed) or thought).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN].rstrip()}…"


def _quoted(reasons: str, pair: ClaimPair, *, supported: float) -> Iterator[WordSupport]:
    """Yield the words of a claim that the reasons quote and its passage lacks, in order.

    The words between two quotes are yielded as supported, so that the quotes stay separate.
    """
    locator, intervals = Locator(pair.claim), set[tuple[int, int]]()
    for quote in _QUOTED.findall(reasons):
        match = None if quote in pair.passage else locator.find(quote)
        if match is not None and match.located is Located.EXACT:
            intervals.add((match.start, match.end))
    reached = 0
    for start, end in sorted(intervals):
        if start < reached:
            continue
        if reached:
            yield WordSupport(reached, start, 1.0)
        yield WordSupport(start, end, supported)
        reached = end


def _require_documents(request: ChatRequest, reply: Reply) -> None:
    """Raise `PermanentModelError` if a prompt had too few tokens to contain its documents."""
    if not any(message.role == "document" for message in request.messages):
        return
    letters = sum(len("".join(message.content.split())) for message in request.messages)
    if 0 < reply.usage.prompt * _LETTERS_A_TOKEN < letters:
        raise PermanentModelError(
            f"the server read {reply.usage.prompt} tokens of a prompt with {letters} letters: its"
            " chat template takes no documents; documents=message shows them in a message"
        )
