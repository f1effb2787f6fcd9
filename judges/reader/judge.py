"""A judge of whether the inputs support a text, which has a small encoder read every sentence."""

from collections.abc import Iterator, Mapping, Sequence
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
from spanjury.judges.text.turns import LONG, all_in_turns


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
        # What is short takes as long to read as what is long to look at: all goes to a thread.
        parts = await all_in_turns(partial(self._parts, output, inputs), length=LONG + 1)
        return Findings(
            error_probability=self.tuning.probability(max(part.evidence for part in parts)),
            spans=[span for part in parts for span in part.spans],
            unverified=[sentence for part in parts for sentence in part.unverified],
            read=sum(part.read for part in parts),
            copied=sum(part.copied for part in parts),
        )

    def _parts(self, output: str, inputs: Mapping[str, str]) -> Iterator["_Part"]:
        """Yield what is found in each batch of sentences."""
        for batch in sentence_readings(self.encoder, output, inputs):
            part = _Part(read=len(batch.readings), copied=batch.copied)
            for window, reading in batch.readings:
                likely = sentence_evidence(reading)
                part.evidence = max(part.evidence, likely)
                errors = list(
                    error_spans(window, reading, output=output, inputs=inputs, tuning=self.tuning)
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
