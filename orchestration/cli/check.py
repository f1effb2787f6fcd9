"""`spanjury check`: judge one text against its sources. `spanjury demo`: judge sample texts."""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import (
    ConfigError,
    DataError,
    Outcome,
    RunStoppedError,
    Trajectory,
    counted,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli import exits
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say, standard_output
from spanjury.orchestration.cli.flags.data import (
    Aspects,
    AspectsFiles,
    Criteria,
    RubricFile,
    Task,
    require_model,
)
from spanjury.orchestration.cli.flags.gates import DemandFlags
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import MaxCost, MaxSeconds

with lazily():
    from spanjury.judges import tasks
    from spanjury.orchestration.cli import progress, run_view, segment_view, session
    from spanjury.orchestration.engine import metering, rubric, summary
    from spanjury.orchestration.report import files as report_files
    from spanjury.orchestration.services.judging import check as checks
    from spanjury.orchestration.services.judging import evaluation, text_report
    from spanjury.orchestration.studies.failing import gate as gates
    from spanjury.orchestration.wiring import checker_models, config, sources

_STDIN = "-"
_ROWS = ".jsonl"
_TRACES = (".json", _ROWS)
_MOST_BYTES = 8_000_000
"""Largest size of a file that is read as one text."""


class TextFlags(Flags, title="Text and sources"):
    """The text or the trace to judge, and its inputs."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Text file to judge, or an agent's messages in .json or .jsonl; '-', or no file,"
            " reads standard input.",
            allow_dash=True,
        ),
    ] = None
    text: Annotated[str | None, Flag("Text to judge, in place of FILE.", "TEXT")] = None
    source: Annotated[
        tuple[Path, ...],
        Flag("Text file that FILE was made from, or '-' for standard input; repeatable.", "FILE"),
    ] = ()
    question: Annotated[
        str | None,
        Flag("Question that the text answers; the task is then question-answering.", "TEXT"),
    ] = None
    task: Task = None
    aspect: Aspects = ()
    criterion: Criteria = ()
    rubric: RubricFile = None
    aspects_file: AspectsFiles = ()

    @property
    def output(self) -> "str | Trajectory":
        """The text, or the messages of an agent; raises `DataError` if it cannot be read."""
        if self.text is not None:
            return self.text
        file = self.file or Path(_STDIN)
        text = _read(file)
        is_json = file.suffix in _TRACES or (str(file) == _STDIN and text.startswith(("[", "{")))
        if not is_json:
            return text
        try:
            trajectory = sources.trajectory_in_text(text)
        except DataError as error:
            advice = "to judge it as plain text, put it in a file named .txt"
            raise DataError(f"{self.name}: {error}; {advice}") from error
        if trajectory is None and file.suffix == _ROWS:
            say(f"{self.name} is read as one text; judge its rows by: spanjury evaluate {file}")
        elif trajectory is None and file.suffix in _TRACES:
            say(f"{self.name} is read as plain text: no messages of an agent were recognised in it")
        return trajectory or text

    @property
    def name(self) -> str:
        """The name of the text in the report."""
        return "text" if self.text is not None else _called(self.file or Path(_STDIN))

    def aspects(self) -> tuple[str, ...]:
        """Return the names of the aspects, criteria included."""
        return (*self.aspect, *map(tasks.criterion, self.criterion))

    def sources(self) -> "checks.Source | None":
        """Return the sources; each file has its name if there are several."""
        if not self.source:
            return None
        texts = [_read(path) for path in self.source]
        names = [_called(path) for path in self.source]
        if len(texts) == 1:
            return texts[0]
        return [{"id": name, "text": text} for name, text in zip(names, texts, strict=True)]


def check(
    *,
    text: TextFlags,
    judges: PanelFlags,
    gate: DemandFlags,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    json: Annotated[bool, Flag("Print the report as JSON.")] = False,
) -> None:
    """Judge one text against its sources, or what an agent said and did.

    Prints the text with its errors marked, the evidence and the decision. Nothing is kept. Without
    --judge and --model, the offline judges are used; they need no model, key or network.
    """
    _require_one_text(text)
    panel = judges.config()
    require_model(panel, aspects=text.aspects(), rubric=text.rubric)
    for notice in checker_models.notices(panel):
        say(notice)
    output = text.output
    if isinstance(output, Trajectory):
        calls = sum(len(turn.calls) for turn in output.turns)
        called = f"{calls} call{'s' * (calls != 1)} of tools"
        say(f"read as a trajectory: {counted(len(output.turns), 'turn')}, {called}")
    try:
        request = _request(text, output, gate=gate)
        limits = metering.Limits(max_cost=max_cost, max_seconds=max_seconds)
        report = _judged(panel, request, limits=limits)
    except RunStoppedError as stopped:
        say(f"{stopped}: no report was made; raise the limit, or ask fewer judges")
        raise typer.Exit(exits.LIMIT) from None
    except KeyboardInterrupt:
        say("interrupted: no report is made")
        raise typer.Exit(exits.INTERRUPTED) from None
    if json:
        typer.echo(report.to_json(indent=2), file=standard_output())
    else:
        _show([report])
    if _summed_up([report]).unanswered:
        say("a judge did not answer: the report is not complete")
        session.say_how_to_see_why(panel)
        raise typer.Exit(exits.ERROR)
    if undecided := _undecided(report):
        hint = _missing_source(text, report) if isinstance(output, str) else ""
        say(f"no decision on {', '.join(undecided)}{hint}")
        raise typer.Exit(exits.COVERAGE)
    if missed := list(gates.held_to(gate.terms(), report.results).missed()):
        for line in missed:
            say(f"not met: {line}")
        raise typer.Exit(exits.GATE)


def demo(
    save: Annotated[Path | None, Flag("Write the texts to FILE and judge nothing.", "FILE")] = None,
) -> None:
    """Judge texts that come with spanjury, to show what a report looks like.

    Uses the offline judges, which need no model, key or network. Nothing is kept. With --save, the
    command writes the texts to a file, on which you can try the other commands.
    """
    data = files("spanjury.orchestration").joinpath("demo", "summaries.jsonl")
    if save is not None:
        if save.exists():
            raise DataError(f"{save}: exists already: name another file")
        rows = data.read_bytes()
        report_files.write_whole(save, rows)
        count = len(rows.splitlines())
        say(f"{count} texts are in {save}; judge them: spanjury evaluate {save}")
        return
    _show(evaluation.evaluate(str(data)))
    say("judge a text of your own: spanjury check draft.txt --source article.txt")


def _request(text: TextFlags, output: "str | Trajectory", *, gate: DemandFlags) -> "checks.Request":
    """Return what to judge; raise `ConfigError` if a requirement of `gate` does not fit it."""
    request = checks.request_of(
        output,
        source=text.sources(),
        question=text.question,
        task=text.task,
        aspects=text.aspects(),
        rubric=text.rubric,
        aspects_files=text.aspects_file,
        segment_id=text.name,
    )
    if problem := gates.unfit_term(gate.terms(), request.aspects):
        raise ConfigError(problem)
    return request


def _judged(
    panel: "config.PanelConfig", request: "checks.Request", *, limits: "metering.Limits"
) -> "text_report.TextReport":
    """Judge a text while progress is shown, until a limit is reached or a signal ends it."""
    with progress.working("judging", first_line=progress.EVERY) as begin:

        async def count(done: int, total: int, aspect: str) -> None:
            del aspect
            begin(f"judging: {done} of {counted(total, 'aspect')}")

        judge = partial(checks.judge_within, panel, request, limits=limits, progress=count)
        return session.run_until_signal(judge)


def _require_one_text(text: TextFlags) -> None:
    """Raise `ConfigError` unless the flags name one text, and standard input at most once."""
    if text.text is not None and text.file is not None:
        raise ConfigError("name either FILE or --text, not both")
    piped = [text.text is None and (text.file is None or str(text.file) == _STDIN)]
    piped += [str(path) == _STDIN for path in text.source]
    if sum(piped) > 1:
        raise ConfigError("standard input can be the text or one source, not both")
    if text.text is None and text.file is None and sys.stdin.isatty():
        raise ConfigError("name a FILE, give --text, or pipe the text into the command")


def _show(reports: "Iterable[text_report.TextReport]") -> None:
    shown = list(reports)
    output = run_view.Output()
    for report in shown:
        output.show(segment_view.segment_view(report.results))
    risks = (
        [summary.risk_of(result.report) for result in rubric.deciding(report.results)]
        for report in shown
    )
    output.show(run_view.outlook(_summed_up(shown), unsure=sum(map(summary.is_open, risks))))


def _missing_source(text: TextFlags, report: "text_report.TextReport") -> str:
    """Return advice if the text has no source, or an empty one; "" otherwise."""
    if not text.source:
        return ": pass the source text with --source FILE"
    contents = [each for each in report.segment.inputs.values() if each != text.question]
    return "" if any(each.strip() for each in contents) else ": the source is empty"


def _undecided(report: "text_report.TextReport") -> list[str]:
    """Return the aspects that should have a decision but lack it.

    A judge may abstain from aspects outside its scope, as long as another aspect is decided.
    """
    missing = [result for result in report.results if result.report.decision is None]
    if len(missing) == len(report.results):
        return [result.aspect.name for result in missing]
    return [
        result.aspect.name
        for result in missing
        if result.report.outcome is not Outcome.ABSTAINED
        or result.aspect.lacking(report.segment.inputs)
    ]


def _summed_up(reports: "Sequence[text_report.TextReport]") -> "summary.Summary":
    counted = summary.Summary()
    for report in reports:
        for result in report.results:
            counted.add(result)
    return counted


def _called(path: Path) -> str:
    return "standard input" if str(path) == _STDIN else path.name


def _read(path: Path) -> str:
    """Read a text; raise `DataError` if it is unreadable, empty, too long or not plain text."""
    name = _called(path)
    try:
        if str(path) == _STDIN:
            content = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        advice = ": FILE and --source take paths; --text takes a text" if " " in str(path) else ""
        raise DataError(f"{path}: cannot be read: {error.strerror}{advice}") from error
    if len(content) > _MOST_BYTES:
        raise DataError(f"{name}: is larger than {_MOST_BYTES:,} bytes: judge its parts")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: is not plain text in UTF-8: convert it first") from error
    if "\0" in text:
        raise DataError(f"{name}: is not plain text: convert it first")
    return text.strip("\r\n")
