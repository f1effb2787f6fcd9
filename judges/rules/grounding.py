"""A judge of whether the inputs support what a text says; it counts, and asks no model."""

from dataclasses import dataclass
from functools import partial

from spanjury.judges.core import Aspect, Outcome, Report, Segment, signature
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.rules.evidence import error_spans
from spanjury.judges.rules.places import Source, join_inputs
from spanjury.judges.rules.source_index import index_source
from spanjury.judges.rules.support import Support, support
from spanjury.judges.text.languages import NO_BLANKS, SAMPLE, different_languages, script
from spanjury.judges.text.turns import in_turn
from spanjury.judges.text.words import folded_words

_FOREIGN = 0.5  # known claims below which the languages are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingJudge:
    """Mark the numbers, dates, names and words of a text that its inputs do not support.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input
    that the aspect may look at, and where words cannot be compared: scripts without
    blanks, another script or another language than the inputs'. It knows English function
    words and endings; in other languages it takes more words to be different.

    The score is ``low + (high - low) * support`` on the scale of the aspect; `support` in
    `spanjury.judges.rules.support` is 1 for a text that was copied word for word. A text without
    words says nothing that is unsupported and has the best score. `max_spans`,
    0 or more, limits the spans of the report; the score counts all.
    """

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
        if aspect.kind != "grounding":
            return _abstention(f"{aspect.name} is not about what the inputs support")
        source = join_inputs(aspect.view(segment.inputs))
        if not source.text.strip():
            return _abstention("there is no input to compare with")
        compare = partial(self._compare, segment.output, source, aspect=aspect)
        return await in_turn(compare, length=len(segment.output) + len(source.text))

    def _compare(self, output: str, source: Source, *, aspect: Aspect) -> Report:
        obstacle = _different_scripts(output, source.text)
        if obstacle:
            return _abstention(obstacle)
        index = index_source(source.text)
        found = support(output, index)
        if found.known < _FOREIGN:
            obstacle = _different_languages(output, source.text)
            if obstacle:
                return _abstention(obstacle)
        scale = aspect.scale
        return Report(
            score=scale.low + (scale.high - scale.low) * found.share,
            spans=error_spans(output, found, source=source),
            rationale=_rationale(found),
        )


def _abstention(reason: str) -> Report:
    return Report(outcome=Outcome.ABSTAINED, reason=reason)


def _different_scripts(output: str, source: str) -> str:
    """Say why the words of two texts cannot be compared, if they are in the wrong scripts."""
    written, given = script(output), script(source)
    if written in NO_BLANKS:
        return f"the output is in {written}, whose words no blanks tell apart"
    if written and given and written != given:
        return f"the output is in {written} script and the input in {given}"
    return ""


def _different_languages(output: str, source: str) -> str:
    languages = different_languages(folded_words(source[:SAMPLE]), folded_words(output[:SAMPLE]))
    return f"the input is {languages[0]} and the output {languages[1]}" if languages else ""


def _rationale(found: Support) -> str:
    if not found.sentences:
        return "There are no words that the source would have to support."
    known = f"The source has {found.known:.0%} of what is said (numbers, dates, names doubly)"
    if found.joined is None:
        return f"{known}; it is data, so that the choice of words hardly counts."
    return f"{known} and {found.joined:.0%} of the sequences of words."
