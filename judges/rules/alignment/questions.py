"""Answers that only their question supports, or that may answer another question.

Neither is an error for sure. But then the words of the source are no reason to vouch for them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from spanjury.judges.core import Unverified
from spanjury.judges.core.passages import passages_in
from spanjury.judges.rules.alignment.answers import (
    has_other_role,
    is_of_other_parallel,
    is_of_other_part,
    openings,
    statements,
)
from spanjury.judges.rules.alignment.continuations import begins_with_pronoun
from spanjury.judges.rules.alignment.contradiction import covered
from spanjury.judges.rules.alignment.contradictions import contradictions
from spanjury.judges.rules.alignment.corrections import is_rejected
from spanjury.judges.rules.alignment.doubts import doubt
from spanjury.judges.rules.alignment.index import index_sentences, phrases, pieces
from spanjury.judges.rules.alignment.keys import excluding, key
from spanjury.judges.rules.alignment.lexicon import REVERSING, SUBJECTS
from spanjury.judges.rules.alignment.near_copies import are_near_copies
from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token, lexemes, phrase

_ECHOED = 0.3  # share of a sentence's words from which it rests on the question
_SHORT = 12  # maximum words of an answer that may belong to another question
_SIMPLE = 6
"""Maximum words of a question that one part of the source should answer; longer ones often join
several parts. Without this limit 47 of 201 right answers of HaluEval QA are doubted, with it 8."""
_DOUBTED = 0.5
"""Probability of an error in such a sentence. Of 57 in HaluEval QA and Q2, 39 are wrong."""

_NAMED = VALUES | {"name"}
_ABSENCE = "It says that the source lacks something; no offline judge can verify this."
_ELSEWHERE = "The question has more words of another part of the source than of the answer's."
_CONTENTLESS = "It has no content word that could be compared with the source."
_ANSWER = re.compile(r"\W*(?P<word>yes|no)\b\W*", re.IGNORECASE)
_POLAR = re.compile(
    r"\W*(?:am|are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will"
    r"|would)\b",
    re.IGNORECASE,
)
_OPENING = "The answer begins with {!r}, and the rest of its sentence does not agree with that."
_ASIDE = "The answer begins with {!r}, but the rest of its sentence may answer another question."
_DENIALS = frozenset(("antonym", "date", "negation", "number", "other number", "time", "unit"))
"""Categories of contradictions that answer a question with "no"."""
_UNANSWERED = "No sentence of the source {} what the question asks."
_AGREED = 0.5  # share of the question's words that a sentence after "yes" must have
_DIMENSIONS = (
    (re.compile(r"\b(?:cost|costs|fee|how much|price|total)\b", re.IGNORECASE), {"money"}),
    (
        re.compile(r"\bhow (?:deep|far|high|long|tall|wide)\b", re.IGNORECASE),
        {"length", "time"},
    ),
)
"""Words of a question -> dimensions of its answer."""
_OPEN = re.compile(
    r"\b(?:what|when|where|which|who|whom|whose|how (?:deep|fast|high|long|many|much|often|old|tall"
    r"|wide))\b",
    re.IGNORECASE,
)
"""Words that ask for more than yes or no, but not for a reason or a description."""
_EXCLUDED = excluding(
    """
charge charges cost costs fee fees pay paid pays / free
can may allowed permitted possible / banned forbidden prohibited
have must need needed needs obligatory required / optional voluntary
"""
)
"""Key of a word of a question -> keys of words of an answer that mean "no", or the reverse."""
_WHEN = re.compile(r"\W*(?:when|(?:what|which) year)\b", re.IGNORECASE)
_YEARS = range(1000, 2101)
_DAYS = range(32)  # days of a month and hours


class _Unit(NamedTuple):
    """A sentence or a passage of the source: the keys of its words, and what may be answers."""

    keys: AbstractSet[str]
    stated: AbstractSet[tuple[str, bool]]
    """Key of each word, and whether it is denied."""
    answers: AbstractSet[tuple[str, str]]
    """Kind and key of each name and value; preposition and key of the first word after it."""


def question_doubts(
    output: str, evidence: Mapping[str, str], questions: Sequence[str]
) -> Iterator[Unverified]:
    """Yield the sentences of `output` that the source does not support without the question.

    Parameters
    ----------
    evidence
        Header -> text of the inputs that support an answer, without the questions.

    Examples
    --------
    >>> source = {"Context": "The RX-200 has wheels. Its warranty is 24 months."}
    >>> asked = ["Is it true that the RX-200 is waterproof?"]
    >>> [doubt.reason for doubt in question_doubts("The RX-200 is waterproof.", source, asked)]
    ["Only the question has 'waterproof'; the source does not."]
    """
    asked = [token for question in questions for token in _tokens(question)]
    if not asked:
        return
    indexed = {
        key
        for text in evidence.values()
        for keys in index_sentences(text).keys
        for key in keys
        if key
    }
    values = {value for text in evidence.values() for value in index_sentences(text).values}
    sentences = [*phrases(output)]
    for start, sentence in sentences:
        reason = _echo(sentence, asked, supported=indexed, values=values)
        if reason:  # an index has no words of records
            supported = {token.key for text in evidence.values() for token in _tokens(text)}
            reason = _echo(sentence, asked, supported=supported, values=values)
        if not reason and len(sentences) == 1:
            fitting = (
                each for each, fits in _RULES if fits(sentence, questions, evidence=evidence)
            )
            reason = _CONTENTLESS if _has_no_content(sentence) else next(fitting, "")
        if reason:
            yield doubt(sentence.text, start, reason, probability=_DOUBTED)


def opening_doubts(output: str, questions: Sequence[str]) -> Iterator[Unverified]:
    """Yield the first sentence of `output` if its "Yes" or "No" does not agree with the rest.

    Examples
    --------
    >>> [doubt.text for doubt in opening_doubts("No, dogs are allowed.", ["Are dogs allowed?"])]
    ['No, dogs are allowed.']
    """
    word = _ANSWER.match(output)
    asked = [phrase(question) for question in questions if _POLAR.match(question)]
    start, end = next(pieces(output), (0, 0))
    if word is None or word.end() >= end or len(asked) != 1 or asked[0].denies:
        return
    stated, keys = phrase(output[word.end() : end]), set(asked[0].keys)
    if stated.tokens and not SUBJECTS.isdisjoint(stated.tokens[0].before):
        keys = {token.key for token in asked[0].tokens if token.kind != "name"} or keys
    shared = keys.intersection(stated.keys)
    words = {key(folded) for *_, folded in lexemes(asked[0].text)}
    is_contrary = any(
        token.denied != _is_excluded(token, others=keys - shared, words=words)
        for token in stated.tokens
    )
    is_no = word["word"].lower() == "no"
    if is_contrary != is_no and (shared == keys or not is_no):
        yield doubt(output[start:end], start, _OPENING.format(word["word"]), probability=_DOUBTED)
    elif not is_no and len(shared) < _AGREED * len(keys):
        yield doubt(output[start:end], start, _ASIDE.format(word["word"]), probability=_DOUBTED)


def polar_doubts(
    output: str, evidence: Mapping[str, str], questions: Sequence[str]
) -> Iterator[Unverified]:
    """Yield `output` if it is only "Yes" or "No", unless the source states or denies the question.

    Examples
    --------
    >>> source = {"Context": "Dogs are not allowed in the hall."}
    >>> [*polar_doubts("No.", source, ["Are dogs allowed in the hall?"])]
    []
    >>> [doubt.reason for doubt in polar_doubts("No.", source, ["Are cats allowed in the hall?"])]
    ['No sentence of the source denies what the question asks.']
    """
    word = _ANSWER.fullmatch(output)
    asked = [_POLAR.sub("", question, count=1) for question in questions if _POLAR.match(question)]
    if word is None or len(asked) != 1:
        return
    statement = asked[0].strip().removesuffix("?") + "."
    if word["word"].lower() == "yes":
        verb, is_answered = "states", are_near_copies(statement, evidence)
    else:
        verb, is_answered = "denies", _denies(statement, evidence)
    if not is_answered:
        start, end = word.span("word")
        yield doubt(output[start:end], start, _UNANSWERED.format(verb), probability=_DOUBTED)


def _denies(statement: str, evidence: Mapping[str, str]) -> bool:
    """Return whether the source contradicts a statement of whose words it lacks no other."""
    denied = [each for each in contradictions(statement, evidence) if each.category in _DENIALS]
    within = covered((each.start, each.end) for each in denied)
    sentences = [keys for text in evidence.values() for keys in index_sentences(text).keys]
    held = frozenset(key for keys in sentences for key in keys)
    return bool(denied) and all(
        token.start in within or token.kind == "number" or token.key in held
        for token in phrase(statement).tokens
    )


def _is_excluded(token: Token, *, others: AbstractSet[str], words: AbstractSet[str]) -> bool:
    """Return whether a word of an answer excludes one of `others` or of all `words` asked."""
    return not (
        others.isdisjoint(OPPOSITES.get(token.key, ()))
        and words.isdisjoint(_EXCLUDED.get(token.key, ()))
    )


def absence_doubt(output: str, interval: tuple[int, int]) -> Unverified:
    """Return a sentence that says what the source lacks as unverified."""
    start, end = interval
    return doubt(output[start:end], start, _ABSENCE, probability=_DOUBTED)


def _tokens(text: str) -> Iterator[Token]:
    return (token for _, sentence in phrases(text) for token in sentence.tokens)


def _echo(
    sentence: Phrase,
    asked: Iterable[Token],
    *,
    supported: AbstractSet[str],
    values: AbstractSet[float | str],
) -> str:
    """Return that a sentence has words of the question which the source lacks; empty otherwise."""
    theirs = {token.key for token in asked}
    echoed = [
        token
        for token in sentence.tokens
        if token.key in theirs
        and not (token.value in values if token.kind == "number" else token.key in supported)
    ]
    if not echoed or len(echoed) < _ECHOED * len(sentence.tokens):
        return ""
    words = dict.fromkeys(sentence.text[token.start : token.end] for token in echoed)
    return f"Only the question has {', '.join(map(repr, words))}; the source does not."


def _has_no_content(sentence: Phrase) -> bool:
    """Return whether an answer has only function words: ``On``, ``Her``; not "yes" or "no"."""
    return not sentence.tokens and bool(lexemes(sentence.text)) and not _ANSWER.match(sentence.text)


def _is_unlike(sentence: Phrase, questions: Sequence[str], *, evidence: Mapping[str, str]) -> bool:
    """Return whether the only number of an answer cannot be what the question asks for.

    The source must have it with none of the units that the question asks for, and another number
    with one of them. A number after "when" must be a year, a day or an hour.
    """
    own = [token for token in sentence.tokens if token.kind == "number"]
    if len(own) != 1 or len(sentence.tokens) > _SHORT:
        return False
    if any(map(_WHEN.match, questions)):
        return own[0].unit is None and not any(own[0].value in each for each in (_DAYS, _YEARS))
    wanted = {
        dimension
        for question in questions
        for words, dimensions in _DIMENSIONS
        if words.search(question)
        for dimension in dimensions
    }
    if not wanted:
        return False
    held = [
        (token.value == own[0].value, token.unit is not None and token.unit[0] in wanted)
        for text in evidence.values()
        for token in _tokens(text)
        if token.kind == "number"
    ]
    return (True, True) not in held and {(True, False), (False, True)}.issubset(held)


def _is_rejected(
    sentence: Phrase, questions: Sequence[str], *, evidence: Mapping[str, str]
) -> bool:
    """Return whether the source denies or replaces the answer wherever it has it: not tea."""
    read = [word for question in questions for *_, word in lexemes(question)]
    if len(sentence.tokens) != 1 or sentence.denies or not REVERSING.isdisjoint(read):
        return False
    answer = sentence.tokens[0].key
    stated = [
        is_rejected(token)
        for text in evidence.values()
        for token in _tokens(text)
        if token.key == answer
    ]
    return bool(stated) and all(stated)


def _is_elsewhere(
    sentence: Phrase, questions: Sequence[str], *, evidence: Mapping[str, str]
) -> bool:
    """Return whether another part of the source fits the question better than the answer's part.

    A part is a passage, a sentence, or a part of a sentence. That part has more words of the
    question, and a name, a number or an adverbial like the answer's.
    """
    if not 0 < len(sentence.tokens) <= _SHORT:
        return False
    keys = frozenset(sentence.keys)
    words = {token.key for question in questions for token in _tokens(question)}
    anchors = words - keys if len(words) <= _SIMPLE else frozenset()
    if not anchors:
        return False
    texts = (passages_in(evidence) or evidence).values()
    read = [[part for _, part in phrases(text)] for text in texts]
    parts = [part for piece in read for part in piece]
    kinds: AbstractSet[str] = _NAMED.intersection(kind for kind, _ in _answers(sentence))
    if not any(begins_with_pronoun(part) for part in parts if keys.issubset(part.keys)):
        kinds = kinds or openings(sentence.tokens[0])
    levels = [_unit([part]) for part in parts], [_unit(piece) for piece in read]
    stated = frozenset(statements(sentence))
    if any(_is_better(stated, anchors, kinds, units=units) for units in levels):
        return True
    if keys <= words and not sentence.denies:
        return False  # "Older, Ann or Ben?" has the words about Ben, too
    is_open = any(map(_OPEN.search, questions))
    return is_of_other_part(sentence, anchors, parts, is_open=is_open) or is_of_other_parallel(
        sentence, anchors, parts
    )


_RULES = (
    ("The source has this number, but not for what is asked.", _is_unlike),
    ("The source says this of another person or thing than the answer's.", has_other_role),
    ("The source denies or replaces this.", _is_rejected),
    (_ELSEWHERE, _is_elsewhere),
)
"""Reasons to doubt an answer of one sentence, and when each applies."""


def _unit(phrases: Sequence[Phrase]) -> _Unit:
    return _Unit(
        keys=frozenset(key for part in phrases for key in part.keys),
        stated=frozenset(stated for part in phrases for stated in statements(part)),
        answers=frozenset(answer for part in phrases for answer in _answers(part)),
    )


def _answers(part: Phrase) -> Iterator[tuple[str, str]]:
    """Yield kind and key of each name, value and adverbial; ``no`` is the number 0.

    A heading (``Model:``) and a part of a name (``RX-200``) do not count.
    """
    ends = [0, *(token.end for token in part.tokens)]
    for end, token, after in zip(ends, part.tokens, [*part.tokens[1:], None], strict=False):
        is_heading = after is not None and after.before[:1] == (":",)
        is_part = token.before == ("-",) and token.start == end + 1
        if token.kind in _NAMED and not is_heading and not is_part:
            yield token.kind, token.key
        if any(part.text[first:last].lower() == "no" for first, last in token.denials):
            yield "number", "#0"
        yield from ((word, token.key) for word in openings(token))


def _is_better(
    stated: AbstractSet[tuple[str, bool]],
    anchors: AbstractSet[str],
    kinds: AbstractSet[str],
    *,
    units: Iterable[_Unit],
) -> bool:
    """Return whether a unit without the answer has more of `anchors` than each with it.

    `stated` are the words of the answer, as in a unit. A unit that denies them, or that the answer
    denies, is without it.
    """
    keys = {key for key, _ in stated}
    holding, others = [], []
    for unit in units:
        if stated <= unit.stated:
            holding.append(len(anchors & unit.keys))
        elif keys <= unit.keys or any(
            kind in kinds and key not in anchors for kind, key in unit.answers
        ):
            others.append(len(anchors & unit.keys))
    return bool(holding) and max(others, default=0) > max(holding)
