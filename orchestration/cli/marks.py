"""`spanjury marks`, `sample`, `align`: people's marks, texts to mark, and definitions that fit."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from spanjury.judges.core import Aspect, ConfigError, choices_for, counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import ERROR, say, say_each
from spanjury.orchestration.cli.flags.data import (
    AspectsFiles,
    Columns,
    RunOrResults,
    Task,
    TextsFlag,
)
from spanjury.orchestration.cli.flags.panel import ModelBaseUrls
from spanjury.orchestration.cli.flags.run import RandomSeed, TableAsJson
from spanjury.orchestration.services.exams.flag import DRAWS, SEED

with lazily():
    from spanjury.judges.tasks import catalogue
    from spanjury.orchestration.cli import console, progress
    from spanjury.orchestration.report import files, html, markdown, tables
    from spanjury.orchestration.services.people import align as aligning
    from spanjury.orchestration.services.people import sampling
    from spanjury.orchestration.services.people.marks import (
        comparison,
        exporting,
        guideline,
        importing,
        marked_run,
    )
    from spanjury.orchestration.studies import estimates
    from spanjury.orchestration.studies.agreement import people
    from spanjury.orchestration.wiring import config as configs

_ENDINGS = {".factgenie.jsonl": "factgenie", ".mqm.tsv": "mqm", ".jsonl": "rows"}


def list_marks(*, run: RunOrResults) -> None:
    """List annotators, and how many texts of a run each of them marked."""
    marks = marked_run.MarkedRun(run).marks
    annotators, damaged = marked_run.progress(marks)
    if annotators:
        console.print_table(
            ("annotator", "marks", "done", "spans"),
            (
                [person.annotator, *map(str, (person.marks, person.done, person.spans))]
                for person in annotators
            ),
        )
        say(f"{counted(len(annotators), 'annotator')} in {marks}")
    else:
        say(f"no one has marked {run}: mark its texts with 'spanjury view {run}'")
    _end_if_damaged(damaged)


def export(
    *,
    run: RunOrResults,
    output: Annotated[
        Path, Flag("File to write: .jsonl, .factgenie.jsonl or .mqm.tsv.", "FILE", also="-o")
    ],
    form: Annotated[
        str | None, Flag("Format, regardless of the file's name: rows, factgenie or mqm.", "FORM")
    ] = None,
    annotator: Annotated[
        tuple[str, ...],
        Flag("Annotator whose marks to write; all annotators by default; repeatable.", "NAME"),
    ] = (),
    unfinished: Annotated[bool, Flag("Also write unfinished marks.")] = False,
    data: TextsFlag = None,
) -> None:
    """Export people's marks as rows of data, factgenie lines or an MQM table."""
    form = form or _form_of(output)
    read = marked_run.read_readings(marked_run.MarkedRun(run, data=data), without_damaged=True)
    chosen = read.chosen(annotators=annotator, with_unfinished=unfinished)
    written = exporting.write_marks(output, chosen, form=form)
    marks = counted(written.marks, "mark is", "marks are")
    say(f"{marks} in {output}, in {counted(written.lines, 'line')}")
    if without := len(chosen) - written.marks:
        say(
            f"{counted(without, 'mark was', 'marks were')} left out: only rows hold unfinished"
            " marks, and scores of people who did not look for errors"
        )
    if (unsaid := len(read.readings) - len(chosen)) and not annotator:
        say(
            f"{counted(unsaid, 'unfinished mark was', 'unfinished marks were')} left out"
            " (--unfinished exports them)"
        )
    if read.other_versions:
        say(
            f"{read.other_versions} marks belong to texts, or versions of texts, that the data lack"
        )
    _end_if_damaged(read.damaged)


def _form_of(output: Path) -> str:
    for ending, form in _ENDINGS.items():
        if output.name.endswith(ending):
            return form
    raise ConfigError(
        f"cannot export marks to {output}: expected a name that ends in {', '.join(_ENDINGS)}, or"
        " --form"
    )


def import_marks(
    *,
    run: RunOrResults,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Marked texts: rows, .factgenie.jsonl or .mqm.tsv."),
    ],
    annotator: Annotated[
        str | None, Flag("Annotator of the marks; by default the one that the file names.", "NAME")
    ] = None,
    aspect: Annotated[str | None, Flag("Aspect of marks that name none.", "NAME")] = None,
    replace: Annotated[
        bool, Flag("Replace marks that the same annotator already made on the same row.")
    ] = False,
    data: TextsFlag = None,
) -> None:
    """Import people's marks of the same texts into a run, and list those that fit no row.

    Exits with 1 if no mark in the file belongs to a text of the run.
    """
    named = marked_run.MarkedRun(run, data=data)
    done = importing.import_marks(named, file, annotator=annotator, aspect=aspect, replaces=replace)
    say(
        f"{counted(done.marks, 'mark was', 'marks were')} imported into {named.marks};"
        f" {counted(done.unchanged, 'was', 'were')} there already"
    )
    say_each(
        done.kept,
        "mark differs from the run's own, which was kept (--replace replaces it)",
        "marks differ from the run's own, which were kept (--replace replaces them)",
    )
    for unjudged, count in sorted(done.unjudged.items()):
        left_out = counted(count, "mark was", "marks were")
        say(f"{left_out} left out: the run does not judge {unjudged}")
    say_each(
        done.unmatched,
        "mark does not fit the run and was left out",
        "marks do not fit the run and were left out",
    )
    if not (done.marks or done.unchanged or done.kept):
        raise typer.Exit(ERROR)


def agreement(
    *,
    run: RunOrResults,
    draws: Annotated[int, DRAWS] = 1000,
    seed: Annotated[int, SEED] = 1,
    json: TableAsJson = False,
    data: TextsFlag = None,
) -> None:
    """Measure how far annotators agree, and what share of judges' spans they keep."""
    marked = marked_run.MarkedRun(run, data=data)
    with progress.working("comparing annotators"):
        agreed = comparison.people_agreement(
            marked, settings=estimates.Settings(seed=seed, draws=draws)
        )
        judged = marked_run.judges_spans(marked)
    if json:
        console.print_json(
            {
                "aspects": people.people_json(agreed.aspects),
                "judges": people.judges_json(judged.judges),
                "stale_marks": judged.stale,
                "note": agreed.note,
            }
        )
        return
    if agreed.aspects or judged.judges:
        title = "Agreement of annotators"
        console.print_report(
            people.people_report(agreed.aspects, judges=judged.judges, title=title)
        )
    if agreed.note:
        say(agreed.note)
    if judged.stale:
        say(
            f"{judged.stale} finished marks are not counted in shares of judges' spans: the results"
            " now hold other spans"
        )


def write_guideline(
    *,
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="RUN", help="Run whose aspects to explain; or name a task with --task."
        ),
    ] = None,
    task: Task = None,
    aspect: Annotated[
        tuple[str, ...],
        Flag("Aspect to explain; repeatable. By default all of the run or of the task."),
    ] = (),
    output: Annotated[
        Path | None, Flag("File to write, .html or .md; printed by default.", "FILE", also="-o")
    ] = None,
    aspects_file: AspectsFiles = (),
) -> None:
    """Write a guideline for annotators: how to mark, severities with examples, each aspect.

    The page of `spanjury view RUN` shows the same while a person marks.
    """
    if output is not None and output.suffix not in {".html", ".md"}:
        raise ConfigError(f"a guideline ends in .html or .md, got {output.name!r}")
    report = guideline.guideline(_explained(run, task, aspect, files=aspects_file))
    if output is None:
        console.print_report(report)
        return
    write = html.report_html if output.suffix == ".html" else markdown.report_markdown
    files.write_whole(output, write(report).encode())
    say(f"the guideline is in {output}")


def _explained(
    run: Path | None, task: str | None, names: Sequence[str], *, files: Sequence[Path]
) -> list[Aspect]:
    if (run is None) == (task is None):
        raise ConfigError("name either a run or a task: spanjury marks guideline --task NAME")
    if task is not None:
        tasks = catalogue.Catalogue.load(*files)
        if names:
            return [tasks.aspect(task, name) for name in names]
        return list(tasks.aspects(task))
    assert run is not None  # checked above
    aspects = marked_run.MarkedRun(run).aspects
    judged = [aspect.name for aspect in aspects]
    if strange := [name for name in names if name not in judged]:
        raise ConfigError(
            f"{run} was not judged on {strange[0]}; {choices_for(strange[0], judged)}"
        )
    return [aspect for aspect in aspects if not names or aspect.name in names]


def _end_if_damaged(names: Sequence[str]) -> None:
    """Print the marks that were left out, and exit with 1 if there are any."""
    if names:
        say_each(names, "mark is damaged and was left out", "marks are damaged and were left out")
        raise typer.Exit(ERROR)


def sample(
    *,
    run: RunOrResults,
    output: Annotated[Path, Flag("JSONL file for the sampled texts.", also="-o")],
    number: Annotated[int, Flag("Number of texts to sample.", also="-n", min=1)] = 50,
    for_: Annotated[
        Literal["calibration", "disagreement", "audit"],
        Flag("Sample texts over all scores, texts on which seats differ, or mostly unusual texts."),
    ] = "calibration",
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect whose scores count; all by default; repeatable.")
    ] = (),
    seed: RandomSeed = 1,
    data: TextsFlag = None,
    column: Columns = (),
) -> None:
    """Sample texts of a run for people to mark; each row keeps its sampling probability.

    Mark them with `spanjury view RUN --rows FILE`. Then pass the file with --sample to `spanjury
    calibrate`, `panel study`, `panel cascade`, `meta` and `rank`, which use these probabilities.
    """
    with progress.working("reading the results"):
        drawn = sampling.draw(
            marked_run.MarkedRun(run, data=data, columns=column),
            size=number,
            purpose=for_,
            seed=seed,
            output=output,
            aspects=aspect,
        )
    console.print_table(
        ("stratum", "panel's scores", "texts", "drawn", "chance"),
        (
            [
                stratum.name,
                tables.between(*drawn.scores.get(stratum.name, (None, None))),
                f"{stratum.texts:,}",
                f"{stratum.drawn:,}",
                f"{stratum.inclusion:.1%}",
            ]
            for stratum in drawn.strata
        ),
    )
    say(f"{drawn.texts} of {drawn.of:,} texts are in {output}")
    texts = f" --data {data}" if data else ""
    say(f"mark them: spanjury view {run} --rows {output}{texts}")


def align(
    *,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder or name of a run.")],
    aspect: Annotated[str, Flag("Aspect to define more sharply.")],
    model: Annotated[
        str | None,
        Flag("Model that writes the definition; by default the first of the run's panel."),
    ] = None,
    model_base_url: ModelBaseUrls = (),
    output: Annotated[
        Path, Flag("TOML file for the definition, to use with --aspects-file.", "FILE", also="-o")
    ] = Path("aligned.toml"),
    data: Annotated[
        Path | None, Flag("File of the judged texts, if the run's own has moved.", "FILE")
    ] = None,
) -> None:
    """Propose a sharper definition of an aspect where people and the run's panel disagree.

    Half of the sources that people marked are shown to the model. The panel judges the other half
    by the new definition, which is written only if the scores come closer to people's.
    """
    named = configs.ModelConfig(name=model, base_url=model_base_url or None) if model else None
    done = anyio.run(partial(aligning.align, run, aspect=aspect, model=named, data=data))
    console.print_table(
        ("definition", "distance from people"),
        [["present", f"{done.before:.3f}"], ["proposed", f"{done.after:.3f}"]],
    )
    say(f"proposed: {done.aspect.definition}")
    say(
        f"gain on {done.texts} texts of {done.sources} held-out sources: {done.gain:.3f}"
        f" [{done.low:.3f}, {done.high:.3f}] of the scale"
    )
    if done.unscored:
        say(f"{done.unscored} held-out texts got no score by the proposed definition")
    if done.is_better:
        aligning.write_aspect(done.aspect, output)
        say(f"written: {output}; use it with --aspects-file {output}")
    else:
        say("nothing was written: no gain on the held-out texts was shown")
