"""Words of a text by what a source does for their likelihood, and the spans for which it does none.

A token's gain is its log-probability beside the source less that without it; a word's is the sum
over its tokens. A source that is restated makes words likelier, names and numbers most of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanjury.judges.core import ErrorSpan, LikelyToken, Located
from spanjury.judges.text.words import Word, words

_LINKS = frozenset(
    """a an the and or but nor so as at by for from in into of off on onto out over to up upon
    with is are was were be been being am has have had do does did will would can could may might
    shall should must not no it its he him his she her they them their we us our i me my you your
    this that these those who whom whose which what when where while than then there here if s
    t""".split()  # noqa: SIM905 - a list this long reads best so
)
"""Function words: they join the words of a span, and are none by themselves."""
_LONG = 3  # words of a span that weigh as much as a name or a number
_GRAVER, _MILDER = 2, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits in nats, chosen by span F1 on 54 rows of the training split of CLIFF, with SmolLM2.

    A word is unhelped if its log-probability beside the source is at most minus `surprise`, and
    the source raises it by at most `gain`: with 0, not at all.
    """

    surprise: float = 3.0
    gain: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyWord:
    """A word with its log-probabilities beside the source and without it."""

    word: Word
    given: float
    alone: float

    @property
    def gain(self) -> float:
        """Nats by which the source makes it likelier."""
        return self.given - self.alone


def mean_logprob(tokens: Sequence[LikelyToken]) -> float:
    """Return the mean log-probability of one or more tokens."""
    return sum(token.logprob for token in tokens) / len(tokens)


def read_words(
    text: str, *, given: Sequence[LikelyToken], alone: Sequence[LikelyToken]
) -> list[LikelyWord]:
    """Return the words of `text`; a token counts for the first word that it touches."""
    found = words(text)
    return [
        LikelyWord(word=word, given=beside, alone=by_itself)
        for word, beside, by_itself in zip(
            found, _summed(found, given), _summed(found, alone), strict=True
        )
    ]


def unhelped(
    text: str, read: Sequence[LikelyWord], *, limits: Thresholds, most: int
) -> tuple[ErrorSpan, ...]:
    """Return runs of words of which none is helped by the source, `most` of them at most.

    Function words between two such words are part of a run. Those whose words gain least are
    kept, in order of place. Severity is 2 for a name, a number, or three words and more, else 1:
    most such words are no errors.
    """
    runs = [_span(text, run) for run in _runs(read, limits)]
    kept = sorted(runs, key=lambda run: run[0])[:most]
    return tuple(sorted((span for _, span in kept), key=lambda span: span.start or 0))


def _summed(found: Sequence[Word], tokens: Sequence[LikelyToken]) -> list[float]:
    """Return the sum of the log-probabilities of each word's tokens."""
    sums = [0.0] * len(found)
    place = 0
    for token in tokens:
        while place < len(found) and found[place].end <= token.start:
            place += 1
        if place < len(found) and found[place].start < token.end:
            sums[place] += token.logprob
    return sums


def _runs(read: Sequence[LikelyWord], limits: Thresholds) -> list[list[LikelyWord]]:
    """Return the runs, each from an unhelped word to one."""
    marked = [
        place for place, word in enumerate(read) if _counts(word) and _is_unhelped(word, limits)
    ]
    if not marked:
        return []
    runs = [[marked[0]]]
    for before, place in pairwise(marked):
        if any(_counts(word) for word in read[before + 1 : place]):
            runs.append([])
        runs[-1].append(place)
    return [list(read[run[0] : run[-1] + 1]) for run in runs]


def _counts(word: LikelyWord) -> bool:
    return word.word.folded not in _LINKS


def _is_unhelped(word: LikelyWord, limits: Thresholds) -> bool:
    return word.given <= -limits.surprise and word.gain <= limits.gain


def _span(text: str, run: Sequence[LikelyWord]) -> tuple[float, ErrorSpan]:
    """Return the gain of a run and its span."""
    own = [word for word in run if _counts(word)]
    gain = sum(word.gain for word in own)
    start, end = run[0].word.start, run[-1].word.end
    solid = len(own) >= _LONG or any(not one.word.text.islower() for one in own)
    span = ErrorSpan(
        text=text[start:end],
        explanation=_explanation(gain / len(own)),
        severity=_GRAVER if solid else _MILDER,
        start=start,
        end=end,
        category="not from the source",
        located=Located.EXACT,
    )
    return gain, span


def _explanation(gain: float) -> str:
    helped = "hardly likelier" if gain > 0 else "no likelier"
    return f"The source makes these words {helped} ({gain:+.1f} nats a word), and they are rare."
