"""Making a plugin's object: its options are the parameters of what the entry point names."""

import inspect
from collections.abc import Callable, Mapping

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from spanjury.judges.core import ConfigError

__all__ = ["built", "parameters"]


def built(factory: Callable[..., object], name: str, options: Mapping[str, object]) -> object:
    """Call a plugin's factory with its options, each checked against its annotation.

    Raises
    ------
    ConfigError
        If it has no such option, or a value does not fit; names the plugin and the choices.
    """
    known = parameters(factory)
    for option in options:
        if option not in known:
            choices = ", ".join(sorted(known.keys() - {"model"})) or "none"
            raise ConfigError(f"{name!r} has no option {option!r}; it has: {choices}")
    try:
        return factory(**_validated(factory, name, options))
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name!r} cannot be made with {dict(options)!r}: {error}") from error


def _validated(
    factory: Callable[..., object], name: str, options: Mapping[str, object]
) -> dict[str, object]:
    known = parameters(factory)
    checked = dict(options)
    for option in checked.keys() - {"model"}:
        try:
            adapter: TypeAdapter[object] = TypeAdapter(known[option].annotation)
            checked[option] = adapter.validate_python(checked[option])
        except PydanticSchemaGenerationError:
            continue  # a type of the plugin's own: the plugin checks it
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]["msg"]
            raise ConfigError(
                f"option {option!r} of {name!r}: {problem}, got {checked[option]!r}"
            ) from error
    return checked


def parameters(factory: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    """Return the options that a plugin's factory takes, by name."""
    return inspect.signature(factory, eval_str=True).parameters
