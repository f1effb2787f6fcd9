"""`spanjury distil gate`: compare a distilled judge with its base and its teacher."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import DataFlags
from spanjury.orchestration.cli.flags.panel import ModelBaseUrls, PanelFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags
from spanjury.orchestration.cli.study import Output, Recipe, Require, exit_if_missed

with lazily():
    from spanjury.judges.llm import distilled_form
    from spanjury.orchestration.cli import console, logging, session
    from spanjury.orchestration.engine import stopping
    from spanjury.orchestration.report import files
    from spanjury.orchestration.services.exams import discernment, faithfulness, robustness, study
    from spanjury.orchestration.services.judging import job as jobs
    from spanjury.orchestration.services.people import marked_texts
    from spanjury.orchestration.services.training.gate import exams, material
    from spanjury.orchestration.studies import card, estimates
    from spanjury.orchestration.studies import gate as gate_study
    from spanjury.orchestration.studies.agreement import scorers
    from spanjury.orchestration.wiring import config, specs


class ModelFlags(Flags, title="Distilled judge"):
    """The flags that name the distilled judge, its base, and its options."""

    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder that `distil train` wrote.")
    ]
    data: Annotated[
        tuple[Path, ...],
        Flag("Folder that `distil build` wrote; its test split is judged; repeatable.", "SET"),
    ]
    option: Annotated[
        tuple[str, ...],
        Flag(
            "Option of the judge `distilled`, for the model and its base; repeatable.",
            "NAME=VALUE",
            rare=True,
        ),
    ] = ()
    base: Annotated[
        str | None,
        Flag("Folder or name of the base model; by default the one that was trained.", rare=True),
    ] = None
    no_base: Annotated[bool, Flag("Do not examine the base model.", rare=True)] = False
    seed: Annotated[int, Flag("Seed for sampling and judges.")] = 1
    output: Output = Path("gate")
    html: Html = None


# No environment variables here: a teacher costs money, so it must be named explicitly.
class TeacherFlags(Flags, title="Teacher"):
    """The flags that name the teacher."""

    teacher: Annotated[
        Path | None,
        Flag("TOML file of the teacher's panel, which is examined as well.", also="--panel"),
    ] = None
    judge: Annotated[tuple[str, ...], Flag("Judge of the teacher; repeatable.")] = ()
    model: Annotated[tuple[str, ...], Flag("Model of the teacher; repeatable.")] = ()
    model_base_url: ModelBaseUrls = ()

    @property
    def is_named(self) -> bool:
        """True if a teacher is named."""
        return bool(self.teacher or self.judge or self.model)

    def panel_config(self, *, seed: int) -> "config.PanelConfig":
        """Return the teacher's panel."""
        return PanelFlags(
            judge=self.judge,
            panel=self.teacher,
            model=self.model,
            model_base_url=self.model_base_url,
            seed=seed,
        ).config()


class ExamFlags(DataFlags, title="More exams"):
    """The flags that name further exams and their texts."""

    discernment: Annotated[
        Path | None, Flag("Also run the exam of discernment, on these good texts.", "DATA")
    ] = None
    recipe: Recipe = "standard"
    faithfulness: Annotated[
        Path | None, Flag("Also run the exam of faithfulness, on these texts.", "DATA")
    ] = None
    robustness: Annotated[
        Path | None, Flag("Also run the exam of robustness, on these texts.", "DATA")
    ] = None
    human: Annotated[
        Path | None,
        Flag("Also compare scores with people's scores of these texts; needs --aspect.", "DATA"),
    ] = None
    limit: Annotated[
        int | None,
        Flag("Sample N examples of each set; use the first N rows of other data.", min=1),
    ] = None


class RequireFlags(Flags, title="Requirements"):
    """The flags that state the requirements."""

    require: Require = ()
    require_over_base: Annotated[
        tuple[str, ...],
        Flag("Measure that must be better than the base model's; repeatable.", "MEASURE"),
    ] = ()

    def demands(self, *, no_base: bool) -> "exams.Demands":
        """Return the requirements; default ones if no flag states any."""
        if not self.require and not self.require_over_base:
            parsed = card.Gate(name="reports.parsed", relation=">=", bound=0.95)
            better = gate_study.OverBase(name="spans.f1")
            return exams.Demands(gates=(parsed,), over_base=() if no_base else (better,))
        return exams.Demands(
            gates=tuple(map(card.parse_gate, self.require)),
            over_base=tuple(gate_study.OverBase(name=name) for name in self.require_over_base),
        )


def gate(
    *,
    model: ModelFlags,
    teacher: TeacherFlags,
    more: ExamFlags,
    required: RequireFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Compare a trained model with its base and its teacher on held-out examples.

    Exits with 5 if a requirement is not met. By default 95 % of the model's reports must be
    readable (reports.parsed>=0.95), and its spans.f1 better than the base model's.
    """
    logging.log_to(show.log_file)
    target = files.Destination(folder=model.output, page=model.html)
    job = _job(model, teacher, more, required=required, limits=limits)
    plan = exams.plan_gate(job)
    say(
        f"{plan.total} assessments by {', '.join(job.judges)};"
        f" exams: {', '.join(exam.name for exam in job.exams)}"
    )
    session.run_exam(
        plan.run, total=plan.total, limits=job.limits, memory=None, quiet=show.no_progress
    )
    findings, written = exams.write_gate(job)
    console.print_report(gate_study.gate_report(findings))
    for caution in job.cautions:
        say(f"note: {caution}")
    written = target.with_page(written)
    console.say_files(written)
    exit_if_missed((result.line for result in findings.missed), written=written)


def _job(
    model: ModelFlags,
    teacher: TeacherFlags,
    more: ExamFlags,
    *,
    required: RequireFlags,
    limits: LimitFlags,
) -> "exams.GateJob":
    """Read the material and check the flags, before any judge works."""
    if model.no_base and (model.base or required.require_over_base):
        raise ConfigError("--no-base excludes --base and --require-over-base")
    trained = material.read_trained_model(model.folder)
    if trained.marks_words and (model.base or required.require_over_base):
        raise ConfigError(
            "the base of an encoder marks nothing: leave out --base and --require-over-base"
        )
    demanded = required.demands(no_base=model.no_base or trained.marks_words)
    examples = material.material_of(
        trained, model.data, aspects_files=more.aspects_file, limit=more.limit
    )
    of_training = exams.HeldOut(
        material=examples,
        data=", ".join(map(str, model.data)),
        settings=estimates.Settings(seed=model.seed),
    )
    return exams.GateJob(
        model=model.folder,
        base_identity=trained.base_identity,
        data=model.data,
        judges=dict(_judges(model, teacher, trained=trained, reading=examples.reading)),
        exams=(of_training, *_exams(more, seed=model.seed, output=model.output)),
        demands=demanded,
        output=model.output,
        limits=limits.limits(),
        failures=limits.failures(stopping.FailurePolicy(min_usable=0.0)),  # it measures the share
        cautions=examples.cautions,
    )


def _judges(
    model: ModelFlags,
    teacher: TeacherFlags,
    *,
    trained: "material.TrainedModel",
    reading: "distilled_form.Reading",
) -> "Iterator[tuple[str, config.PanelConfig]]":
    _, given = specs.parse_options(f"{exams.JUDGE}:{','.join(model.option)}", what="option")
    if trained.marks_words:
        distilled = exams.encoder_in(
            model.folder,
            name=exams.DISTILLED,
            options=given,
            is_checker=trained.checker is not None,
        )
    else:
        options = {"reading": reading, **given}
        if not model.no_base:
            base = model.base or trained.base
            asked_alike = {"layout": trained.judging.layout, **options}
            yield exams.BASE, exams.judge_in(base, name=exams.BASE, options=asked_alike)
        distilled = exams.judge_in(str(model.folder), name=exams.DISTILLED, options=options)
    yield exams.DISTILLED, distilled
    if teacher.is_named:
        yield exams.TEACHER, teacher.panel_config(seed=model.seed)


def _exams(more: ExamFlags, *, seed: int, output: Path) -> "Iterator[exams.GateExam]":
    """Yield the named exams; each judge takes the place of the panel in their jobs."""
    given: dict[str, Any] = {
        "task": more.task,
        "aspects": more.aspect,
        "aspects_files": more.aspects_file,
        "columns": more.column,
        "limit": more.limit,
        "seed": seed,
    }
    kinds: dict[type[study.PanelStudy[object]], tuple[Path | None, dict[str, Any]]] = {
        discernment.Discernment: (more.discernment, {"recipe": more.recipe}),
        faithfulness.Faithfulness: (more.faithfulness, {}),
        robustness.Robustness: (more.robustness, {}),
    }
    for kind, (data, own) in kinds.items():
        if data is not None:
            yield exams.StudyExam(study=kind(data, **given, **own), name=kind.__name__.lower())
    if more.human is not None:
        yield _people(more, more.human, seed=seed, output=output)


def _people(more: ExamFlags, data: Path, *, seed: int, output: Path) -> "exams.People":
    if not more.aspect:
        raise ConfigError("--human needs --aspect: name the aspect that people rated")
    job = jobs.Job(
        data=data,
        panel=config.PanelConfig(),
        output=output,
        task=more.task,
        aspects=more.aspect,
        aspects_files=more.aspects_file,
        columns=more.column,
        limit=more.limit,
    )
    return exams.People(
        job=job,
        assessments=jobs.plan(job).assessments,
        aspects=more.aspect,
        source=marked_texts.MarkedSource(
            results=(), human=data, aspects=more.aspect, columns=more.column
        ),
        settings=scorers.Settings(level="pooled", seed=seed),
    )
