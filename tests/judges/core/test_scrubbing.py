"""Secrets are found in texts and addresses in all promised forms, and honest texts are kept."""

import base64
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    MASK,
    ConfigError,
    address_of,
    check_address,
    hide,
    scrub,
    secret_intervals,
    without_secrets,
)

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
SECRET = {
    "http://me:pass@host:8000/v1": "pass",
    "http://me:pa/ss@host:8000/v1": "pa/ss",
    "http://me%3Apass@host/v1": "pass",
    "HTTP://me:pass@host": "pass",
    "me:pass@host:80/v1": "pass",
    "http://onlyuser@host/v1": "onlyuser",
    "http://host/v1?api_key=abc": "abc",
    "http://host/v1?x=1&token=abc": "abc",
    "http://host/v1?subscription-key=abc": "=abc",
    "http://host/v1?x=sk-abcdefgh1234": "sk-abc",
    "http://host/v1;token=xyzzy": "xyzzy",
    "http://host/v1#xyzzy": "xyzzy",
    "http://host/sk-abcdefgh1234/v1": "sk-abc",
    "http://host/token-xyzzy/v1": "xyzzy",
    "http://host/a8f5f167f44f4964e6c998dee827110c/v1": "a8f5",
    "http://host/bot123456:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/v1": "AAHdq",
    "http://host/v1?sig=Zm9vYmFyYmF6cXV4MTIzNDU2": "Zm9v",
    "http://host/v1?x=hunter-two": "hunter",
    "http://host/v1?hunter-two": "hunter",
    "http://host/v1;k=Zq7-Vx_93kLmTT0pQ2": "93kLmTT0pQ2",
    "http://host/Zq7-Vx_93kLmTT0pQ2/v1": "93kLmTT0pQ2",
    "http://river9stone:@host/v1": "river9stone",
    "Zq7-Vx_93kLmTT0pQ2": "93kLmTT0pQ2",
}
PLAIN = (
    "http://localhost:8000/v1",
    "http://[::1]:8080/v1",
    "https://host/models/Meta-Llama-3.1-8B-Instruct/v1",
    "https://host/models/Qwen25Coder7BInstruct/v1",
    "https://host/models/gemini@001/v1",
    "https://host/ai/@cf/meta/v1",
    "https://resource-1234567.openai.azure.com/openai/deployments/gpt4o-2024?api-version=2024-10-21",
    "https://host/functions/123e4567-e89b-12d3-a456-426614174000/v1",
    "https://host/models/gemma-2-27b-it-gguf-q4_k_m/v1",
    "https://host/models/Llama3V8B/v1",
    "env:JUDGE_ADDRESS",
)


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


@pytest.mark.parametrize("url", SECRET)
def test_a_secret_in_an_address_is_turned_away_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="env:VARIABLE") as caught:
        check_address(url)
    assert SECRET[url] not in str(caught.value)
    assert SECRET[url] not in without_secrets(url)


def test_only_the_secret_is_masked() -> None:
    assert without_secrets("http://river9stone:@host/v1") == "http://[hidden]@host/v1"
    assert (
        without_secrets("http://127.0.0.1/v1?api_key=2") == "http://127.0.0.1/v1?api_key=[hidden]"
    )


@pytest.mark.parametrize("url", PLAIN)
def test_a_plain_address_stays_as_it_is(url: str) -> None:
    check_address(url)
    assert without_secrets(url) == url


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host/v1", "http://", "http:/a:b@c"])
def test_other_texts_than_addresses_are_turned_away(url: str) -> None:
    with pytest.raises(ConfigError, match="http://localhost:8000/v1"):
        check_address(url)


def test_a_known_secret_is_turned_away_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "river-9-stone")
    with pytest.raises(ConfigError) as caught:
        check_address("http://host/river-9-stone/v1")
    assert "river" not in str(caught.value)


def test_an_address_may_stand_in_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_of(None) is None
    assert address_of("http://host/v1") == "http://host/v1"
    with pytest.raises(ConfigError, match="JUDGE_ADDRESS holds no address"):
        address_of("env:JUDGE_ADDRESS")
    monkeypatch.setenv("JUDGE_ADDRESS", "http://host/v1?key=1")
    assert address_of("env:JUDGE_ADDRESS") == "http://host/v1?key=1"
