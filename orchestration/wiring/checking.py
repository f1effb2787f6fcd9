"""Judges that have a checker check for them are handed it."""

from collections.abc import Callable, Mapping

from spanjury.judges.core import ConfigError, choices_for
from spanjury.orchestration.wiring.checker_models import CHECKER, FOLDER, with_folder
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.plugins import CHECKERS, built, parameters

KIND = "kind"
"""Option that names the plugin; the one that opens a folder is called as its option for it."""


def with_checker(
    factory: Callable[..., object], options: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of a judge, with the checker that it asks for in place of its options.

    Options that the judge does not have are the checker's. A model that is named and to be fetched
    is fetched.

    Raise `ConfigError` if neither has an option, or there is no such checker; `PluginError` if it
    is none.
    """
    accepted = parameters(factory)
    if CHECKER not in accepted:
        return dict(options)
    options = options if KIND in options else with_folder(options)
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
