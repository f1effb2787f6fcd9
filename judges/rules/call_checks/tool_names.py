"""Names of tools and of arguments: their words, and what a tool does judging by its name."""

import re

from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import name_words


def stems_of(words: str) -> frozenset[str]:
    """Return the stems of folded words, which blanks separate."""
    return frozenset(map(stem, words.split()))


_READS = stems_of(
    """get find search list look lookup check fetch read query show view track status details
    info forecast rate availability balance history free state progress poll wait"""
)
LINKED = (
    stems_of("send email mail message notify text write"),
    stems_of("book reserve schedule booking reservation appointment"),
    stems_of("cancel refund delete remove close"),
    stems_of("transfer pay payment move wire"),
    stems_of("update change edit set modify rename adjust swap"),
    stems_of("create add open register record enter file"),
    stems_of("order buy purchase request"),
)
_ACTS = stems_of(
    """end renew extend upgrade assign apply submit approve release start stop lock unlock merge
    deploy restart enable disable redeem enrol enroll hold respond decline accept
    confirm charge donate"""
)
"""Verbs of actions without a usual synonym."""
_CHANGES = _ACTS.union(*LINKED)


def words_of(path: str) -> frozenset[str]:
    """Return the words in the name of a tool, or in that of the argument at a path.

    Examples
    --------
    >>> sorted(words_of("$.guests[0].maxPrice"))
    ['max', 'price']
    """
    name = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]
    return frozenset(name_words(name))


def verb_of(name: str) -> str:
    """Return the stem of the first word in the name of a tool; empty if it has none."""
    return next(map(stem, name_words(name)), "")


def action_stems(name: str) -> set[str]:
    """Return stems of the verbs and nouns that describe the action of a tool."""
    parts = {stem(part) for part in words_of(name)}
    verbs = parts - _READS
    return verbs | {other for group in LINKED if group & verbs for other in group}


def is_reading(name: str) -> bool:
    """Return whether a tool only looks something up, judging by its name."""
    return bool(_READS & {stem(part) for part in words_of(name)})


def is_action(name: str) -> bool:
    """Return whether a tool changes something, judging by its name."""
    parts = [*map(stem, name_words(name))]
    return bool(parts) and parts[0] not in _READS and not _CHANGES.isdisjoint(parts)
