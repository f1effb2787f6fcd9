"""Judges that have a checker check for them are handed it."""

from collections.abc import Callable, Mapping

from spanjury.judges.core import ConfigError, choices_for
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.config import KIND
from spanjury.orchestration.wiring.plugins import CHECKERS, built, parameters

CHECKER, FOLDER = "checker", "folder"
"""Parameter of a judge that is handed a checker, and name of the plugin that opens a folder, whose
option for it is called the same."""


def with_checker(
    factory: Callable[..., object], options: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of a judge, with the checker that it asks for in place of its options.

    Options that the judge does not have are the checker's.

    Raise `ConfigError` if neither has an option, or there is no such checker; `PluginError` if it
    is none.
    """
    accepted = parameters(factory)
    if CHECKER not in accepted:
        return dict(options)
    of_judge = {name for name in accepted if name != CHECKER}
    rest = {name: value for name, value in options.items() if name not in of_judge}
    kind = str(rest.pop(KIND, FOLDER))
    opener = CHECKERS.get(kind)
    of_checker = set(parameters(opener))
    for option in rest.keys() - of_checker:
        choices = choices_for(option, sorted({*of_judge, *of_checker, KIND}))
        raise ConfigError(f"judge 'checker' has no option {option!r}; {choices}")
    checker = checked_checker(built(opener, kind, rest), kind)
    return {**{name: options[name] for name in options if name in of_judge}, CHECKER: checker}
