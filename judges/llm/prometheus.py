"""The judge `prometheus`: a model trained to grade by a rubric of five scores.

Source: Kim et al. (2024), Prometheus 2, section 3.1, direct assessment. The model reads an
instruction, a response, a reference if there is one, and a rubric, and writes ``Feedback: …
[RESULT] n``. Here the rubric is made from the aspect. The feedback is the rationale; the judge does
not look for error spans. The wording is ours; `template` and `system` name files with that of a
model's card.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Decoding,
    Message,
    Outcome,
    Reply,
    Report,
    Scale,
    Segment,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, shares, value_token
from spanjury.judges.llm.asking import ask
from spanjury.judges.llm.guardian_words import Marks, TrainedAnswer, read_answer, words
from spanjury.judges.text import Template, named_plainly

_SCORES = ("1", "2", "3", "4", "5")
_SLOTS = frozenset({"instruction", "response", "reference", "criterion", "scores"})
_MARKS = Marks(
    tags=re.compile(r"\[RESULT\]", re.IGNORECASE),
    labels=re.compile(r"^(?=[ \t]*###)", re.MULTILINE),
)
_VALUE = re.compile(r"\[RESULT\]\s*\(?(?P<value>[1-5])(?!\.?\d)", re.IGNORECASE)
_RIVALS = 20
_NO_SPANS = "A score alone: no error spans were looked for."


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """Have a model that was trained to grade by a rubric give a score with feedback: Prometheus 2.

    The scores 1 to 5 are mapped linearly to the scale of the aspect.

    Raises `ValueError` if a number is out of range, or a file is invalid.

    Parameters
    ----------
    model
        Chat model of that form.
    template, system
        Files with the wording of a model's card, to replace ours: of the user message, with
        ``$instruction``, ``$response``, ``$reference``, ``$criterion`` and ``$scores``, and of the
        system message.
    logprobs
        Whether the score is the mean over the probabilities of the five scores, if the server
        gives them.
    max_tokens
        Maximum number of tokens of a reply; doubled once for a reply that broke off.
    seed
        Passed to servers that accept one.
    """

    model: ChatModel
    template: Path | None = None
    system: Path | None = None
    logprobs: bool = False
    max_tokens: int = 1024
    seed: int | None = None

    def __post_init__(self) -> None:
        self._user_words()
        self._system_words()
        self._decoding()  # raises for a bad number or file now

    @property
    def signature(self) -> str:
        """Model, templates, decoding, and the code that asks and reads."""
        return signature(
            "prometheus",
            model=self.model.signature,
            words=fingerprint(*self._user_words().pieces, *self._system_words().pieces),
            logprobs=self.logprobs,
            max_tokens=self.max_tokens,
            seed=self.seed,
            code=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's score; raise `ModelError` if it gives no reply."""
        request = ChatRequest(
            messages=self._messages(segment, aspect),
            decoding=self._decoding(),
            logprobs_near=("result",),
        )
        answer = await ask(self.model, request, read=_read, reask=None)
        reply, grade = answer.reply, answer.reading
        if answer.outcome is not Outcome.SCORED:
            return answer.unscored
        score, problem = float(grade.value), ""
        if self.logprobs:
            expected = _expected(reply)
            score = score if expected is None else expected
            problem = "No expected score: no probabilities came with it. " * (expected is None)
        return Report(
            score=_on(aspect.scale, score),
            rationale=f"{problem}{grade.reasons} {_NO_SPANS}".strip(),
            reply=reply.text,
            usage=answer.usage,
        )

    def _messages(self, segment: Segment, aspect: Aspect) -> tuple[Message, ...]:
        changed = _MARKS.changed_in
        inputs = named_plainly(aspect.view(segment.inputs))
        instruction = [" ".join(aspect.task.description.split())]
        instruction += [f"{header}:\n{changed(text)}" for header, text in inputs.items()]
        reference = ""
        if segment.references:
            best = changed(segment.references[0])
            reference = f"###Reference Answer (Score 5):\n{best}\n\n"
        slots = {
            "instruction": "\n\n".join(instruction),
            "response": changed(segment.output),
            "reference": reference,
            "criterion": changed(f"{aspect.spoken}: {' '.join(aspect.definition.split())}"),
            "scores": changed(_rubric(aspect)),
        }
        instructions = self._system_words().fill({})
        return (
            Message(role="system", content=instructions, own=True),
            Message(role="user", content=self._user_words().fill(slots)),
        )

    def _user_words(self) -> Template:
        return words("prometheus.txt", self.template, slots=_SLOTS)

    def _system_words(self) -> Template:
        return words("prometheus-system.txt", self.system, slots=frozenset())

    def _decoding(self) -> Decoding:
        return Decoding(
            seed=self.seed, max_tokens=self.max_tokens, logprobs=_RIVALS if self.logprobs else 0
        )


def _rubric(aspect: Aspect) -> str:
    """Return the meaning of each of the five scores: the labels of the scale, and its two ends."""
    ends = {"1": aspect.worst, "5": aspect.best}
    lines = []
    for score in _SCORES:
        label = aspect.scale.label(_on(aspect.scale, float(score)))
        meaning = " ".join(ends.get(score, "").split())
        lines.append(f"Score {score}: {label}. {meaning}".rstrip())
    return "\n".join(lines)


def _on(scale: Scale, score: float) -> float:
    """Return the score on `scale` that corresponds to a score from 1 to 5."""
    return scale.low + (scale.high - scale.low) * (score - 1) / (len(_SCORES) - 1)


def _read(reply: Reply) -> TrainedAnswer:
    unclear = "the reply has no clear [RESULT] with a whole number from 1 to 5"
    return read_answer(reply, _VALUE, unclear=unclear, reasons=_feedback)


def _feedback(text: str) -> str:
    *_, last = _VALUE.finditer(text)
    return " ".join(text[: last.start()].split()).removeprefix("Feedback:").strip()


def _expected(reply: Reply) -> float | None:
    """Return the mean score by its probabilities; None if the scores are too improbable."""
    token = value_token(reply.logprobs, _VALUE)
    weights = {} if token is None else shares(token, _SCORES)
    total = math.fsum(weights.values())
    if total < LEAST_SHARE:
        return None
    return math.fsum(int(score) * weight for score, weight in weights.items()) / total
