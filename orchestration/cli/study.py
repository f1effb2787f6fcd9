"""The command of a study, built from its parameters: flags, output, files and requirements."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field, fields, replace
from functools import partial
from inspect import Parameter as Argument
from inspect import Signature, cleandoc
from pathlib import Path
from types import new_class
from typing import Annotated, Any, get_origin

import typer

from spanjury.judges.core import ConfigError, choices_for
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags, check_names
from spanjury.orchestration.cli.exits import GATE, say
from spanjury.orchestration.cli.flags.data import BareTexts, Columns, DataFlags, Human, Sample
from spanjury.orchestration.cli.flags.panel import PanelFlags, WriterFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags, NoProgress
from spanjury.orchestration.report.files import PAGE_ENDING, Destination
from spanjury.orchestration.services.exams.flag import Declared, own_parameters
from spanjury.orchestration.services.exams.study import (
    TWO_SOURCES,
    FileStudy,
    MarkedStudy,
    PanelStudy,
    Plan,
    planned,
)

with lazily():
    import anyio

    from spanjury.orchestration.cli import console, logging, progress, session
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.viewing import sources
    from spanjury.orchestration.studies import card
    from spanjury.orchestration.wiring import runs

Own = Mapping[str, Declared]
"""The fields that a study declares as parameters."""
_Part = tuple[str, object, object]
"""Name, annotation and default of a flag."""

PrintJson = Annotated[bool, Flag("Print JSON instead of tables.")]
Folder = Annotated[Path | None, Flag("Folder for pages and JSON.", "FOLDER", also="-o")]

Output = Annotated[
    Path, Flag("Folder for the findings; the same command resumes from it.", "FOLDER", also="-o")
]
Recipe = Annotated[
    str, Flag("Recipe of the damage: a name, such as dhp/summarization, or a TOML file.", env=True)
]
Require = Annotated[
    tuple[str, ...],
    Flag("Exit with 5 unless this holds (>=, <=, >, <); repeatable.", "MEASURE>=NUMBER"),
]
_WRITER, _OPTIONS = "writer", "Options"


def study_command(study: type[PanelStudy[object]], *, name: str) -> Callable[..., None]:
    """Return the command function of `study`, from which `command` makes flags.

    Its own parameters come first, then the output of its findings. The flags for texts, the panel,
    the limits and the log are the same for every study.
    """
    own = own_parameters(study)
    writes = _WRITER in study.__dataclass_fields__
    data = Annotated[Path | None, typer.Argument(metavar="DATA", help=study.data_help)]
    demo = Annotated[bool, Flag(study.demo_help)]
    output = Path(study.folder or name)
    targets = [("output", Output, output), ("html", Html, None), ("require", Require, ())]
    parts = [*_declared(own), *targets]
    check_names(field_name for field_name, *_ in parts)
    groups: dict[str, type[Flags]] = {
        "texts": _group(
            DataFlags, [("data", data, None), ("demo", demo, False)], title=DataFlags.title
        ),
        "exam": _group(Flags, parts, title="Exam"),
        "judges": PanelFlags,
        **({_WRITER: WriterFlags} if writes else {}),
        "limits": LimitFlags,
        "show": LogFlags,
    }
    return _function(partial(_run, study, own, name=name), study, groups, name=name)


def file_command(study: type[FileStudy[object]], *, name: str) -> Callable[..., None]:
    """Return the command function of `study`, from which `command` makes flags."""
    own = own_parameters(study)
    sections: dict[str, dict[str, Declared]] = {}
    for field_name, spec in own.items():
        sections.setdefault(spec.parameter.section, {})[field_name] = spec
    last = sections.pop(_OPTIONS, {})
    groups: dict[str, type[Flags]] = {}
    if issubclass(study, MarkedStudy):
        marks = [*_marks_flags(study), *_declared(sections.pop("", {}))]
        groups["marks"] = _group(Flags, marks, title="Scores and marks")
    else:
        last = {**sections.pop("", {}), **last}
    for title, declared in sections.items():
        groups[title] = _group(Flags, [*_declared(declared)], title=title)
    targets: list[_Part] = [
        ("html", Html, None),
        ("json", PrintJson, False),
        ("no_progress", NoProgress, False),
    ]
    if study.has_folder:
        targets = [("output", Folder, None), *targets]
    groups["places"] = _group(Flags, [*_declared(last), *targets], title=_OPTIONS)
    # Titles are not valid keywords of a function.
    keys = {f"group_{number}": kind for number, kind in enumerate(groups.values())}
    return _function(partial(_run_on_files, study, own), study, keys, name=name)


def _function(
    run: Callable[..., None],
    study: type[object],
    groups: Mapping[str, type[Flags]],
    *,
    name: str,
) -> Callable[..., None]:
    def function(**given: Any) -> None:  # noqa: ANN401  groups of flags, each of its own type
        run(**given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = cleandoc(study.__doc__ or "").partition("\n\nParameters\n")[0]
    function.__annotations__ = dict(groups)
    arguments = [
        Argument(group, Argument.KEYWORD_ONLY, annotation=kind) for group, kind in groups.items()
    ]
    function.__signature__ = Signature(arguments)  # type: ignore[attr-defined]  # read by `command`
    return function


def _marks_flags(study: type[MarkedStudy[object]]) -> list[_Part]:
    runs_kind: object = tuple[Path, ...] if study.several else Path
    aspect: object = str if study.of_one_aspect else tuple[str, ...]
    argument = typer.Argument(metavar="RUN", help=study.results_help)
    return [
        ("results", Annotated[runs_kind, argument], MISSING),
        ("human", Human, None),
        ("sample", Sample, None),
        ("data", BareTexts, None),
        ("aspect", Annotated[aspect, Flag(study.aspect_help)], "" if study.of_one_aspect else ()),
        ("column", Columns, ()),
    ]


def _declared(own: Own) -> Iterator[_Part]:
    """Yield the flags of parameters: name, annotation and default of each."""
    for name, spec in own.items():
        parameter = spec.parameter
        kind = spec.kind if parameter.kind is None else parameter.kind
        repeats = get_origin(kind) is tuple
        flag: object = parameter
        if spec.is_positional:
            flag = typer.Argument(metavar=parameter.metavar, help=parameter.help)
        elif repeats:
            flag = replace(parameter, help=f"{parameter.help.removesuffix('.')}; repeatable.")
        has_own = parameter.read is parameter.usual is None
        default = () if repeats else spec.default if has_own else parameter.usual
        yield parameter.name or name, Annotated[kind, flag], default


def _group(base: type[Flags], parts: Sequence[_Part], *, title: str) -> type[Flags]:
    """Return a group of flags, given name, annotation and default of each."""

    def body(group: dict[str, Any]) -> None:
        group["__annotations__"] = {name: kind for name, kind, _ in parts}
        group |= {name: field(default=usual) for name, _, usual in parts}

    return new_class(f"{title}Flags", (base,), {"title": title}, body)


def _run(  # noqa: PLR0913  groups of flags
    study: type[PanelStudy[object]],
    own: Own,
    *,
    name: str,
    texts: Any,  # noqa: ANN401  made for each study, as is that of `exam`
    exam: Any,  # noqa: ANN401
    judges: PanelFlags,
    limits: LimitFlags,
    show: LogFlags,
    writer: WriterFlags | None = None,
) -> None:
    """Run an exam; raise `ConfigError` if flags contradict each other."""
    logging.log_to(show.log_file)
    target = Destination(folder=exam.output, page=exam.html)
    if texts.demo and texts.data is not None:
        raise ConfigError(TWO_SOURCES)
    values: dict[str, Any] = {
        "data": texts.data,
        "panel": judges.config(),
        "task": texts.task,
        "aspects": texts.aspect,
        "aspects_files": texts.aspects_file,
        "columns": texts.column,
        "limit": texts.limit,
        "limits": limits.limits(),
        "failures": limits.failures(),
    }
    values |= _read(own, partial(getattr, exam))
    for field_name, spec in own.items():
        if (address := spec.parameter.address) and values[field_name] is not None:
            values[field_name] = judges.calls.applied(values[field_name], base_url=values[address])
    if writer is not None:
        values[_WRITER] = writer.config(judging=judges)
    asked = study(
        **(study.with_demo(values) if texts.demo else values),
        memory=exam.output / runs.MEMORY_NAME,
    )
    plan = planned(asked, name=name)
    run_planned(
        asked,
        plan,
        gates=_gates(exam.require, card.ranges_of(plan.measures)),
        target=target,
        quiet=show.no_progress,
        show=lambda report: console.print_report(report.document),
    )


def run_planned(
    asked: PanelStudy[Any],
    plan: Plan[Any],
    *,
    gates: "Sequence[card.Gate]",
    target: Destination,
    quiet: bool,
    show: "Callable[[study_report.StudyReport[Any]], None]",
) -> None:
    """Run a planned exam, print its report by `show`, and write it.

    Exit with 3 if nothing has a score, and with 5 if a requirement is not met. Raise `ConfigError`
    before the run if every value of a measure meets a requirement, or none does.
    """
    folder = target.folder
    assert folder is not None  # the command always names one
    ranges = card.ranges_of(plan.measures)
    for gate in gates:
        gate.require_decisive(ranges[gate.name])
    if plan.scope:
        say(plan.scope)
    panel = asked.described
    report, summary = session.run_exam(
        plan.run,
        total=plan.total,
        limits=asked.limits,
        memory=folder / runs.MEMORY_NAME,
        quiet=quiet or not plan.total,
        panel=panel,
    )
    show(report)
    before = study_report.examined_seats(folder)
    with progress.working("writing the report", quiet=quiet):
        written = target.write(report.write)
    if asked.has_pictures:
        console.say_written(written)
    else:
        console.say_files(written)
    if any(path.name == sources.JUDGED_TEXTS for path in written):
        say(f"all texts on a page: spanjury view {shlex.quote(str(folder))}")
    now = study_report.examined_seats(folder)
    if before and before != now:
        say(
            f"{folder}: the results of {', '.join(before)} were replaced by those of "
            f"{', '.join(now)}; another -o keeps both"
        )
    if summary.whole.total:
        session.require_coverage(summary.whole.coverage, at_least=0.0, panel=panel)
    exit_if_missed(_missed(gates, report.measures.values()), written=written)


def _run_on_files(study: type[FileStudy[object]], own: Own, **groups: Flags) -> None:
    flags: dict[str, Any] = {
        part.name: getattr(group, part.name)
        for group in groups.values()
        for part in fields(group)  # type: ignore[arg-type]  # a group is a dataclass
    }
    folder = flags["output"] if study.has_folder else None
    target = Destination(folder=folder, page=flags["html"])
    values = _read(own, flags.__getitem__)
    if issubclass(study, MarkedStudy):
        aspects = flags["aspect"]
        values |= {name: flags[name] for name in ("results", "human", "sample", "data")}
        values["aspects"] = tuple(filter(None, [aspects])) if study.of_one_aspect else aspects
        values["columns"] = flags["column"]
    with progress.working("reading the files", quiet=flags["no_progress"]) as begin:
        report = anyio.run(study(**values, on_part=begin).answer)
    if flags["json"]:
        console.print_json(report.values)
    else:
        console.print_report(report.document)
    with progress.working("writing the report", quiet=flags["no_progress"]):
        written = target.write(report.write)
    if study.has_pictures and folder is not None:
        console.say_written(written, counts_pictures=True)
    else:
        console.say_files(written)
    for line in report.closing:
        say(line)
    exit_if_missed(report.missed, written=written)


def _read(own: Own, flag: Callable[[str], Any]) -> dict[str, Any]:
    """Return the values of the parameters that are given by flags."""
    values: dict[str, Any] = {}
    for name, (_, parameter, *_) in own.items():
        value = flag(parameter.name or name)
        if parameter.read is None:
            values[name] = value
        elif value:
            values[name] = parameter.read(value)
    return values


def _gates(required: Sequence[str], ranges: "card.Ranges") -> "list[card.Gate]":
    """Parse requirements; raise `ConfigError` for a measure that the exam does not have."""
    gates = [card.parse_gate(text) for text in required]
    for gate in gates:
        if gate.name not in ranges:
            raise ConfigError(f"no such measure {gate.name!r}; {choices_for(gate.name, ranges)}")
    return gates


def _missed(gates: "Sequence[card.Gate]", measures: "Iterable[card.Measure]") -> Iterator[str]:
    """Yield the requirements that are not met, with the measured values."""
    measured = {measure.name: [measure] for measure in measures}
    for gate in gates:  # there may have been no data to measure
        nothing = card.Measure(name=gate.name, value=None, says="", count=0)
        measured.setdefault(gate.name, [nothing])
        if not (result := gate.result(measured)).met:
            yield result.line


def exit_if_missed(missed: Iterable[str], *, written: Sequence[Path]) -> None:
    """Print missed requirements and the page with the reasons; exit with 5 if there are any."""
    lines = list(missed)
    for line in lines:
        say(f"not met: {line}")
    if lines:
        for page in [path for path in written if path.suffix == PAGE_ENDING][-1:]:
            say(f"see why: {page}")
        raise typer.Exit(GATE)


def exam_card(
    *,
    folders: Annotated[
        tuple[Path, ...],
        typer.Argument(metavar="FOLDER", help="Output folders of one judge's exams."),
    ],
    require: Require = (),
    output: Annotated[
        Path | None, Flag("Folder for card.md, .html and .json.", "FOLDER", also="-o")
    ] = None,
    html: Html = None,
) -> None:
    """Combine the exams of one judge on one page, and check requirements."""
    target = Destination(folder=output, page=html)
    gates = [card.parse_gate(text) for text in require]
    joined = study_report.read_judge_card(folders)
    # Checked before any output, since a name may be unknown.
    missed = [result.line for result in card.results(joined, gates) if not result.met]
    console.print_report(card.card_report(joined, gates=gates))
    written = target.write(
        lambda folder: study_report.write_judge_card(folder, joined, gates=gates)
    )
    console.say_files(written)
    exit_if_missed(missed, written=written)
