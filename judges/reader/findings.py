"""Findings: the error spans of one sentence, and what is left unverified in it."""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.judges.checker.evidence import error_span, is_about_same, nearest
from spanjury.judges.checker.runs import CONTRADICTED, Run, runs
from spanjury.judges.core import ErrorSpan, Unverified, WindowReading
from spanjury.judges.reader.tuning import Tuning, sentence_evidence
from spanjury.judges.reader.windows import Kind, SentenceWindow
from spanjury.judges.text.tokens import Token, is_negation

_SURE = 0.8  # from which a contradicted number, name, negation or role has the highest severity
_LONG = 4  # content words from which it is grave that the source lacks them
_NAMES_AND_NUMBERS = range(Kind.NAME_NEAR, Kind.NUMBER_NEW + 1)

_MOST = 6  # words that are named

_EMPTY = frozenset(("yes", "ok", "okay", "going"))
"""Content words to the encoder that a reader need not verify: answers, and ``is going to``."""

_SUSPECTED = 0.5  # probability of an error from which a word is named

_LACKING = frozenset(
    (
        Kind.CONTENT_FAR,
        Kind.CONTENT_NEW,
        Kind.NAME_FAR,
        Kind.NAME_NEW,
        Kind.NUMBER_FAR,
        Kind.NUMBER_NEW,
    )
)
"""Kinds of words that the passages beside the sentence lack."""


def error_spans(
    sentence: SentenceWindow,
    reading: WindowReading,
    *,
    output: str,
    inputs: Mapping[str, str],
    tuning: Tuning,
) -> Iterator[ErrorSpan]:
    """Yield the errors of a sentence, in order; none if it is not suspicious enough.

    `output` and `inputs` are the texts that the offsets of sentence and passages are of.
    """
    if not tuning.is_suspect(sentence_evidence(reading)):
        return
    tokens = sentence.tokens
    negated = sum(map(is_negation, tokens)) % 2 == 1
    for run in runs(tokens, reading.words, threshold=tuning.threshold):
        near = nearest(run, tokens, sentence.passages)
        turned = near is not None and near.turned != negated
        yield error_span(
            run,
            near,
            tokens=tokens,
            output=output,
            inputs=inputs,
            severity=_severity(run, tokens, sentence.window.kinds, turned=turned),
            is_evidence=run.category == CONTRADICTED
            or (near is not None and is_about_same(near, run, tokens)),
        )


def unverified(
    sentence: SentenceWindow, reading: WindowReading, *, output: str, probability: float
) -> Unverified:
    """Return `sentence`, of `output`, as unverified, with the probability that it has an error.

    Its words are those that the passages beside it lack, or that the model suspects.
    """
    tokens, kinds = sentence.tokens, sentence.window.kinds
    content = [
        at
        for at, token in enumerate(tokens)
        if token.is_content and token.text.lower() not in _EMPTY
    ]
    lacking = [at for at in content if kinds[at] in _LACKING]
    suspected = [at for at in content if 1.0 - reading.words[at].supported >= _SUSPECTED]
    named = sorted({*lacking, *suspected}, key=lambda at: (reading.words[at].supported, at))
    start, end = tokens[0].start, tokens[-1].end
    return Unverified(
        start=start,
        end=end,
        text=output[start:end],
        probability=probability,
        reason=_reason(len(lacking), of=len(content)),
        words=tuple(output[tokens[at].start : tokens[at].end] for at in sorted(named[:_MOST])),
    )


def _severity(run: Run, tokens: Sequence[Token], kinds: Sequence[int], *, turned: bool) -> int:
    """Say how grave a run is; `turned` if either sentence or source has a negation, not both."""
    inside = range(run.first, run.stop)
    fact = any(kinds[at] in _NAMES_AND_NUMBERS for at in inside)
    if run.category == CONTRADICTED:
        fact = fact or turned or any(is_negation(tokens[at]) for at in inside)
        return 5 if fact and run.probability >= _SURE else 4
    long = sum(tokens[at].is_content for at in inside) >= _LONG
    return 3 if fact or long else 2


def _reason(lacking: int, *, of: int) -> str:
    if not lacking:
        return "All its words are in the source, but the reader is not sure that they say the same."
    verb = "is" if lacking == 1 else "are"
    return f"{lacking} of its {of} content words {verb} missing from the passages read beside it."
