"""The token form of training: build a training set, and train a reader or checker on it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import (
    VERSION,
    ConfigError,
    DataError,
    Label,
    LabelledPair,
    LabelledWindow,
    Segment,
    fingerprint,
)
from spanjury.judges.reader.fitting import CheckedText
from spanjury.judges.reader.windows import Kind
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.exams.study import Live
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.services.training.distil import (
    DistilJob,
    Material,
    SetJob,
    harms_of,
    judged,
)
from spanjury.orchestration.studies.distillation.targets import (
    Row,
    require_licences,
    rows_of,
)
from spanjury.orchestration.studies.distillation.tokens.example import (
    FORM,
    TokenExample,
    TokenInventory,
    examples_of_panel,
    examples_of_people,
    group_of,
    labelled_pairs,
    labelled_windows,
    overlaps,
    read_token_split,
    token_line,
    word_runs,
)
from spanjury.orchestration.studies.distillation.tokens.twins import (
    TwinPlan,
    record_examples,
    twins,
)
from spanjury.orchestration.studies.distillation.tokens.verdicts import (
    deciding,
    fitted_to,
    verdict_report,
    verdicts_of,
)
from spanjury.orchestration.studies.distillation.training_set import (
    FORMAT,
    input_keys,
    require_whole,
    split_file,
)
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.wiring.checking import checker_in, set_calibration
from spanjury.orchestration.wiring.reading import fit_constants
from spanjury.orchestration.wiring.sources import read_texts
from spanjury.orchestration.wiring.training import (
    CheckerForm,
    DataStatistics,
    TokenJob,
    TokenOptions,
    add_to_card,
    open_training_files,
    reader_training,
    token_training,
    windows_digest,
)
from spanjury.perturbations.recipe import find_recipe

RECIPE = "reader"
"""Name of the default recipe for damage."""

_HELD = 10
"""Pairs for training per pair for validation."""

_TASK = "grounding"  # rows of any task are accepted, but splits need one name
_UNKNOWN = "(not named)"
Cutter = Callable[[TokenExample], Iterable[LabelledWindow | LabelledPair]]


class MarkedFile(NamedTuple):
    """A file of marked texts, and the number to take, in whole groups; None for all."""

    path: Path
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSetJob(SetJob):
    """A training set of texts with marked parts.

    Rows whose inputs share runs of eight words with those of `evaluation` are left out. Good texts,
    in `clean`, are damaged and copied from; `recipe` is the name or file of the damage. In the
    texts of `marked` people, or a panel, marked what the source does not support; each occurs
    `copies` times in an epoch. The marked texts of `held_out` are used only for validation. `twins`
    and `records` are the numbers of pairs of a clean and a damaged text, and of sentences about
    made-up records.
    """

    clean: tuple[Path, ...] = ()
    marked: tuple[MarkedFile, ...] = ()
    held_out: tuple[MarkedFile, ...] = ()
    recipe: str = RECIPE
    twins: int = 16000
    records: int = 1500
    copies: int = 3


async def panel_examples(
    job: DistilJob, material: Material, live: Live, *, copies: int
) -> list[TokenExample]:
    """Have the panel of `job` judge its material, and return examples with its marks.

    Raise the errors of `judged`.
    """
    results, _ = await judged(job, material, live)
    rows = (row for row, _ in material.pairs)
    return list(examples_of_panel(zip(rows, results, strict=True), copies=copies))


def build_token_set(job: TokenSetJob, by_panel: Sequence[TokenExample] = ()) -> TokenInventory:
    """Build the set, including a panel's examples, and write it; return its inventory.

    Raise `ConfigError` if a name is unknown, or a licence that must permit training does not,
    `DataError` if a file cannot be read, or there is nothing to learn from, and `StoreError` if the
    folder cannot be written.
    """
    inventory = TokenInventory()
    rows = _rows(job, inventory)
    if job.require_licence:
        require_licences([(row.source, row.licence) for row in rows], accepted=job.accepted)
    with open_training_files(job.output) as files:
        for example in chain(_examples(job, rows), by_panel):
            files.append(split_file(example.split), token_line(example))
            inventory.add(example)
        if not inventory.examples:
            raise DataError("there is nothing to learn from: no row says what is supported")
        files.close_with(
            {
                "format": FORMAT,
                "form": FORM,
                "spanjury": VERSION,
                "seed": job.seed,
                "recipe": job.recipe,
                "examples": {" / ".join(key): count for key, count in inventory.made.items()},
                "overlapping": dict(inventory.overlapping),
            }
        )
    return inventory


def _rows(job: TokenSetJob, inventory: TokenInventory) -> list[Row]:
    """Read all rows, and leave out those with inputs of the evaluation."""
    files = [job.read(path) for path in job.clean]
    for file in (*job.marked, *job.held_out):
        read = job.read(file.path)
        if file.most is not None:
            read = replace(read, segments=_drawn(read.segments, most=file.most, seed=job.seed))
        files.append(read)
    held_out = {str(file.path) for file in job.held_out}
    if not files:
        return []
    evaluated = word_runs(chain.from_iterable(map(read_texts, job.evaluation)))
    kept = []
    for row in rows_of(files, task=_TASK, licence=job.licence, shares=job.shares, seed=job.seed):
        if any(overlaps(text, evaluated) for text in row.segment.inputs.values()):
            inventory.overlapping[row.dataset] += 1
        elif row.source in held_out:
            kept.append(replace(row, split="validation"))
        else:
            kept.append(row)
    held = {row.input_id for row in kept if row.source in held_out}
    return [row for row in kept if row.source in held_out or row.input_id not in held]


def _drawn(segments: Sequence[Segment], *, most: int, seed: int) -> tuple[Segment, ...]:
    """Draw whole groups until there are `most` texts; texts of a group stay adjacent."""
    groups = grouped(segments, lambda text: group_of(text) or input_keys(text).whole)
    order = sorted(groups, key=lambda group: fingerprint(str(seed), group))
    drawn = (segment for group in order for segment in groups[group])
    return tuple(islice(drawn, most))


def _examples(job: TokenSetJob, rows: Sequence[Row]) -> Iterator[TokenExample]:
    clean = {str(path) for path in job.clean}
    yield from examples_of_people(
        [row for row in rows if row.source not in clean], copies=job.copies
    )
    effects = grouped(
        harms_of(find_recipe(job.recipe)), lambda harm: harm.perturbation.effect_on("consistency")
    )
    plan = TwinPlan(
        harms=effects.get("falls", []),
        harmless=effects.get("unchanged", []),
        pairs=job.twins,
        seed=job.seed,
    )
    yield from twins(rows, plan, clean=clean)
    if not job.marked:  # marks by people are the better stopping criterion
        held = replace(plan, pairs=job.twins // _HELD, split="validation")
        yield from twins(rows, held, clean=clean)
    yield from record_examples(job.records, seed=job.seed)


def token_training_job(
    data: Path,
    *,
    base: str,
    folder: Path,
    options: TokenOptions,
    checker: CheckerForm | None = None,
) -> TokenJob:
    """Read a folder of examples, as `distil build --form tokens` writes it.

    A checker is validated on data sets that it is not trained on, if both kinds of text occur
    there. Without `checker`, a reader is trained.

    Raise `ConfigError` if there is no example to learn from, or no such base, and `DataError` if
    the set is incomplete, or a line is not an example.
    """
    require_whole(data)
    examples = list(read_token_split(data, "train"))
    validation = list(read_token_split(data, "validation"))
    if checker is None:
        room = reader_training.find_encoder(base).room
        cut: Cutter = partial(labelled_windows, room=room)
    else:
        reads = token_training.find_pair_base(base, checker, max_length=options.max_length)
        cut = partial(
            labelled_pairs, unit=reads.unit, room=reads.room, count_tokens=reads.count_tokens
        )
        validation = deciding(validation, learnt=_datasets(examples))
    windows = list(_in_copies(examples, cut))
    if not windows:
        raise ConfigError(f"{data / split_file('train')} holds no sentence to learn from")
    if checker is not None:
        _require_classes(examples, classes=checker.classes)
    return TokenJob(
        windows=windows,
        validation=[window for example in validation for window in cut(example)],
        checker=checker,
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


def fit_checker_to_validation(data: Path, folder: Path) -> Report:
    """Fit the constants of the judge `checker` to the model in `folder`; return its verdicts.

    The texts are the examples for validation. Raise the `DataError` of `token_training_job`, and
    `JudgeError` if the checker cannot run.
    """
    judge = checker_in(folder)
    learnt = _datasets(read_token_split(data, "train"))
    verdicts = run_synchronously(
        lambda: verdicts_of(judge, read_token_split(data, "validation"), learnt=learnt)
    )
    fitted = fitted_to(verdicts)
    if fitted is not None:
        set_calibration(folder, fitted)
    report = verdict_report(verdicts)
    add_to_card(folder, report_markdown(report))
    return report


def fit_to_validation(data: Path, folder: Path) -> int:
    """Fit the judge's constants to the model in `folder`; return the number of texts used.

    The texts are the examples for validation of all data sets with both kinds. Raise the
    `DataError` of `token_training_job`.
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


def _in_copies(
    examples: Sequence[TokenExample], cut: Cutter
) -> Iterator[LabelledWindow | LabelledPair]:
    """Yield each example's windows as often as an epoch shows them, with copies far apart."""
    cuts = [list(cut(example)) for example in examples]
    for turn in range(max((example.copies for example in examples), default=0)):
        for example, windows in zip(examples, cuts, strict=True):
            if example.copies > turn:
                yield from windows


def _require_classes(examples: Iterable[TokenExample], *, classes: int) -> None:
    """Raise `ConfigError` unless there are examples of each class."""
    labels = {example.label for example in examples}
    labels |= {span.label for example in examples for span in example.spans}
    if Label.SUPPORTED not in labels or labels == {Label.SUPPORTED}:
        raise ConfigError(
            "a checker learns from texts with and without errors, and one kind is lacking"
        )
    if classes > 2 and not {Label.CONTRADICTED, Label.ABSENT} <= labels:  # noqa: PLR2004
        raise ConfigError(
            "no row tells errors that contradict the source from those that are not in it: use"
            " --classes 2"
        )


def _datasets(examples: Iterable[TokenExample]) -> frozenset[str]:
    return frozenset(example.dataset for example in examples)


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
