"""A judge of whether the inputs support what a text says; it counts, and asks no model."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from types import MappingProxyType

from spanjury.judges.core import Aspect, Outcome, Report, Segment, signature
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.rules.alignment.contradiction import Contradiction
from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.evidence import error_spans, with_contradictions
from spanjury.judges.rules.source_index import index_source
from spanjury.judges.rules.support import Support, support
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.turns import in_turn
from spanjury.judges.text.words import folded_words

_LATIN = "Latin"
_SCRIPTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        _LATIN: re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+"),
        "Greek": re.compile("[\u0370-\u03ff]+"),
        "Cyrillic": re.compile("[\u0400-\u052f]+"),
        "Armenian": re.compile("[\u0530-\u058f]+"),
        "Hebrew": re.compile("[\u0590-\u05ff]+"),
        "Arabic": re.compile("[\u0600-\u06ff\u0750-\u077f]+"),
        "Devanagari": re.compile("[\u0900-\u097f]+"),
        "Bengali": re.compile("[\u0980-\u09ff]+"),
        "Tamil": re.compile("[\u0b80-\u0bff]+"),
        "Georgian": re.compile("[\u10a0-\u10ff]+"),
        "Ethiopic": re.compile("[\u1200-\u137f]+"),
        "Hangul": re.compile("[\u1100-\u11ff\uac00-\ud7a3]+"),
        "Thai": re.compile("[\u0e00-\u0e7f]+"),
        "Lao": re.compile("[\u0e80-\u0eff]+"),
        "Myanmar": re.compile("[\u1000-\u109f]+"),
        "Khmer": re.compile("[\u1780-\u17ff]+"),
        "Chinese or Japanese": re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"),
    }
)
NO_BLANKS = frozenset(("Thai", "Lao", "Myanmar", "Khmer", "Chinese or Japanese"))
"""Scripts that put no blanks between words."""
_SAMPLE = 4000  # code points that are enough to tell a script, or a language
_MARKERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(markers.split())
        for language, markers in {
            "Dutch": "het een van de en dat niet zijn voor met",
            "English": "the and of that was with for from this are",
            "French": "le les des et est une dans pour qui du",
            "German": "der die und das ist nicht ein eine mit den",
            "Italian": "il di che della per sono non nel gli una",
            "Polish": "i w na z sie nie jest do ze oraz",
            "Portuguese": "os da em uma nao com mais foi ao dos",
            "Spanish": "el los las del una por con para es y",
            "Swedish": "och att det som av ar till inte med den",
            "Turkish": "ve bir bu da de icin ile olarak olan cok",
        }.items()
    }
)
_HITS = 3  # marker words that make a language likely
_MARGIN = 2  # how many times as many as of the other text's language
_CONTRADICTED = 0.5  # of the support that a text keeps each sentence of which is contradicted
_FOREIGN = 0.5  # known claims below which the languages are compared


def script(text: str) -> str | None:
    """Return the script most of the letters of `text` are in; None if it has no letters.

    Examples
    --------
    >>> script("Привет, Bob"), script("42")
    ('Cyrillic', None)
    """
    sample = text[:_SAMPLE]
    if sample.isascii():
        return _LATIN if _SCRIPTS[_LATIN].search(sample) else None
    letters = {name: sum(map(len, found.findall(sample))) for name, found in _SCRIPTS.items()}
    likeliest = max(letters, key=letters.__getitem__)
    return likeliest if letters[likeliest] else None


def different_languages(left: Sequence[str], right: Sequence[str]) -> tuple[str, str] | None:
    """Return the languages of two sequences of folded words if they are surely not the same.

    Examples
    --------
    >>> different_languages("der Hund und die Katze".split(), "the dog and the cat".split())
    ('German', 'English')
    """
    lefts, rights = _hits(left), _hits(right)
    one = max(lefts, key=lefts.__getitem__)
    other = max(rights, key=rights.__getitem__)
    sure = (
        one != other
        and lefts[one] >= max(_HITS, _MARGIN * lefts[other])
        and rights[other] >= max(_HITS, _MARGIN * rights[one])
    )
    return (one, other) if sure else None


def _hits(folded: Sequence[str]) -> dict[str, int]:
    """Count each language's marker words."""
    return {
        language: sum(word in markers for word in folded) for language, markers in _MARKERS.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundingJudge:
    """Mark the numbers, dates, names and words of a text that its inputs do not support.

    It judges aspects of the kind ``"grounding"`` and abstains on others, without an input
    that the aspect may look at, and where words cannot be compared: scripts without
    blanks, another script or another language than the inputs'. It knows English function
    words and endings; in other languages it takes more words to be different.

    The score is ``low + (high - low) * support`` on the scale of the aspect; `support` in
    `spanjury.judges.rules.support` is 1 for a text that was copied word for word. Contradictions of
    a source's sentence that the text nearly repeats take up to half of it. A text without
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
        inputs = aspect.view(segment.inputs)
        source = "\n\n".join(inputs.values())
        if not source.strip():
            return _abstention("there is no input to compare with")
        compare = partial(self._compare, segment.output, source, aspect=aspect, inputs=inputs)
        return await in_turn(compare, length=len(segment.output) + len(source))

    def _compare(
        self, output: str, source: str, *, aspect: Aspect, inputs: Mapping[str, str] | None = None
    ) -> Report:
        obstacle = _different_scripts(output, source)
        if obstacle:
            return _abstention(obstacle)
        index = index_source(source)
        found = support(output, index)
        if found.known < _FOREIGN:
            obstacle = _different_languages(output, source)
            if obstacle:
                return _abstention(obstacle)
        scale = aspect.scale
        certain = contradictions(output, {"": source} if inputs is None else inputs)
        lacking = error_spans(output, found, index=index, limit=self.max_spans)
        share = found.share * _left(output, certain)
        return Report(
            score=scale.low + (scale.high - scale.low) * share,
            spans=with_contradictions(lacking, certain, limit=self.max_spans),
            rationale=_rationale(found),
        )


def _left(output: str, certain: Sequence[Contradiction]) -> float:
    """Return what contradictions leave of the support: half of it where all sentences have one.

    The root lets one in many sentences count for more than its share of the text.
    """
    if not certain:
        return 1.0
    starts = [start for start, _ in sentence_intervals(output)]
    wrong = {bisect_right(starts, each.start) for each in certain}
    return 1.0 - (1.0 - _CONTRADICTED) * sqrt(len(wrong) / len(starts))


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
    languages = different_languages(folded_words(source[:_SAMPLE]), folded_words(output[:_SAMPLE]))
    return f"the input is {languages[0]} and the output {languages[1]}" if languages else ""


def _rationale(found: Support) -> str:
    if not found.sentences:
        return "There are no words that the source would have to support."
    known = f"The source has {found.known:.0%} of what is said (numbers, dates, names doubly)"
    if found.joined is None:
        return f"{known}; it is data, so that the choice of words hardly counts."
    return f"{known} and {found.joined:.0%} of the sequences of words."
