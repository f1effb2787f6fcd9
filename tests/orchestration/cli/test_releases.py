"""A run outlasts releases: what was paid for stays, what is computed otherwise is made again."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.command import spanjury
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.judges.text.prompts import Fenced, fence

ROWS = [
    {"id": str(number), "task": "summarization", "output": f"text {number} was was written ."}
    for number in range(5)
]
ASPECT = '[tasks.summarization.aspects.calm]\nkind = "appeal"\ndefinition = "{}"\n'
COSTS = (0.0, 2.5, 10.0, 25.0, 50.0, 100.0)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have another release of the package run from now on."""

    def release(version: str) -> None:
        for module in ("version", "signature", "code_digest"):
            # By the module: a function of the same name hides that of signatures.
            monkeypatch.setattr(sys.modules[f"spanjury.judges.core.{module}"], "VERSION", version)

    return release


def results(path: str = "run/results.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def asks(server: LoopbackServer, model: str, *judges: str) -> list[str]:
    named = [part for judge in judges for part in ("--judge", judge)]
    served = ["--model", model, "--model-base-url", server.base_url]
    return ["evaluate", "rows.jsonl", *named, *served, "--no-preflight", "--run-dir", "run"]


@pytest.mark.parametrize(
    "model", ["openai-compatible/judge", pytest.param("openai/judge", marks=pytest.mark.heavy)]
)
def test_a_newer_release_resumes_without_a_call(release: Callable[[str], None], model: str) -> None:
    judges = ("annotator", "annotator", "distilled", "form")
    with LoopbackServer(chat("No Error\n\nOverall score: 4")) as server:
        spanjury(*asks(server, model, *judges), "--aspect", "fluency")
        asked, before = len(server.requests), results()
        for version in ("0.1.1", "0.2.0", "1.0.0rc1"):
            release(version)
            spanjury("resume", "run")
            after = results()
            for row in after:
                signatures = [row["signature"], *(seat["signature"] for seat in row["seats"])]
                assert all(signature.endswith(f"|spanjury:{version}") for signature in signatures)
            spanjury("rescore", "run", "--aggregate", "median", "-o", "median.jsonl")
            assert len(server.requests) == asked
            assert [row["score"] for row in after] == [row["score"] for row in before]
            medians = [row["score"] for row in results("median.jsonl")]
            assert len(medians) == len(ROWS)
            assert None not in medians


def test_other_costs_of_errors_of_form_give_other_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    spanjury("evaluate", "rows.jsonl", "--aspect", "fluency", "--judge", "form", "--run-dir", "run")
    before = [row["score"] for row in results()]
    spanjury("resume", "run")
    assert [row["score"] for row in results()] == before
    monkeypatch.setattr("spanjury.judges.rules.form._COSTS", COSTS)
    spanjury("resume", "run")
    assert all(new < old for new, old in zip([r["score"] for r in results()], before, strict=True))


def test_another_layout_of_the_prompt_is_asked_and_the_former_one_is_known_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def laid_out(texts: dict[str, str]) -> Fenced:
        fenced = fence(texts)
        return Fenced(text=f"{fenced.text}\n---", marks=fenced.marks)

    with LoopbackServer(chat("No Error\n\nOverall score: Good")) as server:
        spanjury(*asks(server, "openai-compatible/judge", "annotator"), "--aspect", "fluency")
        assert len(server.requests) == len(ROWS)
        with monkeypatch.context() as newer:
            newer.setattr("spanjury.judges.llm.prompt.fence", laid_out)
            newer.setattr("spanjury.judges.llm.annotator.code_digest", lambda *_: "newer")
            spanjury("resume", "run")
            assert len(server.requests) == 2 * len(ROWS)
        spanjury("resume", "run")
        assert len(server.requests) == 2 * len(ROWS)


def test_another_description_of_an_aspect_is_asked() -> None:
    aspects = Path("aspects.toml")
    aspects.write_text(ASPECT.format("It keeps calm."))
    with LoopbackServer(chat("No Error\n\nOverall score: Good")) as server:
        asked = asks(server, "openai-compatible/judge", "annotator")
        spanjury(*asked, "--aspects-file", "aspects.toml", "--aspect", "calm")
        spanjury("resume", "run")
        assert len(server.requests) == len(ROWS)
        aspects.write_text(ASPECT.format("It keeps calm and is kind."))
        spanjury("resume", "run")
        assert len(server.requests) == 2 * len(ROWS)
