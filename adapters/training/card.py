"""The model card of a trained model: its data, its training and its results."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from spanjury.adapters.training.job import DataStatistics, Progress
from spanjury.judges.core import VERSION, code_span, markdown
from spanjury.judges.core.lazy import library

CARD = "README.md"
CURVES = "curves.png"
_PACKAGES = ("torch", "transformers", "peft", "xformers")
"""Packages that can change the trained weights."""


def write_card(
    folder: Path,
    *,
    front: Iterable[str],
    data: DataStatistics,
    rows: Iterable[tuple[object, object]],
    device: str,
    options: Mapping[str, object],
    progress: Progress,
    end: Iterable[str] = (),
) -> None:
    """Write `CARD` into a folder, and `CURVES` if matplotlib is installed.

    `front` are the lines before the data, and `end` those after the results. `rows` are numbers of
    examples by use, and `device` says on what the model was trained.
    """
    if find_spec("matplotlib") is not None:
        _draw_curves(folder / CURVES, progress)
    lines = [
        *front,
        *_data_lines(data, rows),
        "## Training",
        "",
        f"On {device}.",
        "",
        *_option_lines(options),
        *_result_lines(progress, folder),
        *end,
        "",
    ]
    (folder / CARD).write_text("\n".join(lines), encoding="utf-8")


def add_to_card(folder: Path, section: str) -> None:
    """Add a section in Markdown to the card in a folder."""
    with (folder / CARD).open("a", encoding="utf-8") as file:
        file.write(f"\n{section}")


def _data_lines(data: DataStatistics, rows: Iterable[tuple[object, object]]) -> list[str]:
    """Return the section about the data; `rows` are numbers of examples by use."""
    lines = ["## Data", "", f"From {code_span(data.source)} (digest {data.digest}).", ""]
    lines += table(("examples", "count"), rows)
    for heading, counts in data.counts.items():
        lines += table((markdown(heading), "examples"), sorted(counts.items()))
    licences = ", ".join(sorted(set(data.licences))) or "not given"
    return [*lines, f"Licences of the sources and the teachers: {markdown(licences)}.", ""]


def _option_lines(options: Mapping[str, object]) -> list[str]:
    """Return tables of the training options, and of the versions of packages."""
    rows = [(name, "" if option is None else option) for name, option in options.items()]
    versions = [("spanjury", VERSION)]
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions.append((package, version(package)))
    return [*table(("option", "value"), rows), *table(("package", "version"), versions)]


def _result_lines(done: Progress, folder: Path) -> list[str]:
    """Return the section about the course of training, with its picture if it is in `folder`."""
    speed = done.tokens / done.seconds if done.seconds else 0.0
    lines = [
        "## Results",
        "",
        f"{done.step} steps, {done.tokens} tokens, {done.seconds:.0f} s, {speed:.0f} tokens/s.",
        "",
    ]
    if done.losses:
        lines += table(("step", "loss in training"), [_rounded(done.losses[-1])])
    if done.validations:
        lines += table(("step", "loss on validation"), map(_rounded, done.validations))
    return [*lines, f"![How the loss fell]({CURVES})"] if (folder / CURVES).exists() else lines


def _draw_curves(path: Path, progress: Progress) -> None:
    """Draw the losses of training steps and validations as a PNG."""
    picture = library("matplotlib.figure", extra="train").Figure(
        figsize=(7, 4), layout="constrained"
    )
    axes = picture.add_subplot()
    if progress.losses:
        steps, losses = zip(*progress.losses, strict=True)
        axes.plot(steps, losses, color="#9bb7d4", linewidth=1, label="training")
    if progress.validations:
        steps, losses = zip(*progress.validations, strict=True)
        axes.plot(steps, losses, color="#b5442e", marker="o", label="validation")
    axes.set_xlabel("step")
    axes.set_ylabel("mean loss of an example (nats per token)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if progress.losses or progress.validations:
        axes.legend(frameon=False)
    picture.savefig(path, format="png", dpi=120)


def table(heads: tuple[str, str], rows: Iterable[tuple[object, object]]) -> list[str]:
    """Return a table in Markdown of two columns, and an empty line."""
    lines = [f"| {markdown(str(left))} | {markdown(str(right))} |" for left, right in rows]
    return [f"| {heads[0]} | {heads[1]} |", "| --- | --- |", *lines, ""]


def _rounded(row: tuple[int, float]) -> tuple[object, object]:
    return row[0], f"{row[1]:.4f}"
