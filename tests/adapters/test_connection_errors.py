import errno
import socket
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from spanjury.adapters.models.connection_errors import (
    connection_problem,
    connection_problem_in_log,
)
from spanjury.adapters.models.model_errors import short_line

KEY = ConnectionKey(
    host="models.example",
    port=8000,
    is_ssl=True,
    ssl=True,
    proxy=None,
    proxy_auth=None,
    proxy_headers_hash=None,
)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            OSError(errno.ECONNREFUSED, "Connect call failed ('192.0.2.1', 8000)"),
            "connection refused",
        ),
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            "name or service not known",
        ),
        (OSError("Multiple exceptions"), "Multiple exceptions"),
        (ssl.SSLError(1, "wrong version number"), "wrong version number"),
    ],
)
def test_a_failed_connection_is_found_behind_other_errors(reason: OSError, words: str) -> None:
    outer = RuntimeError("Connection error.")
    outer.__cause__ = aiohttp.ClientConnectorError(KEY, reason)
    problem = connection_problem(outer)
    assert problem.startswith("cannot connect to models.example:8000: ")
    assert problem.endswith((words, f"{words}')"))
    in_log = connection_problem_in_log(outer)
    assert in_log in {"cannot connect", f"cannot connect: {words}"}
    assert (in_log == "cannot connect") == (reason.errno is None)


def test_a_refused_certificate_is_named() -> None:
    certificate = ssl.CertificateError("self-signed certificate")
    error = aiohttp.ClientConnectorCertificateError(KEY, certificate)
    assert "models.example:8000: " in connection_problem(error)
    assert "self-signed certificate" in connection_problem(error)


def test_another_error_is_no_failed_connection() -> None:
    error = RuntimeError("Connection error.")
    assert not connection_problem(error) + connection_problem_in_log(error)


def test_a_message_holds_no_address_of_an_object() -> None:
    message = "ssl:<ssl.SSLContext object at 0x7f3277887890> failed at 0x10"
    assert short_line(message) == "ssl:<ssl.SSLContext object> failed at 0x10"
