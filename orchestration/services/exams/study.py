"""A study of judges: parameters that are declared once, a plan, and what runs it from Python.

A study is a frozen dataclass. Its fields are the keywords of its function in `spanjury.exams` and,
where they are `Parameter`, the flags of its command. `plan` reads what it is about and asks no
judge; the plan runs it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from inspect import isawaitable
from itertools import islice
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    PluginError,
    Result,
    Segment,
    counted,
    failing_as,
    is_number,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import own_parameters
from spanjury.orchestration.services.exams.functions import from_python

with lazily():
    import anyio

    from spanjury.judges import tasks
    from spanjury.orchestration.engine import metering, progress, stopping, summary
    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.judging import exam_texts, panels, session
    from spanjury.orchestration.services.people import marked_texts
    from spanjury.orchestration.studies import card, judging
    from spanjury.orchestration.wiring import checks, config, plugins

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

OnResult = Callable[[Result], None]
OnProgress = Callable[["progress.Progress"], None]

NO_SOURCE = "name a file of texts, or use --demo"
TWO_SOURCES = "name either a file of texts or --demo, not both"


class Live:
    """A run of a study as it goes on, which is called with each of its results.

    Parameters
    ----------
    total
        The number of results that there will be, unless the study expects others.
    stop_token
        Ends the study early, when a limit or somebody else requests it.
    meter
        Counts what models are asked, and requests the end at a limit of cost or tokens.
    on_result, on_progress
        Called with every result, and with the progress after it.
    """

    def __init__(
        self,
        *,
        total: int,
        stop_token: "stopping.StopToken",
        meter: "metering.Meter",
        on_result: "OnResult | None" = None,
        on_progress: "OnProgress | None" = None,
    ) -> None:
        self.stop_token = stop_token
        self.meter = meter
        self.summary = summary.Summary()
        self.tracker = progress.Tracker(total=total, summary=self.summary, meter=meter)
        self._on_result = on_result
        self._on_progress = on_progress

    def __call__(self, result: Result, /) -> None:
        """Count a result and show it."""
        self.summary.add(result)
        if self._on_result is not None:
            self._on_result(result)
        if self._on_progress is not None:
            self._on_progress(self.tracker.progress())

    def expect(self, total: int) -> None:
        """Expect so many results in all from now on."""
        self.tracker.total = total


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[T_co]):
    """A study that is ready to run.

    Parameters
    ----------
    run
        Runs it; raises `EvaluationError` if it was ended early, or a panel, a model or the memory
        cannot be used.
    total
        The most results that there will be, unless it learns better; 0 where no judge is asked.
    scope
        What it is about, in a line.
    measures
        Name -> range of what it measures; names alone stand for measures without bounds.
    """

    run: "Callable[[Live], Awaitable[study_report.StudyReport[T_co]]]"
    total: int
    scope: str = ""
    measures: "card.Ranges | Sequence[str]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of a study's run, as a session takes them."""

    memory: Path | None
    limits: "metering.Limits"
    failures: "stopping.FailurePolicy"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelStudy(Generic[T_co]):
    """A study in which a panel judges texts.

    Parameters
    ----------
    data
        The texts: a path; or rows as a file holds them, segments, or a data frame of pandas or
        polars.
    panel, judges, models
        As in `open_panel`; without any the offline judges are examined.
    task, aspects, aspects_files
        The task of texts that name none, and the aspects to judge them on, by name or as
        `Aspect`; by default those of the exam or the task. The files add tasks and aspects.
    columns, limit
        As in `read_segments`, and the number of rows that are taken.
    seed
        Seed of all that is drawn at random.
    memory
        A file that keeps replies and reports: the same call goes on with them.
    limits, failures, stop_token
        When the study ends early: at a limit, where a model fails, or when it is asked to.
    on_result, on_progress
        Called with each result as it comes, and with the progress after it.

    Raises
    ------
    ConfigError
        If a name is unknown, or something does not fit together.
    DataError
        If the texts cannot be read.
    RunStoppedError
        If it was ended early.
    RunFailedError
        If a model cannot be used, or does not answer for longer than is waited.
    """

    data_help: ClassVar[str] = "Good texts: a JSONL, CSV or TSV file."
    demo_help: ClassVar[str] = "Use the texts that come with spanjury."
    folder: ClassVar[str] = ""
    """Folder of the command's files; by default the study's name."""
    has_pictures: ClassVar[bool] = False
    """Its files include pictures if matplotlib is installed."""

    data: object = field(default=None, kw_only=False)
    panel: "terms.PanelSource | None" = None
    judges: "panels.Judges" = ()
    models: "panels.Models" = ()
    task: str | None = None
    aspects: "terms.Aspects" = ()
    aspects_files: Sequence[Path] = ()
    columns: Sequence[str] = ()
    limit: int | None = None
    seed: int | None = None
    memory: Path | str | None = None
    limits: "metering.Limits" = field(default_factory=lambda: metering.Limits())  # noqa: PLW0108  loaded then
    failures: "stopping.FailurePolicy" = field(
        default_factory=lambda: stopping.FailurePolicy()  # noqa: PLW0108  as above
    )
    stop_token: "stopping.StopToken | None" = None
    on_result: OnResult | None = None
    on_progress: "OnProgress | None" = None

    def plan(self) -> Plan[T_co]:
        """Read the texts and the names, and return the plan; no judge is asked.

        Raise `DataError` if the texts cannot be read, and `ConfigError` if a name is unknown, or
        something does not fit together.
        """
        raise NotImplementedError

    async def answer(self) -> "study_report.StudyReport[T_co]":
        """Plan the study, run it, and return its report."""
        plan = await anyio.to_thread.run_sync(partial(planned, self, name=type(self).__name__))
        stop_token = self.stop_token or stopping.StopToken()
        live = Live(
            total=plan.total,
            stop_token=stop_token,
            meter=metering.Meter(limits=self.limits, stop_token=stop_token),
            on_result=self.on_result,
            on_progress=self.on_progress,
        )
        return await plan.run(live)

    @classmethod
    def with_demo(cls, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters that are `given`, with the texts that come with spanjury."""
        return {**given, "data": exam_texts.demo_for(given.get("recipe"))}

    @property
    def texts(self) -> "Path | exam_texts.Texts":
        """The texts as a file, or in memory; raise `ConfigError` if there are none."""
        if self.data is None:
            raise ConfigError(NO_SOURCE)
        return exam_texts.texts_of(self.data, columns=self.columns, limit=self.limit)

    @property
    def described(self) -> "config.PanelConfig":
        """The panel; raise `ConfigError` if it cannot be described, or is described twice."""
        return terms.panel_of(self.panel, judges=self.judges, models=self.models, seed=self.seed)

    @property
    def drawn_by(self) -> int:
        """The seed, that of the panel where none is named."""
        seed = self.described.seed
        return 1 if seed is None else seed

    def exam_run(
        self, opened: "session.RunSession", live: Live, *, panel: "config.PanelConfig | None" = None
    ) -> "judging.ExamRun":
        """Return the run in which the panel judges, or another one in its stead."""
        panel = panel or self.described
        return judging.ExamRun(
            open_panel=opened.opener(panel),
            workers=panel.workers,
            stop_token=live.stop_token,
            record=judging.Recorder(live),
            expect=live.expect,
        )

    def session(self, live: Live) -> "AbstractContextManager[session.RunSession]":
        """Open the memory and begin the run; raise `StoreError` if the memory cannot be opened."""
        agreed = Terms(
            memory=terms.memory_of(self.memory), limits=self.limits, failures=self.failures
        )
        return session.open_session(agreed, stop_token=live.stop_token, meter=live.meter)

    async def judged(
        self, live: Live, pairs: Sequence[tuple[Segment, Aspect]]
    ) -> "tuple[judging.Examinee, Mapping[tuple[str, str], Result]]":
        """Judge texts, each on an aspect, and return who judged, and the results.

        The results are by segment id and aspect name. Raise `RunStoppedError` if it was ended
        early, and `EvaluationError` if the panel, a model or the memory cannot be used.
        """
        with self.session(live) as opened:
            exam = self.exam_run(opened, live)
            work = partial(exam.judge, pairs, draw="")
            results: Mapping[tuple[str, str], Result] = await opened.run(work)
            return exam.examinee, results

    def read(
        self, texts: "Path | exam_texts.Texts", *, task: str = "", aspects: Sequence[str] = ()
    ) -> tuple[tuple[Segment, ...], tuple[Aspect, ...]]:
        """Read texts, and find the aspects that they are judged on.

        `task` and `aspects` are those of the exam, where neither the parameters nor the texts name
        any. Raise `DataError` if the data cannot be read, and `ConfigError` if a name is unknown,
        or the texts are not of one task.
        """
        rows = exam_texts.read_texts(texts, columns=self.columns)
        segments = tuple(islice(rows, self.limit))
        task = _task(segments, self.task or "", default=task)
        catalogue = tasks.Catalogue.load(*self.aspects_files)
        names = terms.aspects_of(self.aspects) or aspects or catalogue.task(task).default_aspects
        segments = tuple(map(catalogue.task(task).fit, segments))
        return segments, tuple(
            name if isinstance(name, Aspect) else catalogue.aspect(task, name) for name in names
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStudy(Generic[T_co]):
    """A study of files that are there already; no judge is asked.

    Parameters
    ----------
    on_part
        Called with the name of each part of the work as it begins, from another thread.

    Raises
    ------
    ConfigError
        If a name is unknown, or something does not fit together.
    DataError
        If a file cannot be read, or too little is marked.
    StoreError
        If a file cannot be written.
    """

    has_folder: ClassVar[bool] = True
    """Its command writes a folder of pages and JSON."""
    has_pictures: ClassVar[bool] = False
    """Its files include pictures if matplotlib is installed."""

    on_part: Callable[[str], None] | None = None

    async def answer(self) -> "study_report.StudyReport[T_co]":
        """Return what `find` does, from another thread; raise as it does."""
        return await anyio.to_thread.run_sync(self.find)

    def begin(self, part: str) -> None:
        """Say which part of the work begins."""
        if self.on_part is not None:
            self.on_part(part)

    def find(self) -> "study_report.StudyReport[T_co]":
        """Read the files, and return what is found.

        Raise `ConfigError` if something does not fit together, `DataError` if a file cannot be
        read or too little is marked, and `StoreError` if a file cannot be written.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedStudy(FileStudy[T_co]):
    """A study of runs beside what people said of their texts.

    Parameters
    ----------
    results
        A folder or the name of a run, or a file of results; or several, where the study is of
        several.
    human
        Texts with people's scores or error spans: a path, rows, segments or a data frame; None for
        the marks of the runs.
    sample
        The file of texts that ``spanjury sample`` drew for people to mark.
    data, columns
        The texts of bare files of results, and what the columns of `human` or `data` are called.
        The columns of the run count as well if `human` is the file that it judged.
    aspects
        Without any, all.
    """

    several: ClassVar[bool] = True
    """It takes several runs."""
    of_one_aspect: ClassVar[bool] = False
    """It takes one aspect only."""
    results_help: ClassVar[str] = "Folders or names of runs, or files of results."
    aspect_help: ClassVar[str] = "Aspect that people marked; all by default; repeatable."

    results: "terms.Paths" = field(default=(), kw_only=False)
    human: object = None
    sample: Path | str | None = None
    data: Path | str | None = None
    aspects: str | Sequence[str] = ()
    columns: Sequence[str] = ()

    @property
    def source(self) -> "marked_texts.MarkedSource":
        """The runs and the marks; raise `ConfigError` or `DataError` if `human` is no texts."""
        human, columns = self.human, self.columns
        return marked_texts.MarkedSource(
            results=terms.paths_of(self.results),
            human=None if human is None else exam_texts.texts_of(human, columns=columns),
            sample=terms.path_of(self.sample),
            data=terms.path_of(self.data),
            columns=tuple(self.columns),
            aspects=terms.names_of(self.aspects),
        ).with_columns_of_run()


def scope_of(texts: Sequence[Segment], aspects: Sequence[Aspect], *, parts: str = "") -> str:
    """Return the line that says what an exam is about.

    `parts` names what else is judged, for example ``"3 conditions"``.
    """
    names = ", ".join(aspect.name for aspect in aspects)
    counts = [counted(len(texts), "text"), parts, counted(len(aspects), "aspect")]
    return f"{', '.join(filter(None, counts))}: {names}"


def planned(study: PanelStudy[T], *, name: str) -> Plan[T]:
    """Return the plan of an exam, possibly a plugin's, whose run is checked, too.

    Raise `PluginError`, as the plan's run does, if the exam's code returns something else than it
    should, or fails by another error than an `EvaluationError`. The plan itself raises as
    `PanelStudy.plan` does.
    """
    what = f"exam {name!r}"
    with failing_as(lambda error: PluginError(f"{what}: its plan failed: {error!r}")):
        plan: object = study.plan()
    if not isinstance(plan, Plan):
        raise PluginError(f"{what}: its plan must be a Plan, and is {plan!r}")

    async def run(live: Live) -> "study_report.StudyReport[T]":
        with failing_as(lambda error: PluginError(f"{what}: its run failed: {error!r}")):
            running: object = plan.run(live)
            if not isawaitable(running):
                raise PluginError(f"{what}: its run must be async: write `async def`")
            report: study_report.StudyReport[T] = await running
        _check_report(report, plan, what=what)
        return report

    return replace(plan, run=run)


def _check_report(report: object, plan: Plan[object], *, what: str) -> None:
    """Raise `PluginError` unless a run returned a report with the measures of its plan."""
    if not isinstance(report, study_report.StudyReport):
        raise PluginError(f"{what}: its run must return a StudyReport, and returned {report!r}")
    declared, given = set(plan.measures), set(report.measures)
    for names, problem in (
        (declared - given, "its plan names measures that its report lacks"),
        (given - declared, "its report has measures that its plan does not name"),
    ):
        if names:
            raise PluginError(f"{what}: {problem}: {', '.join(sorted(names))}")
    for name, measure in report.measures.items():
        if not (measure.value is None or is_number(measure.value)):
            raise PluginError(f"{what}: {name} must be a number or None, and is {measure.value!r}")


def find_study(name: str) -> type[PanelStudy[object]]:
    """Return the exam called `name`, ours or a plugin's; raise `PluginError` if there is none."""
    made = plugins.EXAMS.get(name)
    if not (isinstance(made, type) and issubclass(made, PanelStudy)):
        raise PluginError(f"exam {name!r} must be a PanelStudy, and is {made!r}")
    if made.plan is PanelStudy.plan:
        raise PluginError(f"exam {name!r} has no method 'plan'")
    checks.check_plain(made.plan, f"exam {name!r}: plan", arguments=("study",))
    try:
        own = own_parameters(made)
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise PluginError(f"the fields of exam {name!r} cannot be read: {error!r}") from error
    if taken := sorted(own.keys() & set(dir(PanelStudy))):
        raise PluginError(f"exam {name!r} must rename {', '.join(taken)}: every exam has that name")
    return made


@cache
def functions_of_plugins(name: str) -> "tuple[Callable[..., object], ...]":
    """Return the function `name` of a plugin's exam, ``aNAME`` to await; empty without one."""
    names = {exam.replace("-", "_"): exam for exam in plugins.EXAMS.names()}
    for function, index in ((name, 1), (name.removeprefix("a"), 0)):
        if exam := names.get(function):
            return (from_python(find_study(exam), name=function)[index],)
    return ()


def _task(segments: Sequence[Segment], named: str, *, default: str) -> str:
    """Return the task that is `named`, or that of the texts, `default` for those without one."""
    tasks = {named or segment.task or default for segment in segments}
    if len(tasks) != 1 or "" in tasks:
        names = ", ".join(sorted(tasks - {""})) or "none"
        raise ConfigError(f"an exam takes one task, but the data has {names}: name one with --task")
    return tasks.pop()
