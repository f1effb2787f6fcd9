"""A model writes the damage: in an exam, and of texts that are damaged for themselves."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer, Received, unreachable_url

from spanjury.orchestration.cli.flags.panel import CallFlags, PanelFlags, WriterFlags
from spanjury.orchestration.wiring.config import ModelConfig

TEXTS = ("Anna Berg opened a school in Oslo.", "It was in Oslo that Bob met her.", "So be it.")
RECIPE = """
aspects = ["consistency", "fluency"]

[[items]]
name = "new-names"
perturbation = "fictional-details"
level = "word"
written = "fictional-entities"

[[items]]
name = "double-words"
perturbation = "repeat-word"
level = "word"
"""
MODEL = "openai-compatible/inventor"


class Inventing(LoopbackServer):
    """Puts an invented town in the place of Oslo, whatever the order in which it is asked."""

    def record(self, request: Received) -> Answer:
        body = json.dumps(request.body, ensure_ascii=False)
        if "single word: ready" in body:  # the preflight
            return chat("ready")
        super().record(request)
        (text,) = (text for text in TEXTS if text in body)
        usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
        return chat(text.replace("Oslo", "Velmora"), usage=usage)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        summary(str(number), text, article="Anna opened a school. It is in Oslo.")
        for number, text in enumerate(TEXTS)
    ]
    Path("good.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("recipe.toml").write_text(RECIPE)


@pytest.fixture
def server() -> Iterator[Inventing]:
    with Inventing(failure(500)) as inventing:
        yield inventing


def damage_model(url: str) -> tuple[str, ...]:
    return ("--writer", MODEL, "--writer-base-url", url)


def examine(url: str, *flags: str) -> tuple[str, ...]:
    command = ("exam", "discernment", "good.jsonl", "--recipe", "recipe.toml", "--no-progress")
    return (*command, *damage_model(url), *flags)


def perturb(url: str, *flags: str) -> tuple[str, ...]:
    command = ("perturb", "good.jsonl", "--recipe", "recipe.toml", "-o", "damaged.jsonl")
    return (*command, *damage_model(url), *flags)


def test_an_exam_on_written_damage_names_the_writer_and_resumes_unasked(server: Inventing) -> None:
    spanjury(*examine(server.base_url))
    # Two texts, and the third, in which there is no Oslo, a second time.
    assert len(server.requests) == 4
    findings = json.loads(Path("exam/findings.json").read_text())
    names, words = findings["findings"]
    assert (names["written_by"], names["damaged"]) == (MODEL, 2)
    assert names["left_out"] == {"the model left the text as it was, twice": 1}
    assert words["written_by"] == ""
    page = Path("exam/report.md").read_text()
    assert f"| new-names | {MODEL} | word | 2 |" in page
    assert "| double-words | rule | word | 3 |" in page
    spanjury(*examine(server.base_url))
    assert len(server.requests) == 4
    assert json.loads(Path("exam/findings.json").read_text()) == findings


def test_the_flags_have_their_former_names_too(server: Inventing) -> None:
    command = ("exam", "discernment", "good.jsonl", "--recipe", "recipe.toml", "--no-progress")
    spanjury(*command, "--damage-model", MODEL, "--damage-model-base-url", server.base_url)
    assert len(server.requests) == 4


def test_without_a_model_all_is_done_by_rules() -> None:
    flags = ("--recipe", "recipe.toml", "--no-progress")
    spanjury("exam", "discernment", "good.jsonl", *flags)
    findings = json.loads(Path("exam/findings.json").read_text())
    assert [finding["written_by"] for finding in findings["findings"]] == ["", ""]


@pytest.mark.parametrize("command", [examine, perturb])
def test_a_wrong_key_ends_the_command_and_leaves_nothing_that_looks_finished(
    command: Callable[[str], tuple[str, ...]],
) -> None:
    with LoopbackServer(failure(401, "Incorrect API key provided")) as server:
        done = spanjury(*command(server.base_url), code=1)
    assert f"spanjury: model {MODEL} cannot be used: " in done.stderr
    assert "Incorrect API key provided" in done.stderr
    assert not Path("exam/findings.json").exists()
    assert not Path("damaged.jsonl").exists()


def test_a_server_that_is_not_there_ends_the_exam() -> None:
    done = spanjury(*examine(unreachable_url(), "--max-outage", "0"), code=1)
    assert f"spanjury: model {MODEL} does not answer" in done.stderr
    assert not Path("exam/findings.json").exists()


def test_a_limit_ends_writing_and_a_rerun_goes_on(server: Inventing) -> None:
    limits = ("--max-connections", "1", "--max-tokens-total", "100")
    ended = spanjury(*examine(server.base_url, *limits), code=4)
    assert "tokens are spent, and 100 is the limit" in ended.stderr
    assert len(server.requests) < 4
    spanjury(*examine(server.base_url))
    assert len(server.requests) == 4


def test_damaged_texts_name_their_writer_and_come_again_without_asking(server: Inventing) -> None:
    done = spanjury(*perturb(server.base_url))
    assert "skipped: 1 x new-names: the model left the text as it was, twice" in done.stderr
    first = Path("damaged.jsonl").read_bytes()
    rows = [json.loads(line) for line in first.splitlines()]
    (one, other, *ruled) = rows
    assert [row["output"] for row in (one, other)] == [
        text.replace("Oslo", "Velmora") for text in TEXTS[:2]
    ]
    assert [span["text"] for span in one["spans"]] == ["Velmora"]
    assert one["meta"]["written_by"] == MODEL
    assert one["meta"]["written"].startswith("fictional-entities")
    assert all("written_by" not in row["meta"] for row in ruled)
    asked = len(server.requests)
    spanjury(*perturb(server.base_url))
    assert len(server.requests) == asked
    assert Path("damaged.jsonl").read_bytes() == first


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--damage-model", MODEL, "--recipe", "invariance"), "has no damage that a model"),
        (("--damage-model-base-url", "http://127.0.0.1:1"), "name one with --writer"),
        (("--recipe", "strange.toml"), "no model can do the damage 'lies'; choose from"),
    ],
)
def test_an_unfit_writer_is_refused_before_any_call(flags: tuple[str, ...], problem: str) -> None:
    strange = RECIPE.replace('"fictional-entities"', '"lies"')
    Path("strange.toml").write_text(strange)
    for command in (("exam", "discernment", "--demo"), ("perturb", "good.jsonl", "-o", "x.jsonl")):
        recipe = () if "--recipe" in flags else ("--recipe", "recipe.toml")
        assert problem in spanjury(*command, *recipe, *flags, code=2).stderr
    assert not Path("exam").exists()
    assert not Path("x.jsonl").exists()


PANEL = PanelFlags(
    model=("judge",),
    model_base_url=("http://one",),
    calls=CallFlags(via="fast", max_connections=3, requests_per_minute=60),
)


def test_a_writer_that_judges_too_is_reached_as_there() -> None:
    assert WriterFlags(writer="judge").config(judging=PANEL) == ModelConfig(
        name="judge",
        client="lean",
        base_url=("http://one",),
        max_connections=3,
        requests_per_minute=60,
    )


@pytest.mark.parametrize("name", ["judge", "other"])
def test_a_writer_with_its_own_address_shares_only_what_holds_for_each_model(name: str) -> None:
    flags = WriterFlags(writer=name, writer_base_url=("http://two",))
    assert flags.config(judging=PANEL) == ModelConfig(
        name=name, base_url=("http://two",), max_connections=3, requests_per_minute=60
    )
