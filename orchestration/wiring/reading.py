"""Judges that have a small encoder read for them are handed it."""

from collections.abc import Callable, Mapping, Sequence
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
"""Parameter of a judge that is handed a reader, and the option that names its folder."""

_TUNING = "tuning"


def has_weights() -> bool:
    """Say whether the package brings a reader."""
    return card.is_reader(_shipped())


def is_reader(folder: Path) -> bool:
    """Say whether `folder` holds a window reader."""
    return card.is_reader(folder)


def with_reader(factory: Callable[..., object], options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a judge, with the reader that it asks for in place of its folder.

    A judge that has a parameter for it is handed the constants that were fitted to the reader.

    Raise `ConfigError` if the folder holds no reader, or the package brings none.
    """
    rest = dict(options)
    if ENCODER not in (accepted := parameters(factory)):
        return rest
    folder = rest.pop(WEIGHTS, None)
    if folder is None and not has_weights():
        raise ConfigError(f"this package brings no reader: name one by {WEIGHTS}=FOLDER")
    reader = onnx_reader.open_reader(_shipped() if folder is None else Path(str(folder)))
    if _TUNING in accepted:
        wanted = accepted[_TUNING].annotation
        rest[_TUNING] = _tuning(reader.constants, wanted=wanted)
    return {**rest, ENCODER: reader}


def _tuning(constants: Mapping[str, float], *, wanted: object) -> object:
    """Return the constants as the judge takes them; what does not fit is refused with the rest."""
    try:
        return tuning.Tuning(**constants) if wanted is tuning.Tuning else dict(constants)
    except (TypeError, ValueError):
        return dict(constants)


def fit_constants(folder: Path, texts: "Sequence[fitting.CheckedText]") -> "tuning.Tuning":
    """Fit the judge's constants to the reader in `folder`, write them there, and return them.

    Raise `ConfigError` if there is no reader, and `JudgeError` if it cannot read.
    """
    made = fitting.fitted(onnx_reader.open_reader(folder), texts)
    card.set_constants(folder, asdict(made))
    return made


def _shipped() -> Path:
    return Path(str(files("spanjury.adapters.reading"))) / "weights"
