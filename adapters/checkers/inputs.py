"""Inputs: passages and claims in the tokens of a model, in the form that it was trained on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from spanjury.adapters.checkers.card import CheckerCard, Form
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ClaimPair, ConfigError, JudgeError

PASSAGE, CLAIM = "{passage}", "{claim}"
"""Marks of a template that passage and claim stand for."""

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """One pair in tokens.

    Parameters
    ----------
    ids, types
        Number of each token, and 1 where it is of the second text of a pair.
    words
        For each word and mark of the claim its offsets in code points, and its tokens by their
        positions; empty unless the form is ``"pair"``.
    """

    ids: Sequence[int]
    types: Sequence[int]
    words: Sequence[tuple[int, int, Sequence[int]]]


class PairTokens:
    """Puts pairs into tokens; serves all threads.

    Special tokens that stand in a passage or a claim are read as plain text, so that no text can
    pretend to end there.

    Parameters
    ----------
    template
        With ``{passage}`` and ``{claim}``, each once; for the form ``"template"``.

    Raises
    ------
    ConfigError
        If the tokenizer lacks the mark that joins passage and claim.
    """

    def __init__(
        self, tokenizer: Tokenizer, *, card: CheckerCard, form: Form, template: str
    ) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._card = card
        self._form = form
        self._template = template
        sample = tokenizer.encode("a")
        content = [at for at, special in enumerate(sample.special_tokens_mask) if not special]
        self._front = sample.ids[: content[0]] if content else []
        self._back = sample.ids[content[-1] + 1 :] if content else []
        mark = tokenizer.token_to_id(card.mark) if card.mark else None
        if form == "joined" and mark is None:
            raise ConfigError(
                f"{card.folder}: form=joined puts the tokenizer's end mark between passage and "
                "claim, and tokenizer_config.json names none"
            )
        self._mark = [] if mark is None else [mark]

    @property
    def room(self) -> int:
        """The most tokens that a passage and a claim have together."""
        return self._card.longest - len(self._encoded("", "").ids)

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._plain(without_lone_surrogates(text)).ids)

    def encode(self, pair: ClaimPair) -> Tokens:
        """Return a pair in tokens; the end of a passage that has no room is left out.

        Raises
        ------
        JudgeError
            If the claim alone has no room.
        """
        passage, claim = map(without_lone_surrogates, pair)
        tokens = self._encoded(passage, claim)
        while (excess := len(tokens.ids) - self._card.longest) > 0:
            offsets = self._plain(passage).offsets
            if len(offsets) <= excess and not passage:
                raise JudgeError(
                    f"a claim of {len(claim)} characters has no room in {self._card.longest} tokens"
                )
            end = offsets[len(offsets) - excess - 1][1] if len(offsets) > excess else 0
            passage = passage[: min(end, len(passage) - 1)]
            tokens = self._encoded(passage, claim)
        return tokens

    def _encoded(self, passage: str, claim: str) -> Tokens:
        if self._form == "pair":
            pair = self._tokenizer.encode(passage, claim)
            words = list(_words(claim, pair.offsets, pair.sequence_ids))
            return Tokens(ids=pair.ids, types=pair.type_ids, words=words)
        if self._form == "joined":
            parts = (self._plain(passage).ids, self._mark, self._plain(claim).ids)
            ids = [*self._front, *(token for part in parts for token in part), *self._back]
        else:
            # The passage last: it may hold the mark of the claim, and the claim's place is known.
            before, after = self._template.split(PASSAGE)
            text = before.replace(CLAIM, claim) + passage + after.replace(CLAIM, claim)
            ids = self._tokenizer.encode(text).ids
        return Tokens(ids=ids, types=[0] * len(ids), words=())

    def _plain(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)


def check_template(template: str) -> None:
    """Raise `ConfigError` unless passage and claim stand in `template` once each."""
    if template.count(PASSAGE) != 1 or template.count(CLAIM) != 1:
        raise ConfigError(f"a template holds {PASSAGE} and {CLAIM} once each, got {template!r}")


def _words(
    claim: str, offsets: Sequence[tuple[int, int]], sequences: Sequence[int | None]
) -> Iterator[tuple[int, int, Sequence[int]]]:
    """Yield the words and marks of a claim that have tokens, with the positions of these."""
    tokens = [
        (start, end, position)
        for position, ((start, end), sequence) in enumerate(zip(offsets, sequences, strict=True))
        if sequence == 1 and start < end
    ]
    first = 0
    for word in _WORD.finditer(claim):
        while first < len(tokens) and tokens[first][1] <= word.start():
            first += 1
        own = []
        for start, _, position in tokens[first:]:
            if start >= word.end():
                break
            own.append(position)
        if own:
            yield word.start(), word.end(), own
