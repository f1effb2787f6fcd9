"""A judge of grounding: a small encoder reads every sentence."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import ClassVar

from spanjury.judges.checker.evidence import (
    ABSENT,
    CONTRADICTED,
    LEAST_ABSENT,
    Clause,
    Run,
    error_span,
    is_about_same,
    nearest,
    runs,
)
from spanjury.judges.checker.support import Findings, assessed, obstacle, rescored
from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Report,
    Rescoring,
    Segment,
    Unverified,
    WindowReader,
    WindowReading,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.reader.tuning import LEAST, Tuning, sentence_evidence
from spanjury.judges.reader.windows import Kind, SentenceWindow, sentence_readings
from spanjury.judges.text.tokens import Token, is_negation, tokens
from spanjury.judges.text.turns import LONG, all_in_turns
from spanjury.judges.text.without_claims import absences, blanked, without_marks
from spanjury.judges.text.words import each_once


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudge:
    """Mark the words of a text that its inputs contradict or do not mention.

    It judges aspects of the kind ``"grounding"``. It abstains on others, without an input that
    the aspect may read, and on texts that are not English. Each sentence is read together with the
    passages of the inputs that share most with it; verbatim copies are not read.

    The score depends only on the probability of an error. For another error list, that probability
    is changed by the errors added or removed (`probability_with`); errors that were found but not
    reported count as before. A sentence without marks, but with a probability of an error too high
    to vouch for it, is reported as unverified.

    Parameters
    ----------
    encoder
        The model that reads.
    tuning
        Constants that were fitted to it.
    max_spans
        Maximum number of spans of a report, 0 or more; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "conclusions that combine many passages of the input, arithmetic, and world knowledge; it "
        "reads English, and compares each sentence with about 130 words of the input"
    )

    encoder: WindowReader
    tuning: Tuning = field(default_factory=Tuning)
    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options, the model with its constants, and the rules."""
        return signature(
            "reader",
            max_spans=self.max_spans,
            encoder=fingerprint(self.encoder.signature, repr(self.tuning)),
            rules=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Read the output together with the inputs that `aspect` may read."""
        return await assessed(self, segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans` instead of the reported errors."""
        return await rescored(self, segment, aspect, spans=spans)

    async def examine(self, segment: Segment, aspect: Aspect) -> Findings | Report:
        """Read the sentences in batches, in a thread; cancellable between the batches."""
        output, inputs = segment.output, aspect.evidence(segment.inputs)
        if unable := obstacle(output, inputs, aspect):
            return unable
        questions = [
            text for header, text in aspect.view(segment.inputs).items() if header not in inputs
        ]
        # Reading even a short text takes long, so every text goes to a thread.
        parts = await all_in_turns(partial(self._parts, output, inputs, questions), length=LONG + 1)
        return Findings(
            error_probability=self.tuning.probability(max(part.evidence for part in parts)),
            spans=[span for part in parts for span in part.spans],
            unverified=[sentence for part in parts for sentence in part.unverified],
            read=sum(part.read for part in parts),
            copied=sum(part.copied for part in parts),
        )

    def _parts(
        self, output: str, inputs: Mapping[str, str], asked: Sequence[str]
    ) -> Iterator["_Part"]:
        """Yield the findings in each batch of sentences; words of a question are not made up."""
        claimed = blanked(without_marks(output, inputs), absences(output) if asked else ())
        words = {token.stem for question in asked for token in tokens(question) if token.is_content}
        for batch in sentence_readings(self.encoder, claimed, inputs):
            part = _Part(read=len(batch.readings), copied=batch.copied)
            for window, reading in batch.readings:
                likely = sentence_evidence(reading)
                part.evidence = max(part.evidence, likely)
                errors = list(
                    error_spans(
                        window,
                        reading,
                        output=output,
                        inputs=inputs,
                        tuning=self.tuning,
                        asked=words,
                    )
                )
                part.spans += errors
                probability = self.tuning.probability(likely)
                if not errors and probability >= self.tuning.vouched:
                    part.unverified.append(
                        unverified(window, reading, output=output, probability=probability)
                    )
            yield part


@dataclass(slots=True, kw_only=True)
class _Part:
    """The findings in a batch of sentences."""

    read: int
    copied: int
    evidence: float = LEAST
    spans: list[ErrorSpan] = field(default_factory=list)
    unverified: list[Unverified] = field(default_factory=list)


_SURE = 0.8  # minimum probability at which a contradicted number, name, negation or role is gravest
_LONG = 4  # minimum number of content words missing from the source to be grave
_NAMES_AND_NUMBERS = range(Kind.NAME_NEAR, Kind.NUMBER_NEW + 1)

_MOST = 6  # maximum number of words named

_EMPTY = frozenset(("yes", "ok", "okay", "going"))
"""Content words to the encoder that need not be verified: answers, and ``is going to``."""

_SUSPECTED = 0.5  # minimum probability of an error for a word to be named

_TELLING = frozenset(
    """all almost always any before after both can could each every few half if least less many
    may might more most must nearly never no none not only should some unless until will
    would""".split()  # noqa: SIM905
)
"""Function words on which the meaning of a sentence depends."""

_INFLECTION = re.compile(
    r"[bdgklmnprt]?(?:['’]?s|e|es|ed|er|ers|ing|y|ies|ied|ier|ily|ly)?|d|r", re.IGNORECASE
)
"""Endings of two forms of a word, after their common letters."""

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
"""Kinds of words that the passages of the window lack."""


def marked_runs(
    sentence: SentenceWindow, reading: WindowReading, *, threshold: float
) -> Iterator[tuple[Run, Clause | None]]:
    """Yield the runs of words that are marked, each with the nearest words of the passages.

    A passage contradicts a run only if it shares a word with it. A run without such a passage is
    absent from all, and is marked only from `LEAST_ABSENT`.
    """
    for run in runs(sentence.tokens, reading.words, threshold=threshold):
        near = nearest(run, sentence.tokens, sentence.passages)
        if near is not None:
            yield run, near
        elif run.probability >= LEAST_ABSENT:
            yield replace(run, category=ABSENT), None


def error_spans(
    sentence: SentenceWindow,
    reading: WindowReading,
    *,
    output: str,
    inputs: Mapping[str, str],
    tuning: Tuning,
    asked: AbstractSet[str] = frozenset(),
) -> Iterator[ErrorSpan]:
    """Yield the errors of a sentence, in order; none if it is not suspicious enough.

    `output` and `inputs` are the texts to which the offsets of sentence and passages refer. A run
    of content words whose stems are all in `asked` is not an error.
    """
    if not tuning.is_suspect(sentence_evidence(reading)):
        return
    words = sentence.tokens
    negated = sum(map(is_negation, words)) % 2 == 1
    for run, near in marked_runs(sentence, reading, threshold=tuning.threshold):
        content = [word for word in words[run.first : run.stop] if word.is_content]
        if content and all(word.stem in asked for word in content):
            continue
        turned = near is not None and near.turned != negated
        yield error_span(
            run,
            near,
            tokens=words,
            output=output,
            inputs=inputs,
            severity=_severity(run, words, sentence.window.kinds, turned=turned),
            is_evidence=run.category == CONTRADICTED
            or (near is not None and is_about_same(near, run, words)),
        )


def unverified(
    sentence: SentenceWindow, reading: WindowReading, *, output: str, probability: float
) -> Unverified:
    """Return `sentence` of `output` as unverified, with the probability of an error.

    Its words are those that the passages of the window lack, or else those that the model suspects,
    without duplicates.
    """
    tokens, kinds = sentence.tokens, sentence.window.kinds
    source_forms = _words_by_stem(sentence)
    content = [
        at
        for at, token in enumerate(tokens)
        if token.is_content and token.text.lower() not in _EMPTY
    ]
    lacking = [
        at for at in content if kinds[at] in _LACKING or not _is_among(tokens[at], source_forms)
    ]
    telling = [
        at
        for at, token in enumerate(tokens)
        if token.text.lower() in _TELLING and not _is_among(token, source_forms)
    ]
    suspected = [at for at in content if 1.0 - reading.words[at].supported >= _SUSPECTED]
    named = sorted(
        lacking or telling or suspected, key=lambda at: (reading.words[at].supported, at)
    )
    start, end = tokens[0].start, tokens[-1].end
    texts = (output[tokens[at].start : tokens[at].end] for at in sorted(named[:_MOST]))
    return Unverified(
        start=start,
        end=end,
        text=output[start:end],
        probability=probability,
        reason=_reason(
            len(each_once(tokens[at].text for at in lacking)),
            of=len(each_once(tokens[at].text for at in content)),
            telling=bool(telling),
            suspected=bool(suspected),
        ),
        words=tuple(each_once(texts)),
    )


def _words_by_stem(sentence: SentenceWindow) -> Mapping[str, set[str]]:
    """Return the words of the passages of a sentence's window, in lower case, by stem."""
    words: dict[str, set[str]] = {}
    for passage in sentence.passages:
        for token in passage.tokens:
            words.setdefault(token.stem, set()).add(token.text.lower())
    return words


def _is_among(token: Token, words_by_stem: Mapping[str, set[str]]) -> bool:
    """Return whether `words_by_stem` has a form of a word; different words may share a stem.

    A number must occur exactly: 1950s is not 1950.
    """
    word, others = token.text.lower(), words_by_stem.get(token.stem, set())
    if word in others or token.is_number:
        return word in others
    return any(_is_form(word, other) for other in others)


def _is_form(word: str, other: str) -> bool:
    pairs = zip(word, other, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    ends = word[shared:], other[shared:]
    return not all(ends) or all(map(_INFLECTION.fullmatch, ends))


def _severity(run: Run, tokens: Sequence[Token], kinds: Sequence[int], *, turned: bool) -> int:
    """Return the severity of a run; `turned` if only one of sentence and source has a negation."""
    inside = range(run.first, run.stop)
    fact = any(kinds[at] in _NAMES_AND_NUMBERS for at in inside)
    if run.category == CONTRADICTED:
        fact = fact or turned or any(is_negation(tokens[at]) for at in inside)
        return 5 if fact and run.probability >= _SURE else 4
    long = sum(tokens[at].is_content for at in inside) >= _LONG
    return 3 if fact or long else 2


def _reason(lacking: int, *, of: int, telling: bool, suspected: bool) -> str:
    if lacking == of == 1:
        return "Its only content word does not occur in the source passages compared with it."
    if lacking:
        verb = "does" if lacking == 1 else "do"
        return (
            f"{lacking} of its {of} content words {verb} not occur in the source passages compared"
            " with it."
        )
    if telling:
        return "A word that changes its meaning does not occur in the source passages."
    if suspected:
        return "All its words occur in the source, but the reader doubts some of them."
    return "All its words occur in the source, but the reader is not sure that it means the same."
