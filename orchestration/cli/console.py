"""The console of every command: no foreign text can control the terminal."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from spanjury.judges.core import shown, shown_json
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import say, standard_output

with lazily():
    from spanjury.orchestration.cli import report_view as reports

_PICTURES = frozenset({".png", ".svg"})


class CleanConsole(Console):
    """A console that escapes control characters and ignores markup, also when piped.

    With `soft_wrap`, the terminal wraps long lines.
    """

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(
            file=None if stderr else standard_output(),
            stderr=stderr,
            soft_wrap=soft_wrap,
            highlight=False,
            markup=False,
            emoji=False,
        )

    @property
    def is_watched(self) -> bool:
        """True if it is a terminal that can show animations."""
        # With FORCE_COLOR, rich treats a file as a terminal, which is right for colours only.
        return self.is_interactive and self.file.isatty()

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render a value for printing; all texts pass through here, including those in tables."""
        if isinstance(renderable, str):
            renderable = shown(renderable)
        elif isinstance(renderable, Text):
            renderable = _cleaned(renderable)
        return super().render(renderable, options)


def _cleaned(text: Text) -> Text:
    """Return `text` with control characters escaped; its styles keep their positions."""
    clean = shown(text.plain)
    if clean == text.plain:
        return text
    copy = text.copy()
    copy.plain = clean
    return copy


def print_view(view: RenderableType) -> None:
    """Print a table, or any other rich renderable."""
    CleanConsole().print(view)


def print_report(report: "reports.Report") -> None:
    """Print a report as tables."""
    print_view(reports.report_view(report))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print texts in columns."""
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")  # a truncated name would be useless
    for row in rows:
        table.add_row(*row)
    print_view(table)


def print_json(value: object) -> None:
    """Print a value as JSON; infinite bounds are null."""
    CleanConsole(soft_wrap=True).print(shown_json(value, indent=2))


def say_files(written: Sequence[Path]) -> None:
    """Print the path of each written file."""
    for path in written:
        say(f"written: {path}")


def say_written(written: Sequence[Path], *, counts_pictures: bool = False) -> None:
    """Print the path of each written file, and a reason if there is no picture among them.

    If `counts_pictures`, pictures are only counted.
    """
    pictures = [path for path in written if path.suffix in _PICTURES]
    if counts_pictures:
        files = ", ".join(str(path) for path in written if path not in pictures)
        count = f" and {len(pictures)} pictures in {pictures[0].parent}" if pictures else ""
        say(f"written: {files}{count}")
    else:
        say_files(written)
    if not pictures:
        is_installed = find_spec("matplotlib") is not None
        reason = "nothing to draw" if is_installed else "pip install 'spanjury[plots]'"
        say(f"no pictures: {reason}")
