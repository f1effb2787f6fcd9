"""Shared style, colours and labels of all pictures, and functions to save them.

Figures are made without `pyplot`, which keeps its figures in a global list.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from textwrap import wrap

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from spanjury.judges.core import ConfigError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Colours of Okabe and Ito, distinguishable with any colour vision; yellow is too pale on white."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")

_ENDINGS = (".png", ".svg")
_DPI = 150
_WIDTH, _LINES = 24, 2
_STYLE = {
    "font.family": ["DejaVu Sans"],  # bundled with matplotlib, so present everywhere
    "svg.fonttype": "none",  # text stays text, for search and screen readers
    "svg.hashsalt": "spanjury",  # reproducible ids in the file
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
}


@contextmanager
def drawing(*paths: Path) -> Iterator[None]:
    """Apply our style in the context, ignoring the user's settings for pictures.

    matplotlib's style is global to the process, so two threads must not draw at once.

    Raises `ConfigError` if a path ends in neither ``.png`` nor ``.svg``.
    """
    for path in paths:
        if path.suffix not in _ENDINGS:
            raise ConfigError(f"a picture ends in .png or .svg, got {path.name!r}")
    with style.context(_STYLE, after_reset=True):
        yield


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes; its size is in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def save(figure: Figure, *paths: Path, dpi: int = _DPI) -> None:
    """Write a figure that `drawing` made to each path in its format, reproducibly."""
    FigureCanvasAgg(figure)
    if engine := figure.get_layout_engine():
        # Left to `savefig`, the layout costs another drawing for every file.
        figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_layout_engine(None)
    for path in paths:
        dated = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=dpi, metadata=dated)


def label(name: str, *, width: int = _WIDTH) -> str:
    """Return a name in at most two lines of `width` characters; cut a longer one in the middle."""
    text = _drawable(" ".join(name.split())) or "(no name)"
    most = width * _LINES
    if len(text) > most:
        text = f"{text[: most // 2 - 1]}…{text[-(most - most // 2 - 1) :]}"
    return text if len(text) <= width else _in_two_lines(text, width)


def labels(names: Sequence[str], *, width: int = _WIDTH) -> list[str]:
    """Return one label per name; equal labels are numbered."""
    shortened = [label(name, width=width) for name in names]
    times, seen = Counter(shortened), Counter[str]()
    for number, name in enumerate(shortened):
        if times[name] > 1:
            seen[name] += 1
            shortened[number] = f"{name} ({seen[name]})"
    return shortened


def say_empty(axes: Axes) -> None:
    """Draw the words "nothing to draw" in place of a meaningless scale."""
    axes.text(0.5, 0.5, "nothing to draw", transform=axes.transAxes, ha="center", color="#404040")
    axes.set(xticks=[], yticks=[])


def note(figure: Figure, lines: Sequence[str]) -> None:
    """Write lines of text below the picture."""
    width = max(30, int(figure.get_figwidth() * 14))  # characters that fit on a line
    wrapped = [part for line in lines for part in wrap(_drawable(line), width)]
    if wrapped:
        figure.supxlabel("\n".join(wrapped), fontsize=8, color="#404040", x=0.01, ha="left")


def short_number(value: float) -> str:
    """Format a correlation: two decimals, no minus before zero.

    Examples
    --------
    >>> [short_number(value) for value in (0.5, -0.123, 1.0, -0.001, float("nan"))]
    ['0.50', '-0.12', '1.00', '0.00', 'undefined']
    """
    return "undefined" if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def _in_two_lines(text: str, width: int) -> str:
    """Break a text at the space nearest its middle, or there if a line would be too long."""
    middle = len(text) / 2
    fitting = range(len(text) - width - 1, width + 1)
    spaces = [at for at in fitting if text[at] == " "]
    if not spaces:
        return f"{text[: round(middle)]}\n{text[round(middle) :]}"
    at = min(spaces, key=lambda space: abs(space - middle))
    return f"{text[:at]}\n{text[at + 1 :]}"


def _drawable(text: str) -> str:
    """Return `text` with characters that the font lacks replaced by escapes."""
    supported = _characters()
    return "".join(
        letter if ord(letter) in supported else letter.encode("unicode_escape").decode()
        for letter in text
    )


@cache
def _characters() -> frozenset[int]:
    """Return the code points that the font has; of white space, only the plain space."""
    shapes = get_font(findfont("DejaVu Sans")).get_charmap()
    return frozenset(shape for shape in shapes if chr(shape).isprintable())
