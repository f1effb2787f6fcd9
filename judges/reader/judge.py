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
    WindowReader,
    WindowReading,
    fingerprint,
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
    score,
    without_copies,
    worst_evidence,
)
from spanjury.judges.reader.windows import SentenceWindow, sentence_windows
from spanjury.judges.text.languages import SAMPLE, foreign_language, script
from spanjury.judges.text.turns import LONG, in_turn
from spanjury.judges.text.words import folded_words

_BATCH = 16  # sentences that are read between two places where the work may be cancelled
_READ = "Latin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudge:
    """Mark the words of a text that its inputs contradict, or say nothing of.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input that
    the aspect may look at, and on what is not English. Each sentence is read beside the passages
    of the inputs that share most with it; those that are copied word for word are not read.

    `tuning.score` has the formula of the score. Of another list of errors the score is computed
    in the same way; errors that were found and not reported are counted as before.

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
        reported = _gravest(read.spans, limit=self.max_spans)
        unreported = [span for span in read.spans if span not in reported]
        report = self._report(read, [*spans, *unreported], aspect=aspect)
        return Rescoring(
            report=replace(report, spans=tuple(spans)), method=RescoringMethod.COMPUTED
        )

    async def _read(self, segment: Segment, aspect: Aspect) -> "_Read":
        """Read the sentences a batch at a time, in a thread; cancellable between the batches."""
        inputs = aspect.view(segment.inputs)
        sentences = _Sentences(segment.output, inputs)
        # What is short takes as long to read as what is long to look at: all goes to a thread.
        length = max(LONG + 1, len(segment.output) + sum(map(len, inputs.values())))
        spans: list[ErrorSpan] = []
        evidence = LEAST
        while batch := await in_turn(partial(self._batch, sentences), length=length):
            evidence = max(evidence, worst_evidence(reading for _, reading in batch))
            for window, reading in batch:
                if is_suspect(reading, self.tuning):
                    spans += findings(
                        window,
                        reading,
                        output=segment.output,
                        inputs=inputs,
                        threshold=self.tuning.threshold,
                    )
        return _Read(spans=spans, evidence=evidence, read=sentences.read, copied=sentences.copied)

    def _batch(self, sentences: "_Sentences") -> list[tuple[SentenceWindow, WindowReading]]:
        """Read the next sentences; none are left if there are none."""
        batch = sentences.next_batch()
        readings = self.encoder.read([sentence.window for sentence in batch]) if batch else []
        if [len(reading.words) for reading in readings] != [len(one.tokens) for one in batch]:
            raise JudgeError(f"{self.encoder.signature} gave other readings than it was asked for")
        return [
            (sentence, without_copies(reading, sentence.copied))
            for sentence, reading in zip(batch, readings, strict=True)
        ]

    def _report(self, read: "_Read", spans: Sequence[ErrorSpan], *, aspect: Aspect) -> Report:
        probability = self.tuning.probability(read.evidence)
        return Report(
            score=score(
                spans,
                probability=probability,
                sentences=read.read + read.copied,
                scale=aspect.scale,
            ),
            spans=_gravest(read.spans, limit=self.max_spans),
            rationale=_rationale(read),
            error_probability=probability,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """All that was found: spans, the evidence of `worst_evidence`, sentences read and copied."""

    spans: Sequence[ErrorSpan]
    evidence: float
    read: int
    copied: int


class _Sentences:
    """The sentences of an output that are to be read, a batch at a time."""

    def __init__(self, output: str, inputs: dict[str, str]) -> None:
        self.read = self.copied = 0
        self._output = output
        self._inputs = inputs
        self._left: Iterator[SentenceWindow] | None = None

    def next_batch(self) -> list[SentenceWindow]:
        """Return the next sentences, none at the end; the first call indexes the inputs."""
        if self._left is None:
            copies = copies_of(self._inputs)
            self._left = sentence_windows(
                self._output, self._inputs, skip=lambda text: self._copied(copies.holds(text))
            )
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


def _gravest(spans: Sequence[ErrorSpan], *, limit: int) -> tuple[ErrorSpan, ...]:
    """Return the gravest spans, of these the likeliest, in order of place."""
    gravest = sorted(
        spans, key=lambda span: (-(span.severity or 0), -(span.probability or 0.0), span.start or 0)
    )
    return tuple(sorted(gravest[:limit], key=lambda span: span.start or 0))


def _rationale(read: _Read) -> str:
    if not read.read:
        return "All that is said stands in the source word for word."
    found = _counted(len(read.spans), "place") + " that the source does not support"
    copied = f"; {read.copied} more copied from it" if read.copied else ""
    said = found if read.spans else "No error found"
    return f"{said} in {_counted(read.read, 'sentence')} that the judge read{copied}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
