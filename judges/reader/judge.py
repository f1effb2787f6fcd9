"""A judge of whether the inputs support a text, which has a small encoder read every sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from spanjury.judges.checker.support import (
    Findings,
    abstained,
    assessed,
    obstacle,
    rescored,
)
from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Report,
    Rescoring,
    Segment,
    Unverified,
    WindowReader,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.reader.findings import error_spans, unverified
from spanjury.judges.reader.readings import sentence_readings
from spanjury.judges.reader.tuning import LEAST, Tuning, sentence_evidence
from spanjury.judges.text.turns import LONG, in_turn


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
        return await assessed(self, segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that `spans` make, in place of those that are reported."""
        return await rescored(self, segment, aspect, spans=spans)

    async def examine(self, segment: Segment, aspect: Aspect) -> Findings | Report:
        """Read the sentences a batch at a time, in a thread; cancellable between the batches."""
        output, inputs = segment.output, aspect.view(segment.inputs)
        if reason := obstacle(output, inputs, aspect):
            return abstained(reason)
        spans: list[ErrorSpan] = []
        open_sentences: list[Unverified] = []
        evidence, read, copied = LEAST, 0, 0
        batches = sentence_readings(self.encoder, output, inputs)
        # What is short takes as long to read as what is long to look at: all goes to a thread.
        is_last = False
        while not is_last:
            readings, copies, is_last = await in_turn(partial(next, batches), length=LONG + 1)
            for window, reading in readings:
                likely = sentence_evidence(reading)
                evidence = max(evidence, likely)
                errors = list(
                    error_spans(window, reading, output=output, inputs=inputs, tuning=self.tuning)
                )
                spans += errors
                probability = self.tuning.probability(likely)
                if not errors and probability >= self.tuning.vouched:
                    open_sentences.append(
                        unverified(window, reading, output=output, probability=probability)
                    )
            read += len(readings)
            copied += copies
        return Findings(
            error_probability=self.tuning.probability(evidence),
            spans=spans,
            unverified=open_sentences,
            read=read,
            copied=copied,
        )
