"""Groups of flags on a command: their expansion, their values, and the help."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
import typer
from fakes.processes import completed
from typer.testing import CliRunner, Result

from spanjury.exams import PanelStudy, Parameter, Plan
from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.app import app
from spanjury.orchestration.cli.command import CommandGroup, Flag, Flags
from spanjury.orchestration.cli.study import study_command


class Paint(Flags, title="Paint"):
    """A group within a group."""

    colour: Annotated[str, Flag("Its colour.", env="PAINT_COLOUR")] = "red"
    coats: Annotated[int, Flag("How many coats.", min=1, rare=True)] = 1
    gloss: Annotated[
        Literal["matt", "high"] | None, Flag("Its gloss.", "[=high]", bare="matt", rare=True)
    ] = None


class Fence(Flags, title="Fence"):
    """A group with every kind of flag."""

    planks: Annotated[tuple[Path, ...], typer.Argument(metavar="PLANK…")]
    nail: Annotated[tuple[str, ...], Flag("A nail; repeatable.")] = ()
    is_gated: Annotated[bool, typer.Option("--gate", help="With a gate.")] = False
    paint: Paint = Paint()


class Stain(Flags, title="Stain", are_rare=True, have_env=True):
    """A group whose flags are all rare, and have environment variables."""

    shade: Annotated[str, Flag("Its shade.")] = "oak"
    tins: Annotated[int, Flag("How many tins.", env="TINS")] = 1


_built: list[tuple[Fence, int]] = []
_stained: list[Stain] = []


def build(*, fence: Fence, metres: Annotated[int, Flag("Its length.")] = 2) -> None:
    """Build a fence."""
    if not fence.nail:
        raise ConfigError("no nails")
    _built.append((fence, metres))


def stain(*, stain: Stain) -> None:
    """Stain a fence."""
    _stained.append(stain)


class Commands(CommandGroup):
    functions: ClassVar = {"build": lambda: build, "stain": lambda: stain}


@pytest.fixture
def fences() -> Callable[..., Result]:
    _built.clear()
    program = typer.Typer(cls=Commands, rich_markup_mode=None)
    program.callback()(lambda: None)
    return lambda *args, **env: CliRunner().invoke(program, args, env={"COLUMNS": "100", **env})


@pytest.mark.parametrize(
    ("flags", "gloss"), [((), None), (("--gloss",), "matt"), (("--gloss=high",), "high")]
)
def test_a_flag_may_stand_alone_before_what_is_not_its_value(
    fences: Callable[..., Result], flags: tuple[str, ...], gloss: str | None
) -> None:
    assert fences("build", "--nail", "a", *flags, "plank").exit_code == 0
    ((fence, _),) = _built
    assert (fence.paint.gloss, fence.planks) == (gloss, (Path("plank"),))


def test_the_usage_line_has_no_braces(fences: Callable[..., Result]) -> None:
    usage = fences("build", "--help").output.splitlines()[0]
    assert "[OPTIONS] PLANK" in usage
    assert "[OPTIONS] PLANK" in fences("build").output


def test_groups_hold_the_values_of_their_flags(fences: Callable[..., Result]) -> None:
    done = fences("build", "a", "b", "--nail", "x", "--nail", "y", "--gate", "--coats", "3")
    assert done.exit_code == 0, done.output
    paint = Paint(coats=3)
    fence = Fence(planks=(Path("a"), Path("b")), nail=("x", "y"), is_gated=True, paint=paint)
    assert _built == [(fence, 2)]


def test_defaults_and_variables_are_those_of_the_fields(fences: Callable[..., Result]) -> None:
    assert fences("build", "a", "--nail", "x", PAINT_COLOUR="blue").exit_code == 0
    assert _built == [(Fence(planks=(Path("a"),), nail=("x",), paint=Paint(colour="blue")), 2)]


@pytest.mark.parametrize(
    ("flags", "coats", "metres"),
    [
        (("--coats", "3", "--metres", "12"), 3, 12),
        (("--coats", " 3", "--metres", "-2"), 3, -2),  # typer reads these
    ],
)
def test_numbers_are_read_from_digits_and_from_what_else_typer_takes(
    fences: Callable[..., Result], flags: tuple[str, ...], coats: int, metres: int
) -> None:
    assert fences("build", "--nail", "a", *flags, "plank").exit_code == 0
    [(fence, length)] = _built
    assert (fence.paint.coats, length) == (coats, metres)


@pytest.mark.parametrize(
    "flags", [("--coats", "0"), ("--coats", "two"), ("--metres", "1.5"), ("--metres", "1_0")]
)
def test_numbers_out_of_bounds_and_other_texts_are_refused(
    fences: Callable[..., Result], flags: tuple[str, ...]
) -> None:
    done = fences("build", "--nail", "a", *flags, "plank")
    assert done.exit_code == 2
    assert flags[1] in done.output or flags[0] in done.output


@pytest.mark.parametrize("command", ["evaluate", "rescore", "merge"])
def test_a_dash_names_no_file_unless_the_command_writes_to_standard_output(command: str) -> None:
    refused = CliRunner().invoke(app, [command, "x", "-o", "-"])
    assert (refused.exit_code, "got '-', expected a file" in refused.stderr) == (2, True)
    assert "got '-'" not in CliRunner().invoke(app, ["export", "x", "-o", "-"]).stderr


def test_errors_of_ours_and_of_usage_are_exit_codes(fences: Callable[..., Result]) -> None:
    refused = fences("build", "a")
    assert (refused.exit_code, refused.stderr) == (2, "spanjury: no nails\n")
    assert fences("build", "a", "--nail", "x", "--coats", "0").exit_code == 2
    assert fences("build").exit_code == 2
    assert "Did you mean 'build'?" in fences("biuld").stderr


def test_a_group_may_be_rare_and_have_environment_variables_as_a_whole(
    fences: Callable[..., Result],
) -> None:
    _stained.clear()
    assert fences("stain", SPANJURY_SHADE="teak", TINS="2").exit_code == 0
    assert _stained == [Stain(shade="teak", tins=2)]
    assert "--shade" not in fences("stain", "--help").stdout
    full = fences("stain", "--help-all").stdout
    assert "Stain, more:" in full
    assert "[SPANJURY_SHADE]" in full
    assert "[TINS]" in full


@dataclass(frozen=True, slots=True, kw_only=True)
class Poster(PanelStudy[None]):
    """An exam with a parameter that is called as an attribute of a group of flags."""

    title: Annotated[str, Parameter("Title of the poster.")] = "Untitled"

    def plan(self) -> Plan[None]:
        raise ConfigError(f"the title is {self.title!r}")


@pytest.mark.parametrize(("flags", "title"), [((), "Untitled"), (("--title", "Sea"), "Sea")])
def test_an_exam_may_have_a_parameter_called_title(flags: tuple[str, ...], title: str) -> None:
    class Posters(CommandGroup):
        functions: ClassVar = {"poster": lambda: study_command(Poster, name="poster")}

    program = typer.Typer(cls=Posters, rich_markup_mode=None)
    program.callback()(lambda: None)
    done = CliRunner().invoke(program, ["poster", "--demo", *flags])
    assert f"the title is {title!r}" in done.stderr
    assert "Exam:" in CliRunner().invoke(program, ["poster", "--help"]).stdout


def test_help_has_sections_and_rare_flags_only_on_request(fences: Callable[..., Result]) -> None:
    short, full = fences("build", "--help").stdout, fences("build", "--help-all").stdout
    for shown in (short, full):
        order = [
            "Fence:",
            "\n  PLANK",
            "--nail",
            "Paint:",
            "--colour",
            "Options:",
            "--metres",
            "Help:",
        ]
        places = [shown.index(word) for word in order]
        assert places == sorted(places)
    assert "--coats" not in short
    assert "PAINT_COLOUR" not in short
    assert "Paint, more:" in full
    assert "[PAINT_COLOUR]" in full
    assert "build  Build a fence." in fences("--help").stdout


@pytest.mark.parametrize("command", [["demo"], ["doctor"], ["panel", "study"], ["meta"], []])
def test_every_command_has_a_full_help(command: list[str]) -> None:
    short, full = (CliRunner().invoke(app, [*command, flag]) for flag in ("--help", "--help-all"))
    assert (short.exit_code, full.exit_code) == (0, 0)
    assert len(full.stdout) >= len(short.stdout)
    if command == ["demo"]:  # nothing is left out
        assert full.stdout == short.stdout


@pytest.mark.parametrize("command", ["evaluate", "exam discernment", "distil gate"])
def test_the_help_of_a_command_fits_on_a_screen(command: str) -> None:
    program = [sys.executable, "-m", "spanjury", *command.split(), "--help"]
    wide = {**os.environ, "COLUMNS": "100"}
    shown = subprocess.check_output(program, env=wide, text=True).splitlines()
    assert len(shown) <= 45
    assert max(map(len, shown)) <= 100


def test_every_flag_is_in_the_full_help_once() -> None:
    shown = CliRunner().invoke(app, ["evaluate", "--help-all"]).stdout
    for flag in ("--judge ", "--client ", "--max-connections ", "--ray-workers ", "--log-file "):
        assert shown.count(f"\n  {flag}") == 1
    assert "--via" not in shown


@pytest.mark.parametrize("arguments", [["--help"], ["exam", "--help"], ["evaluate", "--jugde"]])
def test_help_and_a_mistyped_flag_load_nothing_heavy(arguments: list[str]) -> None:
    heavy = "litellm, numpy, scipy, rich.console, spanjury.orchestration.services.judging.evaluate"
    program = (
        "import sys\n"
        "from types import ModuleType\n"
        "from spanjury.orchestration.cli import main\n"
        f"sys.argv = ['spanjury', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"loaded = [name for name in {heavy.split(', ')!r} if name in sys.modules\n"
        "          and type(sys.modules[name]) is ModuleType]  # not a lazy one\n"
        "assert not loaded, loaded\n"
    )
    completed([sys.executable, "-c", program])
