"""Judges that have a small encoder read for them are handed it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from spanjury.adapters.reading.card import is_reader, set_constants
from spanjury.adapters.reading.onnx_reader import open_reader
from spanjury.judges.core import ConfigError
from spanjury.judges.reader.fitting import CheckedText, fitted
from spanjury.judges.reader.tuning import Tuning
from spanjury.orchestration.wiring.plugins import parameters

__all__ = ["ENCODER", "WEIGHTS", "fit_constants", "has_weights", "is_reader", "with_reader"]

ENCODER, WEIGHTS = "encoder", "weights"
"""Parameter of a judge that is handed a reader, and the option that names its folder."""

_TUNING = "tuning"


def has_weights() -> bool:
    """Say whether the package brings a reader."""
    return is_reader(_shipped())


def with_reader(factory: Callable[..., object], options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a judge, with the reader that it asks for in place of its folder.

    A judge that has a parameter for it is handed the constants that were fitted to the reader.

    Raise `ConfigError` if the folder holds no reader, or the package brings none.
    """
    rest = dict(options)
    if ENCODER not in (known := parameters(factory)):
        return rest
    folder = rest.pop(WEIGHTS, None)
    if folder is None and not has_weights():
        raise ConfigError(f"this package brings no reader: name one by {WEIGHTS}=FOLDER")
    reader = open_reader(_shipped() if folder is None else Path(str(folder)))
    if _TUNING in known:
        rest[_TUNING] = dict(reader.constants)
    return {**rest, ENCODER: reader}


def fit_constants(folder: Path, texts: Sequence[CheckedText]) -> Tuning:
    """Fit the judge's constants to the reader in `folder`, write them there, and return them.

    Raise `ConfigError` if there is no reader, and `JudgeError` if it cannot read.
    """
    tuning = fitted(open_reader(folder), texts)
    set_constants(folder, asdict(tuning))
    return tuning


def _shipped() -> Path:
    return Path(str(files("spanjury.adapters.reading"))) / "weights"
