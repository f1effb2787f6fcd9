"""Prompts: templates, fences around judged texts, and the mark of a request.

A fence keeps a judged text from passing for an instruction. The mark is a short word that occurs in
none of the texts shown: a reply repeats it after its labels, which sets its own lines apart from
lines that it quotes.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, count, pairwise

from spanjury.judges.core import fingerprint

_MARK = re.compile(r"\[[0-9a-f]{12}\]")
_PLAIN_NAME = re.compile(r"[^\W_](?:[\w '’()/&,+-]|\.(?=\w)|(?<= )\[[0-9]{1,4}\](?=,|$))*")
_LONGEST_NAME = 60
_MOST_WORDS = 4  # a longer header could be an instruction
_HEADING_WORDS = 7  # "Source of the answer, passage 12": a name followed by our own words
_SHORTEST = 4
_FENCE_LINE = re.compile(rf"(?:{_MARK.pattern}\s*)?[^\n:]{{1,{_LONGEST_NAME}}}: (?:begin|end)")
_VARIABLE = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """Texts under their headers, each between two lines that begin with its mark.

    Parameters
    ----------
    text
        All fenced texts, one after the other.
    marks
        One for each text; no text contains any of them.
    """

    text: str
    marks: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The marks as a sentence lists them."""
        return " or ".join(self.marks)

    def shared_in(self, prompt: str) -> int:
        """Return the number of characters of `prompt` before the last of these texts.

        They are the same in prompts about other texts of the same sources. 0 if there is only
        one text.
        """
        return max(0, prompt.find(self.marks[-1])) if len(self.marks) > 1 else 0


def fence(texts: Mapping[str, str]) -> Fenced:
    """Fence each text of `texts` under its header, in time linear in their length.

    A mark is a digest of its own text, so it does not depend on the run or on the rest of the
    prompt: a server that caches the beginning of prompts can cache a source. If a text contains a
    mark, forged or by chance, all marks are replaced. A header that is not a plain name moves
    inside the fence (see `named_plainly`).
    """
    (fenced,) = fence_apart(texts)
    return fenced


def fence_apart(*groups: Mapping[str, str]) -> tuple[Fenced, ...]:
    """Fence groups of texts as `fence` does, with marks that no text of any group contains.

    No header may be in two groups.
    """
    texts = named_plainly(
        {header: text for group in groups for header, text in group.items()},
        most_words=_HEADING_WORDS,
    )
    used = frozenset(mark for text in texts.values() for mark in _MARK.findall(text))
    marks = next(marks for marks in _proposals(texts) if used.isdisjoint(marks))
    blocks = [
        f"{mark} {header}: begin\n{text}\n{mark} {header}: end"
        for mark, (header, text) in zip(marks, texts.items(), strict=True)
    ]
    ends = list(accumulate(map(len, groups), initial=0))
    return tuple(
        Fenced(text="\n\n".join(blocks[start:end]), marks=marks[start:end])
        for start, end in pairwise(ends)
    )


def is_fence_line(line: str) -> bool:
    """Return whether `line` is one that `fence` writes around a text, with or without its mark.

    Examples
    --------
    >>> is_fence_line("Article: begin"), is_fence_line("The article begins")
    (True, False)
    """
    return _FENCE_LINE.fullmatch(line.strip()) is not None


def named_plainly(texts: Mapping[str, str], *, most_words: int = _MOST_WORDS) -> dict[str, str]:
    r"""Return `texts` with a plain name for each, in the same order.

    Headers come from the data, but are outside the fence, also in the instructions. So a header
    that is more than a short name (with a line break, a bracket, a colon, a sentence) becomes the
    first line of its text, which gets a name of ours.

    Examples
    --------
    >>> named_plainly({"Article": "It rains.", "x\nObey: x": "No."})
    {'Article': 'It rains.', 'Input 1': 'x\nObey: x\n\nNo.'}
    """
    named: dict[str, str] = {}
    number = count(1)
    for header, text in texts.items():
        if _is_plain(header, most_words=most_words):
            named[header] = text
        else:
            name = next(name for each in number if (name := f"Input {each}") not in texts)
            named[name] = f"{header}\n\n{text}"
    return named


@lru_cache(maxsize=256)
def _is_plain(header: str, *, most_words: int) -> bool:
    short = len(header) <= _LONGEST_NAME and len(header.split()) <= most_words
    return short and _PLAIN_NAME.fullmatch(header) is not None


def _proposals(texts: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield sets of marks for the texts; each text is digested at most twice."""
    yield tuple(f"[{fingerprint('0', header, text)}]" for header, text in texts.items())
    base = fingerprint(*(part for item in texts.items() for part in item))
    for turn in count(1):
        yield tuple(f"[{fingerprint(str(turn), header, base)}]" for header in texts)


def field_mark(texts: Collection[str]) -> str:
    """Return 4 or more hexadecimal digits that occur in none of `texts`, whatever the case.

    The same texts have the same mark on every run.
    """
    folded = [text.casefold() for text in texts]
    base = fingerprint(*texts)
    marks = (fingerprint(str(turn), base)[: _SHORTEST + turn] for turn in count())
    return next(mark for mark in marks if not any(mark in text for text in folded))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMark:
    """Mark that a JSON answer repeats, so that no quoted object passes for the answer.

    Parameters
    ----------
    mark
        The `field_mark` of the texts.
    required
        Whether an answer without it is refused, because a text may contain an answer of its own.
    """

    mark: str
    required: bool

    @classmethod
    def of(cls, texts: Collection[str], *, key: str) -> "AnswerMark":
        """Return the mark for answers to a request that shows `texts`.

        Parameters
        ----------
        texts
            The judged texts.
        key
            A key that every answer contains.
        """
        answer = re.compile(rf"\b{key}\b\W{{0,3}}[:：=]", re.IGNORECASE)
        required = any(answer.search(text) for text in texts)
        return cls(mark=field_mark(texts), required=required)

    def problem(self, mark: str) -> str:
        """Return the problem with an answer that gives `mark`, or an empty string."""
        if not self.required or mark.strip(" ()").casefold() == self.mark:
            return ""
        return f'mark: must be "{self.mark}", as in the form of the answer'


@cache
def read_template(package: str, name: str) -> str:
    """Return the file `name` in the folder ``templates`` of `package`, without its final newline.

    The cache keeps one copy per process.
    """
    return (files(package) / "templates" / name).read_text(encoding="utf-8").rstrip("\n")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with variables: `pieces` alternates fixed text and names of variables."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Template":
        """Return `text` as a template, with a variable for each ``$word``."""
        return cls(tuple(_VARIABLE.split(text)))

    def fill(self, about: Mapping[str, str]) -> str:
        """Return the text with every variable replaced; inserted texts are not scanned."""
        pieces = list(self.pieces)
        pieces[1::2] = [about[word] for word in pieces[1::2]]
        return "".join(pieces)

    def with_part(self, word: str, part: "Template") -> "Template":
        """Return the template with `part`, and its variables, in place of the variable `word`."""
        at = self.pieces.index(word, 1)
        first, *others = part.pieces
        inside = [self.pieces[at - 1] + first, *others]
        inside[-1] += self.pieces[at + 1]
        return Template((*self.pieces[: at - 1], *inside, *self.pieces[at + 2 :]))

    def filled_in_part(self, about: Mapping[str, str]) -> "Template":
        """Return the template with the variables in `about` replaced; the others remain."""
        pieces = [""]
        for number, piece in enumerate(self.pieces):
            if number % 2 and piece not in about:
                pieces += [piece, ""]
            else:
                pieces[-1] += about[piece] if number % 2 else piece
        return Template(tuple(pieces))


@cache
def template(package: str, name: str) -> Template:
    """Return the file `name` in the folder ``templates`` of `package` as a template.

    The cache keeps one copy per process.
    """
    return Template.of(read_template(package, name))


def fill_template(package: str, name: str, about: Mapping[str, str]) -> str:
    """Return a template with every ``$word`` replaced; inserted texts are not scanned."""
    return template(package, name).fill(about)
