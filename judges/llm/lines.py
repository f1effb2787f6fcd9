"""Split the lines of a reply into the fields of a report.

Models decorate labels (``**Location:**``, ``### Error 1``, ``- Severity (1-5) = 4``), reword them,
and put several on one line. A line that does not begin with a label is text; the parser decides
which field it belongs to.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

_REASON = r"(?:explanation|justification|rationale|reason|reasoning)"
_SCORE = r"(?:score|rating|grade)"
_SUBJECT = r"(?:(?:the|this|my|final|overall) )*"
# Possessive quantifiers prevent backtracking, so that even long lines are read in linear time.
_FENCE = re.compile(r"\s*+(?:`{3,}+|~{3,}+)\s*+\w*+\s*+$")
_MARKUP = re.compile(r"[\s>#*_`~•·+|\ufeff\u200b-]*+(?:\(?\d{1,3}[.)](?=\s))?[\s*_`~#]*+")
_LABEL = re.compile(
    r"(?P<name>[^\W\d_]++(?:\s++[^\W\d_]++){0,7}+)"
    r"\s*+(?P<number>\#?\d{1,3}+)?"  # Error 1
    r"(?:\s*+\([^()]{0,200}+\)){0,2}+\s*+"  # Location (implied)
    r"[\s*_`]*+(?:[:：﹕=]|[-–—](?=\s)|\.?$)"
    r"(?:[*_`]++(?=\s|$))?"
)
_NO_ERROR = re.compile(r"[(\[\"'“‘]*+no\s++errors?(?:\(s\))?(?!\w)", re.IGNORECASE)
_NO_ERROR_WORDS = 8  # "were found in the summary"; after more words it is prose
# Quotations are matched first, so that a label inside one is skipped.
_INLINE = re.compile(
    r"\"[^\"]*+\"|“[^“”]*+”|«[^«»]*+»|`[^`]*+`"
    r"|(?<!\w)(?P<name>Error(?=\s++\#?\d)|Location|Severity|Category"
    r"|(?:Overall|Final)\s++(?:[Ss]core|[Rr]ating)"
    r"|Explanation(?:\s++of\s++the\s++(?:overall\s++)?score)?)"
    r"\s*+(?:\#?\d{1,3}+)?(?:\s*+\([^()]{0,200}+\)){0,2}+[*_`]*+\s*+[:：](?:[*_`]++(?=\s|$))?"
)
_TAG = r"(?:think|thinking|thought|reasoning)"
_OPENING = re.compile(rf"^[ \t]*+<{_TAG}>", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(rf"</{_TAG}>", re.IGNORECASE)
# Some servers drop the opening tag. A closing tag alone counts only at the beginning or end of its
# line: in the middle it may be part of a quotation.
_ORPHAN = re.compile(rf"(?:^[ \t]*+</{_TAG}>|</{_TAG}>[ \t]*+$)", re.IGNORECASE | re.MULTILINE)


class Label(Enum):
    """Kind of a piece of a line."""

    ERROR = auto()
    NO_ERROR = auto()
    LOCATION = auto()
    EVIDENCE = auto()
    EXPLANATION = auto()
    SEVERITY = auto()
    CATEGORY = auto()
    OVERALL_SCORE = auto()
    SCORE = auto()
    INLINE_SCORE = auto()
    RATIONALE = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A piece of a line.

    `head` is the label as written, including brackets after it.
    """

    label: Label
    value: str
    head: str = ""

    @property
    def as_text(self) -> "Field":
        """The same words as plain text."""
        return Field(label=Label.TEXT, value=f"{self.head} {self.value}".strip())

    def has(self, mark: str) -> bool:
        """Return whether the label carries `mark`; False if `mark` is empty."""
        return bool(mark) and f"({mark})" in self.head


_WORDINGS = {
    Label.ERROR: r"errors?|issues?",
    Label.LOCATION: r"(?:error |quoted )?(?:location|span|quote)|location of the error",
    Label.SEVERITY: rf"(?:error )?severity(?: level| {_SCORE}| of the error)?",
    Label.CATEGORY: r"(?:error )?(?:category|type)",
    Label.EXPLANATION: rf"(?:error )?(?:{_REASON}|description|comment)(?: of the error)?",
    Label.RATIONALE: rf"{_SUBJECT}{_SCORE} {_REASON}|{_REASON} (?:of|for) {_SUBJECT}{_SCORE}",
    Label.OVERALL_SCORE: (
        rf"(?:(?:the|my|final) )*overall (?:(?!confidence|error|severity)\w+ ){{0,3}}?{_SCORE}"
        r"(?: is| (?:for|of|on) .*)?"
    ),
    Label.SCORE: rf"(?:(?:the|my|final|total|quality) )*{_SCORE}(?: is)?",
}

SCORES = frozenset({Label.OVERALL_SCORE, Label.SCORE, Label.INLINE_SCORE})
"""Labels of the overall score."""

GRADED = SCORES | {Label.SEVERITY}
"""Labels that are followed by a grade."""

# Within other fields, such as a location, a score is quoted or only mentioned.
_BEFORE_SCORES = frozenset({Label.NO_ERROR, Label.SEVERITY, Label.CATEGORY})

_PATTERNS = {label: re.compile(wording) for label, wording in _WORDINGS.items()}

_EVIDENCE = re.compile(r"(?:source |input )?(?:evidence|quote from (?:an|the) (?:input|source))")


@lru_cache(maxsize=512)
def fields(line: str, *, evidence: bool = False) -> tuple[Field, ...]:
    """Return the fields of `line`, in order; the fence of a code block has none.

    The label of evidence counts only if `evidence` was requested. Lines such as ``Severity: 3``
    recur in every reply, so the latest results are cached.
    """
    return tuple(_fields(line, evidence=evidence))


def begins_field(prose: str) -> bool:
    """Return whether a field may begin within `prose`, outside of quotations on one line."""
    if ":" not in prose and "：" not in prose:
        return False
    return any(inline["name"] for inline in _INLINE.finditer(prose))


def is_code_fence(line: str) -> bool:
    """Return whether `line` begins or ends a code block."""
    return _FENCE.match(line) is not None


def without_markup(line: str) -> str:
    """Return `line` without leading markup of lists, headings, quoted blocks and the like."""
    markup = _MARKUP.match(line)
    return line[markup.end() :] if markup else line


def _fields(line: str, *, evidence: bool) -> Iterator[Field]:
    if is_code_fence(line):
        return
    bare = without_markup(line)
    none = _NO_ERROR.match(bare)
    if none:
        first, *others = _pieces(Label.NO_ERROR, bare[none.end() :])
        if len(first.value.split()) <= _NO_ERROR_WORDS:
            wording = f"{none.group()} {first.value}".rstrip()
            yield Field(label=Label.NO_ERROR, value="", head=wording)
            yield from others
            return
    head = _LABEL.match(bare)
    label = _label_of(head["name"]) if head else None
    if head and evidence and _EVIDENCE.fullmatch(_spelt(head["name"])):
        label = Label.EVIDENCE
    if head is None or label is None or (head["number"] and label is not Label.ERROR):
        yield Field(label=Label.TEXT, value=line.strip())
    else:
        yield from _pieces(label, bare[head.end() :], head=head.group())


def _pieces(label: Label, rest: str, *, head: str = "") -> Iterator[Field]:
    """Yield the field of `label`, whose value begins `rest`, then the fields within `rest`."""
    done = 0
    colons = ":" in rest or "：" in rest  # without one there is no label to search for
    for inline in _INLINE.finditer(rest) if colons else ():
        following = _label_of(inline["name"]) if inline["name"] else None
        if following is None or (following in SCORES and label not in _BEFORE_SCORES):
            continue
        value = rest[done : inline.start()].rstrip(" \t*|").lstrip()
        yield Field(label=label, value=value, head=head)
        head = inline.group()
        label = Label.INLINE_SCORE if following in SCORES else following
        done = inline.end()
    yield Field(label=label, value=rest[done:].strip(), head=head)


@lru_cache(maxsize=256)
def _label_of(name: str) -> Label | None:
    """Return the label that the words `name` stand for, or None."""
    words = _spelt(name)
    for label, wording in _PATTERNS.items():
        if wording.fullmatch(words):
            return label
    return None


def _spelt(name: str) -> str:
    return " ".join(name.casefold().split())


def without_reasoning(reply: str) -> str | None:
    """Return `reply` without its reasoning, or None if the reasoning is never closed.

    Examples
    --------
    >>> without_reasoning("<think>Hm.</think>No Error")
    'No Error'
    """
    if "<" not in reply:
        return reply
    kept = []
    done = 0
    while opening := _OPENING.search(reply, done):
        closing = _CLOSING.search(reply, opening.end())
        if closing is None:
            return None
        kept.append(reply[done : opening.start()])
        done = closing.end()
    kept.append(reply[done:])
    return _ORPHAN.split("".join(kept))[-1]
