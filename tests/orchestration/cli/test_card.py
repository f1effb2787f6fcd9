"""`spanjury exam card` on the folders that exams leave."""

import json
import shutil
from pathlib import Path

import pytest
from fakes.command import spanjury

pytestmark = pytest.mark.usefixtures("empty_folder")


def examine(recipe: str, folder: Path | str, limit: int = 8) -> None:
    flags = ["--recipe", recipe, "--aspect", "consistency", "--limit", limit, "-o", folder]
    spanjury("exam", "discernment", "--demo", *flags)


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examined") / "exam"
    examine("dhp/summarization", folder)
    return folder


def test_exams_of_one_panel_make_a_page_and_are_held_against_demands(examined: Path) -> None:
    shutil.copytree(examined, "seen")
    examine("invariance", "steady")
    demands = ["--require", "discernment.average>=1", "--require", "retest.moved<=0"]
    done = spanjury("exam", "card", "seen", "steady", *demands, "-o", "card")
    for name in ("discernment.average", "localisation.hits", "invariance.steady"):
        assert name in done.output
    data = json.loads(Path("card/card.json").read_text())
    assert [gate["passed"] for gate in data["gates"]] == [True, True]
    values = {one["name"]: one["value"] for one in data["exams"][0]["measures"]}
    findings = json.loads(Path("seen/findings.json").read_text())
    assert values["discernment.average"] == findings["overall"]["average"]
    assert "| discernment.average >= 1 |" in Path("card/card.md").read_text()
    # No number as people write them.
    spanjury("exam", "card", "seen", "--require", "discernment.average>=1e3", code=2)
    missed = spanjury("exam", "card", "seen", "--require", "discernment.average>=1000", code=5)
    assert "not met: discernment.average >= 1000" in missed.output


def test_exams_of_earlier_releases_are_carded_and_compared(examined: Path) -> None:
    shutil.copytree(examined, "earlier")
    path = Path("earlier/findings.json")
    values = json.loads(path.read_text())
    for key in ("decisions", "caught", "false_alarms"):
        del values[key]
    added = ("discernment.caught.", "discernment.false_alarms", "discernment.harmless_disturbed")
    kept = [one for one in values["card"]["measures"] if not one["name"].startswith(added)]
    values["card"]["measures"] = kept
    path.write_text(json.dumps(values))
    scores = Path("earlier/scores.jsonl")
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    for line in lines:
        line.pop("harmless", None)
    scores.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    spanjury("exam", "card", "earlier", "--require", "discernment.average>=1")
    unknown = spanjury(
        "exam", "card", "earlier", "--require", "discernment.caught.average>=.5", code=2
    )
    assert "no exam has 'discernment.caught.average'" in unknown.output
    spanjury("exam", "compare", "earlier", "earlier", "--draws", "100")


def test_a_demand_on_what_is_caught_is_held_on_the_card() -> None:
    examine("standard", "caught", limit=12)
    met = ["--require", "discernment.caught.fabricate-detail>=.2"]
    spanjury("exam", "card", "caught", *met)
    spanjury("exam", "card", "caught", "--require", "discernment.caught.average<.5", code=5)
    refused = spanjury("exam", "card", "caught", "--require", "retest.moved<=1", code=2)
    assert "retest.moved <= 1 is met by every value: the range of retest.moved is 0 to 1" in (
        refused.output
    )


@pytest.mark.parametrize("findings", [None, "{}", "no JSON", '{"card": {"exam": 1}}'])
def test_a_folder_without_a_whole_exam_is_named(findings: str | None) -> None:
    Path("exam").mkdir()
    if findings is not None:
        Path("exam/findings.json").write_text(findings)
    done = spanjury("exam", "card", "exam", code=1)
    assert done.output.startswith("spanjury: exam/findings.json: ")
    assert len(done.output.splitlines()) == 1
