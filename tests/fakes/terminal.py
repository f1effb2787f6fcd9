"""A terminal of a given width, in which a command runs and a person may answer."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
from collections.abc import Mapping, Sequence
from io import FileIO
from types import MappingProxyType
from typing import NamedTuple

_BLOCK = 65_536
_PATIENCE = 30
"""Seconds: what waits for an answer that never comes is hung up on."""
_INTERRUPT = "\x03"


class Screen(NamedTuple):
    """The lines that a command wrote, and its exit code."""

    lines: list[str]
    code: int


def on_a_terminal(
    arguments: Sequence[str], *, width: int = 80, answers: Mapping[str, str] = MappingProxyType({})
) -> Screen:
    """Run ``spanjury`` with `arguments` on a terminal, in a process of its own.

    Parameters
    ----------
    answers
        What is typed once the command has written a question: a part of it -> the keys.
    """
    command = [sys.executable, "-m", "spanjury", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    for name in ("COLUMNS", "FORCE_COLOR"):
        environment.pop(name, None)
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = os.posix_spawn(
        sys.executable,
        command,
        environment,
        setsid=True,  # so the terminal that it opens next is the one whose Ctrl-C it gets
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(secondary), os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
        ],
    )
    os.close(secondary)
    written = _talk(primary, dict(answers))
    _, status = os.waitpid(process, 0)
    text = written.decode().replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    return Screen(text.replace("\r\n", "\n").splitlines(), os.waitstatus_to_exitcode(status))


def _talk(primary: int, answers: dict[str, str]) -> bytes:
    written, typed = b"", ""
    with os.fdopen(primary, "r+b", buffering=0) as terminal:
        while block := _read(terminal, typed):
            written += block
            for question in [asked for asked in answers if asked.encode() in written]:
                typed = answers.pop(question)
                terminal.write(typed.encode())
    return written


def _read(terminal: FileIO, typed: str) -> bytes:
    """Return what is written next; nothing at the end, or where nothing comes for too long.

    Ctrl-C is typed again, as a person would: Python does not see one that comes just before it
    begins to wait for a line.
    """
    try:
        for _ in range(_PATIENCE):
            if select.select([terminal], [], [], 1.0)[0]:
                return os.read(terminal.fileno(), _BLOCK)
            if typed == _INTERRUPT:
                terminal.write(typed.encode())
    except OSError:  # so Linux says that the last writer has left
        pass
    return b""
