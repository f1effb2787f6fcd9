"""Measured precision of a judge, by category of error, in a file next to its module.

The folder of a judge's module may contain ``precision.toml``, with a table for each figure::

    [[grounding]]                # the judge's name in a panel
    category = "unsupported number"
    precision = 0.85             # share of the errors of this category that people marked, too
    spans = 120                  # number of errors that the share was counted on
    data = "dev_cliff, XSum"
"""

import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from spanjury.judges.core.errors import ConfigError

FILE = "precision.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPrecision:
    """The precision of one category of errors.

    Raises `ValueError` if the share is not 0 to 1, or was counted on no errors.
    """

    category: str
    precision: float
    spans: int
    data: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.precision <= 1.0:
            raise ValueError(f"precision must be 0 to 1, got {self.precision!r}")
        if self.spans < 1:
            raise ValueError(f"spans must be 1 or more, got {self.spans!r}")


def measured_precision(name: str, judge: object) -> tuple[MeasuredPrecision, ...]:
    """Return the measured precisions of the judge called `name`; empty if there are none.

    Raises `ConfigError` if the file cannot be read.

    Parameters
    ----------
    judge
        Its class, or the function that makes it.
    """
    module = str(getattr(judge, "__module__", ""))
    folder = _folder(module)
    if folder is None or not (file := folder.joinpath(FILE)).is_file():
        return ()
    try:
        tables = tomllib.loads(file.read_text("utf-8")).get(name, [])
        return tuple(MeasuredPrecision(**table) for table in tables)
    except (ValueError, TypeError) as error:
        package = module.rpartition(".")[0] or module
        raise ConfigError(f"{FILE} of {package} cannot be read: {error}") from error


def _folder(module: str) -> Traversable | None:
    """Return the folder of an imported module; None if it is in no file."""
    if package := module.rpartition(".")[0]:
        return files(package)
    path = getattr(sys.modules.get(module), "__file__", None)
    return Path(path).parent if path else None
