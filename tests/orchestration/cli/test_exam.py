"""An exam from the command line: good texts in, a verdict out."""

import json
from pathlib import Path

import pytest
from fakes.command import spanjury

pytestmark = pytest.mark.usefixtures("empty_folder")


def examine(*flags: str) -> list[str]:
    return ["exam", "discernment", *flags, "--aspect", "consistency", "--aspect", "fluency"]


def test_the_demo_shows_what_the_offline_panel_catches_without_a_twin() -> None:
    spanjury(*examine("--demo", "--limit", "20", "--recipe", "standard"))
    data = json.loads(Path("exam/findings.json").read_text())
    decisions = {(one["condition"], one["aspect"]): one for one in data["decisions"]}
    invented = decisions["fabricate-detail", "consistency"]
    assert invented["verdict"] == "discerned"
    assert invented["hits"] > 0.7
    assert invented["detection"]["caught_10"]["low"] > 0.1
    unmoved = decisions["whitespace", "consistency"]
    assert (unmoved["verdict"], unmoved["harmless"]) == ("steady", True)
    assert unmoved["detection"]["mean_drop"]["value"] == 0
    assert all(cell["effects"]["net_drop"] == 0 for cell in data["control"])
    blind = [one for one in data["decisions"] if one["claims_spans"] and one["hits"] == 0]
    assert "discerned" not in {one["verdict"] for one in blind}
    page = Path("exam/report.md").read_text()
    assert "**fabricate-detail**" in page
    for picture in ("discernment", "specificity", "scores"):
        assert Path(f"exam/pictures/{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert f"pictures/{picture}.png" in page


def test_the_demo_measures_what_people_wrote_and_says_so_first() -> None:
    done = spanjury(*examine("--demo", "--limit", "12"), "--judge", "grounding", "--judge", "form")
    data = json.loads(Path("exam/findings.json").read_text())
    twins = data["written_twins"]
    assert (twins["pairs"], twins["sources"], twins["aspects"]) == (12, 4, ["consistency"])
    assert twins["false_alarms"] <= 0.1
    said = " ".join(done.stdout.split())
    assert "Written pairs: 12 pairs of a correct text and a wrong version of it" in said
    assert f"of the wrong texts at {twins['false_alarms']:.0%} false alarms" in said
    measures = {one["name"]: one for one in data["card"]["measures"]}
    in_order = measures["discernment.twins_in_order"]
    assert in_order["value"] == pytest.approx(twins["in_order"]["value"])
    assert in_order["low"] <= in_order["value"] <= in_order["high"]
    names = {one["condition"] for one in data["findings"]}
    assert {"negation", "role-swap", "typos", "whitespace"} <= names
    assert "negate" not in names


def test_results_of_another_judge_are_not_replaced_silently() -> None:
    flags = examine("--demo", "--limit", "2", "--recipe", "invariance")
    assert "replaced" not in spanjury(*flags, "--judge", "form").stderr
    assert "replaced" not in spanjury(*flags, "--judge", "form").stderr
    replaced = spanjury(*flags, "--judge", "form", "--judge", "grounding").stderr
    assert "exam: the results of form were replaced by those of form, grounding" in replaced


def test_a_judge_that_misses_a_demand_fails_the_build() -> None:
    flags = examine("--demo", "--limit", "12", "--recipe", "invariance")
    spanjury(*flags, "--require", "retest.moved<=0")
    missed = spanjury(*flags, "--require", "discernment.harmless_disturbed>=1", code=5)
    assert "not met: discernment.harmless_disturbed >= 1 (it is" in missed.stderr
    assert "see why: exam/report.html" in missed.stderr
    unknown = spanjury(*flags, "--require", "discernment.caught.negate>=.5", code=2)
    assert (
        "no such measure 'discernment.caught.negate'; did you mean 'discernment.caught."
        in unknown.stderr
    )


def test_a_demand_that_no_or_every_value_meets_is_refused_before_the_exam() -> None:
    flags = examine("--demo", "--limit", "12", "--recipe", "invariance")
    for demand, problem in (
        (
            "retest.moved<=1",
            "retest.moved <= 1 is met by every value: the range of retest.moved",
        ),
        ("discernment.effect>1", "is met by no value: the range of discernment.effect is -1 to 1"),
        ("discernment.average>=0", "every value: the range of discernment.average is 0 or more"),
    ):
        assert problem in spanjury(*flags, "--require", demand, code=2).stderr
    assert not Path("exam").exists()


def test_the_same_exam_again_gives_the_same_result_and_asks_no_model() -> None:
    flags = examine("--demo", "--limit", "4", "--recipe", "invariance", "--mode", "paper")
    spanjury(*flags)
    first = Path("exam/findings.json").read_text()
    scores = Path("exam/scores.jsonl").read_bytes()
    size = Path("exam/memory.sqlite3").stat().st_size
    spanjury(*flags)
    assert Path("exam/findings.json").read_text() == first
    assert Path("exam/scores.jsonl").read_bytes() == scores
    # No score should fall, so that there is no D to draw.
    assert {path.name for path in Path("exam/pictures").glob("*.png")} == {
        "specificity.png",
        "scores.png",
    }
    assert Path("exam/memory.sqlite3").stat().st_size == size


def test_a_statistic_is_found_by_its_name() -> None:
    flags = examine("--demo", "--limit", "6", "--recipe", "dhp/summarization")
    spanjury(*flags, "--test", "sign-test")
    data = json.loads(Path("exam/findings.json").read_text())
    assert data["settings"]["test"] == "sign-test"
    # Six of six fall: the sign test gives p = 2^-6.
    entities = data["findings"][4]["cells"][0]
    assert entities["test"]["log_p"] == pytest.approx(-4.158883, abs=1e-5)


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ([], "name a file of texts, or use --demo"),
        (["--demo", "--recipe", "soup"], "unknown recipe 'soup'; choose from agents, bias,"),
        (["--demo", "--test", "guess"], "'guess'; choose from paired-test,"),
        (["--demo", "--weights", "absent.toml"], "absent.toml cannot be read"),
        (["--demo", "--weights", "half.toml"], "must sum to 1"),
        (["--demo", "--weights", "strange.toml"], "weights for boiling"),
        (["--demo", "--weights", "aspect.toml"], "name beauty"),
    ],
)
def test_an_invalid_combination_fails_before_anything_is_judged(
    flags: list[str], problem: str
) -> None:
    Path("half.toml").write_text("[deletions-minor]\nfluency = 0.5\n")
    Path("strange.toml").write_text("[boiling]\nfluency = 1.0\n")
    Path("aspect.toml").write_text("[deletions-minor]\nbeauty = 1.0\n")
    assert problem in spanjury(*examine(*flags), code=2).stderr
    assert not Path("exam").exists()


def test_damaged_texts_carry_their_damage_as_gold_spans() -> None:
    rows = [
        {"id": "a", "task": "summarization", "output": "Ann met Bob in Rome on 3 May 1999."},
        {"id": "b", "task": "summarization", "output": "So."},
        {"id": "c", "task": "summarization", "output": "Well."},
    ]
    Path("good.jsonl").write_text("\n".join(map(json.dumps, rows)))
    flags = ["perturb", "good.jsonl", "--recipe", "dhp/summarization", "--seed", "5"]
    first, _ = spanjury(*flags, "-o", "one.jsonl"), spanjury(*flags, "-o", "two.jsonl")
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    assert "skipped: 2 x deletions-minor: too few letters or digits\n" in first.stderr
    damaged = [json.loads(line) for line in Path("one.jsonl").read_text().splitlines()]
    assert {row["meta"]["clean_id"] for row in damaged} == {"a"}
    for row in damaged:
        assert row["output"] != rows[0]["output"]
        assert len(row["spans"]) == len(row["meta"]["edits"])
        for span in row["spans"]:
            if "start" in span:
                assert row["output"][span["start"] : span["end"]] == span["text"]
    spanjury("evaluate", "one.jsonl", "--no-memory", "--limit", "2")


def test_no_error_is_marked_after_a_harmless_change_and_no_score_of_the_clean_text_is_kept() -> (
    None
):
    row = {"id": "a", "task": "summarization", "inputs": {"Article": "It does not open in May."}}
    of_people = {"human": {"consistency": 5}, "supported": True, "spans": []}
    text = {"output": "It does not open in May, and Ann was not there."}
    Path("good.jsonl").write_text(json.dumps({**row, **of_people, **text}))
    spanjury("perturb", "good.jsonl", "--recipe", "standard", "-o", "damaged.jsonl")
    damaged = {
        row["meta"]["treatment"]: row
        for row in map(json.loads, Path("damaged.jsonl").read_text().splitlines())
    }
    assert not any("human" in row for row in damaged.values())
    assert damaged["negate"]["spans"]
    assert "supported" not in damaged["negate"]["meta"]
    assert "spans" not in damaged["contractions"]
    assert damaged["contractions"]["meta"]["supported"] is True
    spanjury("bench", "spans", "damaged.jsonl", "--judge", "grounding")
