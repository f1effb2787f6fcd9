"""Wishes: what the user explicitly wants or rules out, and calls that do the opposite."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from spanjury.judges.core import ToolSpec
from spanjury.judges.core.transcript import json_leaves
from spanjury.judges.rules.call_checks.clocks import FOR_PEOPLE
from spanjury.judges.rules.call_checks.context import Context, number_of
from spanjury.judges.rules.call_checks.numerals import numerals
from spanjury.judges.rules.call_checks.tool_names import stems_of, verb_of, words_of
from spanjury.judges.rules.quantities import quantities
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words

_NEGATIONS = frozenset(
    """no not without don never t needn cancel drop skip off isn doesn myself
    ourselves""".split()  # noqa: SIM905
)
"""Words near something that the user does not want, or does without the agent."""
_DENIES = frozenset(("no", "without"))
_ABREAST = 6  # number of consecutive words that must contain those of a name
_TELLING = frozenset(("all", "both", "each", "other", "own"))
"""Function words that distinguish flags, as in ``reply_all``."""
DESTRUCTIVE = stems_of("delete remove refund cancel end terminate erase wipe purge deactivate")
_TAKES_AWAY = re.compile(
    r"\b(?:delet|remov|refund|money back|cancel|end(?:s|ed|ing)?\b|terminat|eras|wip(?:e|ing)"
    r"|clear|clean|mov(?:e|ing)|chang|reschedul|switch|postpon|get(?:ting)? rid|throw|drop|quit"
    r"|leav(?:e|ing)|return|back\b|revok|undo|unsubscri|off\b|take (?:\w+ )?(?:out|down)"
    r"|no longer|any ?more|scrap|clos|don't (?:want|need)|replac|deactivat"
    r"|purg|discard|archiv|reset|withdraw"
    r"|in place of|rather than)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:(?<=[.!?] )|^)(?:do|does|is|are|what|how|which|when|who|why)\b[^.!?]*\?", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"\b(?:do not|don't|never) (?:\w+ )?(\w+)(?! (?:\w+ )?to\b)"
    r"(?![^.!?\n]*\b(?:until|unless|before|if|without)\b)",
    re.IGNORECASE,
)
_MORE_PEOPLE = re.compile(
    r"\b(?:more|another|extra|plus|join\w*|bring\w*|also|and (?:a|the|my|our)|kids?|child\w*)\b",
    re.IGNORECASE,
)
_TIMES = tuple(
    (re.compile(words, re.IGNORECASE), count)
    for words, count in ((r"\b(?:twice|both|a couple of)\b", 2), (r"\bthrice\b", 3))
)
_MEASURES = stems_of(
    """euro dollar pound cent franc crown percent year month week day night hour minute second
    person people guest adult child euros dollars kg km metre litre gram clock am pm"""
)
"""Units of numbers that do not say how often something is done."""
_FOR = re.compile(r"\b(?:for|at|to|from|on|until|by|of) $", re.IGNORECASE)
_MOST_TIMES = 20


def wish(parts: Collection[str], texts: Sequence[str]) -> bool | None:
    """Return whether the user wants what `parts` name; None if nothing in `texts` names it.

    The last words that name it count, except in questions about it.
    """
    mention = next(_mentions(parts, texts), None)
    if mention is None:
        return None
    cut, at = mention
    return not _NEGATIONS & {*cut[max(0, at - 5) : at + 3]}


def denial(parts: Collection[str], texts: Sequence[str]) -> str:
    """Return the words by which the user says that there is no such thing as `parts` name.

    Empty if any other words name it, or if `parts` themselves deny something.
    """
    if not _DENIES.isdisjoint(parts):
        return ""
    named = [cut[max(0, at - 1) : at + 1] for cut, at in _mentions(parts, texts)]
    is_denied = all(len(words) > 1 and words[0] in _DENIES for words in named)
    return " ".join(named[0]) if named and is_denied else ""


def _mentions(parts: Collection[str], texts: Sequence[str]) -> Iterator[tuple[list[str], int]]:
    """Yield the words of the texts and the position of what `parts` name, last first."""
    wanted = {stem(part) for part in parts if part not in FUNCTION_WORDS - _TELLING}
    for text in reversed(texts):
        cut = folded_words(_ASKS.sub(" ", text))
        stems = [*map(stem, cut)]
        for at in reversed(range(len(stems))):
            if stems[at] in wanted and wanted <= {*stems[at : at + _ABREAST]}:
                yield cut, at


def omitted(
    arguments: Mapping[str, object], tool: ToolSpec, context: Context
) -> Iterator[tuple[str, bool]]:
    """Yield the flags that a call omits although their default is not what the user wants."""
    properties = tool.parameters.get("properties")
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if name in arguments or not isinstance(schema, Mapping) or schema.get("type") != "boolean":
            continue
        wanted = wish(words_of(name), context.asked)
        if wanted is not None and wanted is not schema.get("default", False):
            yield name, wanted


def forbidden(name: str, context: Context) -> str:
    """Return the words by which the user's last turn forbids the tool of this name, or ``""``."""
    first = verb_of(name)
    last = context.asked[-1] if context.asked else ""
    orders = (match.group() for match in _FORBIDDEN.finditer(last))
    return next((words for words in orders if first in map(stem, folded_words(words))), "")


def is_unasked(name: str, context: Context) -> bool:
    """Return whether a tool removes something for good although no turn mentions such a wish."""
    first = verb_of(name)
    texts = (*context.spoken, *context.replies)
    return first in DESTRUCTIVE and not any(map(_TAKES_AWAY.search, texts))


def times_asked(arguments: Mapping[str, object], context: Context) -> int:
    """Return how often the user's last turn wants a call with these arguments; at least once.

    A number of things counts, such as "two transfers", if no argument has it.
    """
    last = context.asked[-1] if context.asked else ""
    times = [count for words, count in _TIMES if words.search(last)]
    held = {number_of(leaf) for _, leaf in json_leaves(arguments)}
    for quantity in quantities(last):
        is_count = quantity.unit and quantity.unit not in _MEASURES and quantity.value not in held
        if is_count and quantity.value.is_integer() and not _FOR.search(last[: quantity.start]):
            times.append(int(quantity.value))
    return max([1, *(count for count in times if count <= _MOST_TIMES)])


def party_sizes(context: Context) -> list[float]:
    """Return the numbers of people for whom the user wants a table; empty if there may be more."""
    asked = "\n".join(context.asked)
    if _MORE_PEOPLE.search(asked) or numerals(context.asked).counts_people:
        return []
    matches = FOR_PEOPLE.finditer(asked)
    return [quantity.value for match in matches for quantity in quantities(match[1])]
