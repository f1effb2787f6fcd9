"""`spanjury distil build`: make training data from judges' reports, or from damage."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import DataFlags, FileLimit
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import LimitFlags, LogFlags

with lazily():
    from spanjury.orchestration.cli import console, logging, session
    from spanjury.orchestration.services.exams import study
    from spanjury.orchestration.services.training import distil, token_set
    from spanjury.orchestration.studies.distillation import summary, training_set
    from spanjury.orchestration.studies.distillation.tokens import example as token_summary
    from spanjury.orchestration.wiring import config

_RECIPE = "distil"
T = TypeVar("T")


class TextFlags(DataFlags):
    """The flags that name texts and the numbers to sample."""

    data: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="DATA", help="Files of systems' outputs, or of good texts with --from-damage."
        ),
    ]
    aspect: Annotated[
        tuple[str, ...], Flag("Aspect to learn; all aspects of the task by default; repeatable.")
    ] = ()
    limit: FileLimit = None


class TeacherFlags(PanelFlags, title="Teachers"):
    """The flags that name the teachers."""

    seed: Annotated[int, Flag("Seed for sampling, damage and judges.")] = 1


class SetFlags(Flags, title="Training set"):
    """The flags of the training set."""

    form: Annotated[
        Literal["generative", "tokens"],
        Flag("'generative' trains a language model to reply, 'tokens' an encoder to mark words."),
    ] = "generative"
    from_damage: Annotated[
        bool, Flag("Use no teacher: damage the texts, and train on the damage.")
    ] = False
    from_spans: Annotated[
        tuple[str, ...],
        Flag(
            "Texts with errors that people marked, at most N, for --form tokens; repeatable.",
            "FILE[=N]",
        ),
    ] = ()
    held_out: Annotated[
        tuple[str, ...],
        Flag("Texts with marked errors to use for validation only; repeatable.", "FILE[=N]"),
    ] = ()
    recipe: Annotated[
        str | None, Flag("Recipe of the damage; 'distil' by default, 'reader' with --form tokens.")
    ] = None
    output: Annotated[
        Path,
        Flag("Folder for the training set; the same command resumes from it.", "FOLDER", also="-o"),
    ] = Path("distilled")
    systems_per_input: Annotated[
        int, Flag("Outputs to sample for each input.", min=1, rare=True)
    ] = 4
    aspects_per_output: Annotated[
        int, Flag("Aspects to sample for each output.", min=1, rare=True)
    ] = 3
    damages_per_text: Annotated[
        int, Flag("Damaged versions of each good text.", min=1, rare=True)
    ] = 4
    validation: Annotated[
        float, Flag("Share of inputs for validation.", "SHARE", min=0.0, max=0.9)
    ] = 0.1
    test: Annotated[float, Flag("Share of inputs for testing.", "SHARE", min=0.0, max=0.9)] = 0.1
    evaluation: Annotated[
        tuple[Path, ...],
        Flag(
            "File of evaluation data; its inputs are left out of training; repeatable.", rare=True
        ),
    ] = ()
    reading: Annotated[
        Literal["stretched", "share"],
        Flag(
            "Map mean scores to 0 to 100: 'stretched' by (mean-1)*25, 'share' by 20*mean.",
            rare=True,
        ),
    ] = "stretched"

    twins: Annotated[
        int, Flag("Pairs of clean and damaged texts to make, for --form tokens.", min=0, rare=True)
    ] = 16000
    records: Annotated[
        int, Flag("Number of made-up records, for --form tokens.", min=0, rare=True)
    ] = 1500
    copies: Annotated[
        int,
        Flag("Number of times an epoch repeats the texts that people marked.", min=1, rare=True),
    ] = 3

    @property
    def shares(self) -> "training_set.Shares":
        """The shares of the inputs.

        Raises `ConfigError` if nothing is left to train on.
        """
        try:
            return training_set.Shares(validation=self.validation, test=self.test)
        except ValueError as error:
            raise ConfigError(f"--validation and --test: {error}") from error


class LicenceFlags(Flags, title="Licences", are_rare=True):
    """The flags about permission to train."""

    licence: Annotated[str, Flag("Licence of rows that name none, for example CC-BY-4.0.")] = ""
    teacher_licence: Annotated[
        tuple[str, ...],
        Flag("Licence of the reports of a model or a judge; repeatable.", "TEACHER=LICENCE"),
    ] = ()
    require_licence: Annotated[
        bool, Flag("Refuse texts and teachers whose licence does not permit training.")
    ] = False
    accept_licence: Annotated[
        tuple[str, ...], Flag("Another licence that permits training; repeatable.")
    ] = ()

    @property
    def of_teachers(self) -> dict[str, str]:
        """The licence of each teacher."""
        licences: dict[str, str] = {}
        for text in self.teacher_licence:
            teacher, _, licence = text.rpartition("=")
            if not teacher or not licence:
                raise ConfigError(f"--teacher-licence {text!r}: expected TEACHER=LICENCE")
            licences[teacher] = licence
        return licences


class BuildFlags(Flags):
    """The flags of the command."""

    texts: TextFlags
    kept: SetFlags
    teachers: TeacherFlags
    licences: LicenceFlags
    limits: LimitFlags
    show: LogFlags

    @property
    def asks_panel(self) -> bool:
        """True if teachers are named."""
        return bool(self.teachers.panel or self.teachers.judge or self.teachers.model)

    @property
    def shared(self) -> dict[str, Any]:
        """The fields that jobs for both forms share."""
        return {
            "output": self.kept.output,
            "columns": self.texts.column,
            "limit": self.texts.limit,
            "seed": self.teachers.seed,
            "shares": self.kept.shares,
            "evaluation": self.kept.evaluation,
            "licence": self.licences.licence,
            "require_licence": self.licences.require_licence,
            "accepted": self.licences.accept_licence,
        }


def build(*, flags: BuildFlags) -> None:
    """Make training data from a panel's reports on DATA, or from damage to DATA.

    Name the panel with --panel, or with --judge and --model.
    """
    kept = flags.kept
    logging.log_to(flags.show.log_file)
    if kept.recipe and not kept.from_damage:
        raise ConfigError("--recipe needs --from-damage: it is a recipe of damage to texts")
    if kept.form == "tokens":
        _build_tokens(flags)
        return
    if kept.from_spans:
        raise ConfigError("--from-spans needs --form tokens")
    job = _job(flags)
    material = distil.material_of(job)
    if job.panel is None:
        inventory = distil.build_from_damage(job, material)
    else:
        build_set = partial(distil.build_from_panel, job, material)
        inventory = _judged(job, material, build_set, show=flags.show)
    console.print_report(summary.training_set_report(inventory))
    say(f"{inventory.examples} examples are in {job.output}")


def _build_tokens(flags: BuildFlags) -> None:
    """Make training data in the token form: from damage, from marked texts, from a panel."""
    kept = flags.kept
    if not (kept.from_damage or kept.from_spans or flags.asks_panel):
        raise ConfigError(
            "name --from-damage, --from-spans or teachers (--panel, --judge, --model)"
        )
    job = token_set.TokenSetJob(
        clean=flags.texts.data if kept.from_damage else (),
        marked=tuple(map(_marked_file, kept.from_spans)),
        held_out=tuple(map(_marked_file, kept.held_out)),
        recipe=kept.recipe or token_set.RECIPE,
        twins=kept.twins if kept.from_damage else 0,
        records=kept.records if kept.from_damage else 0,
        copies=kept.copies,
        **flags.shared,
    )
    by_panel = []
    if flags.asks_panel:
        panel_job = _job(flags)
        material = distil.material_of(panel_job)
        collect = partial(token_set.panel_examples, panel_job, material, copies=kept.copies)
        by_panel = _judged(panel_job, material, collect, show=flags.show)
    inventory = token_set.build_token_set(job, by_panel)
    console.print_report(token_summary.token_set_report(inventory))
    say(f"{inventory.examples} examples are in {kept.output}")


def _judged(
    job: "distil.DistilJob",
    material: "distil.Material",
    work: "Callable[[study.Live], Awaitable[T]]",
    *,
    show: LogFlags,
) -> T:
    """Have the panel of `job` judge the material in a session, and return the result of `work`."""
    say(f"{len(material.pairs)} assessments of {len(material.rows)} texts")
    result, _ = session.run_exam(
        work,
        total=len(material.pairs),
        limits=job.limits,
        memory=job.memory,
        quiet=show.no_progress,
    )
    return result


def _job(flags: BuildFlags) -> "distil.DistilJob":
    texts, kept = flags.texts, flags.kept
    return distil.DistilJob(
        data=texts.data,
        panel=_panel(flags),
        recipe=kept.recipe or _RECIPE,
        task=texts.task,
        aspects=texts.aspect,
        aspects_files=texts.aspects_file,
        systems=kept.systems_per_input,
        aspects_per_output=kept.aspects_per_output,
        damages_per_text=kept.damages_per_text,
        teacher_licences=flags.licences.of_teachers,
        reading=kept.reading,
        limits=flags.limits.limits(),
        failures=flags.limits.failures(),
        **flags.shared,
    )


def _panel(flags: BuildFlags) -> "config.PanelConfig | None":
    if flags.kept.form == "tokens":
        return flags.teachers.config()
    if flags.asks_panel == flags.kept.from_damage:
        raise ConfigError(
            "name either teachers (--panel, --judge, --model) or --from-damage, not both"
            if flags.asks_panel
            else "name teachers (--panel, --judge, --model), or use --from-damage"
        )
    return flags.teachers.config() if flags.asks_panel else None


def _marked_file(text: str) -> "token_set.MarkedFile":
    path, equals, most = text.rpartition("=")
    if equals and most.isdecimal() and int(most) > 0:
        return token_set.MarkedFile(Path(path), most=int(most))
    return token_set.MarkedFile(Path(text))
