r"""The layout *verdict first* of a distilled judge: ``Faulty: yes``, errors, score, explanations.

What decides is written before anything that is made up to fit it: so one token says how likely
an error is, and the score does not depend on the wording of explanations. For a sound text the
whole reply is ``Faulty: no`` and a score. It is read by the annotator's parser, which gets the
explanations put back behind the errors that they belong to.
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
"""The beginning of every reply; the next token decides."""
YES, NO = " yes", " no"

_HEAD = re.compile(rf"\s*{VERDICT}[ \t]*(yes|no)\b[ \t.]*(?:\n|$)", re.IGNORECASE)
_SCORE_LINE = re.compile(rf"^{CUE}.*$", re.MULTILINE)
_EXPLANATION = re.compile(r"^Explanation (\d{1,2}):[ \t]*(.*)$", re.MULTILINE)
_NO_EXPLANATION = "\nExplanation: \n"
_AROUND = " \n\t\u0120\u2581\u010a"  # blanks, and how tokenizers write them


def verdict_target(report: Report, scale: Scale, *, reading: Reading = "stretched") -> str:
    r"""Return the reply that says what `report` says; raise `ValueError` if it has no score.

    Examples
    --------
    >>> verdict_target(Report(score=5), Scale())
    'Faulty: no\n\nOverall score: 100'
    """
    if report.score is None:
        raise ValueError(f"outcome {report.outcome.value!r} is nothing to learn from")
    spans = gravest(report.spans, limit=MAX_ERRORS)
    number = binned(percent(report.score, scale=scale, reading=reading))
    return f"{list_prefix(spans)} {number}{_explanations(spans)}"


def list_prefix(spans: Sequence[ErrorSpan]) -> str:
    """Return the reply that lists `spans`, cut where its score is due."""
    if not spans:
        return f"{VERDICT}{NO}\n\n{CUE}"
    return f"{VERDICT}{YES}\n\n{_listed(tuple(spans))}"


def faulty_prefix() -> str:
    """Return the reply of who finds errors, cut where they are due."""
    return f"{VERDICT}{YES}\n\nError 1:"


def light_characters(target: str) -> int:
    """Return how many characters at the end of a target are explanations; 0 in another layout."""
    if not _HEAD.match(target):
        return 0
    first = _EXPLANATION.search(target)
    return len(target) - first.start() if first else 0


def read_verdict(reply: str, *, material: Material = NO_MATERIAL, cut: bool = False) -> ParsedReply:
    """Read a reply; it is `ParsedReply.error_free` if its verdict is that there is no error.

    The first line with a score ends what is decided: behind it explanations are looked for, and
    nothing else. So that it was `cut` matters only if nothing stands there.
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
    """Return the layout of a reply that was made to be learnt."""
    return "verdict-first" if _HEAD.match(target) else "score-last"


def written_number(target: str) -> str:
    """Return the number of a target in either layout."""
    return target.rpartition(CUE)[2].split(maxsplit=1)[0]


def says_faulty(target: str) -> bool | None:
    """Return the verdict that a target begins with; None in another layout."""
    head = _HEAD.match(target)
    return _says_yes(head) if head else None


def _says_yes(head: re.Match[str]) -> bool:
    return head[1].casefold() == "yes"


def error_probability(tokens: Sequence[TokenLogprob]) -> float | None:
    """Return the probability of ``yes`` beside ``no``, of the token that decides.

    None where no probabilities came, or less than half lies on the two words.

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
    """Put the explanations behind the score to the errors of their numbers."""
    explanations = {int(match[1]): match[2].strip() for match in _EXPLANATION.finditer(tail)}
    errors = tuple(
        replace(error, explanation=explanations.get(number, error.explanation))
        for number, error in enumerate(parsed.errors, 1)
    )
    return replace(parsed, errors=errors)


@lru_cache(maxsize=16)
def _listed(spans: tuple[ErrorSpan, ...]) -> str:
    """Render spans; the latest are kept, since many aspects of a text have the same."""
    bare = [replace(span, category="", explanation="") for span in spans]
    return render_errors(bare).replace(_NO_EXPLANATION, "\n")


def _explanations(spans: Sequence[ErrorSpan]) -> str:
    """Return the explanations, each on a line that no reader takes for another field."""
    lines = [
        f"Explanation {number}: {' '.join(span.explanation.split()).replace(CUE, CUE[:-1])}"
        for number, span in enumerate(spans, 1)
    ]
    return "\n\n" + "\n".join(lines) if lines else ""
