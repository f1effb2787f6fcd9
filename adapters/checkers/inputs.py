"""Encoding of passages and claims as a model's tokens, in the form that it was trained on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from spanjury.adapters.checkers.card import CLAIM, PASSAGE, TOKENIZER, CheckerCard, Layout
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ClaimPair, ConfigError, JudgeError

_WORD = re.compile(r"\w+|[^\w\s]")


def read_tokenizer(folder: Path) -> Tokenizer:
    """Read ``tokenizer.json``; raise `ConfigError` if that fails."""
    file = folder / TOKENIZER
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the border to tokenizers, which raises nothing narrower
        raise ConfigError(f"{file} is not a tokenizer: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """One encoded pair.

    Parameters
    ----------
    ids, types
        Id of each token, and 1 for tokens of the second text of a pair, else 0.
    words
        For each word or punctuation mark of the claim: start and end in code points, and the
        positions of its tokens. Empty unless the form is ``"pair"``.
    """

    ids: Sequence[int]
    types: Sequence[int]
    words: Sequence[tuple[int, int, Sequence[int]]]


class PairTokens:
    """Encodes pairs as tokens; serves all threads.

    Special tokens spelt out in a passage or a claim are read as plain text, so that no text can
    forge the end of a passage.

    Raises `ConfigError` if the tokenizer lacks a special token of the layout.
    """

    def __init__(self, tokenizer: Tokenizer, *, card: CheckerCard, layout: Layout) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._card = card
        self._layout = layout
        # The special tokens that this tokenizer puts around a text.
        sample = tokenizer.encode("a")
        content = [at for at, special in enumerate(sample.special_tokens_mask) if not special]
        self._front = sample.ids[: content[0]] if content else []
        self._back = sample.ids[content[-1] + 1 :] if content else []
        mark = tokenizer.token_to_id(card.mark) if card.mark else None
        if layout.form == "joined" and mark is None:
            raise ConfigError(
                f"{card.folder}: form=joined puts the tokenizer's end mark between passage and "
                "claim, and tokenizer_config.json names none"
            )
        self._mark = [] if mark is None else [mark]
        first = tokenizer.token_to_id(layout.first) if layout.first else None
        if layout.first and first is None:
            raise ConfigError(f"{card.folder}: its tokenizer has no token {layout.first!r}")
        self._first = [] if first is None else [first]

    @property
    def room(self) -> int:
        """Maximum number of tokens of passage and claim together."""
        return self._card.longest - len(self._encoded("", "").ids)

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return len(self._plain(without_lone_surrogates(text)).ids)

    def answers(self) -> list[int]:
        """Return the first token of each label, by which an encoder-decoder's answer is recognised.

        Raises `ConfigError` if two labels begin with the same token, or the tokenizer does not
        know a label.
        """
        labels, unknown = self._card.labels, self._tokenizer.token_to_id("<unk>")
        tokens = [self._plain(label).ids[:1] for label in labels]
        if len({*map(tuple, tokens)}) < len(labels) or [] in tokens or [unknown] in tokens:
            raise ConfigError(
                f"{self._card.folder} writes answers that its tokenizer does not tell apart by "
                f"their first tokens ({' and '.join(labels)}): name others by answers=NO/YES"
            )
        return [token for (token,) in tokens]

    def encode(self, pair: ClaimPair) -> Tokens:
        """Return an encoded pair; a passage that is too long loses its end.

        Raises `JudgeError` if the claim alone is too long.
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
            # Always at least one character shorter, so that the loop ends.
            passage = passage[: min(end, len(passage) - 1)]
            tokens = self._encoded(passage, claim)
        return tokens

    def _encoded(self, passage: str, claim: str) -> Tokens:
        layout = self._layout
        if layout.form == "pair":
            pair = self._tokenizer.encode(passage, claim)
            words = list(_words(claim, pair.offsets, pair.sequence_ids))
            return Tokens(ids=pair.ids, types=pair.type_ids, words=words)
        if layout.form == "joined":
            parts = (self._plain(layout.lead + passage).ids, self._mark, self._plain(claim).ids)
            ids = [*self._front, *(token for part in parts for token in part), *self._back]
        else:
            # The passage goes in last, since it may itself contain the text "{claim}".
            before, after = layout.template.split(PASSAGE)
            text = before.replace(CLAIM, claim) + passage + after.replace(CLAIM, claim)
            ids = [*self._first, *self._tokenizer.encode(text).ids]
        return Tokens(ids=ids, types=[0] * len(ids), words=())

    def _plain(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)


def _words(
    claim: str, offsets: Sequence[tuple[int, int]], sequences: Sequence[int | None]
) -> Iterator[tuple[int, int, Sequence[int]]]:
    """Yield start, end and token positions of each word or punctuation mark that has tokens."""
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
