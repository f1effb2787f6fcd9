"""Biases of a pair judge, worked out by hand: agreement, length, and the judge's own family."""

import json
import math
from collections.abc import Mapping

import pytest
from fakes.pairs import TIE, A, B

from spanjury.judges.core import Outcome, Preference, Segment
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.biases import (
    MEASURES,
    Biases,
    Settings,
    biases_json,
    biases_of,
    biases_report,
    cautions,
    measures_of,
)
from spanjury.orchestration.studies.pairs.rows import ComparisonRow, OrderRow

JUDGE = "comparer|model:ollama/gemma2:27b|prompt:1"


class Bench:
    """Comparisons of pairs: lengths, people's scores and the judge's preference of each."""

    def __init__(self) -> None:
        self.rows: list[ComparisonRow] = []
        self.texts: list[Segment] = []

    def add(
        self,
        preference: Preference | None,
        *,
        words: tuple[int, int] = (10, 10),
        people: tuple[float, float] | None = (3, 3),
        systems: tuple[str, str] = ("x", "y"),
    ) -> "Bench":
        """Add a pair over a source of its own."""
        source = str(len(self.rows))
        for at in range(2):
            human: Mapping[str, Mapping[str, float]] = {}
            if people is not None:
                human = {"fluency": {"": people[at]}}
            self.texts.append(
                Segment(
                    segment_id=source, output="word " * words[at], human=human, system=systems[at]
                )
            )
        outcome = Outcome.REFUSED if preference is None else Outcome.SCORED
        self.rows.append(
            ComparisonRow(
                source=source,
                task="summarization",
                aspect="fluency",
                system_a=systems[0],
                system_b=systems[1],
                id_a=source,
                id_b=source,
                judge=JUDGE,
                outcome=outcome,
                preference=preference,
                consistent=None,
                probability=None,
                orders=(OrderRow(first=None, outcome=outcome, preference=preference),),
            )
        )
        return self

    def biases(self, **settings: float) -> Biases:
        return biases_of(
            self.rows, self.texts, judge=JUDGE, settings=Settings(**settings), families={}
        )


def test_agreement_is_over_the_pairs_that_people_separate() -> None:
    bench = Bench().add(A, people=(5, 1)).add(B, people=(5, 1)).add(TIE, people=(1, 5))
    bench.add(A).add(None, people=(5, 1)).add(A, people=None)
    whole = bench.biases().whole
    assert (whole.agreement.value, whole.agreement.trials) == (0.5, 3)
    assert whole.answered.value == pytest.approx(5 / 6)
    assert bench.biases(people_tie=4).whole.agreement.trials == 0


def test_the_longer_text_counts_where_people_do_not_prefer_it() -> None:
    bench = Bench()
    bench.add(A, words=(20, 10))  # people tie, the judge takes the longer one
    bench.add(B, words=(10, 20), people=(5, 1))  # people take the shorter one, the judge not
    bench.add(TIE, words=(10, 20), people=(5, 1))
    bench.add(A, words=(20, 10), people=(5, 1))  # people take the longer one, too
    bench.add(A, words=(10, 10))  # neither is longer
    bench.add(A, words=(105, 100))  # nor is this one, by much
    bench.add(A, words=(20, 10), people=None)
    findings = bench.biases().whole
    assert findings.longer.share.trials == 3
    assert findings.longer.share.value == pytest.approx(2.5 / 3)
    assert findings.longer.people == pytest.approx(0.5 / 3)
    assert findings.longer.net == pytest.approx(2 / 3)
    assert findings.longer.low <= findings.longer.net <= findings.longer.high
    assert (findings.longer_better.share.value, findings.longer_better.share.trials) == (1, 1)
    assert math.isnan(findings.longer_better.low)
    assert bench.biases(longer=0.01).whole.longer.share.trials == 4


def test_systems_of_the_judges_own_family_are_set_beside_others() -> None:
    bench = Bench()
    bench.add(A, systems=("gemma3:4b", "llama3.1"), people=(2, 4))
    bench.add(B, systems=("qwen2.5", "gemma3:4b"), people=(3, 3))
    bench.add(A, systems=("qwen2.5", "llama3.1"))
    bench.add(A, systems=("gemma3:4b", "gemma2:9b"))
    biases = bench.biases()
    assert (biases.family, biases.own_systems) == ("google", ("gemma3:4b", "gemma2:9b"))
    own = biases.whole.own
    assert (own.share.value, own.share.trials, own.people) == (1.0, 2, 0.25)
    assert own.net == 0.75
    assert not [words for words in cautions(biases) if "self-preference" in words]


def test_what_is_unknown_is_said() -> None:
    words = " ".join(cautions(Bench().add(A, people=None).biases()))
    assert "separate no pair" in words
    assert "length bias is unknown" in words
    assert "no system is of the judge's family, google" in words
    offline = biases_of(Bench().add(A).rows, Bench().add(A).texts, judge="panel|margin:0")
    assert "the family of the judge is not known" in [*cautions(offline)][-1]
    wrong = Bench().add(B, people=(5, 1)).biases()
    assert "no better than by chance" in next(cautions(wrong))


def test_page_values_and_measures_say_the_same() -> None:
    bench = Bench().add(A, words=(20, 10)).add(A, people=(5, 1))
    bench.add(B, systems=("qwen2.5", "gemma3:4b"))
    biases = bench.biases()
    judge = Examinee(signature=JUDGE, seats={"comparer": JUDGE})
    values = json.loads(json.dumps(biases_json(biases, judge=judge)))
    assert values["whole"]["longer"]["net"] == 0.5
    assert [each["aspect"] for each in values["aspects"]] == ["fluency"]
    measures = {measure.name: measure for measure in measures_of(biases)}
    assert (*measures,) == MEASURES
    assert measures["preference.longer_net"].value == 0.5
    assert measures["preference.longer_net"].low is None
    assert measures["preference.first"].value is None
    page = report_markdown(biases_report(biases, judge=judge, data="texts"))
    assert "family: google" in page
    assert "gemma3:4b" in page
    assert "no order can sway it" in page
