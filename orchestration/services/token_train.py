"""Training of the token form: a folder of examples becomes a job for a trainer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanjury.judges.core import ConfigError, LabelledWindow
from spanjury.judges.reader.fitting import CheckedText
from spanjury.judges.reader.windows import Kind
from spanjury.orchestration.services.token_set import training_examples
from spanjury.orchestration.studies.distillation.tokens.example import (
    TokenExample,
    labelled_windows,
)
from spanjury.orchestration.studies.distillation.tokens.token_files import read_token_split
from spanjury.orchestration.studies.distillation.training_set import require_whole, split_file
from spanjury.orchestration.wiring.reading import fit_constants
from spanjury.orchestration.wiring.training import (
    DataStatistics,
    TokenJob,
    TokenOptions,
    windows_digest,
)

_UNKNOWN = "(not named)"
_LEAST_WORDS = 50  # of a source that a text is judged beside


def token_training_job(data: Path, *, base: str, folder: Path, options: TokenOptions) -> TokenJob:
    """Read a folder of examples, as `distil build --form tokens` writes it.

    Raise `ConfigError` if there is no example to learn from, and `DataError` if the set is not
    whole, or a line is not an example.
    """
    require_whole(data)
    examples = list(read_token_split(data, "train"))
    windows = list(_windows(training_examples(examples)))
    if not windows:
        raise ConfigError(f"{data / split_file('train')} holds no sentence to learn from")
    return TokenJob(
        windows=windows,
        validation=list(_windows(read_token_split(data, "validation"))),
        kinds=len(Kind),
        base=base,
        folder=folder,
        options=options,
        data=DataStatistics(
            source=data.resolve().name,
            digest=windows_digest(windows),
            counts=_counts(examples),
            licences=sorted({example.licence for example in examples if example.licence}),
        ),
    )


def fit_to_validation(data: Path, folder: Path) -> int:
    """Fit the constants of the judge to the model in `folder`; return on how many texts.

    They are the examples for validation, but for those beside a source as short as a sentence:
    pairs of inference are not what is judged. Raise `DataError` as `token_training_job` does.
    """
    texts = [
        CheckedText(
            inputs=example.inputs,
            output=example.output,
            faulty=example.label > 0,
            spans=[(span.start, span.end) for span in example.spans],
        )
        for example in read_token_split(data, "validation")
        if sum(len(text.split()) for text in example.inputs.values()) >= _LEAST_WORDS
    ]
    fit_constants(folder, texts)
    return len(texts)


def _windows(examples: Iterable[TokenExample]) -> Iterator[LabelledWindow]:
    for example in examples:
        yield from labelled_windows(example)


def _counts(examples: Iterable[TokenExample]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for example in examples:
        names = {
            "data set": example.dataset,
            "labels by": example.made_of,
            "damage": example.damage or "none",
            "label": example.label.name.lower(),
            "licence": example.licence or _UNKNOWN,
        }
        for heading, name in names.items():
            counts.setdefault(heading, Counter())[name] += 1
    return counts
