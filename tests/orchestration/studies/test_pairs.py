"""Texts meet over their source; comparisons are counted; a row holds what it should."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from fakes.judges import ASPECT
from fakes.pairs import TIE, A, B, ScriptedPairJudge, pair, preferring
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from spanjury.judges.core import (
    Comparison,
    ConfigError,
    DataError,
    Outcome,
    PairReport,
    Preference,
    Result,
    Segment,
    TextPair,
)
from spanjury.orchestration.engine.comparing import PairSeat
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.prose import plain_text
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.biases import (
    RANGES,
    Biases,
    Settings,
    biases_json,
    biases_of,
    biases_report,
    cautions,
    measures_of,
)
from spanjury.orchestration.studies.pairs.comparing import (
    ComparisonRow,
    Entries,
    Match,
    Matching,
    OrderRow,
    PairRun,
    Swiss,
    compare_systems,
)
from spanjury.orchestration.studies.pairs.findings import findings_of, pairs_report

ROW = TypeAdapter(ComparisonRow)
JUDGE = "comparer|model:ollama/gemma2:27b|prompt:1"


def text(source: str, system: str, **changes: object) -> Segment:
    segment = Segment(
        segment_id=f"{source}/{system}",
        output=f"{system} about {source}",
        inputs={"Article": source},
        system=system,
    )
    return replace(segment, **changes)  # type: ignore[arg-type]  # set by each test


def entries(sources: int, systems: str) -> Entries:
    return Entries.of(text(f"source {n}", system) for n in range(sources) for system in systems)


def names(matches: Sequence[Match]) -> list[str]:
    return ["".join(match.systems) for match in matches]


def test_every_two_systems_meet_over_every_source_that_both_have() -> None:
    texts = [text("one", "x"), text("one", "y"), text("two", "x"), text("two", "z")]
    matches = Entries.of([*texts, text("three", "x")]).all_matches()
    assert names(matches) == ["xy", "xz"]
    assert {match.pair.a.inputs["Article"] for match in matches} == {"one", "two"}
    assert len({match.source for match in matches}) == 2


def test_one_system_may_be_compared_with_each_other_alone() -> None:
    table = entries(2, "xyz")
    assert names(table.all_matches()) == ["xy", "xz", "yz"] * 2
    assert names(table.all_matches(against="y")) == ["xy", "yz"] * 2
    with pytest.raises(ConfigError, match="'w'; the systems are: x, y, z"):
        table.all_matches(against="w")


def test_sources_are_named_by_their_document_and_kept_apart_by_their_inputs() -> None:
    texts = [
        text(source, system, meta={"doc_id": "d1"}) for source in ("one", "two") for system in "xy"
    ]
    assert len(Entries.of(texts).all_matches()) == 2
    first, second = Entries.of(texts).sources
    assert first == "d1"
    assert len(second) == 12


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ([text("one", "x"), text("two", "y")], "no two systems have a text about the same source"),
        ([], "no two systems"),
        ([text("one", "x", inputs={}), text("one", "y", inputs={})], "no two systems"),
        ([text("one", "x"), text("one", "x", segment_id="again")], "are of one system, 'x'"),
    ],
)
def test_texts_that_make_no_pair_are_refused(texts: list[Segment], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        Entries.of(texts)


@given(
    sources=st.integers(1, 5), systems=st.integers(2, 6), seed=st.integers(0, 99), data=st.data()
)
def test_swiss_rounds_bring_every_match_once_and_no_system_twice_in_a_round(
    sources: int, systems: int, seed: int, data: st.DataObject
) -> None:
    table = entries(sources, "abcdef"[:systems])
    swiss = Swiss(table, rng=np.random.default_rng(seed))
    points: Counter[str] = Counter()
    drawn: list[Match] = []
    while matches := swiss.round(points):
        playing = [system for match in matches for system in match.systems]
        assert len(playing) == len({*playing})
        for match in matches:
            points[data.draw(st.sampled_from(match.systems))] += 1
        drawn += matches
    assert len(drawn) == len({(m.source, m.systems) for m in drawn})
    assert len(drawn) == len(table.all_matches())


def test_neighbours_in_the_standing_meet() -> None:
    swiss = Swiss(entries(9, "abcd"), rng=np.random.default_rng(1))
    first = swiss.round({})
    winners = {match.systems[0] for match in first}
    second = swiss.round(dict.fromkeys(winners, 1.0))
    assert winners in [{*match.systems} for match in second]


def test_the_same_seed_draws_the_same_matches() -> None:
    rounds = [Swiss(entries(5, "abcde"), rng=np.random.default_rng(7)).round({}) for _ in range(2)]
    assert rounds[0] == rounds[1]


def test_of_an_odd_number_of_systems_each_sits_out_in_turn() -> None:
    swiss = Swiss(entries(9, "abc"), rng=np.random.default_rng(0))
    played = Counter(name for _ in range(3) for match in swiss.round({}) for name in match.systems)
    assert set(played.values()) == {2}


def row(
    *orders: Preference | None, source: str = "one", systems: str = "xy", probability: float = 0.5
) -> ComparisonRow:
    reports = [
        PairReport(outcome=Outcome.REFUSED, reason="no")
        if order is None
        else preferring(order, probability)
        for order in orders
    ]
    texts = TextPair(a=text(source, systems[0]), b=text(source, systems[1]))
    comparison = Comparison(pair=texts, signature="judge", orders=tuple(reports))
    return ComparisonRow.of(comparison, ASPECT, source=source)


def test_wins_ties_and_losses_are_counted_and_failures_apart() -> None:
    rows = [row(A, A), row(A, B, source="two"), row(B, B, source="3"), row(A, None, source="4")]
    (aspect,) = findings_of([*rows, row(B, B, systems="xz")]).aspects
    first, second = aspect.pairs
    assert (first.wins, first.ties, first.losses, first.failed) == (1, 1, 1, 1)
    assert first.interval.value == 0.5
    assert (second.system_b, second.interval.value) == ("z", 0.0)
    assert (aspect.compared, aspect.answered) == (5, 4)


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        (
            [row(A, A, source=str(n)) for n in range(12)],
            "On consistency, the judge prefers x, which wins 100% of the comparisons",
        ),
        (
            [row(*orders, source=str(n)) for n, orders in enumerate([(A, A), (A, A), (B, B)])],
            "On consistency, x wins 67% of the comparisons (a tie counts half). They do not show",
        ),
        ([row(A, A)], "On consistency, x wins 100% of the comparisons (a tie counts half). They"),
        (
            [row(A, A, systems="xz"), row(A, A, systems="yz"), row(A, B, systems="xy")],
            "On consistency, x and y win 75% each of the comparisons",
        ),
        ([row(A, B)], "On consistency, the judge prefers none of the systems."),
    ],
)
def test_the_answer_names_all_systems_that_win_most(
    rows: Sequence[ComparisonRow], answer: str
) -> None:
    judge = Examinee(signature="judge", seats={"judge": "judge"})
    report = pairs_report(findings_of(rows), judge=judge, data="texts")
    assert plain_text(report.answer).startswith(answer)


def test_position_bias_is_the_share_of_winners_that_stood_first() -> None:
    # Orders: A shown first, then B. The first row prefers what stands first, in both.
    rows = [row(A, B), row(A, A, source="two"), row(TIE, B, source="3"), row(A, None, source="4")]
    order = findings_of(rows).order
    assert order.consistent.value == pytest.approx(1 / 3)
    assert order.first.value == pytest.approx(4 / 5)
    assert (order.consistent.trials, order.first.trials) == (3, 5)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(None, None)], "Each pair is shown in both orders."),
        ([row(A, None), row(None, None), row(A, A)], "no answer: 2 x no"),
        ([row(A)], "The order of the texts cannot influence this judge, so it was asked about"),
    ],
)
def test_the_page_says_how_often_pairs_were_shown_and_why_comparisons_fail(
    rows: Sequence[ComparisonRow], says: str
) -> None:
    judge = Examinee(signature="judge", seats={"judge": "judge"})
    page = report_markdown(pairs_report(findings_of(rows), judge=judge, data="texts"))
    assert says in " ".join(page.split())


def test_a_judge_that_sees_no_order_has_no_position_bias() -> None:
    order = findings_of([row(A), row(B, source="two")]).order
    assert order.consistent.trials == order.first.trials == 0
    assert math.isnan(order.first.value)


def test_a_row_is_read_back_as_it_was_written() -> None:
    made = row(A, B, probability=0.75)
    written = ROW.dump_json(made)
    assert ROW.validate_json(written) == made
    values = json.loads(written)
    assert values["preference"] == "tie"
    assert [order["first"] for order in values["orders"]] == ["A", "B"]
    assert (values["consistent"], values["probability"]) == (False, 0.75)


def by_name(shown: TextPair) -> PairReport:
    """Prefer the system that is first in the alphabet."""
    return preferring(A if shown.a.system < shown.b.system else B)


class Opened:
    """Opens a judge for ``async with``."""

    def __init__(self, judge: ScriptedPairJudge) -> None:
        self.seat = PairSeat(name="judge", judge=judge)

    async def __aenter__(self) -> PairSeat:
        return self.seat

    async def __aexit__(self, *_: object) -> None:
        return None


@pytest.mark.parametrize(("draw", "count"), [(None, 18), (7, 14), (99, 18)])
async def test_comparisons_are_made_of_all_or_drawn_matches(draw: int | None, count: int) -> None:
    aspects = (ASPECT, replace(ASPECT, name="fluency"))
    shown: list[Result] = []
    judge = ScriptedPairJudge(by_name)
    run = PairRun(
        open_judge=lambda: Opened(judge), workers=4, stop_token=StopToken(), show=shown.append
    )
    matching = Matching(entries=entries(3, "abc"), aspects=aspects, draw=draw, seed=3)
    compared = await compare_systems(matching, run)
    assert len(compared.rows) == len(shown) == matching.comparisons == count
    assert len(judge.seen) == 2 * count
    assert {row.preference for row in compared.rows} == {A}
    assert [row.aspect for row in compared.rows] == sorted(
        (row.aspect for row in compared.rows), key=["consistency", "fluency"].index
    )
    keys = {(row.source, row.system_a, row.system_b, row.aspect) for row in compared.rows}
    assert len(keys) == count
    every = {*combinations("abc", 2)}
    assert {(row.system_a, row.system_b) for row in compared.rows} == every


def test_a_row_names_both_texts() -> None:
    comparison = Comparison(pair=pair(), signature="judge", orders=(preferring(A),))
    made = ComparisonRow.of(comparison, ASPECT, source="s")
    assert (made.id_a, made.id_b, made.judge, made.points_a) == ("a", "b", "judge", 1.0)


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
    assert findings.longer.net == pytest.approx((3 * (1.5 / 2 - 0) / 2 + 0.5) / 4)
    assert findings.longer.low <= findings.longer.net <= findings.longer.high
    assert (findings.longer_better.value, findings.longer_better.trials) == (1, 1)
    assert bench.biases(longer=0.01).whole.longer.share.trials == 4


@pytest.mark.parametrize(
    ("if_worse", "if_better", "net"),
    [((A, B), (A, B), 0.0), ((A, B), (A, A), 0.25), ((A, A), (A, A), 0.5)],
)
def test_only_errors_that_favour_a_side_count_as_a_bias(
    if_worse: tuple[Preference, ...], if_better: tuple[Preference, ...], net: float
) -> None:
    bench = Bench()
    for preferences, people in ((if_worse * 10, (1, 5)), (if_better * 10, (5, 1))):
        for preference in preferences:
            bench.add(preference, words=(20, 10), people=people)
    longer = bench.biases().whole.longer
    assert longer.net == pytest.approx(net)
    assert (longer.low > 0) == (net > 0)


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
    assert own.net == 0.5  # no pair shows errors against its family, so only the tie counts
    assert not [words for words in cautions(biases) if "self-preference" in words]


def test_what_is_unknown_is_said() -> None:
    words = " ".join(cautions(Bench().add(A, people=None).biases()))
    assert "separate no pair" in words
    assert "length bias is unknown" in words
    assert "no system belongs to the judge's family, google" in words
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
    assert (*measures,) == (*RANGES,)
    assert measures["preference.longer_net"].value == 0.5
    assert measures["preference.longer_net"].low is None
    assert measures["preference.first"].value is None
    page = report_markdown(biases_report(biases, judge=judge, data="texts"))
    assert "family: google" in page
    assert "gemma3:4b" in page
    assert "The order of the texts cannot influence this judge" in page
