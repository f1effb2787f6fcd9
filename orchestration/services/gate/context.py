"""Where a gate examines judges: one at a time, exam by exam, each with a folder of its own."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from spanjury.judges.core import Result, StoreError
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.studies.card import ExamRecord, Measure
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["GateExam", "Hall", "Witness", "make_folder", "recorded", "write_findings"]

_FINDINGS = "findings.json"
_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamContext:
    """Where one judge is examined, and by what the exam may be ended.

    Parameters
    ----------
    panel
        Who is examined.
    folder
        Where what is found goes.
    memory
        Keeps what is said, so that nobody is asked twice.
    stop_token, meter, show
        As in `exam.run`.
    failures
        The care that is taken of models that fail.
    """

    panel: PanelConfig
    folder: Path
    memory: Path
    stop_token: StopToken
    meter: Meter
    show: Callable[[Result], None]
    failures: FailurePolicy


class GateExam(Protocol):
    """An exam that is the same for every judge."""

    @property
    def name(self) -> str:
        """Of the folder that it leaves beside those of the other exams."""
        ...

    @property
    def topics(self) -> tuple[str, ...]:
        """With what the names of its measures begin."""
        ...

    def questions(self, panel: PanelConfig) -> int:
        """How many results there will be, about."""
        ...

    async def run(self, context: ExamContext) -> None:
        """Examine a judge, and leave findings in its folder."""
        ...


@dataclass(slots=True)
class Recorder:
    """Note who was heard and how many scores there are, while results go on to who watches."""

    show: Callable[[Result], None]
    examinee: Examinee | None = None
    scored: int = 0

    def __call__(self, result: Result) -> None:
        """Take note of a result."""
        if self.examinee is None:
            self.examinee = Examinee.of(result.report)
        self.scored += result.report.score is not None
        self.show(result)


def recorded(
    exam: str,
    examinee: Examinee,
    *,
    data: str,
    measures: tuple[Measure, ...],
    cautions: tuple[str, ...] = (),
) -> ExamRecord:
    """Return what goes on a judge's card, with the date and the versions of now."""
    return ExamRecord(
        exam=exam,
        date=datetime.now(UTC).date().isoformat(),
        data=data,
        signature=examinee.signature,
        seats=examinee.seats,
        versions=versions(),
        measures=measures,
        cautions=cautions,
    )


def make_folder(folder: Path) -> None:
    """Make a folder; raise `StoreError` if that cannot be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error


def write_findings(
    folder: Path, record: ExamRecord, *, more: Mapping[str, object] = _NOTHING
) -> None:
    """Write what goes on a judge's card, and `more`; raise `StoreError` if that fails."""
    told = json.dumps({**more, "card": plain(record)}, ensure_ascii=False, indent=1)
    write_whole(folder / _FINDINGS, f"{told}\n".encode())
