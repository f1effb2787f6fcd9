"""The model card of a trained model: its data, its training and its results."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from spanjury.adapters.training import curves
from spanjury.adapters.training.job import DataStatistics, Judging, Progress, TrainingOptions
from spanjury.judges.core import VERSION, code_span, markdown

CARD = "README.md"
CURVES = "curves.png"
_PACKAGES = ("torch", "transformers", "peft", "xformers")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The contents of a model card.

    `base_identity` identifies the base model. `examples` and `validation` are the numbers of
    examples for training and validation. Of both together, `cut` lost the end of a source, and
    `left_out` were skipped as too long. `judging` are the settings for the judge.
    """

    base: str
    base_identity: str
    data: DataStatistics
    options: TrainingOptions
    device: str
    examples: int
    validation: int
    cut: int
    left_out: int
    progress: Progress
    judging: Judging

    def write(self, folder: Path) -> None:
        """Write `CARD` into a folder, and `CURVES` if matplotlib is installed."""
        draw(self.progress, folder)
        results = [*result_lines(self.progress, folder), *_threshold_lines(self.judging)]
        page = "\n".join([*self._front(), *self._data(), *self._training(), *results])
        (folder / CARD).write_text(f"{page}\n", encoding="utf-8")

    def _front(self) -> list[str]:
        return [
            "---",
            "library_name: transformers",
            "pipeline_tag: text-generation",
            f"base_model: {json.dumps(self.base)}",  # YAML reads JSON's strings
            "tags: [spanjury, error-spans, evaluation]",
            "---",
            "",
            "# A judge that marks error spans",
            "",
            (
                f"Trained by spanjury {VERSION} from {markdown(self.base_identity)} with low-rank"
                " adapters, which are merged into the weights here; `adapter/` has them by"
                " themselves."
            ),
            "",
            "`--judge distilled:FOLDER` judges with it, and so does a server of this folder with",
            f"`--judge {self._options()}`.",
            "",
        ]

    def _options(self) -> str:
        """Return the judge with the options that a folder implies, but a server does not."""
        options = f"distilled:layout={self.judging.layout}"
        chosen = self.judging.threshold
        return options if chosen is None else f"{options},threshold={chosen.value:.4g}"

    def _data(self) -> list[str]:
        rows = [("training", self.examples), ("validation", self.validation)]
        rows += [("with a source that was cut", self.cut), ("skipped as too long", self.left_out)]
        return data_lines(self.data, rows)

    def _training(self) -> list[str]:
        return [
            "## Training",
            "",
            f"On {self.device}; {self.progress.micro_batch_size} examples in memory at once.",
            "",
            *option_lines(asdict(self.options)),
        ]


def add_to_card(folder: Path, section: str) -> None:
    """Add a section in Markdown to the card in a folder."""
    with (folder / CARD).open("a", encoding="utf-8") as file:
        file.write(f"\n{section}")


def data_lines(data: DataStatistics, rows: Iterable[tuple[object, object]]) -> list[str]:
    """Return the section about the data; `rows` are numbers of examples by use."""
    lines = ["## Data", "", f"From {code_span(data.source)} (digest {data.digest}).", ""]
    lines += _table(("examples", "count"), rows)
    for heading, counts in data.counts.items():
        lines += _table((markdown(heading), "examples"), sorted(counts.items()))
    licences = ", ".join(sorted(set(data.licences))) or "not given"
    return [*lines, f"Licences of the sources and the teachers: {markdown(licences)}.", ""]


def option_lines(options: Mapping[str, object]) -> list[str]:
    """Return tables of the training options, and of the versions of packages."""
    rows = [(name, "" if option is None else option) for name, option in options.items()]
    versions = [("spanjury", VERSION), *package_versions().items()]
    return [*_table(("option", "value"), rows), *_table(("package", "version"), versions)]


def result_lines(done: Progress, folder: Path) -> list[str]:
    """Return the section about the course of training, with its picture if it is in `folder`."""
    speed = done.tokens / done.seconds if done.seconds else 0.0
    lines = [
        "## Results",
        "",
        f"{done.step} steps, {done.tokens} tokens, {done.seconds:.0f} s, {speed:.0f} tokens/s.",
        "",
    ]
    if done.losses:
        lines += _table(("step", "loss in training"), [_rounded(done.losses[-1])])
    if done.validations:
        lines += _table(("step", "loss on validation"), map(_rounded, done.validations))
    return [*lines, f"![How the loss fell]({CURVES})"] if (folder / CURVES).exists() else lines


def draw(progress: Progress, folder: Path) -> None:
    """Write `CURVES` into a folder if matplotlib is installed."""
    if find_spec("matplotlib") is not None:
        curves.draw_curves(
            folder / CURVES, losses=progress.losses, validations=progress.validations
        )


def package_versions() -> dict[str, str]:
    """Return the versions of installed packages that can change the trained weights."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _threshold_lines(judging: Judging) -> list[str]:
    """Return the table of the threshold and its validation results, if there is one."""
    chosen = judging.threshold
    if chosen is None:
        return []
    remark = (
        f"catches {chosen.caught:.0%} of faulty texts, flags {chosen.false_alarms:.0%} of others"
        f" ({chosen.examples} examples)"
    )
    heads = ("threshold on P(error)", "on validation")
    return ["", *_table(heads, [(f"{chosen.value:.4g}", remark)])]


def _table(heads: tuple[str, str], rows: Iterable[tuple[object, object]]) -> list[str]:
    lines = [f"| {_cell(left)} | {_cell(right)} |" for left, right in rows]
    return [f"| {heads[0]} | {heads[1]} |", "| --- | --- |", *lines, ""]


def _cell(value: object) -> str:
    return markdown(str(value))


def _rounded(row: tuple[int, float]) -> tuple[object, object]:
    return row[0], f"{row[1]:.4f}"
