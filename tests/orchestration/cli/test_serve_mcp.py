"""`spanjury mcp` where its library is not installed or not needed."""

import sys

from fakes.processes import completed

WITHOUT = """
import sys
sys.modules["mcp"] = None
from spanjury.orchestration.cli import main
main()
"""
LOADED = """
import sys
from spanjury.orchestration.cli.app import app
try:
    app(["{flag}"])
except SystemExit:
    pass
loaded = {{"mcp", "mcp_types", "pydantic", "uvicorn"}} & sys.modules.keys()
print("loaded:", *sorted(n for n in loaded if type(sys.modules[n]).__name__ != "_WaitingModule"))
"""


def test_without_the_extra_it_says_what_to_install() -> None:
    done = completed([sys.executable, "-c", WITHOUT, "mcp", "--judge", "form"], code=None, input="")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install 'spanjury[mcp]'" in done.stderr


def test_the_help_of_all_commands_does_not_load_the_protocol() -> None:
    done = completed([sys.executable, "-c", LOADED.format(flag="--help")])
    assert " mcp " in done.stdout
    assert done.stdout.endswith("loaded:\n")
