"""Training of the token form: a folder of examples becomes a job for a trainer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanjury.judges.core import ConfigError, LabelledWindow
from spanjury.judges.reader.fitting import CheckedText
from spanjury.judges.reader.windows import Kind
from spanjury.orchestration.services.training.token_set import training_examples
from spanjury.orchestration.studies.distillation.tokens.example import (
    TokenExample,
    labelled_windows,
    read_token_split,
)
from spanjury.orchestration.studies.distillation.training_set import require_whole, split_file
from spanjury.orchestration.wiring.reading import fit_constants
from spanjury.orchestration.wiring.training import (
    DataStatistics,
    TokenJob,
    TokenOptions,
    token_training,
    windows_digest,
)

_UNKNOWN = "(not named)"


def token_training_job(data: Path, *, base: str, folder: Path, options: TokenOptions) -> TokenJob:
    """Read a folder of examples, as `distil build --form tokens` writes it.

    Raise `ConfigError` if there is no example to learn from, or no such base, and `DataError` if
    the set is not whole, or a line is not an example.
    """
    require_whole(data)
    examples = list(read_token_split(data, "train"))
    room = token_training.find_token_base(base).room
    windows = list(_windows(training_examples(examples), room=room))
    if not windows:
        raise ConfigError(f"{data / split_file('train')} holds no sentence to learn from")
    return TokenJob(
        windows=windows,
        validation=list(_windows(read_token_split(data, "validation"), room=room)),
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

    They are the examples for validation of all data sets in which both kinds occur. Raise
    `DataError` as `token_training_job` does.
    """
    texts = [
        CheckedText(
            inputs=example.inputs,
            output=example.output,
            faulty=example.label > 0,
            spans=[(span.start, span.end) for span in example.spans],
            dataset=example.dataset,
        )
        for example in read_token_split(data, "validation")
    ]
    kinds = {(text.dataset, text.faulty) for text in texts}
    texts = [text for text in texts if (text.dataset, not text.faulty) in kinds]
    fit_constants(folder, texts)
    return len(texts)


def _windows(examples: Iterable[TokenExample], *, room: int) -> Iterator[LabelledWindow]:
    for example in examples:
        yield from labelled_windows(example, room=room)


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
