"""Prompts: templates, judged texts set apart by fences, and the mark of a request.

Nothing in a fenced text passes for an instruction. The mark is a short word that stands in none
of the texts shown: a reply that repeats it behind its labels tells its own lines from theirs.
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
_MOST_WORDS = 4  # more can say something
_HEADING_WORDS = 7  # "Source of the answer, passage 12": our own words behind a name
_SHORTEST = 4
_VARIABLE = re.compile(r"\$([a-z_]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """Texts under their headers, each between two lines that begin with its mark.

    Parameters
    ----------
    text
        All of them, one after the other.
    marks
        One for each text; none of the texts contains any of them.
    """

    text: str
    marks: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The marks as a sentence names them."""
        return " or ".join(self.marks)

    def shared_in(self, prompt: str) -> int:
        """Return how many characters of `prompt` come before the last of these texts.

        They are the same in the prompts about other texts of the same sources. 0 if there is one
        text only.
        """
        return max(0, prompt.find(self.marks[-1])) if len(self.marks) > 1 else 0


def fence(texts: Mapping[str, str]) -> Fenced:
    """Set each text of `texts` apart under its header, in time proportional to their length.

    A mark is a digest of its own text, so it is the same on every run and whatever else
    stands in the prompt: a server that keeps the beginning of prompts can keep a source.
    If a text holds a mark, forged or by chance, all marks are replaced. A header that is not a
    plain name goes into the fence, as `named_plainly` says.
    """
    (fenced,) = fence_apart(texts)
    return fenced


def fence_apart(*groups: Mapping[str, str]) -> tuple[Fenced, ...]:
    """Fence groups of texts as `fence` does, with marks that no text of any group holds.

    No header is in two groups.
    """
    texts = named_plainly(
        {header: text for group in groups for header, text in group.items()},
        most_words=_HEADING_WORDS,
    )
    held = frozenset(mark for text in texts.values() for mark in _MARK.findall(text))
    marks = next(marks for marks in _proposals(texts) if held.isdisjoint(marks))
    blocks = [
        f"{mark} {header}: begin\n{text}\n{mark} {header}: end"
        for mark, (header, text) in zip(marks, texts.items(), strict=True)
    ]
    ends = list(accumulate(map(len, groups), initial=0))
    return tuple(
        Fenced(text="\n\n".join(blocks[start:end]), marks=marks[start:end])
        for start, end in pairwise(ends)
    )


def named_plainly(texts: Mapping[str, str], *, most_words: int = _MOST_WORDS) -> dict[str, str]:
    r"""Return `texts` with a plain name for each, in the same order.

    Headers come with the data and stand outside the fence, in the instructions too. So one
    that is more than a short name (a line break, a bracket, a colon, a sentence) becomes the
    first line of its text, under a name of ours.

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
    """Yield marks for the texts; the texts are digested twice at most."""
    yield tuple(f"[{fingerprint('0', header, text)}]" for header, text in texts.items())
    base = fingerprint(*(part for item in texts.items() for part in item))
    for turn in count(1):
        yield tuple(f"[{fingerprint(str(turn), header, base)}]" for header in texts)


def field_mark(texts: Collection[str]) -> str:
    """Return 4 hexadecimal digits that none of `texts` holds in any case; more if need be.

    It is the same for the same texts, on every run.

    Examples
    --------
    >>> len(field_mark(["It rains."]))
    4
    """
    folded = [text.casefold() for text in texts]
    base = fingerprint(*texts)
    marks = (fingerprint(str(turn), base)[: _SHORTEST + turn] for turn in count())
    return next(mark for mark in marks if not any(mark in text for text in folded))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMark:
    """The mark that an answer in JSON repeats, so that no quoted object passes for it.

    Parameters
    ----------
    mark
        The `field_mark` of the texts.
    required
        Whether an answer without it is refused: where a text may hold an answer of its own.
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
            A key that every answer has.
        """
        answer = re.compile(rf"\b{key}\b\W{{0,3}}[:：=]", re.IGNORECASE)
        required = any(answer.search(text) for text in texts)
        return cls(mark=field_mark(texts), required=required)

    def problem(self, mark: str) -> str:
        """Say what is wrong with an answer that gives `mark`, or return an empty text."""
        if not self.required or mark.strip(" ()").casefold() == self.mark:
            return ""
        return f'mark: must be "{self.mark}", as in the form of the answer'


@cache
def read_template(package: str, name: str) -> str:
    """Return the file `name` in the folder ``templates`` of `package`, without its last line end.

    The cache keeps one copy a process.
    """
    return (files(package) / "templates" / name).read_text(encoding="utf-8").rstrip("\n")


@dataclass(frozen=True, slots=True)
class Template:
    """Fixed texts and, between them, the words of places: the odd ones of `pieces`."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Template":
        """Return `text` as a template; each ``$word`` is a place."""
        return cls(tuple(_VARIABLE.split(text)))

    def fill(self, about: Mapping[str, str]) -> str:
        """Return the text with every place filled; texts put in are not looked into."""
        pieces = list(self.pieces)
        pieces[1::2] = [about[word] for word in pieces[1::2]]
        return "".join(pieces)

    def with_part(self, word: str, part: "Template") -> "Template":
        """Return the template with `part`, and its places, in the one place of `word`."""
        at = self.pieces.index(word, 1)
        first, *others = part.pieces
        inside = [self.pieces[at - 1] + first, *others]
        inside[-1] += self.pieces[at + 1]
        return Template((*self.pieces[: at - 1], *inside, *self.pieces[at + 2 :]))

    def filled_in_part(self, about: Mapping[str, str]) -> "Template":
        """Return a template with only those places that `about` has nothing for."""
        pieces = [""]
        for number, piece in enumerate(self.pieces):
            if number % 2 and piece not in about:
                pieces += [piece, ""]
            else:
                pieces[-1] += about[piece] if number % 2 else piece
        return Template(tuple(pieces))


@cache
def template(package: str, name: str) -> Template:
    """Return the file `name` in the folder ``templates`` of `package`; each ``$word`` is a place.

    The cache keeps one copy a process.
    """
    return Template.of(read_template(package, name))


def fill_template(package: str, name: str, about: Mapping[str, str]) -> str:
    """Return a template with every ``$word`` replaced; texts put in are not looked into."""
    return template(package, name).fill(about)
