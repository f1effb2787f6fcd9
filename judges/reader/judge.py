"""A judge of whether the inputs support a text, which has a small encoder read every sentence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import ClassVar

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    JudgeError,
    Outcome,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    Unverified,
    WindowReader,
    WindowReading,
    fingerprint,
    gravest,
    probability_with,
    score_of_probability,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.passages import passages_in
from spanjury.judges.reader.copies import copies_of
from spanjury.judges.reader.findings import findings
from spanjury.judges.reader.tuning import (
    LEAST,
    Tuning,
    is_suspect,
    sentence_evidence,
    without_copies,
    worst_evidence,
)
from spanjury.judges.reader.windows import Kind, SentenceWindow, sentence_windows
from spanjury.judges.text.languages import SAMPLE, foreign_language, script
from spanjury.judges.text.turns import LONG, in_turn
from spanjury.judges.text.words import folded_words

_BATCH = 16  # sentences that are read between two places where the work may be cancelled

_READ = "Latin"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudge:
    """Mark the words of a text that its inputs contradict, or say nothing of.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input that
    the aspect may look at, and on what is not English. Each sentence is read beside the passages
    of the inputs that share most with it; those that are copied word for word are not read.

    The score falls with the probability of an error alone. For another list of errors, that
    probability is changed by what the errors add or take away (`probability_with`); errors that
    were found and not reported count as before. A sentence in which nothing is marked, and whose
    probability of an error is too high to vouch for it, is reported as unverified.

    Parameters
    ----------
    encoder
        The model that reads.
    tuning
        Constants that were fitted to it.
    max_spans
        The most spans of a report, 0 or more; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "what follows only from many places of the input together, from arithmetic, or from "
        "knowledge of the world; it reads English, each sentence beside some 130 words"
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
        """Read the output beside the inputs that `aspect` may look at."""
        obstacle = _obstacle(segment, aspect)
        if obstacle:
            return Report(outcome=Outcome.ABSTAINED, reason=obstacle)
        read = await self._read(segment, aspect)
        return self._report(read, read.spans, aspect=aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that `spans` make, in place of those that are reported."""
        obstacle = _obstacle(segment, aspect)
        if obstacle:
            report = Report(outcome=Outcome.ABSTAINED, reason=obstacle, spans=tuple(spans))
            return Rescoring(report=report, method=RescoringMethod.COMPUTED)
        read = await self._read(segment, aspect)
        reported = gravest(read.spans, limit=self.max_spans)
        unreported = [span for span in read.spans if span not in reported]
        report = self._report(read, [*spans, *unreported], aspect=aspect)
        return Rescoring(
            report=replace(report, spans=tuple(spans)), method=RescoringMethod.COMPUTED
        )

    async def _read(self, segment: Segment, aspect: Aspect) -> "_Read":
        """Read the sentences a batch at a time, in a thread; cancellable between the batches."""
        inputs = aspect.view(segment.inputs)
        sentences = _Sentences(segment.output, inputs, room=self.encoder.room)
        # What is short takes as long to read as what is long to look at: all goes to a thread.
        length = max(LONG + 1, len(segment.output) + sum(map(len, inputs.values())))
        spans: list[ErrorSpan] = []
        open_sentences: list[Unverified] = []
        evidence = LEAST
        while batch := await in_turn(partial(self._batch, sentences), length=length):
            evidence = max(evidence, worst_evidence(reading for _, reading in batch))
            for window, reading in batch:
                errors = self._findings(window, reading, output=segment.output, inputs=inputs)
                spans += errors
                likely = self.tuning.probability(sentence_evidence(reading))
                if not errors and likely >= self.tuning.vouched:
                    open_sentences.append(
                        unverified(window, reading, output=segment.output, probability=likely)
                    )
            if len(batch) < _BATCH:
                break
        return _Read(
            spans=spans,
            unverified=open_sentences,
            evidence=evidence,
            read=sentences.read,
            copied=sentences.copied,
        )

    def _findings(
        self,
        window: SentenceWindow,
        reading: WindowReading,
        *,
        output: str,
        inputs: dict[str, str],
    ) -> list[ErrorSpan]:
        if not is_suspect(reading, self.tuning):
            return []
        threshold = self.tuning.threshold
        return [*findings(window, reading, output=output, inputs=inputs, threshold=threshold)]

    def _batch(self, sentences: "_Sentences") -> list[tuple[SentenceWindow, WindowReading]]:
        """Read the next sentences; none are left if there are none."""
        batch = sentences.next_batch()
        readings = self.encoder.read([sentence.window for sentence in batch]) if batch else []
        if [len(reading.words) for reading in readings] != [len(window.tokens) for window in batch]:
            raise JudgeError(f"{self.encoder.signature} gave other readings than it was asked for")
        return [
            (sentence, without_copies(reading, sentence.copied))
            for sentence, reading in zip(batch, readings, strict=True)
        ]

    def _report(self, read: "_Read", spans: Sequence[ErrorSpan], *, aspect: Aspect) -> Report:
        read_as = self.tuning.probability(read.evidence)
        probability = probability_with(spans, probability=read_as, own=read.spans)
        return Report(
            score=score_of_probability(probability, aspect.scale),
            spans=gravest(read.spans, limit=self.max_spans),
            unverified=tuple(read.unverified),
            rationale=_rationale(read),
            error_probability=probability,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """All that was found: spans, the evidence of `worst_evidence`, sentences read and copied."""

    spans: Sequence[ErrorSpan]
    unverified: Sequence[Unverified]
    evidence: float
    read: int
    copied: int


class _Sentences:
    """The sentences of an output that are to be read, a batch at a time."""

    def __init__(self, output: str, inputs: dict[str, str], *, room: int) -> None:
        self.read = self.copied = 0
        self._room = room
        self._output = output
        self._inputs = inputs
        self._left: Iterator[SentenceWindow] | None = None

    def next_batch(self) -> list[SentenceWindow]:
        """Return the next sentences, none at the end; the first call indexes the inputs."""
        if self._left is None:
            copies = copies_of(self._inputs)
            windows = sentence_windows(
                self._output,
                self._inputs,
                skip=lambda text: self._copied(copies.holds(text)),
                room=self._room,
            )
            self._left = (window for window in windows if not self._copied(window.is_copy))
        batch = list(islice(self._left, _BATCH))
        self.read += len(batch)
        return batch

    def _copied(self, copied: bool) -> bool:  # noqa: FBT001 - it counts what it is given
        self.copied += copied
        return copied


def _obstacle(segment: Segment, aspect: Aspect) -> str:
    """Say why a segment cannot be judged; empty if it can."""
    if aspect.kind != "grounding":
        return f"{aspect.name} is not about what the inputs support"
    inputs = aspect.view(segment.inputs)
    source = "\n\n".join(inputs.values())
    if not source.strip():
        return "there is no input to compare with"
    apart = passages_in(inputs)
    whole = {} if len(apart) == len(inputs) else {"input": source}
    for name, text in {"output": segment.output, **whole, **apart}.items():
        written = script(text)
        if written not in {None, _READ}:
            return f"the {name} is in {written} script, and this judge reads English"
        language = foreign_language(folded_words(text[:SAMPLE]))
        if language:
            return f"the {name} is {language}, and this judge reads English"
    return ""


def _rationale(read: _Read) -> str:
    if not read.read:
        return "The source says all of it word for word."
    errors = _counted(len(read.spans), "place") + " that the source does not support"
    copied = f"; {read.copied} more copied from it" if read.copied else ""
    left = f", {len(read.unverified)} of them not verified" if read.unverified else ""
    result = errors if read.spans else "No error found"
    return f"{result} in {_counted(read.read, 'sentence')} that the judge read{left}{copied}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _reason(lacking: int, *, of: int) -> str:
    if not lacking:
        return "All its words are in the source, but the reader is not sure that they say the same."
    verb = "is" if lacking == 1 else "are"
    return f"{lacking} of its {of} content words {verb} missing from the passages read beside it."
