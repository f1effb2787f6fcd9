r"""Removal of keys and passwords from a text before anyone can store, log or read it.

Known secrets are the values of environment variables with names typical of secrets
(``…_API_KEY``, ``…_TOKEN``), and the secret parts of variables that contain an address. They are
found verbatim and in the forms in which a model or a server may return them: in another case,
split, reversed, in base64, base32, hexadecimal and percent-encoding, with escapes or HTML
entities for some or all characters. An ordinary word or a number (``TOKEN=test``) is not a secret,
because it would be found in honest texts.
"""

import base64
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from html.entities import html5
from pathlib import Path
from urllib.parse import quote, unquote

from spanjury.judges.core.addresses import MASK, address_secrets, without_credentials

__all__ = [
    "MASK",
    "SecretFinder",
    "hide",
    "is_secret_name",
    "reason_of",
    "scrub",
    "secret_intervals",
]

_SHORTEST = 6
"""Minimum number of characters of a secret and its forms; shorter ones occur in ordinary words."""
_SURE = 8
"""Minimum length of a secret with letters and digits that is also looked for in pieces."""
_PASSPHRASE = 16
"""Minimum number of letters of a secret without digits."""
_SECRET_NAME = re.compile(
    r"(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSPHRASE|CREDENTIALS?|COOKIE"
    r"|(?:^|_)(?:PASS|PASSWD|PAT|AUTH|BEARER|SECRET_\w+)|_PWD)$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MEMORY_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NO_LETTERS = re.compile(r"[\W\d_]+")
_IGNORED = re.compile(r"[\W_]+")
_ASCII_IGNORED = bytes(code for code in range(128) if not chr(code).isalnum())
_FRESH = 0.1
"""Seconds for which the secrets read from the environment are reused."""
_ESCAPE = re.compile(
    r"[&\\](?:(?<=&)(?:#(?P<decimal>\d{1,7});?|#[xX](?P<entity>[\da-fA-F]{1,6});?"
    r"|(?P<name>[a-zA-Z]{2,8};))"
    r"|(?<=\\)(?:u(?P<four>[\da-fA-F]{4})|x(?P<two>[\da-fA-F]{2})|U(?P<eight>[\da-fA-F]{8})"
    r"|[uU]\{(?P<braced>[\da-fA-F]{1,6})\}))"
)
"""A character escaped as in HTML, JSON or programming languages."""
_SCHEME = re.compile(r"\b(bearer|basic)\s+[^\s\"',;}]+", re.IGNORECASE)
_KEY = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|AIza)[-_]?[A-Za-z0-9_-]{16,}")


def scrub(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Return `text` with every secret replaced by `MASK`, for messages and logs.

    This replaces known secrets, as `hide` does, credentials and keys in addresses, the word
    after ``Bearer`` or ``Basic``, and every word that looks like a provider's key.

    Examples
    --------
    >>> scrub("no access to http://me:pass@host/v1 with Bearer abc123")
    'no access to http://[hidden]@host/v1 with Bearer [hidden]'
    """
    text = without_credentials(hide(text, secrets=secrets), mask=MASK)
    text = _SCHEME.sub(rf"\1 {MASK}", text)
    return _KEY.sub(MASK, text)


def hide(text: str, *, secrets: Iterable[str] = ()) -> str:
    """Return `text` with `secrets`, and those of the environment, replaced by `MASK`.

    A text without secrets is returned unchanged.
    """
    intervals = secret_intervals(text, secrets=secrets)
    return _without(text, intervals) if intervals else text


def secret_intervals(text: str, *, secrets: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Return the offsets of secrets in `text`, in ascending order; they may overlap."""
    return _secrets((*_environment(), *filter(None, secrets))).intervals(text)


class SecretFinder:
    """Finds the secrets of the environment in many texts in quick succession.

    Reading the environment takes longer than searching a text, so it is read at most ten times a
    second.
    """

    def __init__(self) -> None:
        self._secrets = _secrets(())
        self._until = -math.inf

    def intervals(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of secrets in `text`, in ascending order; they may overlap."""
        if not text:
            return []
        if (now := time.monotonic()) >= self._until:
            self._secrets = _secrets(_environment())
            self._until = now + _FRESH
        return self._secrets.intervals(text)

    def hide(self, text: str) -> str:
        """Return `text` with every secret replaced by `MASK`; the same object if it has none."""
        intervals = self.intervals(text)
        return _without(text, intervals) if intervals else text


def is_secret_name(name: str) -> bool:
    """Return whether a variable or an option called `name` contains a secret.

    Examples
    --------
    >>> is_secret_name("OPENAI_API_KEY"), is_secret_name("HOME")
    (True, False)
    """
    return _SECRET_NAME.search(name) is not None


def without_memory_addresses(text: str) -> str:
    """Return `text` without the addresses of objects, which change from run to run.

    Examples
    --------
    >>> without_memory_addresses("<Judge object at 0x7f327788>")
    '<Judge object>'
    """
    return _MEMORY_ADDRESS.sub("", text)


def reason_of(error: BaseException, *, kind: bool = False) -> str:
    """Return the message of `error` for a report; its ``repr`` if it has none or `kind` is true.

    Secrets are masked, and addresses of objects are left out.
    """
    return hide(without_memory_addresses(repr(error) if kind else str(error) or repr(error)))


@dataclass(frozen=True, slots=True)
class _Secrets:
    """Secrets in all forms, case-folded.

    `forms` are matched with the letters and digits of a text, regardless of other characters
    between them; `exact` forms are matched literally.
    """

    forms: tuple[str, ...]
    exact: tuple[str, ...]

    def intervals(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of secrets in `text`."""
        if not self.exact:  # without exact forms there are no other forms
            return []
        intervals = self._intervals(text)
        unescaped = _ESCAPE.sub(_character_of, text) if "\\" in text or "&" in text else text
        if unescaped != text and (hidden := self._intervals(unescaped)):
            origins = _origins_without_escapes(text)
            intervals += [(origins[start][0], origins[end - 1][1]) for start, end in hidden]
        return sorted(intervals)

    def _intervals(self, text: str) -> list[tuple[int, int]]:
        folded = _letters_of(text)
        lower = text.casefold() if self.exact else ""
        if not any(form in folded for form in self.forms) and not any(
            secret in lower for secret in self.exact
        ):
            return []
        literals = (
            match.span()
            for secret in self.exact
            for match in re.finditer(re.escape(secret), text, re.IGNORECASE)
        )
        return [*self._pieces(text), *literals]

    def _pieces(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the offsets of forms, from their first letter to their last."""
        letters: list[str] = []
        origins: list[int] = []
        for index, character in enumerate(text):
            if not _IGNORED.match(character):
                folded = character.casefold()
                letters.append(folded)
                origins.extend([index] * len(folded))
        folded_text = "".join(letters)
        for form in self.forms:
            for start in _occurrences(folded_text, form):
                yield origins[start], origins[start + len(form) - 1] + 1


def _origins_without_escapes(text: str) -> list[tuple[int, int]]:
    """Return the offsets in `text` of each character that remains once escapes are decoded."""
    origins: list[tuple[int, int]] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        origins += [(index, index + 1) for index in range(end, match.start())]
        origins += [match.span()] * len(_character_of(match))
        end = match.end()
    return origins + [(index, index + 1) for index in range(end, len(text))]


def _character_of(escaped: re.Match[str]) -> str:
    kind = escaped.lastgroup or ""
    if kind == "name":
        return html5.get(escaped[kind], escaped[0])
    number = int(escaped[kind], 10 if kind == "decimal" else 16)
    return chr(number) if number <= sys.maxunicode else ""


def _occurrences(text: str, form: str) -> Iterator[int]:
    start = text.find(form)
    while start >= 0:
        yield start
        start = text.find(form, start + 1)


def _without(text: str, intervals: Iterable[tuple[int, int]]) -> str:
    """Return `text` with a mask for each interval, and one mask for those that touch."""
    parts: list[str] = []
    end = 0
    for start, stop in intervals:
        if start > end or not parts:
            parts += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


@lru_cache(maxsize=8)
def _secrets(values: tuple[str, ...]) -> _Secrets:
    secrets = {value for value in values if not _is_ordinary(value)}
    forms = {form for value in secrets for form in _encoded(value)}
    sure = {_letters_of(value) for value in secrets if _is_sure(value)}
    sure |= {letters[::-1] for letters in sure}
    exact = {written.casefold() for value in secrets for written in (value, value[::-1])}
    return _Secrets(
        tuple(form for form in sorted(forms | sure) if len(form) >= _SHORTEST),
        tuple(sorted(exact, key=len, reverse=True)),
    )


def _encoded(value: str) -> Iterator[str]:
    """Yield the letters and digits of `value` in other encodings."""
    data = value.encode("utf-8", "surrogatepass")
    for encode, bits, group in ((base64.b64encode, 6, 3), (base64.b32encode, 5, 5)):
        for shift in range(group):  # the secret may begin at any byte of the encoded group
            text = encode(b"\0" * shift + data).decode()
            # The first and last characters also encode bits of the neighbouring bytes.
            yield _letters_of(text[-(-8 * shift // bits) : 8 * (shift + len(data)) // bits])
    yield data.hex()
    for written in (quote(value, safe="", errors="replace"), unquote(value), escape(value)):
        if written != value:
            yield _letters_of(written)


def _letters_of(text: str) -> str:
    """Return the case-folded letters and digits of `text`; fast, since every text is searched."""
    if text.isascii():
        return text.encode().translate(None, _ASCII_IGNORED).lower().decode()
    return _IGNORED.sub("", text).casefold()


def _is_ordinary(value: str) -> bool:
    """Return whether honest texts may contain `value`: a word or two, or a number."""
    letters = "".join(_LETTERS.findall(value))
    if len(value) < _SHORTEST:
        return True
    if _NO_LETTERS.fullmatch(value):  # a number, perhaps with points
        return len(value) < _PASSPHRASE or len(set(value)) < _SHORTEST
    if len(letters) == len(value) and not _is_word(value):
        return False
    has_digit = any(character.isdigit() for character in value)
    is_words = all(map(_is_word, _LETTERS.findall(value))) and not re.search(r"[^\w\s.-]", value)
    return not has_digit and len(letters) < _PASSPHRASE and is_words


def _is_word(value: str) -> bool:
    return value.islower() or value.isupper() or value.istitle()


def _is_sure(value: str) -> bool:
    """Return whether `value` is too long to occur by chance in an honest text, even in pieces."""
    letters = _letters_of(value)
    mixed = any(map(str.isdigit, letters)) and any(map(str.isalpha, letters))
    return len(letters) >= (_SURE if mixed else _PASSPHRASE)


def _environment() -> tuple[str, ...]:
    """Return the secrets that environment variables contain now."""
    return _environment_secrets(tuple(os.environ.items()))


@lru_cache(maxsize=2)
def _environment_secrets(variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    secrets: list[str] = []
    for name, value in variables:
        if is_secret_name(name):
            # SSH_KEY=/home/me/.ssh/key names a file, and other paths may begin like it.
            if not (value.startswith(("/", "~")) and Path(value).expanduser().exists()):
                secrets.append(value.strip())
        elif _ADDRESS.match(value):
            secrets += address_secrets(value)
    return tuple(secrets)
