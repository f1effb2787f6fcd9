r"""Tokens of a reply that answer a question: the first token of a field's value, and its rivals.

A field is ``Overall score (a3f9): Good`` in lines and ``"overall_score_a3f9": "Good"`` in JSON. The
tokens may be only those near such labels, and may write spaces in the manner of tokenizers.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from spanjury.judges.core import TokenLogprob

RIVALS = 5
"""Largest number of likely tokens that all servers with log-probabilities return."""

LEAST_SHARE = 0.5
"""Minimum probability of all answers together from which their shares have a meaning."""

_BLANKS = str.maketrans("\u0120\u2581\u010a", "  \n")  # as in the vocabularies of tokenizers
_WORD = re.compile(r"\w+")
_MARKUP = " \t>#*`~-"


def value_starts(text: str, label: str, *, mark: str) -> Iterator[int]:
    """Yield the offsets in `text` at which values of a field begin, in order.

    Parameters
    ----------
    label
        In lower case, words separated by spaces.
    mark
        The mark that the label carries; empty for a label without one, which begins its line.
    """
    for match in _field(label).finditer(text):
        start = match.start() - 1
        own_mark = match["suffix"] or match["mark"] or ""
        if text[start : start + 1].lower() != label[0] or own_mark != mark:
            continue
        if match["quote"]:
            is_own = text[start - 1 : start] == '"'
        else:
            is_own = bool(mark) or not text[text.rfind("\n", 0, start) + 1 : start].strip(_MARKUP)
        if is_own:
            yield match.end()


@lru_cache(maxsize=16)
def _field(label: str) -> re.Pattern[str]:
    """Return a pattern of a field without its first letter.

    A pattern that begins with fixed text is found by a fast substring search.
    """
    first, *others = label.split()
    named = first[1:] + "".join(f"[ _][{word[0]}{word[0].upper()}]{word[1:]}" for word in others)
    return re.compile(
        rf'{named}(?:(?:_(?P<suffix>[0-9a-f]{{3,64}}))?(?P<quote>"\s*:\s*")'
        rf"|(?:[ ]*[(](?P<mark>[0-9a-f]{{3,64}})[)])?[ \t*_`]*[:：=][ \t*_`]*)"
    )


def field_tokens(
    tokens: Sequence[TokenLogprob], label: str, *, mark: str
) -> Iterator[TokenLogprob]:
    """Yield the first token of each value of a field, in order."""
    return _begun(tokens, value_starts(_written(tokens), label, mark=mark))


def _written(tokens: Sequence[TokenLogprob]) -> str:
    return "".join(token.token for token in tokens).translate(_BLANKS)


def _begun(tokens: Sequence[TokenLogprob], starts: Iterable[int]) -> Iterator[TokenLogprob]:
    """Yield the token at each of `starts`, offsets in what all tokens write, in order."""
    waiting, reached = sorted({*starts}, reverse=True), 0
    for token in tokens:
        reached += len(token.token)
        if waiting and reached > waiting[-1]:
            yield token
            waiting.pop()


def field_token(tokens: Sequence[TokenLogprob], label: str, *, mark: str) -> TokenLogprob | None:
    """Return the first token of the last value of a field; None if there is no such field."""
    values = [*field_tokens(tokens, label, mark=mark)]
    return values[-1] if values else None


def value_token(tokens: Sequence[TokenLogprob], pattern: re.Pattern[str]) -> TokenLogprob | None:
    """Return the first token of the last ``value`` that `pattern` matches; None if none matches."""
    starts = [match.start("value") for match in pattern.finditer(_written(tokens))]
    return next(_begun(tokens, starts[-1:]), None)


def shares(token: TokenLogprob, words: Iterable[str]) -> dict[str, float]:
    """Return the probability of each of `words`, summed over the alternatives that begin it."""
    summed = dict.fromkeys(words, 0.0)
    for begun, logprob in rivals(token):
        for word in summed:
            if word.startswith(begun):
                summed[word] += math.exp(min(0.0, logprob))
    return summed


def alternatives(token: TokenLogprob) -> Iterable[tuple[str, float]]:
    """Return the texts that may stand at the position of `token`, with their log-probabilities."""
    return {token.token: token.logprob, **token.top}.items()


def rivals(token: TokenLogprob) -> Iterator[tuple[str, float]]:
    """Yield the word that each alternative to `token` begins, folded, with its log-probability.

    Spaces and quotation marks around it are dropped; alternatives without a word are left out.
    """
    for text, logprob in alternatives(token):
        if word := _WORD.search(text.translate(_BLANKS)):
            yield word[0].casefold(), logprob
