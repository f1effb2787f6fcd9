"""`spanjury mcp` where its library is not installed or not needed; the addresses it takes."""

import subprocess
import sys

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.servers.mcp.listening import Address, check_access, is_bearer

WITHOUT = """
import sys
sys.modules["mcp"] = None
from spanjury.orchestration.cli.app import main
main()
"""
LOADED = """
import sys
from spanjury.orchestration.cli.app import app
try:
    app(["{flag}"])
except SystemExit:
    pass
print("loaded:", *sorted({{"mcp", "mcp_types", "pydantic", "uvicorn"}} & sys.modules.keys()))
"""


def test_without_the_extra_it_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "mcp", "--judge", "form"],
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'spanjury[mcp]'" in done.stderr


def test_the_help_of_all_commands_does_not_load_the_protocol() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(flag="--help")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert " mcp " in done.stdout
    assert done.stdout.endswith("loaded:\n")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("", "127.0.0.1", 8766),
        ("9000", "127.0.0.1", 9000),
        (":9000", "127.0.0.1", 9000),
        ("localhost", "localhost", 8766),
        ("localhost:0", "localhost", 0),
        ("0.0.0.0:80", "0.0.0.0", 80),
        ("[::1]:9000", "::1", 9000),
        ("[::1]", "::1", 8766),
        ("judge.example:9000", "judge.example", 9000),
    ],
)
def test_an_address_is_read(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host=host, port=port)


@pytest.mark.parametrize("text", ["::1", "host:port", "1.2.3.4:65536", "http://x", "a b", "a:1:2"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected HOST:PORT"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
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
def test_only_this_machine_needs_no_token(host: str, is_loopback: bool) -> None:
    address = Address(host=host)
    assert address.is_loopback == is_loopback
    check_access(address, "a-secret-of-some-length")
    if is_loopback:
        check_access(address, None)
    else:
        with pytest.raises(ConfigError, match="SPANJURY_SERVE_TOKEN"):
            check_access(address, None)


@pytest.mark.parametrize("token", ["short", "with blanks in the middle", "mit-Umlaut-äöü-äöü"])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(ConfigError, match="16 printable ASCII characters") as raised:
        check_access(Address(), token)
    assert token not in str(raised.value)


@pytest.mark.parametrize(
    ("header", "is_right"),
    [
        ("Bearer secret", True),
        ("bearer secret", True),
        ("Bearer secret ", True),
        ("Bearer Secret", False),
        ("Bearer secre", False),
        ("Bearer sécret", False),
        ("Bearer", False),
        ("secret", False),
        ("Basic secret", False),
        ("", False),
    ],
)
def test_a_header_holds_the_token_or_it_does_not(header: str, is_right: bool) -> None:
    assert is_bearer(header, "secret") == is_right
