"""The exam of preference: position, length and self-preference bias of a pair judge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.pairs import (
    COMPARISONS,
    PairStudy,
    matching_of,
)
from spanjury.orchestration.services.exams.study import (
    Live,
    Parameter,
    Plan,
    from_python,
)

with lazily():
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.judging import exam_texts
    from spanjury.orchestration.studies.pairs import bias_tables, biases, comparing, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference(PairStudy["biases.Biases"]):
    """Compare texts that people scored, and count preferences by position, length and family.

    A pair judge is biased if it prefers the text that is shown first, the longer text where people
    do not, or the texts of its own family more often than people do. Without --model the pair judge
    compares the scores of the offline judges.
    """

    data_help: ClassVar[str] = (
        "Texts of two systems or more with people's scores: a JSONL, CSV or TSV file."
    )

    people_tie: Annotated[
        float,
        Parameter(
            "People prefer neither text if their scores differ by at most this.",
            "POINTS",
            min=0.0,
            rare=True,
        ),
    ] = 0.0
    longer: Annotated[
        float,
        Parameter(
            "A text is the longer one if it has at least this share more words.",
            "SHARE",
            min=0.0,
            rare=True,
        ),
    ] = 0.1

    @classmethod
    def with_demo(cls, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters that are `given`, with texts scored by how they were made."""
        aspects = given.get("aspects") or ("consistency",)  # on which they are scored
        return {**given, "aspects": aspects, "data": exam_texts.rivals()}

    def plan(self) -> "Plan[biases.Biases]":
        """Read the texts, and pair them; raise as `PanelStudy.plan` does."""
        texts, name = self.texts, self.pair_judge_name
        segments, aspects = self.read(texts)
        matching = matching_of(segments, aspects)
        settings = biases.Settings(people_tie=self.people_tie, longer=self.longer)

        async def run(live: Live) -> "study_report.StudyReport[biases.Biases]":
            compared = await self.compared(matching, live)
            measured = biases.biases_of(
                compared.rows,
                segments,
                judge=compared.judge.signature,
                settings=settings,
                families=self.described.families,
            )
            return _report(measured, compared, data=str(texts))

        total = matching.comparisons
        return Plan(
            run=run,
            total=total,
            scope=f"{total} comparisons by {name},"
            f" aspects: {', '.join(aspect.name for aspect in aspects)}",
            measures=bias_tables.MEASURES,
        )


apreference, preference = from_python(Preference, name="preference")


def _report(
    measured: "biases.Biases", compared: "comparing.Compared", *, data: str
) -> "study_report.StudyReport[biases.Biases]":
    return study_report.exam_report(
        "preference",
        measured,
        examinee=compared.judge,
        data=data,
        document=lambda _: bias_tables.biases_report(measured, judge=compared.judge, data=data),
        values=bias_tables.biases_json(measured, judge=compared.judge),
        measures=bias_tables.measures_of(measured),
        cautions=biases.cautions(measured),
        files={COMPARISONS: study_report.json_lines(rows.ComparisonRow, compared.rows)},
    )
