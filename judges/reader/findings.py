"""Findings: error spans of one sentence, with what the source says in their place."""

from collections.abc import Iterator, Mapping

from spanjury.judges.core import ErrorSpan, Located, WindowReading
from spanjury.judges.reader.beside import explanation, is_about_same, nearest
from spanjury.judges.reader.runs import CONTRADICTED, Run, runs, severity
from spanjury.judges.reader.tokens import is_negation
from spanjury.judges.reader.windows import SentenceWindow


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
