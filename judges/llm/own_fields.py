"""The fields of a reply that are the judge's own, without those that it quotes.

A field counts as quoted if it is between quotation marks, or may be copied from the material. A
field in a block (a code fence, after ``>``, indented) is quoted if the same kind of field also
occurs outside of blocks. A label with the mark of the request is never quoted, because no text can
know the mark. If a score carries the mark, scores without it do not count. If the material contains
a review, and within a line that begins with the mark, this applies to all fields.

Asked for words copied from the text, models write ``"words" (first sentence)``, several quotations,
words without quotation marks, or that the error has no location. `quotation` extracts the quote.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from spanjury.judges.llm.lines import SCORES, Field, Label, fields, is_code_fence
from spanjury.judges.llm.material import NO_MATERIAL, Material

# Opening quotation mark -> the marks that may close it, its counterpart first.
_CLOSERS = {
    '"': '"”“',
    "“": '”"“',
    "”": '”"',
    "„": '“”"',
    "«": "»",
    "»": "«",
    "「": "」",
    "'": "'’",
    "‘": "’'",
    "`": "`'",
}
_PAIRS = (("“", "”"), ("«", "»"), ("「", "」"))
_DOUBLE = frozenset('"“”„«»「')
_NOWHERE = frozenset(
    {"", "n/a", "na", "none", "nowhere", "not applicable", "no location", "omission"}
)
_REMARK = r"(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|\[[^\[\]]*+\])"
_BEFORE = re.compile(rf"(?:[-•]\s++)?(?:{_REMARK}[\s:-]*+)?(?=[\"“”„«»「'‘`])")
_REMARK_TO_THE_END = re.compile(rf"[ \t.,;:*_-]*+(?:{_REMARK}[ \t.,;:*_]*+)?(?:\n|$)")
_NEXT_QUOTATION = re.compile(rf"\s*+(?:[,;/+&]|and\b|or\b|{_REMARK})\s*+[\"“„«「]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words from a location, and whether they stood in quotation marks."""

    words: str
    marked: bool


def quotation(location: str) -> Quotation:
    """Return the quote in `location`; without words if it says that there is no location.

    Of several quotations the first counts; without quotation marks, the whole location.

    Examples
    --------
    >>> quotation('"the us or qatar" (the repetition of "qatar")')
    Quotation(words='the us or qatar', marked=True)
    >>> quotation("N/A (omission)")
    Quotation(words='', marked=False)
    """
    text = location.replace('\\"', '"').strip("* \t\n")
    before = _BEFORE.match(text)
    text = text[before.end() :] if before else text
    if text[:1] not in _CLOSERS:
        return Quotation(words="" if _says_nowhere(text) else text, marked=False)
    text = _with_one_backtick(text)
    words = text[1 : _closing(text)].strip("*")
    return Quotation(words="" if words.casefold() == "n/a" else words, marked=True)


class Opening(NamedTuple):
    """A quotation that is not closed on its line.

    Parameters
    ----------
    opener
        The mark that opens a further quotation in prose; empty for a location, which is closed
        by a mark at the end of a line.
    """

    closers: str
    opener: str = ""


def unclosed(location: str) -> Opening | None:
    """Return the quotation that begins `location` and is not closed in it, or None."""
    text = _with_one_backtick(location.strip("* \t"))
    closers = _CLOSERS.get(text[:1], "")
    closed = not closers or any(closer in text[1:] for closer in closers)
    return None if closed else Opening(closers)


def left_open(prose: str) -> Opening | None:
    """Return the quotation that begins within `prose` and is not closed in it, or None.

    Examples
    --------
    >>> left_open('It ends: "Overall')
    Opening(closers='"', opener='"')
    """
    if prose.count('"') % 2:
        return Opening('"', '"')
    for opener, closer in _PAIRS:
        if prose.count(opener) > prose.count(closer):
            return Opening(closer, opener)
    return None


def closes(line: str, *, opening: Opening) -> bool:
    """Return whether `line` ends a quotation that began on an earlier line."""
    if opening.opener == opening.closers:
        return line.count(opening.opener) % 2 == 1
    if opening.opener:
        return line.count(opening.closers) > line.count(opening.opener)
    last = max(line.rfind(closer) for closer in opening.closers)
    return last >= 0 and _REMARK_TO_THE_END.match(line, last + 1) is not None


def _closing(text: str) -> int:
    """Return the index at which the quotation at the start of `text` ends; the end if it does not.

    This is the first closing mark followed only by a remark or a further quotation, else the
    last one: earlier marks belong to the quoted words.
    """
    closers = _CLOSERS[text[0]]
    closers = closers[0] if closers[0] in text[1:] else closers
    last = len(text)
    for index in range(1, len(text)):
        if text[index] not in closers:
            continue
        last = index
        if _REMARK_TO_THE_END.match(text, index + 1):
            break
        if text[0] in _DOUBLE and _NEXT_QUOTATION.match(text, index + 1):
            break
    return last


def _with_one_backtick(text: str) -> str:
    """Return `text` with one backtick instead of TeX's two at the beginning."""
    return text.removeprefix("`") if text.startswith("``") else text


def _says_nowhere(text: str) -> bool:
    """Return whether a location without quotation marks means that there is none."""
    words = text.partition("(")[0] or text.strip("()")
    return words.strip(" .:-–—[]").casefold() in _NOWHERE


_ENDS_QUOTATION = frozenset(
    {
        *(Label.ERROR, Label.LOCATION, Label.EVIDENCE, Label.EXPLANATION),
        *(Label.SEVERITY, Label.RATIONALE),
    }
)
_QUOTES = frozenset({Label.LOCATION, Label.EVIDENCE})
_MAY_QUOTE = frozenset({Label.TEXT, Label.EXPLANATION, Label.RATIONALE})
_VERDICTS = frozenset({Label.ERROR, Label.NO_ERROR})
_INDENTATION = ("    ", "\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFields:
    """Fields in the order of a reply.

    Parameters
    ----------
    fields
        The fields; quoted ones are plain text.
    quotes_score
        Whether a score was ignored because it is quoted.
    """

    fields: tuple[Field, ...]
    quotes_score: bool

    @property
    def last_score(self) -> str | None:
        """Value of the score that ends the reply; None if more text follows it."""
        pieces = [piece for piece in self.fields if piece.label is not Label.TEXT or piece.value]
        value = pieces.pop().value if pieces and pieces[-1].label is Label.TEXT else ""
        if not pieces or pieces[-1].label not in SCORES or (value and pieces[-1].value):
            return None
        return value or pieces[-1].value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of a reply.

    `code` is the number of its code block, 0 for none; `block` says whether it is in a block of
    quoted lines.
    """

    text: str
    pieces: tuple[Field, ...]
    code: int
    block: bool

    def begins_with(self, mark: str) -> bool:
        """Return whether the first label carries `mark`."""
        return any(piece.has(mark) for piece in self.pieces[:1])

    def keeping(self, owned: Callable[[Field], bool]) -> "_Line":
        """Return the line with plain text in place of fields that are not `owned`."""
        if all(map(owned, self.pieces)):
            return self
        kept: list[Field] = []
        for piece in self.pieces:
            if kept and not owned(piece) and kept[-1].label in _MAY_QUOTE:
                goes_on = f"{kept[-1].value} {piece.as_text.value}".strip()
                kept[-1] = replace(kept[-1], value=goes_on)
            else:
                kept.append(piece if owned(piece) else piece.as_text)
        return replace(self, pieces=tuple(kept))


class _Stop(NamedTuple):
    """The number of a line, and whether the line before it closes the quotation."""

    line: int
    closed: bool


def own_fields(
    answer: str,
    *,
    material: Material = NO_MATERIAL,
    mark: str = "",
    cut: bool = False,
    evidence: bool = False,
) -> OwnFields:
    """Return the fields of `answer`, in time linear in its length.

    A requested label has `mark` in brackets after it; `mark` is empty if there is none. If the
    reply is `cut`, a quotation may lack its end. If `evidence` was not requested, its label is
    text.
    """
    texts = answer.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = _lines(texts, evidence=evidence)
    owned = _not_copied(lines, material=material, mark=mark)
    owned = _not_replaced(_not_in_blocks(owned, mark=mark))
    owned = _not_unmarked(owned, mark=mark, every=material.holds_review)
    own = tuple(_unquoted(owned, mark=mark, cut=cut))
    quotes = _scores(piece for line in lines for piece in line.pieces) > _scores(own)
    return OwnFields(fields=own, quotes_score=quotes)


def _lines(texts: Sequence[str], *, evidence: bool) -> list[_Line]:
    lines, fences = [], 0
    for text in texts:
        fences += is_code_fence(text)
        code = (fences + 1) // 2 if fences % 2 else 0
        block = code > 0 or text.startswith(_INDENTATION) or text.lstrip().startswith(">")
        lines.append(
            _Line(text=text, pieces=fields(text, evidence=evidence), code=code, block=block)
        )
    return lines


def _not_copied(lines: Sequence[_Line], *, material: Material, mark: str) -> list[_Line]:
    """Return `lines` without the fields that may be copied from the material."""
    checked, following = [], ""
    for line in reversed(lines):
        labelled = any(piece.label is not Label.TEXT for piece in line.pieces)
        checked.append(
            replace(
                line,
                pieces=material.without_copies(
                    line.pieces, line=line.text, following=following, mark=mark
                ),
            )
            if labelled
            else line
        )
        following = line.text if line.text.strip() else following
    return checked[::-1]


def _not_unmarked(lines: Sequence[_Line], *, mark: str, every: bool) -> list[_Line]:
    """Return `lines` without unmarked scores if one is marked; `every` covers all fields."""
    kinds = {_kind(piece) for line in lines for piece in line.pieces if piece.has(mark)}
    if not kinds:
        return list(lines)
    marked = frozenset[Label]().union(*map(_marked_as, kinds))
    within = marked | {Label.CATEGORY}  # which is never requested
    everywhere = marked if every else marked & {Label.OVERALL_SCORE}
    return [
        line.keeping(
            partial(_is_none_of, within if line.begins_with(mark) else everywhere, mark=mark)
        )
        for line in lines
    ]


def _is_none_of(kinds: frozenset[Label], piece: Field, *, mark: str) -> bool:
    return piece.has(mark) or _kind(piece) not in kinds


def _not_in_blocks(lines: Sequence[_Line], *, mark: str) -> list[_Line]:
    """Return `lines` without the fields in blocks whose kinds also occur outside."""
    outside = {_kind(piece) for line in lines if not line.block for piece in line.pieces}
    return [
        line.keeping(lambda piece: piece.has(mark) or _kind(piece) not in outside)
        if line.block
        else line
        for line in lines
    ]


def _not_replaced(lines: Sequence[_Line]) -> list[_Line]:
    """Return `lines` without the reviews in code blocks that a later review replaces."""
    scored = {line.code for line in lines if _scores(line.pieces)}
    if 0 in scored:
        return list(lines)
    earlier = scored - {max(scored, default=0)}
    return [line.keeping(lambda _: False) if line.code in earlier else line for line in lines]


def _kind(piece: Field) -> Label:
    return Label.OVERALL_SCORE if piece.label in SCORES else piece.label


def _marked_as(label: Label) -> frozenset[Label]:
    """Return the kinds of fields that carry the mark if `label` does."""
    return _VERDICTS if label in _VERDICTS else frozenset({label})


def _scores(pieces: Iterator[Field] | Sequence[Field]) -> int:
    return sum(piece.label in SCORES for piece in pieces)


def _unquoted(lines: Sequence[_Line], *, mark: str, cut: bool) -> Iterator[Field]:
    """Yield the fields of all lines; a quotation over several lines is one field."""
    marked = any(piece.has(mark) for line in lines for piece in line.pieces)
    ends = partial(_ends_quotation, mark=mark if marked else "")
    number, searched = 0, dict[Opening, int]()
    while number < len(lines):
        pieces = lines[number].pieces
        number += 1
        yield from pieces[:-1]
        for last in pieces[-1:]:
            rest: list[str] = []
            opening = _opening(last)
            if opening and number >= searched.get(opening, 0):
                stop = _stop(lines, start=number, opening=opening, ends=ends)
                if stop.closed or (cut and stop.line == len(lines)):
                    rest = [line.text for line in lines[number : stop.line]]
                    number = stop.line
                else:
                    searched[opening] = stop.line  # it is not closed before that line
            yield replace(last, value="\n".join([last.value, *rest])) if rest else last


def _opening(piece: Field) -> Opening | None:
    """Return the quotation that a piece begins without closing it, or None."""
    if piece.label in _QUOTES:
        return unclosed(piece.value)
    return left_open(piece.value) if piece.label in _MAY_QUOTE else None


def _stop(
    lines: Sequence[_Line], *, start: int, opening: Opening, ends: Callable[[Field], bool]
) -> _Stop:
    """Return the line at which the search for the end of a quotation stops.

    A field ends a quotation that is not closed.
    """
    for number in range(start, len(lines)):
        if any(map(ends, lines[number].pieces)):
            return _Stop(number, closed=False)
        if closes(lines[number].text, opening=opening):
            return _Stop(number + 1, closed=True)
    return _Stop(len(lines), closed=False)


def _ends_quotation(piece: Field, *, mark: str) -> bool:
    return piece.has(mark) if mark else piece.label in _ENDS_QUOTATION
