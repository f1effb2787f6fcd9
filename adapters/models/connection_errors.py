"""The reason why no connection to a server could be made."""

import os
import ssl

import aiohttp


def connection_problem(error: BaseException) -> str:
    """Return which server cannot be connected to, and why; empty if `error` has another cause.

    The failed connection may be the cause of `error`, at any depth.
    """
    failed = _failed_connection(error)
    return f"cannot connect to {failed.host}:{failed.port}: {_reason(failed)}" if failed else ""


def connection_problem_in_log(error: BaseException) -> str:
    """Return `connection_problem` without the server's address, or a reason that may contain it."""
    failed = _failed_connection(error)
    if failed is None:
        return ""
    return f"cannot connect: {_reason(failed)}" if failed.os_error.errno else "cannot connect"


def _failed_connection(error: BaseException | None) -> aiohttp.ClientConnectorError | None:
    """Return the first failed connection among `error`, its cause, the cause of that, and so on."""
    while error is not None and not isinstance(error, aiohttp.ClientConnectorError):
        error = error.__cause__ or error.__context__
    return error


def _reason(error: aiohttp.ClientConnectorError) -> str:
    """Return the reason without the address, in the words of the operating system if it has any."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    reason = error.os_error
    if isinstance(reason, ssl.SSLError) or not reason.errno:
        return str(reason)
    if reason.errno < 0:  # the name of the host has no address
        return str(reason.strerror).lower()
    return os.strerror(reason.errno).lower()
