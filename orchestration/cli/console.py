"""The console on which every command prints: nothing from outside can steer the terminal."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from spanjury.judges.core import shown

__all__ = ["CleanConsole"]


class CleanConsole(Console):
    """A console that shows control characters and takes no markup, also into a pipe.

    Parameters
    ----------
    stderr
        Print on standard error.
    soft_wrap
        Leave long lines to the terminal.
    """

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render what is to be printed; all texts come through here, those in tables too."""
        if isinstance(renderable, str):
            renderable = shown(renderable)
        elif isinstance(renderable, Text):
            renderable = _cleaned(renderable)
        return super().render(renderable, options)


def _cleaned(text: Text) -> Text:
    """Return `text` as it may be shown; its styles stay where they are."""
    clean = shown(text.plain)
    if clean == text.plain:
        return text
    copy = text.copy()
    copy.plain = clean
    return copy
