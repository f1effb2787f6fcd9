"""Polarity: denials in only one of two sentences, and opposites.

Either the words around a difference are the same, or nearly all words of the output occur in one
clause of the source, and output and clause differ in an odd number of reversals.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from math import isclose

from spanjury.judges.rules.alignment.aligner import Comparison
from spanjury.judges.rules.alignment.contradiction import Difference, difference, is_firm, loose
from spanjury.judges.rules.alignment.exchanges import other_person
from spanjury.judges.rules.alignment.keys import key, keys_of
from spanjury.judges.rules.alignment.lexicon import (
    BLURRING,
    LIGHT,
    MODALS,
    PREPOSITIONS,
    REVERSING,
    TURNING,
)
from spanjury.judges.rules.alignment.opposites import OPPOSITE_WORDS, OPPOSITES
from spanjury.judges.rules.alignment.tokens import UNITS, VALUES, Phrase, Token, lexemes
from spanjury.judges.rules.units import rate_factors

_SEVERITY = 5
_WHOLE = frozenset(("all", "every"))
_FORBIDDEN = (
    (frozenset(("must", "not")), frozenset(("can", "may", "should"))),
    (frozenset(("can", "not")), frozenset(("may",))),
)
"""Words that forbid, and words that allow the same."""
_DENIED = 0.7  # minimum share of the output's tokens in a clause to compare denials
_OPPOSED = 0.6  # the same for an opposite
_EXCEPTION = re.compile(r"\b(?:except|unless|only|until|till)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b(?!\s\W?\d)")
"""The beginning of what something is compared with, but not of a bound: ``more than 80``."""
_SEAMS = frozenset(", ; : and but while whereas although though yet or".split())  # noqa: SIM905
_SEAM = re.compile("[,;:]|" + "|".join(rf"\b{word}\b" for word in sorted(_SEAMS) if word.isalpha()))
_TAKING_SIDES = keys_of("argue campaign decide decided speak spoke vote")
_ADVISING = keys_of("advise recommend")
_ALIKE = 2  # first letters of two spellings of a name
_EVENTS = keys_of(
    """appear arrive arrival begin build close create demolish depart departure destroy
    disappear end enter entered finish join leave left open quit shut start stop vanish"""
)
"""Keys of verbs for the beginning or the end of something."""


def is_of_another(comparison: Comparison) -> bool:
    """Return whether a noun phrase has an opposite for another reason than a contradiction.

    A later word of the clause differs, too, or the source's sentence has both opposites. Then the
    statements are about two subjects: ``The north gate is open`` and ``The south gate is closed``.
    """
    is_other = False
    for at, link in enumerate(comparison.links):
        claimed, _ = comparison.token(at)
        begins = link.left == 0 or not _SEAMS.isdisjoint(claimed.before)
        is_other = is_other and not begins
        if link.same:
            continue
        if is_other:
            return True
        is_other = begins and _opposite(comparison, at)
        if is_other and claimed.key in comparison.source.keys:
            return True
    return False


def is_of_other_event(comparison: Comparison) -> bool:
    """Return whether two sentences are about the beginning and the end of something, each dated.

    ``It ended in 2023`` beside ``It began in 2020``: both may be true.
    """
    held = set(comparison.source.keys)
    is_dated = any(
        token.kind in VALUES and token.key not in held for token in comparison.output.tokens
    )
    return is_dated and any(
        comparison.token(at)[0].key in _EVENTS and _opposite(comparison, at)
        for at in range(len(comparison.links))
    )


def polarity(comparison: Comparison) -> Iterator[Difference]:
    """Yield the denials that were added or dropped, and the words replaced by opposites.

    Two adjacent changes cancel, as in ``did not fall`` for ``rose`` and for a denial that moved
    from one verb to the next.
    """
    if comparison.source.question != comparison.output.question:
        return
    output, source = comparison.output, comparison.source
    if other_side := _other_side(comparison):
        yield other_side
        return
    opposed = any(_opposite(comparison, at) for at in range(len(comparison.links)))
    if not (opposed or output.denies or source.denies or _may_oppose(comparison)):
        return
    if _restricted(output) != _restricted(source) or other_person(comparison):
        return
    if _compares_otherwise(comparison):
        return
    firm = list(_firm(comparison))
    yield from firm or _reversed(comparison)


def _other_side(comparison: Comparison) -> Difference | None:
    """Return ``voted against`` for ``voted for``, and ``advise against`` for ``recommend``."""
    output, source = comparison.output, comparison.source
    written = [folded for sentence in (output, source) for *_, folded in lexemes(sentence.text)]
    if (
        written.count("against") != 1
        or comparison.equal() < len(output.tokens) - 1
        or output.denies
        or source.denies
    ):
        return None
    for at, link in enumerate(comparison.links):
        if not (link.same and link.left and link.right):
            continue
        verbs = output.tokens[link.left - 1], source.tokens[link.right - 1]
        ends = comparison.token(at)
        keys = [verb.key for verb in verbs]
        before = [end.before[:1] for end in ends]
        is_turned = (
            keys[0] == keys[1]
            and keys[0] in _TAKING_SIDES
            and {*before} == {("for",), ("against",)}
        )
        is_advice = {*keys} == _ADVISING and before[keys.index(key("advise"))] == ("against",)
        if is_turned or is_advice:
            return difference(
                *zip(verbs, ends, strict=True), category="antonym", severity=_SEVERITY
            )
    return None


def _restricted(sentence: Phrase) -> bool:
    """Return whether a sentence makes an exception, so that opposites hold on its two sides."""
    return bool(_EXCEPTION.search(sentence.text))


def _compares_otherwise(comparison: Comparison) -> bool:
    """Return whether two comparisons differ in more than a word: ``A is older than B``.

    ``B is younger than A`` means the same.
    """
    return comparison.equal() < len(comparison.output.tokens) - 1 and all(
        _THAN.search(sentence.text) for sentence in (comparison.output, comparison.source)
    )


def _denies_another(comparison: Comparison, at: int) -> bool:
    """Return whether the output denies another value than the source states: ``not on Monday``."""
    if not comparison.token(at)[0].denied:
        return False
    own, theirs = comparison.output.tokens, comparison.source.keys
    if any(token.kind in VALUES and token.key not in theirs for token in own):
        return True
    pairs = [comparison.token(at) for at, link in enumerate(comparison.links) if not link.same]
    beginnings = {token.key[:_ALIKE] for token in own if token.kind == "name"}
    return any(
        claimed.kind == given.kind == "name" and given.key[:_ALIKE] not in beginnings
        for claimed, given in pairs
    )


def _firm(comparison: Comparison) -> Iterator[Difference]:
    """Yield the changes among equal words."""
    changes = [_changes(comparison, at) for at in range(len(comparison.links))]
    pairs = [comparison.token(at) for at, changed in enumerate(changes) if changed]
    moved = {left.denied - right.denied for left, right in pairs} >= {1, -1}
    for at, changed in enumerate(changes):
        if not changed or any(changes[max(0, at - 1) : at]) or any(changes[at + 1 : at + 2]):
            continue
        if comparison.links[at].same:
            if not moved:
                yield from _denial(comparison, at)
        elif (
            _opposite(comparison, at)
            and is_firm(comparison, at)
            and loose(comparison, at) == (0, 0)
        ):
            left, right = comparison.token(at)
            yield difference([left], [right], category="antonym", severity=_SEVERITY)


def _changes(comparison: Comparison, at: int) -> bool:
    """Return whether the polarity differs before and after the link `at`."""
    left, right = comparison.region(at)
    denied = sum(comparison.output.tokens[i].denied for i in left)
    denied += sum(comparison.source.tokens[j].denied for j in right)
    return (denied + _opposite(comparison, at)) % 2 == 1


def _opposite(comparison: Comparison, at: int) -> bool:
    if comparison.links[at].same:
        return False
    left, right = comparison.token(at)
    if right.key not in OPPOSITES.get(left.key, ()):
        return False
    link = comparison.links[at]
    own, other = _counted(comparison.output, link.left), _counted(comparison.source, link.right)
    if own != other:  # the quantities may be equal: 24 months and two years
        return False
    return not _is_same_rate(comparison, at)


def _is_same_rate(comparison: Comparison, at: int) -> bool:
    """Return whether two words for periods go with rates that are equal: 480 a year, 40 a month."""
    left, right = comparison.token(at)
    factors = rate_factors(comparison.output.written(left), comparison.source.written(right))
    pairs = map(comparison.token, range(len(comparison.links)) if factors else ())
    return any(
        left.kind == right.kind == "number" and isclose(left.value, factor * right.value)
        for left, right in pairs
        for factor in factors
    )


def _counted(sentence: Phrase, at: int) -> float | None:
    """Return the number of which a token is the unit, such as 24 for the months of 24 months."""
    if not at:
        return None
    number, token = sentence.tokens[at - 1 : at + 1]
    unit = UNITS.get(sentence.written(token))
    return number.value if number.unit and unit == number.unit else None


def _denial(comparison: Comparison, at: int) -> Iterator[Difference]:
    """Yield the difference in denial at a token of both sentences, if it is clear."""
    left, right = comparison.token(at)
    if left.denied == right.denied or loose(comparison, at) != (0, 0):
        return
    if not is_firm(comparison, at) or _blurred(comparison, at) or not _alike(left, right):
        return
    link = comparison.links[at]
    begins_amid = link.left == 0 and link.right > 0  # within the sentence, after its denial
    if not begins_amid and not _denies_another(comparison, at):
        yield _negation(comparison, at)


def _negation(comparison: Comparison, at: int) -> Difference:
    """Return the token of the link `at` with the words that deny it, or else those before it."""
    left, right = comparison.token(at)
    start = min(left.start, *([start for start, _ in left.denials] or [left.opening]))
    blank = comparison.output.text[start : left.start]  # begins with one after a comma
    start += len(blank) - len(blank.lstrip())
    return Difference(start, left.end, right.opening, right.end, "negation", _SEVERITY)


def _alike(left: Token, right: Token) -> bool:
    """Return whether the words before two tokens, apart from the denial, keep their meaning."""
    changed = {*left.before} ^ {*right.before}
    denied, other = (left, right) if left.denied else (right, left)
    if any(
        forbidding.issubset(denied.before) and not allowing.isdisjoint(other.before)
        for forbidding, allowing in _FORBIDDEN
    ):
        changed -= MODALS
    return MODALS.isdisjoint(changed) and not (
        "no" in changed and not PREPOSITIONS.isdisjoint(changed)
    )


def _blurred(comparison: Comparison, at: int) -> bool:
    """Return whether words nearby make the reach of a denial unclear.

    They do not if one sentence is about all and the other about none.
    """
    link = comparison.links[at]
    left, right = comparison.token(at)
    words = {*left.before} ^ {*right.before}
    if "no" in words and not words.isdisjoint(_WHOLE):
        return False
    return _blurs(comparison.output, link.left) or _blurs(comparison.source, link.right)


def _blurs(sentence: Phrase, at: int) -> bool:
    near = sentence.tokens[max(0, at - 1) : at + 2]
    words = {word for token in near for word in token.before}
    words.update(token.key for token in near)
    if at == len(sentence.tokens) - 1:
        words.update(sentence.after)
    return not BLURRING.isdisjoint(words)


def _may_oppose(comparison: Comparison) -> bool:
    """Return whether a near copy has a word that the source lacks but whose opposite it has."""
    if comparison.equal() < _OPPOSED * len(comparison.output.tokens):
        return False
    held = set(comparison.source.keys)
    return any(
        key not in held and not held.isdisjoint(OPPOSITES.get(key, ()))
        for key in comparison.output.keys
    )


def _reversed(comparison: Comparison) -> Iterator[Difference]:
    """Yield the word by which the output reverses the clause that has its words."""
    share = comparison.equal() / len(comparison.output.tokens)
    if share < _OPPOSED:
        return
    start, end = _clause(comparison)
    if ";" in comparison.source.text[start:end]:
        return  # its clauses may have different subjects
    written, given = lexemes(comparison.output.text), lexemes(comparison.source.text[start:end])
    words, others = ({word for *_, word in read} for read in (written, given))
    if not TURNING.isdisjoint(words ^ others) or "whether" in words:
        return
    if LIGHT.isdisjoint(others):
        return  # a header or a row of a table
    opposite = _opposites(comparison, start, end)
    # "rejected" for "accepted" counts as one reversal, not two.
    reversing = REVERSING - {folded for _, folded in opposite}
    reversals = sum(word in reversing for *_, word in (*written, *given))
    reversals += sum(map(_has_negative_prefix, comparison.output.tokens))
    reversals += sum(
        _has_negative_prefix(token)
        for token in comparison.source.tokens
        if start <= token.start < end
    )
    if opposite and reversals % 2 == 0:
        (left, _), (right, _) = opposite
        yield difference([left], [right], category="antonym", severity=_SEVERITY)
    elif not opposite and reversals % 2 == 1 and share >= _DENIED:
        yield from _first_denial(comparison)


def _clause(comparison: Comparison) -> tuple[int, int]:
    """Return the offsets of the source's clause, or clauses, that contain all equal tokens."""
    text = comparison.source.text
    equal = [comparison.source.tokens[link.right] for link in comparison.links if link.same]
    first, last = equal[0].start, equal[-1].end
    start = max((seam.end() for seam in _SEAM.finditer(text, 0, first)), default=0)
    seam = _SEAM.search(text, last)
    return start, seam.start() if seam else len(text)


def _has_negative_prefix(token: Token) -> bool:
    return bool(token.denials) and token.denials[0][0] == token.start


def _opposites(comparison: Comparison, start: int, end: int) -> Sequence[tuple[Token, str]]:
    """Return a word that only the output has, and its opposite in the source's clause.

    Each comes with its folded written form; neither is equal to another word.
    """
    equal = [link for link in comparison.links if link.same]
    own = _opposable(comparison.output, {link.left for link in equal})
    others = _opposable(comparison.source, {link.right for link in equal})
    for token, word in own:
        for other, contrary in others:
            if start <= other.start < end and other.key in OPPOSITES.get(token.key, ()):
                return (token, word), (other, contrary)
    return ()


def _opposable(sentence: Phrase, equal: AbstractSet[int]) -> list[tuple[Token, str]]:
    """Return the unequal tokens that are words with an opposite."""
    unequal = (token for at, token in enumerate(sentence.tokens) if at not in equal)
    words = ((token, sentence.written(token)) for token in unequal)
    return [(token, word) for token, word in words if word in OPPOSITE_WORDS]


def _first_denial(comparison: Comparison) -> Iterator[Difference]:
    """Yield the first common token that only one of the sentences denies."""
    for at, link in enumerate(comparison.links):
        left, right = comparison.token(at)
        if link.same and left.denied != right.denied and _alike(left, right):
            if not _denies_another(comparison, at):
                yield _negation(comparison, at)
            return
