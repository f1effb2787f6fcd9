"""Evidence: the clause of a source that is nearest to words of an output, and how it is quoted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.checker.runs import ABSENT, CONTRADICTED, Run
from spanjury.judges.checker.sources import SourceSentence
from spanjury.judges.core import ErrorSpan, Evidence, Located
from spanjury.judges.text.tokens import Token, is_negation

_NEAR = 6  # tokens around a run, whose words say what it is about

_WEIGHTS = (3.0, 2.0, 1.0)  # of a word in the run, near it, and elsewhere in its claim

_QUOTED = 24  # tokens of a sentence that is quoted whole

_REACH = 12  # tokens from the shared words in which a clause should end

_LETTERS = 200  # that a quote has at most, whatever stands between its tokens

_SHARED = 3  # words that carry meaning, which a clause has of a claim apart from a run

_SHARE = 0.5  # of such words of the claim

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
        """Return it as evidence."""
        start = self.sentence.tokens[self.first].start
        end = self.sentence.tokens[self.stop - 1].end
        text = inputs[self.sentence.input][start:end]
        return Evidence(input=self.sentence.input, start=start, end=end, text=text)

    def quote(self, inputs: Mapping[str, str]) -> str:
        """Return its text on one line, with dots where the sentence goes on."""
        text = _shortened(self.evidence(inputs).text.rstrip("."))
        before = "…" if self.first else ""
        after = "…" if self.stop < len(self.sentence.tokens) - 1 and text[-1:] != "…" else ""
        return f"{before}{text}{after}"


def nearest(
    run: Run, tokens: Sequence[Token], sentences: Sequence[SourceSentence]
) -> Clause | None:
    """Return the clause that shares most with a run of a claim's tokens and those around it.

    None if none shares a word with them.
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
    """Say whether a clause shares so many words around `run` that it is about the same."""
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

    `is_evidence` says whether that clause is about the same, so that it is the evidence, too.
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
    """Say why `text` is an error; `near` quotes what the source has in its place, or is empty."""
    if category == CONTRADICTED:
        return f"The source says: '{near}'." if near else "The source says otherwise."
    verb = "says" if category == ABSENT else "supports"
    nothing = f"Nothing in the source {verb} '{_shortened(text.rstrip('.'))}'"
    return f"{nothing}; the nearest is: '{near}'." if near else f"{nothing}."


def _shortened(text: str) -> str:
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


def _clause(sentence: SourceSentence, weights: Mapping[str, float]) -> Clause:
    """Cut a long sentence to what lies around the words that it shares."""
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
    """Go back from `at` to where a clause begins, or to `least`."""
    while at > least and tokens[at - 1].text not in _PAUSES:
        at -= 1
    return at


def _after_pause(tokens: Sequence[Token], at: int, *, most: int) -> int:
    """Go on from `at` to where a clause ends, or to `most`."""
    while at < most and tokens[at].text not in _PAUSES:
        at += 1
    return at
