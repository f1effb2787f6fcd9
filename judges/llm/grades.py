"""Read a grade that a model wrote: a label of a scale, a number on it, or both.

A grade counts only if nothing contradicts it. ``Poor to Fair``, ``3.5``, ``Not Good``, ``Good
(3/5)`` and, on a scale of five, ``8/10`` are not grades: a missing grade is better than a wrong
one.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.core import Scale

SEVERITY_WORDS = ("Neutral", "Minor", "Moderate", "Major", "Critical")
"""Words for the severities 1 to 5."""
SEVERITIES = Scale(labels=SEVERITY_WORDS)

_FILLER = frozenset(
    {"a", "an", "final", "is", "level", "of", "overall", "rating", "score", "severity", "the"}
)
_DECORATION = re.compile(r"[*_`\"“”„«»‘’<>{}\x00]+|(?<!\w)'|'(?!\w)")
_SENTENCE_END = re.compile(r"[.!?。](?=\s|$)")
_PART_END = re.compile(
    r"[()\[\],;:]|\s[-–—]+\s|[–—]"
    r"|\b(?:although|as|because|but|due|for|given|since|though|while|with)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,/+-])(-?\d{1,9}(?:[.,]\d{1,9})?)"  # 4, 4.0, 3,5, -1
    r"(?:\s*(?:/|out of|of)\s*(\d{1,9}(?:[.,]\d{1,9})?))?(?![\w%/+])",  # 4/5, 4 out of 5
    re.IGNORECASE,
)
_GRADE = "\x00"  # placeholder for a grade that was read; removed from texts before
_GRADES = re.compile(r"\x00(?:\s*[-/=]?\s*\x00)+")
_OFF_SCALE = 0.0
_HEDGE_WORDS = 3  # "leaning towards Good" hedges; a longer remark with "good" in it is prose
_TEMPLATE_LABELS = 3
_BRACKETS = frozenset({"<>", "[]", "{}"})
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A score on a scale, or the reason why none can be read; exactly one is set."""

    value: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Grades that a part of a phrase names, and whether it contains nothing else."""

    grades: frozenset[float]
    pure: bool


@lru_cache(maxsize=256)
def read_grade(phrase: str, *, scale: Scale, remarks: bool = True) -> Grade:
    """Read the grade that a phrase like ``Good (4/5)`` gives.

    Parameters
    ----------
    scale
        Scale of the labels and numbers; ``n/m`` counts if m is its upper end.
    remarks
        Whether text after the grade may contradict it; otherwise that text is ignored.

    Examples
    --------
    >>> read_grade("**Good** (4/5)", scale=Scale()).value
    4
    >>> read_grade("Poor to Fair", scale=Scale()).problem
    "'Poor to Fair' names more than one grade"
    """
    shown = repr(phrase.strip()[:_SHOWN])
    exact = scale.value(phrase)
    if exact is not None:
        return Grade(value=exact)
    sentence = _SENTENCE_END.split(_DECORATION.sub(" ", phrase).strip(), maxsplit=1)[0]
    head, *others = [text for text in _PART_END.split(sentence) if text.strip()] or [""]
    part = _part(head, scale=scale)
    grades = part.grades.union(*(_objections(text, scale=scale) for text in others if remarks))
    if len(grades) > 1:
        return Grade(problem=f"{shown} names more than one grade")
    if not part.pure:
        return Grade(problem=f"{shown} is neither a label nor a number of the scale")
    (grade,) = grades
    if grade not in scale or grade != int(grade):
        return Grade(problem=f"{shown} is not on the scale from {scale.low} to {scale.high}")
    return Grade(value=int(grade))


def numbers(scale: Scale) -> tuple[str, ...]:
    """Return the numbers, as strings, that stand for the grades, worst first.

    Labels that are numbers denote themselves, as in `read_grade`.

    Examples
    --------
    >>> numbers(Scale())
    ('1', '2', '3', '4', '5')
    >>> numbers(Scale(labels=("0", "1", "2")))
    ('0', '1', '2')
    """
    if _numeric(scale):
        return scale.labels
    return tuple(str(score) for score in range(scale.low, scale.high + 1))


def read_severity(phrase: str) -> int | None:
    """Read a severity, 1 to 5, as a number or in words; None if there is none."""
    return read_grade(phrase, scale=SEVERITIES, remarks=False).value


def is_template(phrase: str, *, scale: Scale) -> bool:
    """Return whether `phrase` repeats the possible answers, as in ``<Poor|Fair|Good>``.

    Such a phrase is not a grade, and either names three labels (or all, if there are fewer) or
    stands in brackets ``<>``, ``[]`` or ``{}``.
    """
    if read_grade(phrase, scale=scale).value is not None:
        return False
    bare = phrase.strip(" \t*_`\"'“”.")
    labels = len(_part(phrase, scale=scale).grades)
    return labels >= min(_TEMPLATE_LABELS, len(scale.labels)) or bare[:1] + bare[-1:] in _BRACKETS


def _part(text: str, *, scale: Scale) -> _Part:
    """Find the grades that `text` names, and whether it says anything else."""
    grades: set[float] = set()

    def take_label(mention: re.Match[str]) -> str:
        grades.add(scale.value(mention.group()) or _OFF_SCALE)
        return _GRADE

    def take_number(mention: re.Match[str]) -> str:
        grades.add(_number(mention[1], out_of=mention[2], scale=scale))
        return _GRADE

    rest = _NUMBER.sub(take_number, _labels(scale.labels).sub(take_label, text))
    words = _GRADES.sub(_GRADE, rest).replace(_GRADE, " ").split()
    pure = bool(grades) and all(word.casefold() in _FILLER for word in words)
    return _Part(grades=frozenset(grades), pure=pure)


def _objections(text: str, *, scale: Scale) -> frozenset[float]:
    """Return the grades in a remark after the grade.

    Prose uses the words of labels for other purposes (``Fair (good coverage of ...)``), so in
    remarks of more than a few words they count only if they are written like labels.
    """
    part = _part(text, scale=scale)
    if part.pure:
        return part.grades
    hedge = len(text.split()) <= _HEDGE_WORDS
    mentions = {mention.group() for mention in _labels(scale.labels).finditer(text)}
    return frozenset(
        float(scale.value(mention) or _OFF_SCALE)
        for mention in mentions
        if hedge or (mention in scale.labels and not mention.islower())
    )


@lru_cache(maxsize=64)
def _labels(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of the labels, the longest first; labels that are numbers are left out."""
    words = sorted((label for label in labels if not label.isdecimal()), key=len, reverse=True)
    names = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)


def _number(number: str, *, out_of: str | None, scale: Scale) -> float:
    """Return the score for a number; a label that is a number denotes its position."""
    value = float(number.replace(",", "."))
    numeric = _numeric(scale)
    end = scale.labels[-1] if numeric else str(scale.high)
    highest = float(end) if end.isdecimal() else None  # None if only some labels are numbers
    if out_of is not None and float(out_of.replace(",", ".")) != highest:
        return _OFF_SCALE
    if not numeric:
        return value
    return float(scale.value(f"{value:.0f}") or _OFF_SCALE) if value.is_integer() else value


def _numeric(scale: Scale) -> bool:
    return any(label.isdecimal() for label in scale.labels)
