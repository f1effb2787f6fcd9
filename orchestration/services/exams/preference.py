"""The exam of preference: position, length and self-preference bias of a pair judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from spanjury.judges.core import Segment
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.pairs import COMPARISONS, PairStudy
from spanjury.orchestration.services.exams.study import Plan

with lazily():
    from spanjury.orchestration.services.exams import study_report
    from spanjury.orchestration.services.judging import exam_texts
    from spanjury.orchestration.studies.pairs import biases, comparing


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
        return self.planned(biases.RANGES)

    def report(
        self, compared: "comparing.Compared", segments: Sequence[Segment], *, data: str
    ) -> "study_report.StudyReport[biases.Biases]":
        """Return the report of the biases in comparisons of texts that are called `data`."""
        measured = biases.biases_of(
            compared.rows,
            segments,
            judge=compared.judge.signature,
            settings=biases.Settings(people_tie=self.people_tie, longer=self.longer),
            families=self.described.families,
        )
        return study_report.exam_report(
            "preference",
            measured,
            examinee=compared.judge,
            data=data,
            document=lambda _: biases.biases_report(measured, judge=compared.judge, data=data),
            values=biases.biases_json(measured, judge=compared.judge),
            measures=biases.measures_of(measured),
            declared=biases.RANGES,
            cautions=tuple(biases.cautions(measured)),
            files={COMPARISONS: study_report.json_lines(comparing.ComparisonRow, compared.rows)},
        )


apreference, preference = from_python(Preference, name="preference")
