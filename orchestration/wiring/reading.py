"""Give judges the small encoder that reads for them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.wiring.plugins import parameters

with lazily():
    from spanjury.adapters.reading import card, onnx_reader
    from spanjury.judges.reader import fitting, tuning

ENCODER, WEIGHTS = "encoder", "weights"
"""Parameter of a judge that receives a reader, and the option that names its folder."""

_TUNING = "tuning"


def has_weights() -> bool:
    """Return whether the package includes a reader."""
    return card.is_reader(_shipped())


def is_reader(folder: Path) -> bool:
    """Return whether `folder` contains a window reader."""
    return card.is_reader(folder)


def with_reader(factory: Callable[..., object], options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a judge, with an opened reader in place of its folder.

    A judge with a parameter for them also receives the constants that were fitted to the reader.

    Raise `ConfigError` if the folder contains no reader, or the package includes none.
    """
    rest = dict(options)
    if ENCODER not in (accepted := parameters(factory)):
        return rest
    folder = rest.pop(WEIGHTS, None)
    if folder is None and not has_weights():
        raise ConfigError(f"this package contains no reader: name one by {WEIGHTS}=FOLDER")
    reader = onnx_reader.open_reader(_shipped() if folder is None else Path(str(folder)))
    if _TUNING in accepted:
        rest[_TUNING] = dict(reader.constants)
        if accepted[_TUNING].annotation is tuning.Tuning:
            with suppress(TypeError, ValueError):  # invalid ones are rejected with other options
                rest[_TUNING] = tuning.Tuning(**reader.constants)
    return {**rest, ENCODER: reader}


def fit_constants(folder: Path, texts: "Sequence[fitting.CheckedText]") -> "tuning.Tuning":
    """Fit the judge's constants to the reader in `folder`, write them there, and return them.

    Raise `ConfigError` if there is no reader, and `JudgeError` if it cannot read.
    """
    constants = fitting.fitted(onnx_reader.open_reader(folder), texts)
    card.set_constants(folder, asdict(constants))
    return constants


def _shipped() -> Path:
    return Path(str(files("spanjury.adapters.reading"))) / "weights"
