"""Passages: texts of a list that become separate inputs, such as those retrieved for a question.

A list under a header that names a collection of passages becomes ``Context [1]``, ``Context [2]``
and so on, so that evidence can name its passage. Any other list becomes one text with one item per
line: the turns of a conversation, or the paragraphs of an article. In most tasks the header
decides; a task can override it (`spanjury.judges.core.Task.whole`).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

COLLECTIONS = frozenset(
    {
        *("context", "contexts", "retrieval context", "retrieved context", "retrieved contexts"),
        *("passages", "retrieved passages", "documents", "retrieved documents", "source documents"),
        *("articles", "sources", "chunks", "retrieved chunks", "snippets", "search results"),
    }
)
"""Headers under which a list contains passages, in lower case, words separated by spaces."""

_NUMBERED = re.compile(r"(?P<header>.*\S) \[(?P<number>[1-9][0-9]{0,3})\]", re.DOTALL)
_MOST = 9999


def passages_apart(inputs: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    r"""Return `inputs` with one text per header, in order.

    A list of several passages gets as many headers, numbered from 1 in the order of the list. A
    list of one text becomes that text. A list stays one text if a numbered header is taken.

    Examples
    --------
    >>> passages_apart({"Question": "Who?", "Context": ["It rains.", "Ann sings."]})
    {'Question': 'Who?', 'Context [1]': 'It rains.', 'Context [2]': 'Ann sings.'}
    >>> passages_apart({"History": ["Hi!", "Hello."]})
    {'History': 'Hi!\nHello.'}
    """
    apart: dict[str, str] = {}
    for header, given in inputs.items():
        if isinstance(given, str):
            apart[header] = given
        else:
            apart |= _named(header, given, taken=inputs.keys())
    return apart


def passages_together(
    inputs: Mapping[str, str], *, whole: Callable[[str], bool]
) -> Mapping[str, str]:
    r"""Return `inputs` with the passages of each header that is `whole` joined by line breaks.

    This is the inverse of `passages_apart` for these headers.
    """
    headers = {header: unnumbered(header) for header in inputs if header.endswith("]")}
    headers = {header: of for header, of in headers.items() if header != of and whole(of)}
    if not headers or not inputs.keys().isdisjoint(headers.values()):
        return inputs
    lines: dict[str, list[str]] = {}
    for header, text in inputs.items():
        lines.setdefault(headers.get(header, header), []).append(text)
    return {header: "\n".join(texts) for header, texts in lines.items()}


@lru_cache(maxsize=1024)
def unnumbered(header: str) -> str:
    """Return the header of a passage's list; any other header is returned unchanged.

    Examples
    --------
    >>> unnumbered("Context [2]"), unnumbered("Context")
    ('Context', 'Context')
    """
    numbered = _NUMBERED.fullmatch(header)
    return numbered["header"] if numbered else header


def passages_in(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the `inputs` that are passages of a list."""
    return {header: text for header, text in inputs.items() if unnumbered(header) != header}


def listed(headers: Sequence[str]) -> tuple[str, ...]:
    """Return names of `headers` for a sentence, in order; consecutive passages share one.

    Examples
    --------
    >>> listed(["Question", "Context [1]", "Context [2]", "Context [3]"])
    ('Question', 'Context [1] to [3]')
    """
    names = []
    for _, row in groupby(headers, key=lambda header: (unnumbered(header), header[-1:] == "]")):
        first, *others = row
        last = others[-1] if others else first
        names.append(first if first == last else f"{first} to {last[len(unnumbered(last)) + 1 :]}")
    return tuple(names)


def _named(header: str, texts: Sequence[str], *, taken: Collection[str]) -> dict[str, str]:
    spelt = " ".join(re.split(r"[\s_-]+", header.strip())).casefold()
    if 1 < len(texts) <= _MOST and spelt in COLLECTIONS:
        named = {f"{header} [{number}]": text for number, text in enumerate(texts, 1)}
        if not any(name in taken for name in named):
            return named
    return {header: "\n".join(texts)}
