"""The comparison of systems by a pair judge, from texts to a file of comparisons."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from spanjury.judges.core import Aspect, ConfigError, DataError, PairJudge, Segment, first_problem
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan

with lazily():
    import pydantic

    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.judging import exam_texts
    from spanjury.orchestration.studies import card
    from spanjury.orchestration.studies.pairs import comparing, findings
    from spanjury.orchestration.wiring import pair_judges

COMPARISONS = "comparisons.jsonl"
"""Name of the file of comparisons in the folder of the command."""
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStudy(PanelStudy[T_co]):
    """A study in which a pair judge compares texts.

    Parameters
    ----------
    pair_judge
        As in `RunSession.open_pair_judge`.
    """

    pair_judge: Annotated[
        "str | PairJudge",
        Parameter(
            "Pair judge, with options as in panel:margin=0.5; by default 'comparer', which asks the"
            " model of --model, or without a model 'panel', which compares the scores of a panel.",
            "NAME",
            kind=str,
            env=True,
        ),
    ] = ""

    def matching(
        self, segments: Sequence[Segment], aspects: Sequence[Aspect]
    ) -> "comparing.Matching":
        """Return what is compared; raise as `Entries.of` does."""
        task = aspects[0].task.name  # a row may leave it to the command; texts of a pair share it
        named = (replace(segment, task=task) for segment in segments)
        return comparing.Matching(entries=comparing.Entries.of(named), aspects=tuple(aspects))

    async def _compared(self, matching: "comparing.Matching", live: Live) -> "comparing.Compared":
        """Have the pair judge compare; raise as `compare_systems` does."""
        with self.session(live) as opened:
            run = comparing.PairRun(
                open_judge=partial(opened.open_pair_judge, self.pair_judge, self.described),
                workers=self.described.workers,
                stop_token=live.stop_token,
                show=live,
                families=self.described.families,
            )
            return await opened.run(partial(comparing.compare_systems, matching, run))

    @abstractmethod
    def report(
        self, compared: "comparing.Compared", segments: Sequence[Segment], *, data: str
    ) -> "study_report.StudyReport[T_co]":
        """Return the report of the comparisons of texts that are called `data`."""

    def planned(self, measures: "card.Ranges", *, counts_systems: bool = False) -> Plan[T_co]:
        """Read the texts, and pair them; raise as `PanelStudy.plan` does.

        The line about the plan may include the number of systems.
        """
        texts, name = self.texts, pair_judges.pair_judge_name(self.pair_judge, self.described)
        segments, aspects = self.read(texts)
        matching = self.matching(segments, aspects)

        async def run(live: Live) -> "study_report.StudyReport[T_co]":
            return self.report(await self._compared(matching, live), segments, data=str(texts))

        total = matching.comparisons
        systems = f"{len(matching.entries.systems)} systems, " if counts_systems else ""
        return Plan(
            run=run,
            total=total,
            scope=f"{systems}{total} comparisons by {name},"
            f" aspects: {', '.join(aspect.name for aspect in aspects)}",
            measures=measures,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(PairStudy["comparing.Compared"]):
    """Compare the texts of several systems pair by pair, and count wins, ties and losses.

    Two texts are a pair if they have the same inputs and different systems. The pair judge is
    shown each pair in both orders. Without --model it compares the scores of the offline judges.
    """

    data_help: ClassVar[str] = "Texts of two systems or more: a JSONL, CSV or TSV file."

    against: Annotated[
        str, Parameter("Compare every system with this one only.", "SYSTEM", env=True)
    ] = ""
    draw: Annotated[
        int | None,
        Parameter(
            "Compare N pairs for each aspect, drawn in rounds that match systems of similar rank;"
            " all pairs by default.",
            "N",
            min=1,
            env=True,
        ),
    ] = None

    @classmethod
    def with_demo(cls, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters that are `given`, with texts of several systems."""
        return {**given, "data": exam_texts.rivals()}

    def matching(
        self, segments: Sequence[Segment], aspects: Sequence[Aspect]
    ) -> "comparing.Matching":
        """Return the pairs that are asked for; raise as `Entries.of` does."""
        every = PairStudy.matching(self, segments, aspects)
        return replace(every, against=self.against, draw=self.draw, seed=self.drawn_by)

    def plan(self) -> "Plan[comparing.Compared]":
        """Read the texts, and pair them; raise as `PanelStudy.plan` does."""
        if self.against and self.draw is not None:
            raise ConfigError("name either a system to compare with or a number of pairs to draw")
        return self.planned(findings.RANGES, counts_systems=True)

    def report(
        self, compared: "comparing.Compared", segments: Sequence[Segment], *, data: str
    ) -> "study_report.StudyReport[comparing.Compared]":
        """Return the report of the comparisons of texts that are called `data`."""
        del segments
        counted = findings.findings_of(compared.rows)
        return study_report.exam_report(
            "pairs",
            compared,
            examinee=compared.judge,
            data=data,
            document=lambda _: findings.pairs_report(counted, judge=compared.judge, data=data),
            values=findings.findings_json(counted, judge=compared.judge),
            measures=findings.measures_of(counted),
            declared=findings.RANGES,
            files={COMPARISONS: study_report.json_lines(comparing.ComparisonRow, compared.rows)},
        )


apairs, pairs = from_python(Pairs, name="pairs")


_MADE_BY = "comparisons are made by 'spanjury pairs TEXTS -o FOLDER'"


def read_comparisons(path: Path) -> "list[comparing.ComparisonRow]":
    """Read a file of comparisons, or that in the folder of the command.

    Raise `DataError` if it cannot be read, or a line of it is no comparison.
    """
    file = path / COMPARISONS if path.is_dir() else path
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}; {_MADE_BY}") from error
    adapter = pydantic.TypeAdapter(comparing.ComparisonRow)
    read = []
    for number, line in enumerate(lines, start=1):
        try:
            read.append(adapter.validate_json(line))
        except pydantic.ValidationError as error:
            raise DataError(
                f"{file}, line {number}: is no comparison of 'spanjury pairs':"
                f" {first_problem(error)}; {_MADE_BY}"
            ) from error
    return read
