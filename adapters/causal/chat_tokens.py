"""Conversations as a model's tokens, through its tokenizer's own chat template.

Training and inference share this module, so that a model is prompted as it was trained.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ConfigError, Message, Reasoning


class ChatTokens:
    """A tokenizer with a chat template and an end token.

    Texts cannot inject special tokens: where a message spells one out, a space is inserted after
    its first character, so that the tokenizer reads plain text.

    `name` is for messages. Raises `ConfigError` if it has no chat template or no end token.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, name: str) -> None:
        self._tokenizer: Any = tokenizer  # its methods' return types depend on flags
        self._name = name
        if not tokenizer.chat_template:
            raise ConfigError(
                f"the tokenizer of {name!r} has no chat template: choose a model that was tuned"
                " for conversations, or add chat_template.jinja to its folder"
            )
        if not isinstance(tokenizer.eos_token_id, int):
            raise ConfigError(
                f"the tokenizer of {name!r} has no end token (eos_token): nothing would tell the"
                " model to stop"
            )
        self.end = int(tokenizer.eos_token_id)
        marks = sorted(map(re.escape, tokenizer.all_special_tokens), key=len, reverse=True)
        self._marks = re.compile("|".join(marks))

    @property
    def special(self) -> tuple[str, ...]:
        """All tokens that the tokenizer never splits, whether marked as special or merely added."""
        added = self._tokenizer.added_tokens_decoder.values()
        return tuple({*self._tokenizer.all_special_tokens, *map(str, added)})

    @property
    def padding(self) -> int:
        """The id of the token that pads batches; masked, so never attended to."""
        padding = self._tokenizer.pad_token_id
        return padding if isinstance(padding, int) else self.end

    def prompt(
        self,
        messages: Sequence[Message],
        *,
        prefix: str = "",
        reasoning: Reasoning | None = None,
    ) -> list[int]:
        """Return the tokens of a conversation, up to the beginning of the assistant's reply.

        Messages may have any role but ``"tool"``. The assistant's reply begins with `prefix`. If
        `reasoning` is given, a template that can switch thinking on and off does so.
        Raises `ConfigError` if the template refuses the conversation.
        """
        turns = [
            {"role": message.role, "content": self._plain(message.content)} for message in messages
        ]
        wish = {} if reasoning is None else {"enable_thinking": reasoning != "none"}
        try:
            text = self._tokenizer.apply_chat_template(
                turns, add_generation_prompt=True, tokenize=False, **wish
            )
        except (TemplateError, TypeError) as error:
            raise ConfigError(
                f"the chat template of {self._name!r} refuses the conversation: {error}"
            ) from error
        return self._ids(text) + (self._ids(self._plain(prefix)) if prefix else [])

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an assistant's whole reply, including the end token."""
        return [*self._ids(self._plain(text)), self.end]

    def pieces(self, text: str) -> tuple[list[int], list[str]]:
        """Return a text's tokens, and the piece of text for each; the pieces joined are the text.

        If several tokens make one character, the first has it, and the others have empty pieces.
        Raises `ConfigError` if the tokenizer does not report offsets.
        """
        plain = self._plain(text)
        try:
            cut = self._tokenizer(
                plain, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
        except NotImplementedError as error:
            raise ConfigError(
                f"the tokenizer of {self._name!r} does not know where its tokens stand: it needs"
                " a tokenizer.json"
            ) from error
        ends = [0, *(end for _, end in cut["offset_mapping"])]
        return cut["input_ids"], [plain[first:last] for first, last in pairwise(ends)]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of the tokens, without special tokens."""
        text: str = self._tokenizer.decode(
            list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def save(self, folder: str) -> None:
        """Write the tokenizer's files into a folder."""
        self._tokenizer.save_pretrained(folder)

    def _ids(self, text: str) -> list[int]:
        # The template already adds the beginning-of-sequence token.
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def _plain(self, text: str) -> str:
        """Return the text without lone surrogates, and with every special token broken up."""
        formed = without_lone_surrogates(text)
        return self._marks.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", formed)
