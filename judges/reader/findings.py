"""Findings: error spans of one sentence, with what the source says in their place.

Beside: the place of the source that is nearest to a run of words, and what to say of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ErrorSpan, Evidence, Located, WindowReading
from spanjury.judges.reader.passages import Passage
from spanjury.judges.reader.runs import CONTRADICTED, Run, runs, severity
from spanjury.judges.reader.windows import SentenceWindow
from spanjury.judges.text.tokens import Token, is_negation

_NEAR = 6  # tokens around a run, whose words say what it is about

_WEIGHTS = (3.0, 2.0, 1.0)  # of a word in the run, near it, and elsewhere in its sentence

_QUOTED = 24  # tokens of a passage that is quoted whole

_REACH = 12  # tokens from the shared words in which a clause should end

_LETTERS = 200  # that a quote has at most, whatever stands between its tokens

_SHARED = 3  # words that carry meaning, which a clause has of the sentence apart from a run

_SHARE = 0.5  # of such words of the sentence

_PAUSES = frozenset(",;:()—–")


def findings(
    sentence: SentenceWindow,
    reading: WindowReading,
    *,
    output: str,
    inputs: Mapping[str, str],
    threshold: float,
) -> Iterator[ErrorSpan]:
    """Yield the errors of a sentence, in order; `reading` has a likelihood for each token.

    `output` and `inputs` are the texts that the offsets of sentence and passages are of.
    """
    for run in runs(sentence.tokens, reading.words, threshold=threshold):
        yield _span(run, sentence, output=output, inputs=inputs)


def _span(
    run: Run, sentence: SentenceWindow, *, output: str, inputs: Mapping[str, str]
) -> ErrorSpan:
    tokens = sentence.tokens
    start, end = tokens[run.first].start, tokens[run.stop - 1].end
    near = nearest(run, tokens, sentence.passages)
    negated = sum(map(is_negation, tokens)) % 2 == 1
    turned = near is not None and near.turned != negated
    contradicted = run.category == CONTRADICTED
    return ErrorSpan(
        text=output[start:end],
        explanation=explanation(run, output[start:end], near.quote(inputs) if near else ""),
        severity=severity(run, tokens, sentence.window.kinds, turned=turned),
        start=start,
        end=end,
        category=run.category,
        located=Located.EXACT,
        evidence=(near.evidence(inputs),)
        if near and (contradicted or is_about_same(near, run, tokens))
        else (),
        probability=run.probability,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """A stretch of a passage.

    Parameters
    ----------
    first, stop
        Tokens of the passage.
    """

    passage: Passage
    first: int
    stop: int

    @property
    def turned(self) -> bool:
        """True if it has an odd number of negations."""
        inside = self.passage.tokens[self.first : self.stop]
        return sum(map(is_negation, inside)) % 2 == 1

    def evidence(self, inputs: Mapping[str, str]) -> Evidence:
        """Return it as evidence."""
        start = self.passage.tokens[self.first].start
        end = self.passage.tokens[self.stop - 1].end
        text = inputs[self.passage.input][start:end]
        return Evidence(input=self.passage.input, start=start, end=end, text=text)

    def quote(self, inputs: Mapping[str, str]) -> str:
        """Return its text on one line, with dots where the passage goes on."""
        text = shortened(self.evidence(inputs).text.rstrip("."))
        before = "…" if self.first else ""
        after = "…" if self.stop < len(self.passage.tokens) - 1 and text[-1:] != "…" else ""
        return f"{before}{text}{after}"


def nearest(run: Run, tokens: Sequence[Token], passages: Sequence[Passage]) -> Nearest | None:
    """Return the clause that shares most with the words of `run` and those around it.

    None if none shares a word with them.
    """
    weights = _weights(run, tokens)
    sums = [
        sum(weights.get(stem, 0.0) for stem in {token.stem for token in passage.tokens})
        for passage in passages
    ]
    if not any(sums):
        return None
    best = passages[sums.index(max(sums))]
    return _clause(best, weights)


def is_about_same(near: Nearest, run: Run, tokens: Sequence[Token]) -> bool:
    """Say whether a clause has so much of what stands around `run` that it speaks of the same."""
    around = {
        token.stem
        for at, token in enumerate(tokens)
        if token.is_content and not run.first <= at < run.stop
    }
    inside = {token.stem for token in near.passage.tokens[near.first : near.stop]}
    return len(around & inside) >= max(_SHARED, _SHARE * len(around))


def explanation(run: Run, text: str, near: str) -> str:
    """Say why a run is an error; `text` is its own, and `near` what the source has, or empty."""
    if run.category == CONTRADICTED:
        return f"The source says: '{near}'." if near else "The source says otherwise."
    nothing = f"Nothing in the source says '{shortened(text)}'"
    return f"{nothing}; the nearest is: '{near}'." if near else f"{nothing}."


def shortened(text: str) -> str:
    """Put `text` on one line, and cut what is too long to be quoted."""
    line = " ".join(text.split())
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS].rstrip()}…"


def _weights(run: Run, tokens: Sequence[Token]) -> dict[str, float]:
    """Return how much each content word tells of what a run is about."""
    weights: dict[str, float] = {}
    for at, token in enumerate(tokens):
        if not token.is_content:
            continue
        distance = max(run.first - at, at - run.stop + 1, 0)
        weight = _WEIGHTS[0 if not distance else 1 if distance <= _NEAR else 2]
        weights[token.stem] = max(weight, weights.get(token.stem, 0.0))
    return weights


def _clause(passage: Passage, weights: Mapping[str, float]) -> Nearest:
    """Cut a long passage to what lies around the words that it shares."""
    tokens = passage.tokens
    if len(tokens) <= _QUOTED:
        return Nearest(passage=passage, first=0, stop=len(tokens))
    shared = [weights.get(token.stem, 0.0) for token in tokens]
    starts = range(len(tokens) - _QUOTED + 1)
    middle = (len(tokens) - _QUOTED) // 2
    first = max(starts, key=lambda at: (sum(shared[at : at + _QUOTED]), -abs(at - middle)))
    inside = [at for at in range(first, first + _QUOTED) if shared[at]]
    return Nearest(
        passage=passage,
        first=_pause_before(tokens, inside[0], least=max(0, inside[0] - _REACH)),
        stop=_after_pause(tokens, inside[-1] + 1, most=min(len(tokens), inside[-1] + _REACH)),
    )


def _pause_before(tokens: Sequence[Token], at: int, *, least: int) -> int:
    """Go back from `at` to where a clause begins, or to `least`."""
    while at > least and tokens[at - 1].text not in _PAUSES:
        at -= 1
    return at


def _after_pause(tokens: Sequence[Token], at: int, *, most: int) -> int:
    """Go on from `at` to where a clause ends, or to `most`."""
    while at < most and tokens[at].text not in _PAUSES:
        at += 1
    return at
