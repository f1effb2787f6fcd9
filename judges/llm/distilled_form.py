r"""The form in which a distilled judge is asked and replies; training and judging use the same.

Source: Kartáč et al. (2025), OpeNLGauge, section 5.2 and Appendix F: a model that learns the task
from examples needs no more than the task, the aspect and the material; the wording is ours. Its
score is a whole number from 0 to 100 in steps of 5: twenty-one numbers keep more of a panel's mean
than five labels, and are few enough to be learnt. The annotator's parser reads the reply.

In the layout *verdict first* the reply is ``Faulty: yes``, errors, score, explanations. The
decision is written before any text that justifies it: one token gives the probability of an error,
and the score does not depend on the wording of explanations. For a text without errors the whole
reply is ``Faulty: no`` and a score. Before it is parsed, the explanations are moved back to their
errors.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Message,
    Report,
    Scale,
    Segment,
    TokenLogprob,
    fingerprint,
    gravest,
)
from spanjury.judges.llm.answer_tokens import field_tokens
from spanjury.judges.llm.error_list import CUE, render_errors
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.llm.prompt import shown_texts
from spanjury.judges.llm.verdict import share_of_yes
from spanjury.judges.llm.wording import fill_template, read_template

Reading = Literal["stretched", "share"]
"""Meaning of 0: with ``stretched`` the worst label, so that five labels are 0, 25, …, 100; with
``share`` nothing at all, so that they are 20, 40, …, 100. The paper does not say which."""

STEP = 5
"""Distance between adjacent numbers."""

PERCENT = Scale(labels=tuple(str(number) for number in range(101)))
"""The numbers as the labels of a scale, for parsers; a score on it is the number + 1."""

_TOLERANCE = 1e-9  # a mean of floats may miss a half by the last bit


def percent(score: float, *, scale: Scale, reading: Reading = "stretched") -> float:
    """Return a score on `scale` as a number from 0 to 100."""
    if reading == "share":
        return 100 * score / scale.high
    return 100 * (score - scale.low) / (scale.high - scale.low)


def binned(number: float) -> int:
    """Return the multiple of 5 nearest to `number`; halves round up."""
    return STEP * math.floor(number / STEP + 0.5 + _TOLERANCE)


def from_percent(number: float, *, scale: Scale, reading: Reading = "stretched") -> float | None:
    """Return the score on `scale` for a `number` from 0 to 100; None if it is off the scale."""
    if reading == "share":
        score = number * scale.high / 100
    else:
        score = scale.low + number * (scale.high - scale.low) / 100
    return score if score in scale else None


Layout = Literal["score-last", "verdict-first"]
"""Order of a reply: the score at its end, or the verdict at its beginning. A model writes the order
of its training, which its folder records; older folders, which record none, have the score last."""

MAX_ERRORS = 8
"""Maximum number of errors listed."""

_TEMPLATES: Mapping[Layout, str] = MappingProxyType(
    {"score-last": "short.txt", "verdict-first": "verdict-first.txt"}
)
_SHORTEST_MARK = 3
_TILDES = re.compile("~+")


def messages_for(
    segment: Segment, aspect: Aspect, *, layout: Layout = "score-last"
) -> tuple[Message, ...]:
    """Return the conversation that asks for errors and a number: one user message.

    It shows the inputs that the aspect may read.
    """
    output = aspect.task.output_header
    slots = {
        "task_description": aspect.task.description,
        "material": _material(shown_texts(segment, aspect)),
        "output": output,
        "aspect": aspect.spoken.capitalize(),
        "definition": aspect.definition,
        "max_errors": str(MAX_ERRORS),
    }
    return (Message(role="user", content=fill_template(_TEMPLATES[layout], slots)),)


def read_number(reply: str, *, material: Material = NO_MATERIAL, cut: bool = False) -> ParsedReply:
    """Read a reply; its score is the number from 0 to 100 as written."""
    parsed = parse(reply, scale=PERCENT, material=material, cut=cut)
    return replace(parsed, score=None if parsed.score is None else parsed.score - PERCENT.low)


def short_fingerprint(layout: Layout = "score-last") -> str:
    """Return a digest of the template of the prompt."""
    return fingerprint(read_template(_TEMPLATES[layout]), str(MAX_ERRORS), str(_SHORTEST_MARK))


def _material(texts: Mapping[str, str]) -> str:
    """Put each text under its header between marks that no text contains."""
    longest = max(len(run) for text in texts.values() for run in ["", *_TILDES.findall(text)])
    mark = "~" * max(_SHORTEST_MARK, longest + 1)
    return "\n\n".join(f"{mark} {header}\n{text}\n{mark}" for header, text in texts.items())


VERDICT = "Faulty:"
"""Beginning of every reply; the next token is the verdict."""
YES, NO = " yes", " no"

_HEAD = re.compile(rf"\s*{VERDICT}[ \t]*(yes|no)\b[ \t.]*(?:\n|$)", re.IGNORECASE)
_SCORE_LINE = re.compile(rf"^{CUE}.*$", re.MULTILINE)
_EXPLANATION = re.compile(r"^Explanation (\d{1,2}):[ \t]*(.*)$", re.MULTILINE)
_NO_EXPLANATION = "\nExplanation: \n"


def verdict_target(report: Report, scale: Scale, *, reading: Reading = "stretched") -> str:
    r"""Return the target reply for `report`; raise `ValueError` if it has no score."""
    if report.score is None:
        raise ValueError(f"outcome {report.outcome.value!r} is nothing to learn from")
    number = binned(percent(report.score, scale=scale, reading=reading))
    spans = gravest(report.spans, limit=MAX_ERRORS)
    return f"{list_prefix(spans)} {number}{_explanations(spans)}"


def list_prefix(spans: Sequence[ErrorSpan]) -> str:
    """Return the reply that lists `spans`, up to its score."""
    if not spans:
        return f"{VERDICT}{NO}\n\n{CUE}"
    return f"{VERDICT}{YES}\n\n{_listed(tuple(spans))}"


def faulty_prefix() -> str:
    """Return the reply that reports errors, up to the first error."""
    return f"{VERDICT}{YES}\n\nError 1:"


def light_characters(target: str) -> int:
    """Return the length of the explanations at the end of a target; 0 in another layout."""
    if not _HEAD.match(target):
        return 0
    first = _EXPLANATION.search(target)
    return len(target) - first.start() if first else 0


def read_verdict(reply: str, *, material: Material = NO_MATERIAL, cut: bool = False) -> ParsedReply:
    """Read a reply; it is `ParsedReply.error_free` if its verdict is that there is no error.

    Everything before the end of the first score line is decisive; the text after it is searched
    only for explanations. `cut` therefore matters only if no text follows the score.
    """
    head = _HEAD.match(reply)
    if not head:
        return ParsedReply(problem=f"it does not begin with '{VERDICT}{YES}' or '{VERDICT}{NO}'")
    rest = reply[head.end() :]
    scored = _SCORE_LINE.search(rest)
    end = scored.end() if scored else len(rest)
    body, tail = rest[:end], rest[end:]
    listed = body if _says_yes(head) else f"No Error\n\n{body.strip()}"
    parsed = read_number(listed, material=material, cut=cut and not tail.strip())
    return _explained(parsed, tail)


def layout_of(target: str) -> Layout:
    """Return the layout of a training target."""
    return "verdict-first" if _HEAD.match(target) else "score-last"


def written_number(target: str) -> str:
    """Return the number in a target of either layout."""
    return target.rpartition(CUE)[2].split(maxsplit=1)[0]


def says_faulty(target: str) -> bool | None:
    """Return the verdict at the beginning of a target; None in another layout."""
    head = _HEAD.match(target)
    return _says_yes(head) if head else None


def _says_yes(head: re.Match[str]) -> bool:
    return head[1].casefold() == "yes"


def error_probability(tokens: Sequence[TokenLogprob]) -> float | None:
    """Return the probability of ``yes`` relative to ``no``, from the token of the verdict.

    None without log-probabilities, or if the two words have less than half of the probability.
    """
    token = next(field_tokens(tokens, "faulty", mark=""), None)
    return None if token is None else share_of_yes(token)


def _explained(parsed: ParsedReply, tail: str) -> ParsedReply:
    """Add the explanations after the score to the errors with their numbers."""
    explanations = {int(match[1]): match[2].strip() for match in _EXPLANATION.finditer(tail)}
    errors = tuple(
        replace(error, explanation=explanations.get(number, error.explanation))
        for number, error in enumerate(parsed.errors, 1)
    )
    return replace(parsed, errors=errors)


@lru_cache(maxsize=16)
def _listed(spans: tuple[ErrorSpan, ...]) -> str:
    """Render spans; the latest are cached, since many aspects of a text have the same."""
    bare = [replace(span, category="", explanation="") for span in spans]
    return render_errors(bare).replace(_NO_EXPLANATION, "\n")


def _explanations(spans: Sequence[ErrorSpan]) -> str:
    """Return the explanations, each on a line that the parser takes for no other field."""
    lines = [
        f"Explanation {number}: {' '.join(span.explanation.split()).replace(CUE, CUE[:-1])}"
        for number, span in enumerate(spans, 1)
    ]
    return "\n\n" + "\n".join(lines) if lines else ""
