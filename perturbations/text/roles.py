"""Exchanged roles: subject and object of a verb."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.names import names, openings
from spanjury.perturbations.text.places import chosen
from spanjury.perturbations.text.verbs import BE, Token, finite_verbs, tokens, verbs
from spanjury.perturbations.text.wordlists import table

_OBJECT_FORMS = {"he": "him", "I": "me", "she": "her", "they": "them", "we": "us"}
_SUBJECT_FORMS = {form: subject for subject, form in _OBJECT_FORMS.items()}
_DETERMINERS = frozenset("a an the his her its their our my your".split())  # noqa: SIM905
_NO_NOUNS = frozenset(table("function_words")["no_nouns"])
_NO_ACTIONS = frozenset(("agree", "become", "believe", "hope", "say", "seem", "think", "wish"))
_JOINED = re.compile(r"(?:,|,? (?:and|or|nor)) \Z")
_POSSESSIVE = re.compile(" ?['’]")
_REACH = 6  # code points before a subject that may join it to another
_LONGEST = 3  # words of a phrase without its determiner


class _Phrase(NamedTuple):
    """A noun phrase: half-open offsets, and its forms as subject and as object."""

    start: int
    end: int
    subject: str
    object: str


@english_perturbation(family="meaning", level="word", harms=GROUNDING | OVERALL, spares=FORM)
def swap_roles(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Exchange subject and object of `k` verbs; two edits a verb.

    ``The dog bit him`` becomes ``He bit the dog``, and ``He was hit by a car`` becomes
    ``A car was hit by him``.
    """
    pairs: list[tuple[_Phrase, _Phrase]] = []
    for subject, other in _Phrases(text, tokens(text)).pairs():
        if subject.start >= (pairs[-1][1].end if pairs else 0):
            pairs.append((subject, other))
    drawn = chosen(len(pairs), rng, k=k, what="verbs between a subject and an object")
    begins = openings(text)
    edits = []
    for subject, other in (pairs[index] for index in drawn):
        new = other.subject
        if subject.start in begins and text[subject.start].isupper():
            new = new[0].upper() + new[1:]
        edits.append(Edit(start=subject.start, end=subject.end, text=new))
        edits.append(Edit(start=other.start, end=other.end, text=subject.object))
    return edits


class _Phrases:
    """The noun phrases before and after the verbs of a text."""

    def __init__(self, text: str, words: Sequence[Token]) -> None:
        mentions = names(text)
        self._text = text
        self._words = words
        self._starts = {name.start: name.end for name in mentions}
        self._ends = {name.end: name.start for name in mentions}

    def pairs(self) -> Iterator[tuple[_Phrase, _Phrase]]:
        """Yield the subject and object of each verb that has both, in order."""
        for at, after in sorted(self._verbs()):
            subject, other = self._before(at), self._after(after)
            if not subject or not other or self._goes_on(subject):
                continue
            if subject.object.lower() != other.object.lower():
                yield subject, other

    def _verbs(self) -> Iterator[tuple[int, int]]:
        """Yield, for each verb, the index of its first word and of the word after it."""
        for index, verb, tense in finite_verbs(self._words):
            if tense == "past" and verb.base not in _NO_ACTIONS:
                yield index, index + 1
        for index in range(1, len(self._words) - 2):
            word, by = self._words[index], self._words[index + 1].lower
            if word.lower in verbs("participle") and by == "by" and word.before[-1:] == ("was",):
                yield index - 1, index + 2

    def _before(self, at: int) -> _Phrase | None:
        """Return the phrase that ends before the word `at`."""
        if not self._words[at].before:
            return None
        last = self._words[at - 1]
        if last.end in self._ends:
            return self._named(self._ends[last.end], last.end)
        if last.lower in _OBJECT_FORMS or last.text == "I":
            return self._phrase(last.start, last.end)
        for first in range(at - 2, max(-1, at - 2 - _LONGEST), -1):
            if not self._nouns(first + 1, at):
                return None
            if self._words[first].lower in _DETERMINERS:
                return self._phrase(self._words[first].start, last.end)
        return None

    def _after(self, at: int) -> _Phrase | None:
        """Return the phrase that begins with the word `at`."""
        if at >= len(self._words) or not self._words[at].before:
            return None
        first = self._words[at]
        if first.start in self._starts:
            return self._named(first.start, self._starts[first.start])
        end = at + 1
        while end - at <= _LONGEST and end < len(self._words) and self._nouns(end, end + 1):
            end += 1
        bare = end == len(self._words) or self._words[end].lower != "of"
        if first.lower in _DETERMINERS and end > at + 1 and bare:
            return self._phrase(first.start, self._words[end - 1].end)
        if first.lower in _SUBJECT_FORMS:
            return self._phrase(first.start, first.end)
        return None

    def _goes_on(self, subject: _Phrase) -> bool:
        """Return whether `subject` is only the rest of a subject, as in ``Ann and Bob won``."""
        joined = _JOINED.search(self._text, max(0, subject.start - _REACH), subject.start)
        return joined is not None and joined.start() in self._ends

    def _nouns(self, start: int, end: int) -> bool:
        """Return whether these words, joined by spaces, may all belong to one phrase."""
        return all(
            word.before and word.text.islower() and word.lower not in _NO_NOUNS | BE | _DETERMINERS
            for word in self._words[start:end]
        )

    def _named(self, start: int, end: int) -> _Phrase | None:
        """Return the phrase of a name, unless it is possessive or has an article."""
        possessor = _POSSESSIVE.match(self._text, end)
        article = self._text[max(0, start - 4) : start].lower() == "the "
        return None if possessor or article else self._phrase(start, end)

    def _phrase(self, start: int, end: int) -> _Phrase:
        words = self._text[start:end]
        if start not in self._starts and words != "I":
            words = words[0].lower() + words[1:]
        subject, other = _SUBJECT_FORMS.get(words, words), _OBJECT_FORMS.get(words, words)
        return _Phrase(start, end, subject, other)
