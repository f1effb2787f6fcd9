"""`spanjury panel study`: from files to tables, JSON and a page; errors are lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes.command import call, complaint
from fakes.result_files import result, write_results
from numpy.random import default_rng

HUMAN = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 1, 5)
FIRST = (1, 2, 2, 2, 3, 4, 4, 4, 5, 5, 1, 5)
SECOND = (2, 1, 1, 3, 3, 3, 5, 4, 4, 5, 2, 4)
THIRD = (None,) * 12
QUICK = ("--draws", "20")


def folder_with(
    folder: Path,
    *,
    human: Sequence[object] = HUMAN,
    seats: Sequence[Sequence[float | None]] = (FIRST, SECOND, THIRD),
    aspect: str = "fluency",
) -> None:
    """Write texts that people scored, and what seats s1, s2, … said of them."""
    rows = [
        {
            "id": str(number),
            "output": "",
            "system": "bart",
            "inputs": {"Article": f"article {number}"},
            "human": {"fluency": score},
            "corpus": "x" if number % 2 else "y",
        }
        for number, score in enumerate(human)
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = [
        result(str(number), aspect=aspect, scores=[line[number] for line in seats])
        for number in range(len(HUMAN))
    ]
    write_results(folder / "results.jsonl", results)


def study(folder: Path, *flags: str) -> dict[str, object]:
    done = call(
        folder,
        "panel",
        "study",
        "results.jsonl",
        "--human",
        "texts.jsonl",
        "--json",
        *QUICK,
        *flags,
    )
    (found,) = json.loads(done.stdout)["aspects"]
    assert isinstance(found, dict)
    return found


def test_seats_are_compared_and_one_without_a_score_is_left_out(tmp_path: Path) -> None:
    folder_with(tmp_path)
    found = study(tmp_path)
    assert (found["seats"], found["texts"]) == (["s1", "s2"], 12)
    assert "s3 gave no score of fluency and is left out" in found["notes"]  # type: ignore[operator]  # JSON
    assert found["frontier"]["unit"] == "tokens"  # type: ignore[index]  # JSON
    assert found["frontier"]["whole"]["cost"] == 50  # type: ignore[index]  # two seats of 25 tokens


def test_seats_whose_texts_a_cascade_chose_are_pointed_out(tmp_path: Path) -> None:
    folder_with(tmp_path)
    path = tmp_path / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert "a cascade chose" not in str(study(tmp_path)["notes"])
    for row in rows[:4]:
        row["seats"] = [seat for seat in row["seats"] if seat["judge"] != "s2"]
        row["unasked"] = {"seats": ["s2"], "why": "sure", "reason": "Sure.", "score": None}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "a cascade chose the texts for which s2 was asked" in str(study(tmp_path)["notes"])


def test_tables_and_a_page_are_written(tmp_path: Path) -> None:
    folder_with(tmp_path)
    done = call(
        tmp_path,
        *("panel", "study", "results.jsonl", "--human", "texts.jsonl", *QUICK),
        *("-o", "study", "--html", "page.html", "--budget", "10000"),
    )
    assert "What 10,000 tokens buys" in done.stdout
    assert {path.name for path in (tmp_path / "study").iterdir()} == {
        "panel-study.html",
        "panel-study.json",
        "panel-study.md",
    }
    page = (tmp_path / "page.html").read_text()
    assert page == (tmp_path / "study" / "panel-study.html").read_text()
    assert '<svg class="plot"' in page


def test_seats_of_two_runs_are_compared_under_their_own_names(tmp_path: Path) -> None:
    folder_with(tmp_path)
    write_results(
        tmp_path / "more.jsonl",
        [result(str(number), aspect="fluency", scores=[SECOND[number]]) for number in range(12)],
    )
    assert study(tmp_path, "more.jsonl")["seats"] == ["s1", "s2", "s1 (more)"]
    (tmp_path / "again").mkdir()
    write_results(
        tmp_path / "again" / "more.jsonl",
        [result(str(number), aspect="fluency", scores=[FIRST[number]]) for number in range(12)],
    )
    seats = study(tmp_path, "more.jsonl", "again/more.jsonl")["seats"]
    assert seats == ["s1", "s2", "s1 (more)", f"s1 ({Path('again') / 'more.jsonl'})"]


def test_a_seat_of_another_run_does_not_stand_in_for_one_that_was_not_asked(tmp_path: Path) -> None:
    folder_with(tmp_path)
    path = tmp_path / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    (tmp_path / "more.jsonl").write_text(path.read_text())
    rows[-1]["seats"] = rows[-1]["seats"][1:]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = study(tmp_path, "more.jsonl")
    assert found["seats"] == ["s1", "s2", "s1 (more)", "s2 (more)"]
    shares = found["subsets"]["shares"]  # type: ignore[index]  # JSON
    assert [share["coverage"] < 1 for share in shares] == [True, False, False, False]


def test_prices_make_dollars(tmp_path: Path) -> None:
    folder_with(tmp_path)
    frontier = study(tmp_path, "--price", "s1=1000/2000", "--price", "s2=0/0")["frontier"]
    assert frontier["unit"] == "dollars"  # type: ignore[index]  # JSON
    # 20 tokens read at 1,000 dollars a million, 5 written at 2,000.
    assert frontier["whole"]["cost"] == pytest.approx(0.03)  # type: ignore[index]  # JSON


def test_agreement_is_taken_within_what_a_key_says(tmp_path: Path) -> None:
    folder_with(tmp_path)
    assert study(tmp_path, "--within", "corpus")["groups"] == ["y", "x"]


def refused(folder: Path, *flags: str) -> str:
    command = ("panel", "study", "results.jsonl", "--human", "texts.jsonl", *QUICK, *flags)
    done = call(folder, *command, code={1, 2})
    assert not done.stdout
    return complaint(done.stderr)


def test_few_texts_are_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, human=HUMAN[:4])
    assert "people scored 4 of the texts on fluency" in refused(tmp_path)


def test_scores_that_are_all_alike_are_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, human=(4,) * 12)
    assert "people gave all 12 texts the score 4 on fluency" in refused(tmp_path)


def test_one_seat_is_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, seats=(FIRST,))
    assert "only s1 gave scores of fluency" in refused(tmp_path)


def test_people_who_disagree_wholly_are_pointed_out(tmp_path: Path) -> None:
    human = [{"ann": score, "bob": 6 - score} for score in HUMAN]
    folder_with(tmp_path, human=[{**one, "eve": 6 - one["bob"]} for one in human])
    assert "agree with each other no better than by chance" in str(study(tmp_path)["notes"])


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--seat", "s9"), "no seat s9 judged fluency; choose from s1, s2, s3"),
        (("--price", "s1=x"), "expected SEAT=PROMPT/COMPLETION"),
        (("--price", "s1=1/-1"), "expected SEAT=PROMPT/COMPLETION"),
        (("--price", "s9=1/1"), "--price of no seat: s9"),
        (("--budget", "3"), "too small for one text"),
        (("--cost", "dollars"), "the cost of every seat is unknown in dollars"),
        (("--within", "era"), "the row '0' has no such key in its meta"),
        (("--aspect", "coherence"), "coherence was not judged"),
        (("--families", "none.toml"), "none.toml cannot be read"),
    ],
)
def test_errors_are_reported(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    folder_with(tmp_path)
    assert says in refused(tmp_path, *flags)


def test_marks_of_another_aspect_are_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, aspect="coherence")
    assert "the names of aspects must be the same" in refused(tmp_path)


def many_texts(folder: Path, *, failing: bool = False, systems: int = 1) -> None:
    """Write 60 texts, and the reports of a free seat and two that take a call."""
    rng = default_rng(3)
    quality = rng.uniform(0.5, 5.5, size=60)
    seats = np.clip(np.rint(quality + rng.normal(size=(3, 60))), 1, 5).tolist()
    rows = [
        {
            "id": str(number),
            "output": "",
            "system": f"bart{number % systems}",
            "inputs": {"Article": f"article {number // systems}"},
            "human": {"fluency": round(score, 2)},
        }
        for number, score in enumerate(quality.tolist())
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_results(
        folder / "results.jsonl",
        [
            result(
                str(number),
                system=f"bart{number % systems}",
                aspect="fluency",
                scores=[
                    None if failing and seat == 2 and number % 2 else line[number]
                    for seat, line in enumerate(seats)
                ],
            )
            for number in range(60)
        ],
    )
    written = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    for row in written:
        row["aggregation"] = "mean"
        row["seats"][0]["usage"] |= {"calls": 0, "prompt": 0, "completion": 0}
        row["seats"][2]["usage"]["prompt"] = 95
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("prices", "unit", "failing"),
    [((), "tokens", True), (("--price", "s2=1/2", "--price", "s3=1/2"), "dollars", False)],
)
def test_a_cascade_of_the_frontier_is_had_by_its_command(
    tmp_path: Path, prices: tuple[str, ...], unit: str, failing: bool
) -> None:
    many_texts(tmp_path, failing=failing)
    frontier: Any = study(tmp_path, *prices)["frontier"]
    assert frontier["unit"] == unit
    costs = {
        tuple(one["stages"][0]): one["cost"] for one in frontier["choices"] if one["share"] is None
    }
    cascades = [one for one in frontier["choices"] if one["share"] is not None]
    whole = [one for one in cascades if len(one["stages"]) == 3]
    assert whole[0]["stages"] == [["s1"], ["s2"], ["s3"]]
    for one in (cascades[0], whole[0], whole[-1]):
        stages = [flag for stage in one["stages"] for flag in ("--stage", ",".join(stage))]
        done = call(
            tmp_path,
            *("panel", "cascade", "results.jsonl", *stages, "--share", f"{one['share']:g}"),
            *("--cost", unit, *prices, "--human", "texts.jsonl", "--draws", "0", "--json"),
            *("--write", "cascade.toml"),
        )
        chosen = json.loads(done.stdout)["cascade"]["chosen"]
        assert chosen["share"] == one["share"]
        (kept,) = chosen["kept"]
        assert kept["agreement"] == pytest.approx(one["agreement"], abs=1e-5)
        all_asked = sum(costs[seat,] for stage in one["stages"] for seat in stage)
        assert kept["cost"] * all_asked == pytest.approx(one["cost"], rel=1e-3)
        assert (tmp_path / "cascade.toml").read_text().count("[[stages]]") == len(one["stages"])


def test_a_cascade_has_the_agreement_of_the_study_within_inputs_too(tmp_path: Path) -> None:
    many_texts(tmp_path, systems=5)
    found = study(tmp_path)
    assert found["level"] == "by-input"
    frontier: Any = found["frontier"]
    one = next(each for each in frontier["choices"] if each["share"] is not None)
    stages = [flag for stage in one["stages"] for flag in ("--stage", ",".join(stage))]

    def cascade(*flags: str) -> str:
        return call(
            tmp_path,
            *("panel", "cascade", "results.jsonl", *stages, "--share", f"{one['share']:g}"),
            *("--cost", frontier["unit"], "--human", "texts.jsonl", "--draws", "0", *flags),
        ).stdout

    (kept,) = json.loads(cascade("--json"))["cascade"]["chosen"]["kept"]
    assert kept["agreement"] == pytest.approx(one["agreement"], abs=1e-5)
    assert "Spearman's correlation within each input over its systems" in " ".join(
        cascade().split()
    )
    assert "Spearman's correlation over all outputs" in " ".join(
        cascade("--level", "pooled").split()
    )


def test_the_tables_say_by_which_command_a_cascade_is_had(tmp_path: Path) -> None:
    many_texts(tmp_path)
    done = call(
        tmp_path,
        *("panel", "study", "results.jsonl", "--human", "texts.jsonl", *QUICK, "-o", "study"),
    )
    said = " ".join(done.stdout.split())
    printed = "spanjury panel cascade results.jsonl --aspect fluency --human texts.jsonl"
    assert f"{printed} --stage s1 --stage s2" in said
    assert "--cost tokens --write cascade.toml" in said
    page = (tmp_path / "study" / "panel-study.md").read_text()
    assert page.count(f"{printed} --stage") >= 2


def test_a_budget_counts_texts_that_no_one_scored(tmp_path: Path) -> None:
    many_texts(tmp_path)
    scored = (tmp_path / "texts.jsonl").read_text().splitlines()[:40]
    (tmp_path / "texts.jsonl").write_text("\n".join(scored))
    found = study(tmp_path, "--budget", "1000")
    assert found["texts"] == 40
    assert found["frontier"]["budget"]["texts"] == 60  # type: ignore[index]  # JSON


def test_seats_that_no_price_is_known_of_are_named(tmp_path: Path) -> None:
    many_texts(tmp_path)
    flags = ("panel", "cascade", "results.jsonl", "--cost", "dollars", "--price", "s2=1/2")
    assert "no price of s3 is known" in complaint(call(tmp_path, *flags, code={1, 2}).stderr)
