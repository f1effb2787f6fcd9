"""Statements that another sentence of the source corrects.

``Correction: the meeting is at 4, not 3`` withdraws ``The meeting is at 3``. The words of the
withdrawn sentence are no reason to vouch for it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from spanjury.judges.core import Unverified
from spanjury.judges.rules.alignment.contexts import origins_of
from spanjury.judges.rules.alignment.continuations import begins_with_pronoun
from spanjury.judges.rules.alignment.contradiction import quoted
from spanjury.judges.rules.alignment.doubts import doubt
from spanjury.judges.rules.alignment.index import Sentences, index_sentences, phrases
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token, phrase
from spanjury.judges.text.kept import KeptByText

_CORRECTING = re.compile(
    r"\b(?:correction|corrigendum|erratum|scratch that|i meant|make (?:it|that)"
    r"|on second thoughts?|no longer)\b"
    r"|\b(?:actually|apologies|sorry|update)[,:]"
    r"|\b(?:has|have|had|was|were|is|are|been|be)(?: now)? (?:amended|brought forward|changed"
    r"|corrected|delayed|moved|postponed|pushed back|put back|rescheduled|revised)\b",
    re.IGNORECASE,
)
"""Words that announce a correction or a change of plan."""
_REJECTING = frozenset(("instead", "rather"))
"""Words before what no longer holds: ``4 instead of 3``."""
_CORRECTABLE = VALUES | {"name"}
_MOST = 64  # maximum corrections of an input that are read
_FEW = 2  # words from which a sentence states a topic of its own
_CORRECTED = "The source corrects this: '{}'"

_Meaning = tuple[str, str, str]
"""Kind, dimension and key of a token."""


class _Correction(NamedTuple):
    """A sentence that corrects others, by its number in its input.

    An earlier sentence must share a word of its `topic`. It asserts `new` and withdraws `old`.
    """

    source: Sentences
    number: int
    topic: AbstractSet[str]
    new: AbstractSet[_Meaning]
    old: AbstractSet[_Meaning]

    @property
    def text(self) -> str:
        """The sentence."""
        return self.source.text[slice(*self.source.intervals[self.number])]

    def withdraws(self, sentence: Phrase, source: Sentences, number: int) -> bool:
        """Return whether it withdraws `sentence`, which repeats that of `source` with a `number`.

        It withdraws what it denies. If it only states another value, it must be the later sentence.
        """
        words = {token.key for token in sentence.tokens if token.kind not in VALUES}
        if self.topic.isdisjoint(words):
            return False
        own = _asserted(sentence)
        if not own.isdisjoint(self.old):
            return True
        is_later = self.source is source and self.number > number
        return is_later and self._replaces(own)

    def _replaces(self, own: AbstractSet[_Meaning]) -> bool:
        """Return whether it states another value of a kind than `own`, and not what it replaces."""
        names, others = (
            {each for each in meanings if each[0] == "name"} for meanings in (own, self.new)
        )
        if names and others and names.isdisjoint(others):
            return False
        kinds = {each[:2] for each in self.new if each[0] in VALUES}
        values = (
            {each for each in own if each[:2] == kind}
            for kind in kinds - {each[:2] for each in self.old}
        )
        return any(each and each.isdisjoint(self.new) for each in values)


def correction_doubts(output: str, inputs: Mapping[str, str]) -> Iterator[Unverified]:
    """Yield the sentences of `output` that the source states and corrects, in order.

    Examples
    --------
    >>> mails = {"Mails": "We meet at 3. Bring a pen. Correction: we meet at 4, not 3."}
    >>> [doubt.text for doubt in correction_doubts("We meet at 3. Bring a pen.", mails)]
    ['We meet at 3.']
    """
    corrections = [each for text in inputs.values() for each in _corrections(text)]
    if not corrections:
        return
    read = [*phrases(output)]
    origins = origins_of([sentence for _, sentence in read], inputs)
    for (start, sentence), stated in zip(read, origins, strict=True):
        uncorrected = (
            (each.search.source, each.number)
            for each in stated
            if not _CORRECTING.search(each.sentence.text)
        )
        withdrawing = [
            [each for each in corrections if each.withdraws(sentence, *origin)]
            for origin in uncorrected
        ]
        if withdrawing and all(withdrawing):
            reason = _CORRECTED.format(quoted(withdrawing[-1][-1].text))
            yield doubt(sentence.text, start, reason)


def is_corrected(
    sentence: Phrase, stated: Phrase, *, source: Sentences, start: int, inputs: Iterable[str]
) -> bool:
    """Return whether a correction withdraws `stated` and has values or names of `sentence` instead.

    `stated` begins at `start` of `source`.
    """
    number = bisect_left(source.intervals, (start,))
    own = {each for each in _asserted(sentence) if each[0] in _CORRECTABLE} - _asserted(stated)
    return bool(own) and any(
        not own.isdisjoint(each.new) and each.withdraws(stated, source, number)
        for text in inputs
        for each in _corrections(text)
    )


def _read(text: str) -> Iterator[_Correction]:
    """Yield the sentences of an input that correct others."""
    if not _CORRECTING.search(text):
        return
    source = index_sentences(text)
    for number, (start, end) in enumerate(source.intervals):
        if not _CORRECTING.search(text, start, end):
            continue
        sentence = phrase(text[start:end])
        topic = _topic(sentence)
        if number and (len(topic) < _FEW or begins_with_pronoun(sentence)):
            topic |= _topic(phrase(text[slice(*source.intervals[number - 1])]))
        new = _asserted(sentence)
        old = {*map(_meaning, sentence.tokens)} - new
        yield _Correction(source, number, topic, new, old)


_corrections = KeptByText(lambda text: [*islice(_read(text), _MOST)])
"""Return the first sentences of an input that correct others."""


def _topic(sentence: Phrase) -> AbstractSet[str]:
    """Return the keys of its words, without those that announce a correction."""
    marks = [mark.span() for mark in _CORRECTING.finditer(sentence.text)]
    return {
        token.key
        for token in sentence.tokens
        if token.kind not in VALUES
        and not any(start < token.end and token.start < end for start, end in marks)
    }


def _asserted(sentence: Phrase) -> AbstractSet[_Meaning]:
    """Return what a sentence states, without what it denies or replaces."""
    return {
        _meaning(token)
        for token in sentence.tokens
        if not is_rejected(token) and not (token.kind in VALUES and "from" in token.before)
    }


def is_rejected(token: Token) -> bool:
    """Return whether a token is denied or replaced, as ``3`` in ``at 4 instead of 3``."""
    return token.denied or not _REJECTING.isdisjoint(token.before)


def _meaning(token: Token) -> _Meaning:
    return *token.measure, token.key
