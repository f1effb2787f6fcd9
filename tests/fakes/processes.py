"""Programs that are run to their end."""

import subprocess
from collections.abc import Sequence


def completed(
    command: Sequence[str], *, code: int | None = 0, **options: object
) -> "subprocess.CompletedProcess[str]":
    """Run `command` and return what it printed; it must exit with `code`, None for any."""
    ended: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]  # the options of each test
        command, capture_output=True, text=True, check=False, **options
    )
    assert code in {None, ended.returncode}, ended.stderr
    return ended
