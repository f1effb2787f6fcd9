"""What the flags of `distil gate` say, as a job."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.judges.llm.percent import Reading
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services import discernment as exam
from spanjury.orchestration.services import faithfulness, robustness
from spanjury.orchestration.services.agreement import MetaJob
from spanjury.orchestration.services.evaluate import Job, plan
from spanjury.orchestration.services.gate.context import GateExam
from spanjury.orchestration.services.gate.exams import Discernment, Faithfulness, Robustness
from spanjury.orchestration.services.gate.held_out import HeldOut
from spanjury.orchestration.services.gate.job import (
    BASE,
    DISTILLED,
    JUDGE,
    TEACHER,
    Demands,
    GateJob,
    judge_in,
)
from spanjury.orchestration.services.gate.material import material_of
from spanjury.orchestration.services.gate.people import People
from spanjury.orchestration.services.gate.trained_model import TrainedModel, read_trained_model
from spanjury.orchestration.studies.agreement.findings import Settings as MetaSettings
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.card import Gate, parse_gate
from spanjury.orchestration.studies.discernment.findings import Settings as ExamSettings
from spanjury.orchestration.studies.gate.demands import OverBase
from spanjury.orchestration.studies.robustness.attempts import Settings as RobustnessSettings
from spanjury.orchestration.wiring.config import PanelConfig, parse_options

__all__ = ["ToldGate"]

_PARSED = Gate(name="reports.parsed", relation=">=", bound=0.95)
_OVER_BASE = OverBase(name="spans.f1")
"""Demanded where nothing else is."""
_PLACEHOLDER = PanelConfig()
"""Stands in the jobs of exams until a judge takes its place; they are held for each judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldGate:
    """The flags of `distil gate`, by their names; the command describes them."""

    folder: Path
    data: list[Path]
    option: list[str] | None
    base: str | None
    no_base: bool
    judge: list[str] | None
    teacher: Path | None
    model: list[str] | None
    model_base_url: list[str] | None
    discernment: Path | None
    recipe: str
    faithfulness: Path | None
    robustness: Path | None
    human: Path | None
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
    limit: int | None
    require: list[str] | None
    require_over_base: list[str] | None
    seed: int
    output: Path
    max_cost: float | None
    max_tokens_total: int | None
    max_seconds: float | None
    max_outage: float | None
    no_preflight: bool
    no_progress: bool
    log_file: Path | None

    def job(self) -> GateJob:
        """Read what is there and check what is asked, before anybody is heard.

        Raises
        ------
        EvaluationError
            If something is not there, not whole, or does not fit together.
        """
        demands = self._demands()
        model = read_trained_model(self.folder)
        material = material_of(
            model, self.data, aspects_files=self.aspects_file or (), limit=self.limit
        )
        held_out = HeldOut(
            material=material,
            data=", ".join(map(str, self.data)),
            settings=Settings(seed=self.seed),
        )
        exams = (held_out, *self._exams())
        demands.require_known(exams, measures=held_out.measures)
        return GateJob(
            model=self.folder,
            base_identity=model.base_identity,
            data=tuple(self.data),
            judges=dict(self._judges(model, reading=material.reading)),
            exams=exams,
            demands=demands,
            output=self.output,
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
            cautions=material.cautions,
        )

    def _demands(self) -> Demands:
        if self.no_base and (self.base or self.require_over_base):
            raise ConfigError("--no-base leaves nothing for --base and --require-over-base")
        if self.require is None and self.require_over_base is None:
            return Demands(gates=(_PARSED,), over_base=() if self.no_base else (_OVER_BASE,))
        return Demands(
            gates=tuple(map(parse_gate, self.require or ())),
            over_base=tuple(OverBase(name=name) for name in self.require_over_base or ()),
        )

    def _judges(
        self, model: TrainedModel, *, reading: Reading
    ) -> Iterator[tuple[str, PanelConfig]]:
        _, told = parse_options(f"{JUDGE}:{','.join(self.option or ())}", what="option")
        options = {"reading": reading, **told}
        if not self.no_base:
            yield BASE, judge_in(self.base or model.base, name=BASE, options=options)
        yield DISTILLED, judge_in(str(self.folder), name=DISTILLED, options=options)
        if self.teacher or self.judge or self.model:
            yield TEACHER, self._teacher()

    def _teacher(self) -> PanelConfig:
        told = ToldPanel(
            judge=self.judge,
            panel=self.teacher,
            model=self.model,
            via=None,
            model_base_url=self.model_base_url,
            max_connections=None,
            min_connections=None,
            requests_per_minute=None,
            tokens_per_minute=None,
            timeout=None,
            attempts=None,
            aggregate=None,
            consolidate=None,
            seed=self.seed,
        )
        return told.config()

    def _exams(self) -> Iterator[GateExam]:
        asked = (self._discernment(), self._faithfulness(), self._robustness(), self._people())
        return (exam for exam in asked if exam is not None)

    @property
    def _aspects(self) -> tuple[str, ...]:
        return tuple(self.aspect or ())

    @property
    def _files(self) -> tuple[Path, ...]:
        return tuple(self.aspects_file or ())

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(self.column or ())

    def _discernment(self) -> Discernment | None:
        if self.discernment is None:
            return None
        job = exam.ExamJob(
            data=self.discernment,
            panel=_PLACEHOLDER,
            recipe=self.recipe,
            task=self.task,
            aspects=self._aspects,
            aspects_files=self._files,
            columns=self._columns,
            limit=self.limit,
            settings=ExamSettings(seed=self.seed),
        )
        return Discernment(job=job, exam=exam.exam_of(job))

    def _faithfulness(self) -> Faithfulness | None:
        if self.faithfulness is None:
            return None
        job = faithfulness.FaithfulnessJob(
            data=self.faithfulness,
            panel=_PLACEHOLDER,
            task=self.task,
            aspects=self._aspects,
            aspects_files=self._files,
            columns=self._columns,
            limit=self.limit,
            seed=self.seed,
        )
        return Faithfulness(job=job, exam=faithfulness.exam_of(job))

    def _robustness(self) -> Robustness | None:
        if self.robustness is None:
            return None
        job = robustness.RobustnessJob(
            data=self.robustness,
            panel=_PLACEHOLDER,
            task=self.task,
            aspects=self._aspects,
            aspects_files=self._files,
            columns=self._columns,
            limit=self.limit,
            settings=RobustnessSettings(seed=self.seed),
        )
        return Robustness(job=job, exam=robustness.exam_of(job))

    def _people(self) -> People | None:
        if self.human is None:
            return None
        if not self.aspect:
            raise ConfigError("--human: name what people have rated with --aspect")
        job = Job(
            data=self.human,
            panel=_PLACEHOLDER,
            output=self.output,
            task=self.task,
            aspects=self._aspects,
            aspects_files=self._files,
            columns=self._columns,
            limit=self.limit,
        )
        meta = MetaJob(
            results=(),
            human=self.human,
            aspects=self._aspects,
            columns=self._columns,
            settings=MetaSettings(level="pooled", seed=self.seed),
        )
        assessments = plan(job).assessments
        return People(job=job, assessments=assessments, aspects=self._aspects, meta=meta)
