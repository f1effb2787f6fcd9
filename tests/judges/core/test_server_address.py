"""An address that holds a secret is turned away, and one that holds none is not."""

import pytest

from spanjury.judges.core import ConfigError, address_of, check_address, without_secrets

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
