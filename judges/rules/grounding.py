"""A judge of whether the inputs support what a text says; it counts, and asks no model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Outcome,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.passages import passages_in
from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.band import banded, load
from spanjury.judges.rules.evidence import error_spans
from spanjury.judges.rules.places import Source, join_inputs
from spanjury.judges.rules.source_index import index_source
from spanjury.judges.rules.support import Support, find_support
from spanjury.judges.rules.suspicion import error_probability
from spanjury.judges.text.languages import NO_BLANKS, SAMPLE, different_languages, script
from spanjury.judges.text.turns import in_turn
from spanjury.judges.text.words import folded_words

_QUICKER = 4  # times as fast as the output the source is read, of which little is looked at
_FOREIGN = 0.5  # known claims below which the languages are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingJudge:
    """Mark the numbers, dates, names and words of a text that its inputs do not support.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input
    that the aspect may look at, and where words cannot be compared: scripts without
    blanks, another script or another language than the inputs'. It knows English function
    words and endings; in other languages it takes more words to be different.

    What surely has no support is reported: a category of errors only if at least half of what
    it marks was marked by people, too (`spanjury.judges.rules.evidence`). What is less sure, such
    as other words for the same, or words of the source in another order, only orders texts.

    The score follows from the errors. Without any it lies in the best eighth of the scale,
    at its end for a text that was copied word for word; with any below it, by their severity
    and number, in long texts a little less, and by the rest of the support
    (`spanjury.judges.rules.band`). A text without words says nothing that is unsupported and has
    the best score. Of another list of errors the score is computed in the same way; errors
    that were found and not reported are counted as before. `max_spans`, 0 or more, limits the
    spans of the report; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "meaning: errors in words of their own, and errors made of the input's own words in a "
        "sentence that repeats none of the input's"
    )

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options and the rules."""
        return signature("grounding", max_spans=self.max_spans, rules=code_digest(__name__))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Compare the output with the inputs that `aspect` may look at."""
        return await self._look(segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that follows from `spans`, in place of those that are reported."""
        report = await self._look(segment, aspect, spans=tuple(spans))
        return Rescoring(report=report, method=RescoringMethod.COMPUTED)

    async def _look(
        self, segment: Segment, aspect: Aspect, *, spans: tuple[ErrorSpan, ...] | None = None
    ) -> Report:
        if aspect.kind != "grounding":
            return _abstention(f"{aspect.name} is not about what the inputs support")
        source = join_inputs(aspect.view(segment.inputs))
        if not source.text.strip():
            return _abstention("there is no input to compare with")
        compare = partial(self._compare, segment.output, source, aspect=aspect, spans=spans)
        return await in_turn(compare, length=_length(segment.output, source.text))

    def _compare(
        self,
        output: str,
        source: Source,
        *,
        aspect: Aspect,
        spans: tuple[ErrorSpan, ...] | None = None,
    ) -> Report:
        """Score `output` by the errors in it, `spans` in place of the reported ones if given."""
        obstacle = _different_scripts(output, source.text) or _foreign_passage(output, source)
        if obstacle:
            return _abstention(obstacle)
        support = find_support(output, index_source(source.text))
        if support.known < _FOREIGN:
            obstacle = _different_languages(output, source.text)
            if obstacle:
                return _abstention(obstacle)
        reported, rest = error_spans(
            output,
            support,
            source=source,
            limit=self.max_spans,
            contradictions=contradictions(output, source.inputs),
        )
        if spans is not None:
            reported = spans
        found = (*reported, *rest)
        weight = load(found, sentences=len(support.sentences))
        return Report(
            score=banded(support.share, load=weight, scale=aspect.scale),
            spans=reported,
            rationale=_rationale(support, found),
            error_probability=error_probability(support, found),
        )


def _abstention(reason: str) -> Report:
    return Report(outcome=Outcome.ABSTAINED, reason=reason)


def _length(output: str, source: str) -> int:
    """Return how long an output alone would be that takes as long as both."""
    return len(output) + len(source) // _QUICKER


def _different_scripts(output: str, source: str) -> str:
    """Say why the words of two texts cannot be compared, if they are in the wrong scripts."""
    written, given = script(output), script(source)
    if written in NO_BLANKS:
        return f"the output is in {written}, whose words no blanks tell apart"
    if written and given and written != given:
        return f"the output is in {written} script and the input in {given}"
    return ""


def _foreign_passage(output: str, source: Source) -> str:
    """Say which passage cannot be compared, though others can: it may hold what they lack."""
    for name, text in passages_in(source.inputs).items():
        found = _different_scripts(output, text) or _different_languages(output, text)
        if found:
            return found.replace("the input", name, 1)
    return ""


def _different_languages(output: str, source: str) -> str:
    languages = different_languages(folded_words(source[:SAMPLE]), folded_words(output[:SAMPLE]))
    return f"the input is {languages[0]} and the output {languages[1]}" if languages else ""


def _rationale(support: Support, found: Sequence[ErrorSpan]) -> str:
    if not support.sentences:
        return "There are no words that the source would have to support."
    errors = f"{len(found)} places without support." if found else "No place without support."
    known = f"The source has {support.known:.0%} of what is said (numbers, dates, names doubly)"
    if support.joined is None:
        return f"{errors} {known}; it is data, so that the choice of words hardly counts."
    return f"{errors} {known} and {support.joined:.0%} of the sequences of words."
