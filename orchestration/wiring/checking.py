"""Judges that have a checker check for them are handed it."""

from collections.abc import Callable, Mapping
from pathlib import Path

from spanjury.judges.core import Calibration, ConfigError, choices_for
from spanjury.judges.core.lazy import lazily, require
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.plugins import CHECKERS, built, parameters

with lazily():
    from spanjury.adapters.checkers import card, export, folder
    from spanjury.judges.checker import judge

CHECKER, FOLDER = "checker", "folder"
"""Parameter of a judge that is handed a checker, and name of the plugin that opens a folder, whose
option for it is called the same."""

_KIND = "kind"
"""Option that names the plugin."""


def with_checker(
    factory: Callable[..., object], options: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of a judge, with the checker that it asks for in place of its options.

    Options that the judge does not have are the checker's. Thresholds that were fitted to a checker
    hold unless others are given.

    Raise `ConfigError` if neither has an option, or there is no such checker; `PluginError` if it
    is none.
    """
    accepted = parameters(factory)
    if CHECKER not in accepted:
        return dict(options)
    of_judge = {name for name in accepted if name != CHECKER}
    rest = {name: value for name, value in options.items() if name not in of_judge}
    kind = str(rest.pop(_KIND, FOLDER))
    opener = CHECKERS.get(kind)
    of_checker = set(parameters(opener))
    for option in rest.keys() - of_checker:
        choices = choices_for(option, sorted({*of_judge, *of_checker, _KIND}))
        raise ConfigError(f"judge 'checker' has no option {option!r}; {choices}")
    checker = checked_checker(built(opener, kind, rest), kind)
    # A checker may bring options that were fitted to it; the port does not ask for them.
    of_both = {**getattr(checker, "judging", {}), **options}
    return {**{name: of_both[name] for name in of_both if name in of_judge}, CHECKER: checker}


def checker_in(path: Path) -> "judge.CheckerJudge":
    """Return the judge that has the checker in the folder `path` check.

    Raise `ConfigError` if there is none.
    """
    return judge.CheckerJudge(checker=folder.open_folder(folder=str(path)))


def set_calibration(path: Path, calibration: Calibration) -> None:
    """Write the constants that were fitted to the checker in `path` beside it."""
    card.write_calibration(path, calibration)


def export_onnx(path: Path, target: Path, *, int8: bool) -> float:
    """Write the checker in `path` for onnxruntime into `target`.

    Returns the largest difference of a probability. Raise `ConfigError` if it cannot be exported or
    a library is missing, and `StoreError` if it cannot be written.
    """
    require(export)
    return export.export_onnx(path, target, int8=int8)
