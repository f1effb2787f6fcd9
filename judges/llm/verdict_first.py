r"""The layout *verdict first* of a distilled judge: ``Faulty: yes``, errors, score, explanations.

The decision is written before any text that justifies it: one token gives the probability of an
error, and the score does not depend on the wording of explanations. For a text without errors the
whole reply is ``Faulty: no`` and a score. The annotator's parser reads it, after the explanations
were moved back to their errors.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from spanjury.judges.core import ErrorSpan, Report, Scale, TokenLogprob, gravest
from spanjury.judges.llm.error_list import CUE, render_errors
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.judges.llm.percent import Reading, binned, percent
from spanjury.judges.llm.short_prompt import MAX_ERRORS, Layout, read_number
from spanjury.judges.llm.verdict import share_of_yes

VERDICT = "Faulty:"
"""Beginning of every reply; the next token is the verdict."""
YES, NO = " yes", " no"

_HEAD = re.compile(rf"\s*{VERDICT}[ \t]*(yes|no)\b[ \t.]*(?:\n|$)", re.IGNORECASE)
_SCORE_LINE = re.compile(rf"^{CUE}.*$", re.MULTILINE)
_EXPLANATION = re.compile(r"^Explanation (\d{1,2}):[ \t]*(.*)$", re.MULTILINE)
_NO_EXPLANATION = "\nExplanation: \n"
_AROUND = " \n\t\u0120\u2581\u010a"  # white space, also as written by tokenizers


def verdict_target(report: Report, scale: Scale, *, reading: Reading = "stretched") -> str:
    r"""Return the target reply for `report`; raise `ValueError` if it has no score.

    Examples
    --------
    >>> verdict_target(Report(score=5), Scale())
    'Faulty: no\n\nOverall score: 100'
    """
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

    Examples
    --------
    >>> import math
    >>> words = {" yes": math.log(0.3), " no": math.log(0.6)}
    >>> said = [TokenLogprob(token="Faulty:", logprob=0.0)]
    >>> said.append(TokenLogprob(token=" no", logprob=math.log(0.6), top=words))
    >>> round(error_probability(said), 2)
    0.33
    """
    reached = ""
    for token in tokens:
        if reached.strip(_AROUND).endswith(VERDICT) and token.token.strip(_AROUND):
            return share_of_yes(token)
        reached += token.token
        if VERDICT in reached and not reached.strip(_AROUND).endswith(VERDICT):
            return None
    return None


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
