"""Secrets are found in all the forms that are promised, and honest texts stay as they are."""

import base64
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import MASK, hide, scrub, secret_intervals

SECRETS = (
    "sk-Pl4nted/Secret+Value=99",
    "hf_QwErTyUiOpAsDfGhJkL",
    "pässwört-4711-überlang",
    "correct horse battery staple",
    "0123456789abcdef0123456789abcdef",
)
WORDS = (
    "test", "development", "none-needed", "changeme", "EMPTY", "100000", "true", "password",
    "Bearer", "not-set", "local", "2026-01-01", "0.0.0.0",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_secrets_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*__import__("os").environ]:
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)


def forms(secret: str) -> Iterator[str]:
    """Yield each form in which a secret is promised to be hidden."""
    data = secret.encode()
    yield from (secret, secret.upper(), secret.lower(), secret.swapcase())
    for before in (b"", b"q", b"qq"):
        for after in (b"", b"x", b"xy"):
            yield base64.b64encode(before + data + after).decode()
            yield base64.urlsafe_b64encode(before + data + after).decode().rstrip("=")
    yield from (data.hex(), data.hex().upper(), data.hex(":"), data.hex(" "))
    yield from (quote(secret, safe=""), quote_plus(secret), quote(secret, safe="").lower())
    yield "".join(f"%{byte:02X}" for byte in data)
    for blank in (" ", "\n", "\r\n", "-", "\u200b", "\u2060", "\u00ad", "\u2009", " - "):
        yield blank.join(secret)
        yield blank.join(re.findall(".{1,5}", secret))
    yield "\n".join(re.findall(".{1,8}", base64.b64encode(data).decode()))
    for before in (b"", b"q", b"qq", b"qqq", b"qqqq"):
        yield base64.b32encode(before + data + b"x").decode().rstrip("=")
        yield base64.b32encode(before + data).decode().lower().rstrip("=")
    yield from (secret[::-1], secret[::-1].upper(), "-".join(secret[::-1]))
    for escape in ("&#{0};", "&#{0:04};", "&#x{0:x};", "&#X{0:04X};", "\\u{0:04x}", "\\\\u{0:04X}"):
        yield "".join(escape.format(ord(character)) for character in secret)
        yield " ".join(escape.format(ord(character)) for character in secret)
        # Some characters alone, as programs do that escape what they must.
        yield "".join(
            character if number % 3 else escape.format(ord(character))
            for number, character in enumerate(secret)
        )
    yield "".join(f"\\x{ord(character):02x}" for character in secret)
    yield "".join(f"\\u{{{ord(character):x}}}" for character in secret)
    yield secret.replace("/", "&sol;").replace("+", "&plus;").replace(" ", "&nbsp;")


def readable(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_hidden_in_every_form(secret: str) -> None:
    for form in forms(secret):
        shown = hide(f"It said {form} to me.", secrets=[secret])
        assert MASK in shown, form
        assert shown.startswith("It said ")
        assert shown.endswith(" to me.")
        # Of what is encoded, a few characters at either end may stay: they hold bits of others.
        assert len(shown) <= len("It said  to me.") + len(MASK) + 10, form


def test_short_and_ordinary_values_are_no_secrets() -> None:
    text = f"This test of {' and '.join(WORDS)} is in development: 100000 of 1-0 0 0 0 0."
    assert hide(text, secrets=WORDS) == text


def test_a_weak_secret_is_hidden_as_it_is_but_not_put_together_of_words() -> None:
    assert hide("HUNTER2 or hunter2", secrets=["hunter2"]) == f"{MASK} or {MASK}"
    assert hide("the hunter 2 of them", secrets=["hunter2"]) == "the hunter 2 of them"


@given(st.text(alphabet="abc xyz,.-\n\u200b", max_size=80))
def test_a_text_without_a_secret_is_returned_as_it_is(text: str) -> None:
    assert hide(text, secrets=SECRETS) is text


@given(
    st.text(max_size=20),
    st.sampled_from([form for secret in SECRETS for form in forms(secret)]),
    st.text(max_size=20),
)
def test_nothing_is_left_to_hide(before: str, form: str, after: str) -> None:
    assert secret_intervals(hide(before + form + after, secrets=SECRETS), secrets=SECRETS) == []


def test_variables_named_as_secrets_are_and_those_with_an_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = {
        "MY_API_KEY": "k-4711-abcdef", "DB_PASSWORD": "p-4712-abcdef", "GH_TOKEN": "t-4713-abcdef",
        "SESSION_COOKIE": "c-4714-abcdef", "APP_PWD": "w-4715-abcdef", "LDAP_PASS": "l-4716-abcdef",
    }  # fmt: skip
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:pr0xy-4717@proxy:80")
    monkeypatch.setenv("SERVER", "http://host/v1?api_key=q-4718-abcdef")
    for value in (*planted.values(), "pr0xy-4717", "q-4718-abcdef"):
        assert hide(f"<{value}>") == f"<{MASK}>"
    monkeypatch.setenv("PWD_OF_NOTHING", "/home/4719/somewhere")
    assert hide("/home/4719/somewhere") == "/home/4719/somewhere"


def test_a_variable_that_names_a_file_hides_no_path(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_KEY", str(tmp_path))
    assert hide(f"{tmp_path}/rows.jsonl") == f"{tmp_path}/rows.jsonl"


def test_messages_lose_what_looks_like_a_key_as_well() -> None:
    message = (
        "at http://me:pass@host/v1?api_key=abc&x=1 with Bearer abc and sk-abcdefghijklmnopqrst"
    )
    assert (
        scrub(message)
        == f"at http://{MASK}@host/v1?api_key={MASK}&x=1 with Bearer {MASK} and {MASK}"
    )
