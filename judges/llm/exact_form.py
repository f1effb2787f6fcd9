"""Read a report that is written in exactly the form that was asked for, quickly.

Most replies are; they hold nothing that could be read in two ways. `read_exact` returns None for
every other reply, and `spanjury.judges.llm.parse` then reads it with all the care that it needs.
What is read here is what `parse` would have read.
"""

import re
from collections.abc import Sequence

from spanjury.judges.core import Scale
from spanjury.judges.llm.grades import read_grade
from spanjury.judges.llm.lines import begins_field
from spanjury.judges.llm.material import Material
from spanjury.judges.llm.parsed import ParsedError, ParsedReply
from spanjury.judges.llm.quotation import left_open

_MARK = r"(?P<mark> \([0-9a-f]{3,64}\)|)"
_ERROR = re.compile(
    rf"Error [0-9]{{1,3}}{_MARK}:\n"
    r"Location(?P=mark): \"(?P<quote>[^\"“”„«»「」*\\\n\r]*)\"\n"
    r"Explanation(?P=mark): (?P<why>[^\n\r]*)\n"
    r"Severity(?P=mark): (?P<severity>[^\n\r:：]{1,20})\n+"
)
_NO_ERROR = re.compile(rf"No Error{_MARK}\n+")
_SCORE = re.compile(
    rf"Overall score{_MARK}: (?P<score>[^\n\r:：]{{1,60}})"
    r"(?:\nExplanation of the score(?P=mark): (?P<why>[^\n\r]*))?"
)
_LABELS_OF_ERROR = 4


def read_exact(
    reply: str, *, scale: Scale, severities: Scale, material: Material, mark: str
) -> ParsedReply | None:
    """Return what `reply` says, or None if it is not plainly of the form that was asked for.

    Parameters
    ----------
    material
        The judged texts. They may hold something like a field only if the labels carry the mark.
    mark
        What the request put in brackets behind each label; all labels of the reply carry it, or
        none does.
    """
    if "<" in reply:  # of reasoning, or of an echo of the form
        return None
    text = reply.lstrip("\n").rstrip()
    found = _NO_ERROR.match(text)
    blocks = [] if found else _blocks(text)
    begins = (found or blocks[-1]).end() if found or blocks else 0
    score = _SCORE.fullmatch(text, begins)
    if score is None or not (found or blocks):
        return None
    marks = {match["mark"] for match in (*blocks, score, *([found] if found else ()))}
    if not _is_marked_alike(marks, text, mark, labels=_labels(blocks, found, score)):
        return None
    if marks == {""} and material.holds_fields:
        return None
    errors = [_error(block, severities) for block in blocks]
    grade = read_grade(score["score"].strip(), scale=scale).value
    why = score["why"] or ""
    if grade is None or not _is_plain(why) or None in errors:
        return None
    return ParsedReply(
        errors=tuple(error for error in errors if error is not None),
        score=grade,
        error_free=not blocks,
        rationale=why.strip(),
    )


def _blocks(text: str) -> list[re.Match[str]]:
    blocks: list[re.Match[str]] = []
    while block := _ERROR.match(text, blocks[-1].end() if blocks else 0):
        blocks.append(block)
    return blocks


def _labels(
    blocks: Sequence[re.Match[str]], found: re.Match[str] | None, score: re.Match[str]
) -> int:
    """Return the number of labels."""
    return _LABELS_OF_ERROR * len(blocks) + (found is not None) + 1 + (score["why"] is not None)


def _is_marked_alike(marks: set[str], text: str, mark: str, *, labels: int) -> bool:
    """Say whether all labels carry `mark` or none, and no other place holds it."""
    if marks == {""}:
        return not mark or mark not in text.casefold()
    return bool(mark) and marks == {f" ({mark})"} and text.casefold().count(mark) == labels


def _error(block: re.Match[str], severities: Scale) -> ParsedError | None:
    quote, why = block["quote"], block["why"]
    severity = read_grade(block["severity"].strip(), scale=severities, remarks=False).value
    if severity is None or quote.casefold().strip() == "n/a" or not _is_plain(why):
        return None
    return ParsedError(quote=quote, explanation=why.strip(), severity=severity)


def _is_plain(prose: str) -> bool:
    """Say whether `prose` neither holds a field nor begins a quotation that it does not end."""
    return left_open(prose) is None and not begins_field(prose)
