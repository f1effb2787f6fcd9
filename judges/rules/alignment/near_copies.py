"""Near copies: sentences whose words a sentence of the source has in the same order and sense.

The words that a near copy omits must not change the meaning of the rest: no condition, denial,
bound or speaker, and no word about certainty or frequency. So a sentence may omit a date or a
location, but not ``unless it rains``.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from types import MappingProxyType

from spanjury.judges.rules.alignment.aligner import Comparison, compare
from spanjury.judges.rules.alignment.continuations import is_value
from spanjury.judges.rules.alignment.index import pieces, searched
from spanjury.judges.rules.alignment.lexicon import DETERMINERS, PARTIAL, PREPOSITIONS, REVERSING
from spanjury.judges.rules.alignment.tokens import (
    VALUES,
    Lexeme,
    Phrase,
    Token,
    lexemes,
    phrase,
)
from spanjury.judges.text.lexicon import IRREGULAR
from spanjury.judges.text.restatements import restatements
from spanjury.judges.text.tokens import RESTRICTIONS

_CANDIDATES = 3  # sentences of an input that a sentence is compared with

_SENSES = """
if unless provided whether
only solely alone just
except unless but
until till
because since due thanks
before
after
must shall should ought
may might could can possible possibly perhaps likely probably
will would
would
all every each any both
some several few part many
most nearly almost
half
quarter third
double twice
with
more than over above
less fewer under below
say says said claim claims claimed according denied think thinks believe believes alleged \
allegedly reportedly hope hopes hoped plan plans planned want wants wanted expect expects \
expected fear fears feared warn warned suggest suggests suggested
while when
although though despite
by
not
no
without
or
against
from
to
up
down
off
yet still already again
least
between
who
instead
than
as
"""


_LINES = [frozenset(line.split()) for line in _SENSES.strip().splitlines()]
_GROUPS: Mapping[str, frozenset[int]] = MappingProxyType(
    {
        word: frozenset(number for number, line in enumerate(_LINES) if word in line)
        for word in frozenset().union(*_LINES)
    }
)
"""Word that affects the sense of others -> the lines of `_SENSES` that contain it."""


def _groups_of(words: str) -> frozenset[int]:
    return frozenset(number for word in words.split() for number in _GROUPS[word])


MILD = _groups_of("after again as before between by down from or to up who")
"""Those of words that seldom change the sense of the others: ``rose 4 percent to 620``."""

_MODALITY = _groups_of("must may will would")
"""Those that the output must not add before its first token: ``I will send it``."""

_UNIVERSAL = _GROUPS["all"]
"""That of words that the output must not add there, either: ``all rooms``."""

_PARTIAL = _groups_of("some most")
"""Those that it must neither add nor omit there: ``some rooms``."""

_GOVERNING = frozenset(
    """if unless provided whether only solely except until till may might could can possible
    possibly perhaps likely probably rarely seldom say says said claim claims claimed according
    think thinks believe believes alleged allegedly reportedly hope hopes hoped plan plans planned
    want wants wanted expect expects expected fear fears feared warn warned suggest suggests
    suggested""".split()  # noqa: SIM905
).union(REVERSING, PARTIAL)
"""Words that a clause must not lose if they precede it."""

_RESTRICTING = re.compile(
    rf"[\s,;]*(?:{'|'.join(sorted(RESTRICTIONS))}|apart from|as long|at most"
    r"|at the (?:earliest|latest)|depending|excluding|subject to|with the exception)\b",
    re.IGNORECASE,
)

_PRESENT = frozenset("is are can may must shall will do does".split())  # noqa: SIM905
_PAST = (
    frozenset(("was", "were", "had", "did"))
    .union(IRREGULAR)
    .difference(
        "children dead death goes loss men people sale winner wives women years".split()  # noqa: SIM905
    )
)
_VERBS = _PRESENT | frozenset("was were has had did".split())  # noqa: SIM905
_LIMITS = re.compile(
    r"[\s,;]*\b(?:after|as soon as|before|during|for|in case|once|per|up to|when|whenever|where"
    r"|while|within|on (?:weekdays|weekends|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days)"
    r"|at (?:night|weekends)|in (?:autumn|spring|summer|winter))\b",
    re.IGNORECASE,
)
"""Words with a phrase that limits a rule, such as ``free for students``, but not an event."""

_ONLY = re.compile(r"\bonly\b|\b(?:above|below|from|over|under) \W?\d")
"""Words that limit a rule at any position after it: ``in term time only``, ``above 10 euros``."""

_SEAM = re.compile(r"[;:,]|\b(?:and|but|because|or|since|so|while)\b")
_LINK = re.compile(r";|\band\b")
_CONJUNCTION = re.compile(r"[;,]|\b(?:and|but|or|whereas|while)\b")
_LOCATING = frozenset(("at", "in", "on"))
_BOTH = 2  # minimum words omitted, one of either conjunct
_DEFINITE = frozenset((word,) for word in DETERMINERS - {"a", "an"})
_BOUND = re.compile(r"\b(?:up to|at (?:least|most)|(?:fewer|less|more) than)(?= \w)", re.IGNORECASE)
_ARTICLES = "|".join((*sorted(DETERMINERS), "that", "these", "this", "those"))
_SCARCE = re.compile(
    rf"(?i:\b(?P<article>(?<!\bonly )(?:{_ARTICLES}) )?(?:few|little)\b)(?! [A-Z])"
)
"""Words for hardly any; with an article alone they mean some, or something small."""
_MODIFYING = re.compile(
    r"(?P<head>\w+)\W+(?:at|by|for|from|in|of|on|to|under|with)(?: (?:a|an|her|his|its|my|our"
    r"|the|their|this|your))? $",
    re.IGNORECASE,
)
"""The end of what precedes a noun that modifies another: ``the lawyer of the`` bank."""

_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?=\s)")

_COLLECTIVE = frozenset(
    """couple crowd dozens group hundreds lot lots millions number pair series team thousands total
    variety""".split()  # noqa: SIM905
)
"""Nouns that such a noun may replace: ``a group of men``."""

_REGIONS = frozenset(
    """borough city county country district isle island kingdom month municipality province region
    republic state suburb town university village""".split()  # noqa: SIM905
)
"""Nouns that a name after "of" may replace: ``the city of Rome``."""


def are_near_copies(output: str, inputs: Mapping[str, str]) -> bool:
    """Return whether every sentence of `output` is a near copy of a sentence of `inputs`.

    Examples
    --------
    >>> are_near_copies("The old library closes.", {"News": "The old library closes in May."})
    True
    >>> are_near_copies("The old library closes.", {"News": "The old library closes if it rains."})
    False
    """
    own, searches = searched(output, inputs)
    for sentence in own.values():
        keys = sentence.words
        near = (
            source
            for search in searches.values()
            for _, source in search.nearest(keys, least=len(keys), limit=_CANDIDATES)
        )
        forms = forms_of(sentence)
        if not any(
            _is_near_copy(form, each)
            for source in near
            for each in forms_of(source, is_source=True)
            for form in forms
        ):
            return False
    return bool(own) or any(pieces(output))


def _is_near_copy(sentence: Phrase, source: Phrase) -> bool:
    comparison = compare(sentence, source)
    if not sentence.tokens or sentence.question != source.question:
        return False
    if comparison.equal() < len(sentence.tokens) or _denies_otherwise(comparison):
        return False
    start = source.tokens[comparison.links[0].right].start
    governing = _governing(lexemes(source.text), end=start)
    begin = sentence.tokens[0].start
    if governing and governing.isdisjoint(_governing(lexemes(sentence.text), end=begin)):
        return False
    return keeps_sense(comparison) or any(
        keeps_sense(compare(sentence, clauses(sentence, source)))
        for clauses in (first_clauses, last_clauses)
    )


def forms_of(sentence: Phrase, *, is_source: bool = False) -> list[Phrase]:
    """Return a sentence, and the same in other word orders.

    Only a sentence of the output may lack the agent that the source names.
    """
    return [sentence, *map(phrase, restatements(sentence.text, is_source=is_source))]


def first_clauses(sentence: Phrase, source: Phrase) -> Phrase:
    """Return the beginning of `source` up to the first clause at which it has all words, too."""
    keys = frozenset(sentence.keys)
    ends = (seam.start() for seam in _LINK.finditer(source.text))
    beginnings = (phrase(source.text[:end]) for end in ends)
    return next((each for each in beginnings if keys.issubset(each.keys)), source)


def last_clauses(sentence: Phrase, source: Phrase) -> Phrase:
    """Return the end of `source` from the last clause at which it has all words of `sentence`.

    A word that both clauses have is then compared in the clause of the others.
    """
    keys, last = frozenset(sentence.keys), source
    for seam in _SEAM.finditer(source.text):
        rest = phrase(source.text[seam.end() :])
        if not keys.issubset(rest.keys):
            break
        last = rest
    return last


def keeps_sense(comparison: Comparison, *, ignored: AbstractSet[int] = frozenset()) -> bool:
    """Return whether the output omits no word between or after its tokens that affects their sense.

    All tokens of the output must be equal to tokens of the source. `ignored` are groups of words,
    as in `MILD`, that may be omitted.
    """
    sentence, source = comparison.output, comparison.source
    first, last = comparison.links[0].right, comparison.links[-1].right
    start, end = source.tokens[first].start, source.tokens[last].end
    begin = sentence.tokens[0].start
    own = [lexeme for lexeme in lexemes(sentence.text) if lexeme[0] >= begin]
    theirs = [lexeme for lexeme in lexemes(source.text) if start <= lexeme[0] < end]
    before, given = _senses_before(sentence, 0), _senses_before(source, first)
    if (_MODALITY | _UNIVERSAL) & (before - given):
        return False
    if _PARTIAL & (before ^ given) and sentence.tokens[0].kind != "number":  # some 20 people
        return False
    reversals, others = (sum(word in REVERSING for *_, word in read) for read in (own, theirs))
    if (_senses(own) ^ _senses(theirs)) - ignored or reversals != others:
        return False
    is_restricted = _RESTRICTING.match(source.text, end) and not _drops_contrast(comparison)
    rules = (
        *(_changes_bound, _changes_scarcity, _drops_possession),
        *(_joins_conjuncts, _moves, _changes_side),
    )
    if is_restricted or any(rule(comparison) for rule in rules):
        return False
    words = [folded for *_, folded in own]
    is_clause = (
        sentence.text.rstrip().endswith(".") and not is_value(sentence)
    ) or not _VERBS.isdisjoint(words)
    return not is_clause or not (_drops_limit(comparison, words) or _drops_head(comparison))


def _changes_side(comparison: Comparison) -> bool:
    """Return whether ``for the ban`` became ``against the ban``, or the reverse."""
    pairs = map(comparison.token, range(len(comparison.links)))
    return any(
        {own.before[:1], theirs.before[:1]} == {("for",), ("against",)} for own, theirs in pairs
    )


def _moves(comparison: Comparison) -> bool:
    """Return whether ``near the school`` became ``at the school``."""
    source, linked = comparison.source, {link.right for link in comparison.links}
    for at in range(1, len(comparison.links)):
        own, theirs = comparison.token(at)
        before = comparison.links[at].right - 1
        prepositions = _LOCATING.intersection(own.before)
        given = {*theirs.before, *_opening(source, before, linked).before}
        if (
            prepositions
            and before not in linked
            and theirs.kind not in VALUES
            and prepositions.isdisjoint(given)
            and PREPOSITIONS.isdisjoint(theirs.before)
        ):
            return True
    return False


def _opening(source: Phrase, at: int, linked: AbstractSet[int]) -> Token:
    """Return the first token of the phrase that ends at token `at`: newly, of at the newly built.

    Words before an article are of another phrase.
    """
    if not source.tokens[at + 1].before:
        while at - 1 not in linked and at and not source.tokens[at].before:
            at -= 1
    return source.tokens[at]


def _joins_conjuncts(comparison: Comparison) -> bool:
    """Return whether the output omits the end of a conjunct and the beginning of the next.

    From ``12 cars and 148 passengers`` it has ``12 passengers``. Only values are misplaced by this.
    """
    text, tokens = comparison.source.text, comparison.source.tokens
    if VALUES.isdisjoint(comparison.output.kinds):
        return False
    for link, following in pairwise(comparison.links):
        omitted = tokens[link.right + 1 : following.right]
        if len(omitted) < _BOTH or VALUES.isdisjoint(token.kind for token in omitted):
            continue
        start, end = tokens[link.right].end, tokens[following.right].start
        seams = [*_CONJUNCTION.finditer(text, start, end)]
        between = [omitted[0].end <= seam.start() < omitted[-1].start for seam in seams]
        if any(between) and all(between):
            return True
    return False


def _changes_bound(comparison: Comparison) -> bool:
    """Return whether one sentence has a bound that the other lacks: ``up to 40 cars``."""
    theirs = _BOUND.findall(comparison.source.text, *_reach(comparison))
    return len(theirs) != len(_BOUND.findall(comparison.output.text))


def _changes_scarcity(comparison: Comparison) -> bool:
    """Return whether ``few trains stop`` became ``trains stop`` or ``a few trains stop``."""
    theirs = _SCARCE.findall(comparison.source.text, *_reach(comparison))
    return theirs.count("") != _SCARCE.findall(comparison.output.text).count("")


def _reach(comparison: Comparison) -> tuple[int, int]:
    """Return the interval of the source from the token before the first equal one to the last."""
    tokens = comparison.source.tokens
    first, last = comparison.links[0].right, comparison.links[-1].right
    return tokens[max(0, first - 1)].opening, tokens[last].end


def _drops_contrast(comparison: Comparison) -> bool:
    """Return whether the output only lacks what a value, a name or an adverbial replaces.

    So it does for ``at 4, not 3`` and ``in the garden but not in the hall``.
    """
    at = comparison.links[-1].right
    last, *rest = comparison.source.tokens[at:]
    if any(
        re.match(rf",? but not {word}\b", comparison.source.text[last.end :])
        for word in PREPOSITIONS.intersection(last.before)
    ):
        return True
    return (
        (last.kind in VALUES or last.kind == "name")
        and bool(rest)
        and rest[0].denied
        and all(token.kind == last.kind for token in rest)
    )


def _drops_limit(comparison: Comparison, words: Iterable[str]) -> bool:
    """Return whether the output lacks a phrase that limits the source's rule or state.

    `words` are the words of the output. A past or dated event needs no such phrase.
    """
    words = frozenset(words)
    is_event = "month" in comparison.output.kinds or (
        _PRESENT.isdisjoint(words)
        and (not _PAST.isdisjoint(words) or any(word.endswith("ed") for word in words))
    )
    if is_event:
        return False
    if _widens_denial(comparison) or _widens_subject(comparison):
        return True
    text, tokens = comparison.source.text, comparison.source.tokens
    start, end = tokens[comparison.links[0].right].start, tokens[comparison.links[-1].right].end
    seam = _SEAM.search(text, end)
    if _ONLY.search(text, end, seam.start() if seam else len(text)):
        return True
    theirs = [limit.group() for limit in _LIMITS.finditer(text, start, end)]
    own = _LIMITS.findall(comparison.output.text)
    return bool(_LIMITS.match(text, end)) or len(theirs) > len(own)


def _widens_denial(comparison: Comparison) -> bool:
    """Return whether the output omits words of what is denied: ``not open`` for ``not open today``.

    A definite noun keeps its reference without its adjectives.
    """
    linked = {link.right: comparison.output.tokens[link.left] for link in comparison.links}
    first = next((at for at, token in linked.items() if token.denied), None)
    if first is None:
        return False
    text, tokens = comparison.source.text, comparison.source.tokens
    seam = _SEAM.search(text, tokens[comparison.links[-1].right].end)
    return any(
        at not in linked
        and (token.before[-1:] not in _DEFINITE or not PREPOSITIONS.isdisjoint(token.before))
        for at, token in enumerate(tokens)
        if at > first and token.start < (seam.start() if seam else len(text))
    )


def _widens_subject(comparison: Comparison) -> bool:
    """Return whether ``Small dogs are welcome`` became ``Dogs are welcome``."""
    own, theirs = comparison.token(0)
    return (
        comparison.links[0].right == 1
        and not (own.before or theirs.before or comparison.source.tokens[0].before)
        and theirs.kind == "word"
        and comparison.source.text[theirs.start : theirs.end].endswith("s")
    )


def _drops_head(comparison: Comparison) -> bool:
    """Return whether the output has a noun instead of that which it modifies: the bank's lawyer.

    This includes ``by Jane`` for ``by the brother of Jane``.
    """
    own, first = comparison.token(0)
    before = _MODIFYING.search(comparison.source.text, 0, first.start)
    head = before["head"].lower() if before and PREPOSITIONS.isdisjoint(own.before) else ""
    if head and head not in _COLLECTIVE:
        return True
    source, linked = comparison.source, {link.right for link in comparison.links}
    return any(
        theirs.kind == "name"
        and theirs.before == ("of",)
        and own.before != theirs.before
        and link.right - 1 not in linked
        and source.tokens[link.right - 1].kind == "word"
        and source.written(source.tokens[link.right - 1]) not in _COLLECTIVE | _REGIONS
        for link, (own, theirs) in (
            (link, comparison.token(at)) for at, link in enumerate(comparison.links) if at
        )
    )


def _drops_possession(comparison: Comparison) -> bool:
    """Return whether the output has an owner instead of what is owned: the patient's mother."""
    source, linked = comparison.source, {link.right for link in comparison.links}
    return any(
        link.right + 1 not in linked
        and link.right + 1 < len(source.tokens)
        and _POSSESSIVE.match(source.text, source.tokens[link.right].end)
        and not _POSSESSIVE.match(comparison.output.text, comparison.output.tokens[link.left].end)
        for link in comparison.links
    )


def _denies_otherwise(comparison: Comparison) -> bool:
    """Return whether the source denies other tokens between the first and the last equal one."""
    linked = {link.right: comparison.output.tokens[link.left] for link in comparison.links}
    first, last = comparison.links[0].right, comparison.links[-1].right
    return any(
        token.denied != (linked[at].denied if at in linked else False)
        for at, token in enumerate(comparison.source.tokens)
        if first <= at <= last
    )


def _senses(read: Iterable[Lexeme]) -> set[int]:
    return {number for *_, word in read for number in _GROUPS.get(word, ())}


def _senses_before(sentence: Phrase, at: int) -> set[int]:
    """Return the groups of the light words directly before a token."""
    return {number for word in sentence.tokens[at].before for number in _GROUPS.get(word, ())}


def _governing(read: Iterable[Lexeme], *, end: int) -> set[str]:
    return {word for start, _, _, word in read if start < end and word in _GOVERNING}
