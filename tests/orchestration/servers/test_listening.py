"""Addresses that a server listens on."""

import socket

import pytest

from spanjury.judges.core import ConfigError, ServiceError
from spanjury.orchestration.servers.listening import is_loopback, listening, require_access
from spanjury.orchestration.servers.tokens import read_tokens

TOKEN = "a-secret-of-some-length"


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.2", False),
        ("localhost.example", False),
    ],
)
def test_only_this_machine_needs_no_token(host: str, local: bool) -> None:
    assert is_loopback(host) == local
    require_access(host, read_tokens(TOKEN, None))
    if local:
        require_access(host, read_tokens(None, None))
    else:
        with pytest.raises(ConfigError, match="SPANJURY_SERVE_TOKEN"):
            require_access(host, read_tokens(None, None))


@pytest.mark.parametrize("token", ["short", "with blanks in the middle", "mit-Umlaut-äöü-äöü"])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(ConfigError, match="16 printable ASCII characters") as raised:
        read_tokens(token, None)
    assert token not in str(raised.value)


@pytest.mark.parametrize(
    ("headers", "is_right"),
    [
        ([f"Bearer {TOKEN}"], True),
        ([f"bearer {TOKEN} "], True),
        ([f"Bearer {TOKEN.upper()}"], False),
        ([f"Bearer {TOKEN[:-1]}"], False),
        ([f"Bearer {TOKEN}é"], False),
        (["Bearer"], False),
        ([TOKEN], False),
        ([f"Basic {TOKEN}"], False),
        ([f"Bearer {TOKEN}", "Bearer other"], False),
        ([""], False),
        ([], False),
    ],
)
def test_a_request_holds_the_token_or_it_does_not(headers: list[str], is_right: bool) -> None:
    assert (read_tokens(TOKEN, None).bearer(headers) is not None) == is_right


def test_an_address_that_is_taken_is_named() -> None:
    with listening("127.0.0.1", 0) as taken:
        assert isinstance(taken, socket.socket)
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match=f"127.0.0.1:{port}: cannot listen there"):
            listening("127.0.0.1", port)
    with pytest.raises(ServiceError, match="no-such-host"):
        listening("no-such-host.invalid", 0)
