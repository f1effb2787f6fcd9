"""The script of a text, and its likely language."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.spelling import is_english
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
_ASCII_LETTERS = re.compile("[A-Za-z]+")
_BEGINNING = 4  # the beginning examined, as a multiple of the number of non-ASCII code points
NO_BLANKS = frozenset(("Thai", "Lao", "Myanmar", "Khmer", "Chinese or Japanese"))
"""Scripts without spaces between words."""
SAMPLE = 4000
"""Number of code points that suffice to recognise a script or a language."""
_MARKERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(markers.split())
        for language, markers in {
            "Dutch": "het een van de en dat niet zijn voor met naar ook maar wordt bij uur",
            "English": "the and of that was with for from this are",
            "French": "le les des et est une dans pour qui du au avec sont sur ce cette pas",
            "German": "der die und das ist nicht ein eine mit den um ab im zu von dem fur auf sich"
            " wird sind auch uhr aus bei nach",
            "Italian": "il di che della per sono non nel gli una alle dal anche con e",
            "Polish": "w na z sie nie jest ze oraz od po dla przez jak tylko byl",
            "Portuguese": "os da em uma nao com mais foi ao dos para pelo pela sao as",
            "Spanish": "el los las del una por con para es y al se sale su lo en",
            "Swedish": "och att det som av ar till inte med den en ett klockan for pa",
            "Turkish": "ve bir bu da de icin ile olarak olan cok saat daha gibi",
        }.items()
    }
)
_ENGLISH = "English"
_FOREIGN = frozenset().union(*(_MARKERS[name] for name in _MARKERS if name != _ENGLISH))
_DIFFERENT = 2  # minimum number of another language's marker words to prefer it to English
_ENGLISH_SHARE = 0.15  # minimum share of function words in an English text
_SMALL = re.compile(r"\b[^\W\d_A-Z][^\W\d_]+")  # words that are not names
_TELLING = 2  # minimum number of such words to conclude that a text is not English
_SHARED = 0.25  # share of them in a source from which the text may be in its language
_LOWER = re.compile(r"(?<![\w'’./@#&-])[^\W\d_A-Z][^\W\d_]+(?![\w'’@/&-]|\.\w)")  # no names
_DISTINCT = 3  # distinct words in lower case from which they tell whether a text is English
_MOSTLY = 0.5  # share of them that are English in an English text
_AMBIGUOUS = frozenset(
    """a also am an art as at come die had hat he her in man me men met no not of on once pour sale
    so son war was we will""".split()  # noqa: SIM905 - so many read best so
)
"""English words that are frequent in other languages, too."""
_HITS = 3  # minimum number of marker words of a likely language
_MARGIN = 2  # minimum ratio to the marker words of the other text's language


def script(text: str) -> str | None:
    """Return the script of most letters of `text`; None if it has no letters."""
    sample = text[:SAMPLE]
    if sample.isascii():
        return _LATIN if _SCRIPTS[_LATIN].search(sample) else None
    if _is_mostly_ascii(sample):
        return _LATIN
    letters = {name: sum(map(len, pattern.findall(sample))) for name, pattern in _SCRIPTS.items()}
    likeliest = max(letters, key=letters.__getitem__)
    return likeliest if letters[likeliest] else None


def _is_mostly_ascii(sample: str) -> bool:
    """Return whether the first ASCII letters are at least as many as all non-ASCII characters."""
    others = len(sample) - len(sample.encode("ascii", "ignore"))
    beginning = sample[: _BEGINNING * others]
    return sum(map(len, _ASCII_LETTERS.findall(beginning))) >= others


def different_languages(left: Sequence[str], right: Sequence[str]) -> tuple[str, str] | None:
    """Return the languages of two sequences of folded words if they surely differ, else None."""
    lefts, rights = _hits(left), _hits(right)
    language = max(lefts, key=lefts.__getitem__)
    other = max(rights, key=rights.__getitem__)
    sure = (
        language != other
        and lefts[language] >= max(_HITS, _MARGIN * lefts[other])
        and rights[other] >= max(_HITS, _MARGIN * rights[language])
    )
    return (language, other) if sure else None


def foreign_language(folded: Sequence[str]) -> str | None:
    """Return the language of folded words if it is likelier than English, else None.

    Each distinct word counts once, so that a frequent name cannot decide.
    """
    different = set(folded)
    hits = {
        language: len(different & markers)
        for language, markers in _MARKERS.items()
        if language != _ENGLISH
    }
    likeliest = max(hits, key=hits.__getitem__)
    english = len((different & FUNCTION_WORDS) - _MARKERS[likeliest])
    return likeliest if hits[likeliest] >= max(_DIFFERENT, english + 1) else None


def foreign(text: str, *, name: str) -> str:
    """Return a clause about the script or the language of a text; empty if it may be English."""
    written = script(text)
    if written not in {None, _LATIN}:
        return f"the {name} is in {written} script"
    language = foreign_language(folded_words(text[:SAMPLE]))
    return f"the {name} is {language}" if language else ""


def not_english(text: str, *, name: str) -> str:
    """Return a clause that says why a text is not English; empty if it may be English.

    If a text has a frequent word of another language, such as "der", the words that are English
    and foreign do not count.

    Examples
    --------
    >>> not_english("Der Verein verlor in Köln. Er war zufrieden.", name="output")
    'few words of the output are English'
    >>> not_english("He was in El Paso.", name="output")
    ''
    """
    if reason := foreign(text, name=name):
        return reason
    sample = text[:SAMPLE]
    distinct = {*_LOWER.findall(sample)}
    has_foreign = not all(map(is_english, _FOREIGN.intersection(folded_words(sample))))
    telling = distinct - _AMBIGUOUS if has_foreign else distinct
    english = sum(map(is_english, telling))
    if len(distinct) < _DISTINCT or len(telling) < _TELLING or english >= _MOSTLY * len(telling):
        return ""
    return f"few words of the {name} are English"


def unlike_languages(source: str, output: str) -> tuple[str, str] | None:
    """Return the likely languages of a source and an output if they differ, else None.

    The language of the output is ``"unknown"`` if the source is English and the output is not:
    too few of its words are English function words, and too few of the others occur in the source.
    """
    given, written = (folded_words(text[:SAMPLE]) for text in (source, output))
    language, other = _likely_language(given), _likely_language(written)
    if language is None or language == other:
        return None
    if other is None:
        is_strange = language == _ENGLISH and _is_strange(output[:SAMPLE], source=frozenset(given))
        return (language, "unknown") if is_strange else None
    return language, other


def are_in_one_language(source: str, output: str) -> bool:
    """Return whether an output is likely in the language of its source.

    If the language of one of them is unclear, it must share words with the other.

    Examples
    --------
    >>> are_in_one_language("The mill has closed.", "Die Mühle hat geschlossen.")
    False
    """
    given, written = (folded_words(text[:SAMPLE]) for text in (source, output))
    language, other = _likely_language(given), _likely_language(written)
    if language and other:
        return language == other
    words = set(written)
    return len(words.intersection(given)) >= _SHARED * len(words)


def _likely_language(folded: Sequence[str]) -> str | None:
    """Return the likely language of folded words; None if it is not clear."""
    if foreign := foreign_language(folded):
        return foreign
    spelled = [word for word in folded if word.isalpha()]
    english = sum(word in FUNCTION_WORDS for word in spelled)
    return _ENGLISH if english and english >= _ENGLISH_SHARE * len(spelled) else None


def _is_strange(output: str, *, source: frozenset[str]) -> bool:
    """Return whether few words of an output, names aside, occur in an English source."""
    content = set(folded_words(" ".join(_SMALL.findall(output)))) - FUNCTION_WORDS
    return len(content) >= _TELLING and len(content & source) < _SHARED * len(content)


def _hits(folded: Sequence[str]) -> dict[str, int]:
    """Count the marker words of each language."""
    return {
        language: sum(word in markers for word in folded) for language, markers in _MARKERS.items()
    }
