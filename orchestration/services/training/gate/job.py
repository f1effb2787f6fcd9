"""The gate: exams of a distilled judge, of its base and of its teacher, one after the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanjury.judges.core import ConfigError, Result
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken, run_in_time
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.services.exams.exam_card import read_card, write_card
from spanjury.orchestration.services.exams.study import Live
from spanjury.orchestration.services.training.gate.exams import ExamPlan, GateExam, Sitting
from spanjury.orchestration.studies.card import Card, Gate
from spanjury.orchestration.studies.gate import (
    GateFindings,
    OverBase,
    demand_results,
    gate_json,
    gate_report,
)
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.runs import MEMORY_NAME

BASE, DISTILLED, TEACHER = "base", "distilled", "teacher"

JUDGE = "distilled"
"""Name of the judge that asks by the short prompt."""
READER = "reader"
"""Name of the judge that has an encoder mark words."""
_LOCAL = "local"
_FOLDER = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Demands on a distilled judge: numbers to reach, and measures better than its base's."""

    gates: tuple[Gate, ...] = ()
    over_base: tuple[OverBase, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The measures with a demand."""
        return (*(gate.name for gate in self.gates), *(gate.name for gate in self.over_base))

    def require_known(self, exams: Sequence[GateExam], *, measures: Sequence[str]) -> None:
        """Check that some exam has each measure, before any judge is asked.

        Raise `ConfigError` if none has; the message lists the measures, or the topics.

        Parameters
        ----------
        measures
            All of the first exam; of the others topics are known.
        """
        first, *others = exams
        topics = {topic for exam in others for topic in exam.topics} - {*first.topics}
        for name in self.names:
            if name not in measures and name.partition(".")[0] not in topics:
                listed = [*measures, *(f"{topic}.…" for topic in sorted(topics))]
                raise ConfigError(f"no exam here has {name!r}; there are {', '.join(listed)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateJob:
    """A gate: the judges, their exams, and the demands on the distilled one.

    Parameters
    ----------
    model, base_identity
        The folder of the distilled judge's model, and the identity of its base.
    judges
        Role -> panel; `DISTILLED` is one of them.
    output
        A folder; each judge has one in it, and each exam one in that.
    """

    model: Path
    base_identity: str
    data: tuple[Path, ...]
    judges: Mapping[str, PanelConfig]
    exams: tuple[GateExam, ...]
    demands: Demands
    output: Path
    limits: Limits = field(default_factory=Limits)
    failures: FailurePolicy = FailurePolicy()
    cautions: tuple[str, ...] = ()

    def folder(self, role: str, exam: GateExam) -> Path:
        """Return the folder of an exam's findings on a judge."""
        return self.output / role / exam.name


def judge_in(model: str, *, name: str, options: Mapping[str, object]) -> PanelConfig:
    """Return the panel of one seat that judges with a model by the short prompt."""
    seat = SeatConfig(
        judge=JUDGE, name=name, model=ModelConfig(name=f"{_LOCAL}/{model}"), options=options
    )
    return PanelConfig(seats=(seat,))


def reader_in(folder: Path, *, name: str, options: Mapping[str, object]) -> PanelConfig:
    """Return the panel of one seat that has the encoder in `folder` mark words."""
    given = {"weights": str(folder), **options}
    return PanelConfig(seats=(SeatConfig(judge=READER, name=name, options=given),))


def plan_gate(job: GateJob) -> ExamPlan:
    """Plan every exam of every judge; raise as the plan of an exam does.

    Its `run` does not ask again what is in memory. It raises `RunStoppedError` if the stop token
    came before the end: the exams that are done have left their findings. It raises
    `EvaluationError` as an exam does.
    """
    plans = [
        exam.plan(
            Sitting(
                panel=panel,
                folder=job.folder(role, exam),
                memory=job.output / role / MEMORY_NAME,
                failures=job.failures,
            )
        )
        for role, panel in job.judges.items()
        for exam in job.exams
    ]

    async def run(live: Live) -> None:
        async def examine() -> None:
            for plan in plans:
                await plan.run(_Part(live=live))

        await run_in_time(examine, live.stop_token, seconds=job.limits.max_seconds)

    return ExamPlan(total=sum(plan.total for plan in plans), run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The run of one exam of several, which does not know how many results there will be."""

    live: Live

    @property
    def stop_token(self) -> StopToken:
        """The means to end all of them early."""
        return self.live.stop_token

    @property
    def meter(self) -> Meter:
        """The count of what models are asked in all of them."""
        return self.live.meter

    def __call__(self, result: Result, /) -> None:
        """Show a result."""
        self.live(result)

    def expect(self, total: int) -> None:
        """Ignore how many results one exam expects: others follow."""


def write_gate(job: GateJob) -> tuple[GateFindings, list[Path]]:
    """Join the findings of all exams, compare them with the demands, and write the result.

    The findings go into the output; these and the judge's card into ``gate`` in the folder of
    the model: a file beside its weights would make another model of it, which was not examined.

    Raise `ConfigError` if no exam has a measure that is demanded, and `StoreError` if
    something cannot be written.
    """
    cards = dict(_cards(job))
    findings = GateFindings(
        model=str(job.model),
        data=tuple(map(str, job.data)),
        cards=cards,
        demands=demand_results(
            job.demands.gates,
            job.demands.over_base,
            distilled=cards[DISTILLED].measures,
            base=cards[BASE].measures if BASE in cards else {},
        ),
        cautions=(*job.cautions, *_cautions(cards, base_identity=job.base_identity)),
    )
    written: list[Path] = []
    for folder in (job.output, job.model / _FOLDER):
        report, data = gate_report(findings), gate_json(findings)
        written += write_report(folder, report, data=data, page="gate", values="gate")
    written += write_card(job.model / _FOLDER, cards[DISTILLED], gates=job.demands.gates)
    return findings, written


def _cards(job: GateJob) -> Iterator[tuple[str, Card]]:
    for role in job.judges:
        yield role, read_card([job.folder(role, exam) for exam in job.exams])


def _cautions(cards: Mapping[str, Card], *, base_identity: str) -> Iterator[str]:
    """Say what to keep in mind of the first exam; of the others, their own pages say it."""
    if BASE in cards:
        (signature,) = cards[BASE].records[0].seats.values()
        if f"|weights:{base_identity}|" not in signature:
            yield f"the examined base is not {base_identity}, which the model was made from"
    for role, card in cards.items():
        yield from (f"{role}: {caution}" for caution in card.records[0].cautions)
