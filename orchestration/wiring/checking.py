"""Give judges the checkers that they use."""

from collections.abc import Callable, Mapping
from pathlib import Path

from spanjury.judges.core import Calibration, ChatModel, ConfigError, choices_for
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.wiring.checker_models import FOLDER, with_folder
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.config import CHECKER, KIND
from spanjury.orchestration.wiring.plugins import (
    CHECKERS,
    JUDGES,
    built,
    parameters,
    takes_any,
    takes_model,
)

with lazily():
    from spanjury.adapters.checkers import card, export, folder
    from spanjury.judges.checker import judge as checker_judge

_MODEL = "model"


def asks_model(judge: str, options: Mapping[str, object]) -> bool:
    """Return whether the judge of this name calls a chat model, itself or through its checker.

    Raise `PluginError` if there is no such judge or checker, or its parameter is of another type.
    """
    factory = JUDGES.get(judge)
    if CHECKER not in parameters(factory):
        return takes_model(factory, judge)
    kind = _kind(judge, options)
    return takes_model(CHECKERS.get(kind), kind)


def with_checker(
    factory: Callable[..., object],
    options: Mapping[str, object],
    *,
    judge: str,
    model: ChatModel | None = None,
) -> dict[str, object]:
    """Return a judge's options, with an opened checker in place of the checker's options.

    Options that the judge lacks belong to the checker. A catalogue model is downloaded if the
    options allow it; a checker that calls a chat model receives `model`. Thresholds fitted to a
    checker apply unless others are given.

    Raise `ConfigError` if neither has an option, or there is no such checker, and `PluginError` if
    the plugin is not a checker.
    """
    accepted = parameters(factory)
    if CHECKER not in accepted:
        return dict(options)
    options = with_folder(options) if _kind(judge, options) == FOLDER else options
    of_judge = {name for name in accepted if name != CHECKER}
    rest = {name: value for name, value in options.items() if name not in of_judge}
    kind = _kind(judge, options)
    rest.pop(KIND, None)
    opener = CHECKERS.get(kind)
    of_checker = parameters(opener).keys() - {_MODEL}
    for option in () if takes_any(opener) else rest.keys() - of_checker:
        choices = choices_for(option, sorted({*of_judge, *of_checker, KIND}))
        raise ConfigError(f"judge {judge!r} has no option {option!r}; {choices}")
    if model is not None:
        rest[_MODEL] = model
    checker = checked_checker(built(opener, kind, rest), kind)
    # A checker may bring options that were fitted to it; the port does not ask for them.
    offered = {**getattr(checker, "judging", {}), **options}
    accepted_by_judge = {name: value for name, value in offered.items() if name in of_judge}
    return {**accepted_by_judge, CHECKER: checker}


def described(judge: str) -> object:
    """Return the factory that documents a judge: its checker of the same name, or its own."""
    return CHECKERS.get(judge) if judge in CHECKERS.names() else JUDGES.get(judge)


def checker_in(path: Path) -> "checker_judge.CheckerJudge":
    """Return a judge that uses the checker in the folder `path`.

    Raise `ConfigError` if there is none.
    """
    return checker_judge.CheckerJudge(checker=folder.open_folder(folder=str(path)))


def set_calibration(path: Path, calibration: Calibration) -> None:
    """Write constants that were fitted to the checker in `path` to its folder."""
    card.write_calibration(path, calibration)


def export_onnx(path: Path, target: Path, *, int8: bool) -> float:
    """Export the checker in `path` for onnxruntime into `target`.

    Return the largest difference of a probability. Raise `ConfigError` if it cannot be exported or
    a library is missing, and `StoreError` if it cannot be written.
    """
    require(export)
    return export.export_onnx(path, target, int8=int8)


def _kind(judge: str, options: Mapping[str, object]) -> str:
    """Return the name of the checker plugin that a judge receives."""
    return str(options.get(KIND, judge if judge in CHECKERS.names() else FOLDER))
