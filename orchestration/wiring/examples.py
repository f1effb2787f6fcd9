"""Give judges that show examples to a model the texts that people marked."""

from collections.abc import Callable, Mapping
from pathlib import Path

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.wiring.plugins import parameters
from spanjury.orchestration.wiring.sources import open_rows, open_source, readable

with lazily():
    from spanjury.judges.llm import examples

EXAMPLES = "examples"
"""The option of a judge that names the texts."""
MARKS = "marks:"
"""Prefix of the name of a run whose marks are the examples."""


def with_examples(
    factory: Callable[..., object], options: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of a judge, with examples in place of their file or rows.

    Raise `ConfigError` if they cannot be read or contain no example.
    """
    rest = dict(options)
    source, option = rest.get(EXAMPLES), parameters(factory).get(EXAMPLES)
    if source is None or option is None or isinstance(source, examples.Examples):
        return rest
    if option.annotation != examples.Examples | None:  # another package's judge has its own
        return rest
    name = str(source) if isinstance(source, str | Path) else "the examples"
    if name.startswith(MARKS):
        raise ConfigError(
            f"{EXAMPLES}={name}: only the command line reads a run's marks; export them by"
            f" 'spanjury marks export' and name the file"
        )
    try:
        rows = open_source(Path(name)) if isinstance(source, str | Path) else open_rows(source)
        rest[EXAMPLES] = examples.Examples(readable(rows))
    except (DataError, ValueError) as error:
        raise ConfigError(f"{EXAMPLES}={name}: {error}") from error
    return rest
