"""Evidence: the source clause nearest to words of an output, and how it is quoted.

Neighbouring words that are likely wrong become one finding, a run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.checker.cutting import SourceSentence
from spanjury.judges.core import ErrorSpan, Evidence, Likelihoods, Located
from spanjury.judges.text.tokens import Token, is_negation

CONTRADICTED, ABSENT, UNSUPPORTED = "contradicted", "not in the source", "not supported"
"""Categories of errors; the last if a model does not distinguish the first two."""

_ENDING = frozenset('.,;:!?…()[]{}|"“”«»—–')
"""Punctuation that ends a run; hyphens, currency signs and other marks occur within names."""

_HYPHENS = frozenset("-‐‑")
_JOINED = 3  # tokens of two words with a hyphen between them
LEAST_ABSENT = 0.8
"""Probability from which words are reported that the source says nothing of.

Below it people agree in less than half of the cases (CLIFF and SummEdits SciTLDR)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Tokens `first` to `stop` of a claim, which are likely wrong.

    Parameters
    ----------
    probability
        The highest probability of an error among them.
    """

    first: int
    stop: int
    category: str
    probability: float


def runs(
    tokens: Sequence[Token], likelihoods: Sequence[Likelihoods], *, threshold: float
) -> Iterator[Run]:
    """Yield the runs of words whose probability of an error is at least `threshold`.

    A single function word between two marked words is marked, too. Function words at the ends are
    left out, except negations, unless there are no other words. A hyphenated word is never cut. If
    the source merely does not mention the words, one of them must have a probability of at least
    0.8.
    """
    marked = [
        token.is_word and 1.0 - likely.supported >= threshold
        for token, likely in zip(tokens, likelihoods, strict=True)
    ]
    _mark_whole(tokens, marked)
    for stretch in _stretches(tokens, marked):
        first, stop = _trimmed(tokens, *stretch)
        if not any(marked[first:stop]):  # an unmarked negation between marked words
            first, stop = stretch
        inside = [likelihoods[at] for at in range(first, stop) if marked[at]]
        contradicted = sum(likely.contradicted for likely in inside)
        absent = sum(likely.absent for likely in inside)
        category = CONTRADICTED if contradicted >= absent else ABSENT
        probability = min(1.0, max(1.0 - likely.supported for likely in inside))
        if category == CONTRADICTED or probability >= LEAST_ABSENT:
            yield Run(first=first, stop=stop, category=category, probability=probability)


def _stretches(tokens: Sequence[Token], marked: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the runs of marked words that at most one function word interrupts."""
    first = stop = -1
    for at in (at for at, bad in enumerate(marked) if bad):
        between = tokens[stop:at]
        if first >= 0 and (not between or _is_bridge(between)):
            stop = at + 1
            continue
        if first >= 0:
            yield first, stop
        first, stop = at, at + 1
    if first >= 0:
        yield first, stop


def _is_bridge(between: Sequence[Token]) -> bool:
    return len(between) == 1 and not between[0].is_content and between[0].text not in _ENDING


def _trimmed(tokens: Sequence[Token], first: int, stop: int) -> tuple[int, int]:
    kept = [at for at in range(first, stop) if tokens[at].is_content or is_negation(tokens[at])]
    if kept:
        first, stop = kept[0], kept[-1] + 1
    while _hyphened(tokens[max(0, first - 2) : first + 1]):
        first -= 2
    while _hyphened(tokens[stop - 1 : stop + 2]):
        stop += 2
    return first, stop


def _mark_whole(tokens: Sequence[Token], marked: list[bool]) -> None:
    """Mark all parts of a hyphenated word if one of them is marked."""
    joints = [at for at in range(1, len(tokens) - 1) if _hyphened(tokens[at - 1 : at + 2])]
    for at in (*joints, *reversed(joints)):  # both ways, so that marks spread to both ends
        if marked[at - 1] or marked[at + 1]:
            marked[at - 1] = marked[at] = marked[at + 1] = True


def _hyphened(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens are two words joined by a hyphen."""
    return (
        len(tokens) == _JOINED
        and tokens[1].text in _HYPHENS
        and tokens[0].end == tokens[1].start
        and tokens[1].end == tokens[2].start
    )


_NEAR = 6  # tokens around a run, whose words say what it is about
_WEIGHTS = (3.0, 2.0, 1.0)  # weight of a word in the run, near it, and elsewhere in its claim
_QUOTED = 24  # maximum number of tokens of a sentence that is quoted whole
_REACH = 12  # maximum number of tokens from the shared words to the end of a clause
_LETTERS = 200  # maximum length of a quote in code points
_SHARED = 3  # minimum number of content words outside the run that clause and claim share
_SHARE = 0.5  # minimum share of the claim's content words outside the run
_PAUSES = frozenset(",;:()—–")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Tokens `first` to `stop` of a sentence of the source."""

    sentence: SourceSentence
    first: int
    stop: int

    @property
    def turned(self) -> bool:
        """True if it has an odd number of negations."""
        inside = self.sentence.tokens[self.first : self.stop]
        return sum(map(is_negation, inside)) % 2 == 1

    def evidence(self, inputs: Mapping[str, str]) -> Evidence:
        """Return the clause as evidence."""
        start = self.sentence.tokens[self.first].start
        end = self.sentence.tokens[self.stop - 1].end
        text = inputs[self.sentence.input][start:end]
        return Evidence(input=self.sentence.input, start=start, end=end, text=text)

    def quote(self, inputs: Mapping[str, str]) -> str:
        """Return its text on one line, with an ellipsis where the sentence goes on."""
        text = _shortened(self.evidence(inputs).text.rstrip("."))
        before = "…" if self.first else ""
        after = "…" if self.stop < len(self.sentence.tokens) - 1 and text[-1:] != "…" else ""
        return f"{before}{text}{after}"


def nearest(
    run: Run, tokens: Sequence[Token], sentences: Sequence[SourceSentence]
) -> Clause | None:
    """Return the clause that shares most words with a run of a claim and the tokens around it.

    None if no clause shares a word with them.
    """
    weights = _weights(run, tokens)
    sums = [
        sum(weights.get(stem, 0.0) for stem in {token.stem for token in sentence.tokens})
        for sentence in sentences
    ]
    if not any(sums):
        return None
    return _clause(sentences[sums.index(max(sums))], weights)


def is_about_same(near: Clause, run: Run, tokens: Sequence[Token]) -> bool:
    """Return whether a clause shares enough words around `run` to be about the same topic."""
    outside = (*tokens[: run.first], *tokens[run.stop :])
    around = {token.stem for token in outside if token.is_content}
    inside = {token.stem for token in near.sentence.tokens[near.first : near.stop]}
    return len(around & inside) >= max(_SHARED, _SHARE * len(around))


def error_span(
    run: Run,
    near: Clause | None,
    *,
    tokens: Sequence[Token],
    output: str,
    inputs: Mapping[str, str],
    severity: int,
    is_evidence: bool = True,
) -> ErrorSpan:
    """Return a run of a claim's tokens as an error, explained by the nearest clause of the source.

    `is_evidence` says whether the clause is about the same topic, and is therefore evidence.
    """
    start, end = tokens[run.first].start, tokens[run.stop - 1].end
    quote = near.quote(inputs) if near else ""
    return ErrorSpan(
        text=output[start:end],
        explanation=_explanation(run.category, output[start:end], quote),
        severity=severity,
        start=start,
        end=end,
        category=run.category,
        located=Located.EXACT,
        evidence=(near.evidence(inputs),) if near and is_evidence else (),
        probability=run.probability,
    )


def _explanation(category: str, text: str, near: str) -> str:
    """Return why `text` is an error; `near` quotes the nearest source clause, or is empty."""
    if category == CONTRADICTED:
        return f"The source says: '{near}'." if near else "The source says otherwise."
    verb = "says" if category == ABSENT else "supports"
    nothing = f"Nothing in the source {verb} '{_shortened(text.rstrip('.'))}'"
    return f"{nothing}; the nearest is: '{near}'." if near else f"{nothing}."


def _shortened(text: str) -> str:
    """Put `text` on one line, and cut it if it is too long for a quote."""
    line = " ".join(text.split())
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS].rstrip()}…"


def _weights(run: Run, tokens: Sequence[Token]) -> dict[str, float]:
    """Return for each content word how much it says about the topic of a run."""
    weights: dict[str, float] = {}
    for at, token in enumerate(tokens):
        if not token.is_content:
            continue
        distance = max(run.first - at, at - run.stop + 1, 0)
        weight = _WEIGHTS[0 if not distance else 1 if distance <= _NEAR else 2]
        weights[token.stem] = max(weight, weights.get(token.stem, 0.0))
    return weights


def _clause(sentence: SourceSentence, weights: Mapping[str, float]) -> Clause:
    """Cut a long sentence to the part around the words that it shares."""
    tokens = sentence.tokens
    if len(tokens) <= _QUOTED:
        return Clause(sentence=sentence, first=0, stop=len(tokens))
    shared = [weights.get(token.stem, 0.0) for token in tokens]
    starts = range(len(tokens) - _QUOTED + 1)
    middle = (len(tokens) - _QUOTED) // 2
    first = max(starts, key=lambda at: (sum(shared[at : at + _QUOTED]), -abs(at - middle)))
    inside = [at for at in range(first, first + _QUOTED) if shared[at]]
    return Clause(
        sentence=sentence,
        first=_pause_before(tokens, inside[0], least=max(0, inside[0] - _REACH)),
        stop=_after_pause(tokens, inside[-1] + 1, most=min(len(tokens), inside[-1] + _REACH)),
    )


def _pause_before(tokens: Sequence[Token], at: int, *, least: int) -> int:
    """Move back from `at` to the beginning of a clause, or to `least`."""
    while at > least and tokens[at - 1].text not in _PAUSES:
        at -= 1
    return at


def _after_pause(tokens: Sequence[Token], at: int, *, most: int) -> int:
    """Move on from `at` to the end of a clause, or to `most`."""
    while at < most and tokens[at].text not in _PAUSES:
        at += 1
    return at
