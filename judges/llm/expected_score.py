"""Expected scores: the mean of a model's score under its log-probabilities.

Source: Liu et al. (2023), G-Eval, section 2.2, "Scoring function": the sum over the scale
of p(score) x score. They estimated p by sampling 20 replies. If a server returns the
probabilities of the likeliest tokens, one reply is enough and the result has no ties.

`expected_score` and `expected_first_word` take one token for the score. For the numbers from 0 to
100, some tokenizers use one token each and others a token per digit. `expected_number` weighs the
alternatives to each token written by their probabilities. If numbers are whole tokens, an
alternative has its own value; if digits are tokens, it has the mean of the numbers in steps of 5
that it may begin.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Reply, Scale, TokenLogprob
from spanjury.judges.llm.answer_tokens import LEAST_SHARE, alternatives, field_token, rivals
from spanjury.judges.llm.distilled_form import STEP
from spanjury.judges.llm.error_list import CUE
from spanjury.judges.llm.grades import numbers
from spanjury.judges.llm.lines import without_reasoning

_AROUND = " \t\r\n▁ĠĊ"  # white space, also as written by tokenizers
_NO_LOGPROBS = "no log-probabilities came with the reply"
_HIGHEST = 100
_NUMBERS = range(0, _HIGHEST + 1, STEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """An expected score, or the reason why there is none; exactly one is set.

    Parameters
    ----------
    value
        Score on the scale, rarely a whole number.
    share
        Total probability of the numbers of the scale, 0 to 1.
    """

    value: float | None = None
    share: float = 0.0
    problem: str = ""


def expected_score(reply: Reply, *, scale: Scale, written: int) -> Expected:
    """Return the expectation over the alternatives to the score that was written.

    The reply must have log-probabilities.
    """
    if not any(token.top for token in reply.logprobs):
        return Expected(problem=_NO_LOGPROBS)
    words = numbers(scale)
    if any(word != other and other.startswith(word) for word in words for other in words):
        return Expected(problem="a number of the scale begins another, and a token may be either")
    number = words[written - 1]
    answer = (without_reasoning(reply.text) or "").strip()
    tokens = _tokens(reply, answer=answer)
    candidates = [token for token in tokens if _bare(token.token) == number]
    if len(candidates) > 1 and answer.partition("\n")[0].strip() == number:
        del candidates[1:]  # the score alone on a line comes first, remarks on it follow
    if len(candidates) != 1:
        return Expected(problem=f"{len(candidates)} tokens of the reply may be the score, not one")
    values = {word: score for score, word in enumerate(words, 1)}
    return _expectation(
        (values.get(_bare(text)), logprob) for text, logprob in alternatives(candidates[0])
    )


def expected_first_word(reply: Reply, *, words: Sequence[str]) -> Expected:
    """Return the expectation over the alternatives to the first token of an answer.

    An alternative that begins exactly one of `words` represents it; one that may begin several is
    ignored. The reply must have log-probabilities and begin with the score; `words` are the
    requested ones, worst first.
    """
    answer = (without_reasoning(reply.text) or "").strip()
    first = next((token for token in _tokens(reply, answer=answer) if _bare(token.token)), None)
    if first is None or not first.top:
        return Expected(problem=_NO_LOGPROBS)
    return _expectation(
        (_only_label(_bare(text), words), logprob) for text, logprob in alternatives(first)
    )


def expected_label(tokens: Sequence[TokenLogprob], *, mark: str, words: Sequence[str]) -> Expected:
    """Return the expectation over the alternatives to the overall score of a report.

    Parameters
    ----------
    tokens
        The tokens of the reply, or those near its score.
    mark
        The mark that the label of the score carries.
    words
        The requested words, worst first.
    """
    token = field_token(tokens, "overall score", mark=mark)
    if token is None or not token.top:
        return Expected(problem="no log-probabilities came with the score")
    return _expectation((_only_label(begun, words), logprob) for begun, logprob in rivals(token))


def _only_label(begun: str, words: Sequence[str]) -> int | None:
    """Return the number, from 1, of the only one of `words` that `begun` begins."""
    folded = begun.casefold()
    labels = [label for label, word in enumerate(words, 1) if word.casefold().startswith(folded)]
    return labels[0] if begun and len(labels) == 1 else None


def _tokens(reply: Reply, *, answer: str) -> list[TokenLogprob]:
    """Return the tokens of the reply's answer, without those of its reasoning."""
    written = "".join(token.token for token in reply.logprobs)
    start = max(0, written.rfind(answer))  # not found: tokens are not plain text, so all are kept
    kept, reached = [], 0
    for token in reply.logprobs:
        reached += len(token.token)
        if reached > start:
            kept.append(token)
    return kept


def _expectation(values: Iterable[tuple[int | None, float]]) -> Expected:
    """Return the mean of values by their log-probabilities; a value off the scale is None."""
    weights: dict[int, float] = {}
    for value, logprob in values:
        if value is not None:
            weights[value] = weights.get(value, 0.0) + math.exp(min(0.0, logprob))
    total = math.fsum(weights.values())
    share = min(1.0, total)
    if share < LEAST_SHARE:
        return Expected(problem=f"only {share:.0%} of the probability lies on the scale")
    mean = math.fsum(value * weight for value, weight in weights.items()) / total
    # Rounding may leave the range by the last bit.
    return Expected(value=min(max(mean, min(weights)), max(weights)), share=share)


def expected_number(reply: Reply, *, written: int) -> Expected:
    """Return the expectation of the number that a reply gives, 0 to 100.

    Parameters
    ----------
    reply
        Reply with log-probabilities; the number follows its last cue, or begins the reply if the
        cue was part of the request.
    """
    if not any(token.top for token in reply.logprobs):
        return Expected(problem=_NO_LOGPROBS)
    tokens = _number_tokens(reply.logprobs, number=str(written))
    if not tokens:
        return Expected(problem=f"the number {written} is not made of whole tokens")
    by_digits = len(tokens) > 1
    values = list(_weighed(tokens, begun="", by_digits=by_digits))
    share = math.fsum(weight for _, weight in values)
    if share < LEAST_SHARE:
        return Expected(problem=f"only {share:.0%} of the probability lies on numbers")
    return Expected(value=_mean(values), share=min(1.0, share))


def _number_tokens(tokens: Sequence[TokenLogprob], *, number: str) -> list[TokenLogprob]:
    """Return the tokens of the number; empty if other characters share a token with it."""
    cue_end = "".join(token.token for token in tokens).rfind(CUE) + len(CUE)
    behind, reached = [], 0
    for token in tokens:
        reached += len(token.token)
        if reached > cue_end or cue_end < len(CUE):  # without a cue, all tokens count
            behind.append(token)
    parts: list[TokenLogprob] = []
    rest = number
    for token in behind:
        bare = _bare(token.token)
        if not rest or not (rest.startswith(bare) if bare else not parts):
            break
        rest = rest.removeprefix(bare)
        parts += [token] if bare else []
    return [] if rest else parts


def _weighed(
    tokens: Sequence[TokenLogprob], *, begun: str, by_digits: bool
) -> Iterator[tuple[float, float]]:
    """Yield the value of each alternative to the first token, with its probability."""
    token, *later = tokens
    for text, logprob in alternatives(token):
        digits = _bare(text)
        weight = math.exp(min(0.0, logprob))
        if not digits.isdecimal():
            value = float(begun) if begun else None  # the number ends before this token
        elif later and digits == _bare(token.token):
            value = _mean(list(_weighed(later, begun=begun + digits, by_digits=by_digits)))
        else:
            value = _value(begun + digits, by_digits=by_digits)
        if value is not None:
            yield value, weight


def _value(digits: str, *, by_digits: bool) -> float | None:
    if not by_digits:
        return float(digits) if float(digits) <= _HIGHEST else None
    begun = [number for number in _NUMBERS if str(number).startswith(digits)]
    return math.fsum(begun) / len(begun) if begun else None


def _mean(values: Sequence[tuple[float, float]]) -> float | None:
    total = math.fsum(weight for _, weight in values)
    if not total:
        return None
    return min(_HIGHEST, math.fsum(value * weight for value, weight in values) / total)


def _bare(token: str) -> str:
    return token.strip(_AROUND)
