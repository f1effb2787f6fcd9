import importlib
import socket
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from fakes.command import spanjury
from fakes.model_folders import in_cache, save_card
from fakes.processes import completed
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer

from spanjury.judges.core import ConfigError, PluginError
from spanjury.judges.core.registry import Registry
from spanjury.orchestration.cli.doctor import _attention, forbid_network
from spanjury.orchestration.wiring import models

doctor = partial(spanjury, "doctor", env={"COLUMNS": "200"})

DOCTOR = """
import sys
from spanjury.orchestration.cli.app import app
app(sys.argv[1:], standalone_mode=False)
print(sorted({'litellm', 'torch'} & sys.modules.keys()))
"""


def test_the_doctor_lists_what_is_installed() -> None:
    done = doctor()
    assert done.stdout.startswith("all is well\n")
    for word in ("python", "litellm", "spanjury.judges", "grounding", "loads"):
        assert word in done.output
    assert "--all loads ours" in done.output


def test_the_libraries_of_models_are_loaded_on_demand() -> None:
    run = [sys.executable, "-c", DOCTOR, "doctor"]
    quick = completed(run)
    assert quick.stdout.endswith("[]\n"), quick.stdout


def test_offline_everything_loads_and_judges_without_the_network() -> None:
    run = [sys.executable, "-c", DOCTOR, "doctor", "--all", "--offline"]
    done = completed(run)
    assert "'litellm'" in done.stdout.splitlines()[-1]
    assert "errors found in a sample" in done.stdout
    assert "attention of local models" in done.stdout
    assert "untouched" in done.stdout


def test_the_doctor_tells_an_answering_model_from_a_silent_one() -> None:
    with LoopbackServer(chat("ready")) as server:
        done = doctor("--model", "openai/m", "--model-base-url", server.base_url)
        assert "'ready' after" in done.output
    with LoopbackServer(failure(401)) as server:
        done = doctor("--model", "openai/m", "--model-base-url", server.base_url, code=1)
        assert "401" in done.output


def test_the_doctor_lists_checkers_and_what_the_default_panel_would_gain(tmp_path: Path) -> None:
    cached = in_cache(tmp_path, "lytang/MiniCheck-RoBERTa-Large", "ab" * 20)
    save_card(cached)
    save_card(in_cache(tmp_path, "vectara/hallucination_evaluation_model", "cd" * 20), weights="")
    done = spanjury("doctor", env={"COLUMNS": "400", "HF_HUB_CACHE": str(tmp_path)})
    rows = [" ".join(row.replace("│", " ").split()) for row in done.output.splitlines()]
    checker, hhem, best = (row for row in rows if row.startswith(("checker ", "panel best ")))
    assert checker.startswith("checker minicheck-roberta installed lytang/MiniCheck-RoBERTa-Large@")
    assert checker.endswith(
        f"0 MB; MIT; 73.5 on LLM-AggreFact, 77.2 on its RAGTruth part; {cached}"
    )
    assert hhem.startswith("checker hhem unusable")
    assert best.startswith(
        "panel best 1 checker grounding, reader, form and minicheck-roberta (73.5"
    )
    assert "Llama 3.1 8B 70.3 on LLM-AggreFact" in best


def test_the_doctor_names_a_licence_without_commercial_use() -> None:
    with LoopbackServer(chat("ready")) as server:
        model = "openai-compatible/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct"
        done = doctor("--model", model, "--model-base-url", server.base_url)
    words = " ".join(done.output.replace("│", " ").split())
    assert "is licensed under CC BY-NC 4.0: no commercial use" in words


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (chat("ready"), "none"),
        (failure(400, "logprobs are not supported"), "none"),
        (chat("ready", logprobs={"content": [{"token": "ready", "logprob": -0.1}]}), "given"),
    ],
)
def test_the_doctor_says_whether_a_model_gives_log_probabilities(
    answer: Answer, state: str
) -> None:
    with LoopbackServer(chat("ready"), answer) as server:
        done = doctor("--model", "openai-compatible/m", "--model-base-url", server.base_url)
    lines = done.output.splitlines()
    (line,) = [line for line in lines if "log-probabilities" in line]
    assert state in line
    (python,) = [line for line in lines if line.startswith("│ python ")]
    assert lines.index(line) < lines.index(python)  # the model was asked about


@pytest.mark.parametrize(
    ("answers", "state", "note"),
    [
        ([chat('{ "ready": "yes" }')], "bounded-schema", "enforces this form"),
        ([failure(400, "maxLength"), chat('{"ready": "yes"}')], "schema", "enforces this form"),
        ([failure(400)] * 2 + [chat("")], "grammar", "the reply is empty"),
        ([chat("ready")], "ignored", "bounded-schema is accepted, but the reply is 'ready'"),
        ([failure(400)] * 3, "text", "the prompt alone asks for it"),
    ],
)
def test_the_doctor_says_to_which_form_a_server_holds_replies(
    answers: list[Answer], state: str, note: str
) -> None:
    with LoopbackServer(chat("ready"), *answers, chat("ready")) as server:
        done = doctor("--model", "openai-compatible/m", "--model-base-url", server.base_url)
    (row,) = [row for row in done.output.splitlines() if "form of replies" in row]
    assert [cell.strip() for cell in row.split("│")][2] == state
    assert note in row


@pytest.mark.parametrize(
    ("found", "row"),
    [
        (("sdpa", "cpu"), "sdpa PyTorch's, on cpu"),
        (("sdpa", "cuda"), "sdpa PyTorch's, on cuda; xformers (extra gpu) has no kernel here"),
        (("xformers", "cuda"), "xformers xformers 0.0.99, on cuda"),
        (ConfigError("torch is not installed"), "absent torch is not installed"),
    ],
)
def test_the_doctor_says_who_computes_attention(
    found: object, row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here() -> object:
        if isinstance(found, ConfigError):
            raise found
        return found

    info = tmp_path / "xformers-0.0.99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xformers\nVersion: 0.0.99\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    monkeypatch.setattr(models, "attention", SimpleNamespace(attention_here=here))
    assert " ".join(_attention()) == f"attention of local models {row}"


def test_a_plugin_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Registry.get

    def get(registry: Registry[object], name: str) -> object:
        if name == "form":
            raise PluginError("form is broken")
        return found(registry, name)

    monkeypatch.setattr(Registry, "get", get)
    done = doctor(code=1)
    assert done.stdout.startswith("fails: spanjury.judges: form\n")
    assert "form is broken" in done.output


STRANGE = """
from dataclasses import dataclass
from typing import Annotated

from spanjury import Report
from spanjury.exams import PanelStudy, Parameter
from spanjury.stats import paired

class Right:
    signature = "right|1"

    async def assess(self, segment, aspect):
        return Report(score=3)

class Sync(Right):
    def assess(self, segment, aspect):
        return Report(score=3)

class Narrow(Right):
    async def assess(self, segment):
        return Report(score=3)

class Fresh(Right):
    @property
    def signature(self):
        return f"fresh|{id(self)}"

class Asking(Right):
    def __init__(self, model):
        self.signature = f"asking|{model.signature}"

class Named(Right):
    def __init__(self, model: str = "gpt"):
        self.model = model

class Optioned(Right):
    def __init__(self, threshold):
        self.threshold = threshold

right = Right()

class Panicking(Right):
    def __init__(self):
        raise type("Panic", (BaseException,), {})("rust")

async def asynchronous(*_):
    return 3.0

class Unscoring:
    signature = "unscoring|1"

    async def score_segments(self, samples):
        return [1.0 for _ in samples]

class Weighted:
    def __init__(self, model: str = "small"):
        self.signature = "weighted|" + model

    def score_segments(self, samples):
        return [1.0 for _ in samples]

def number(values):
    return 0.5

def nothing():
    return ()

async def backend(name, *, options):
    yield None

class Planned(PanelStudy):
    def plan(self):
        return None

@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTwice(Planned):
    judge: Annotated[str, Parameter("A second judge.")] = ""

@dataclass(frozen=True, slots=True, kw_only=True)
class Helpful(Planned):
    help: Annotated[str, Parameter("Help.")] = ""

@dataclass(frozen=True, slots=True, kw_only=True)
class Mixed(Planned):
    depth: Annotated[int | str, Parameter("A number or a word.")] = 1
"""
POINTS = """
[spanjury.judges]
ends = exiting:judge
panics = panicking:judge
panicking = stranger:Panicking
typo = strangr:Right
part = stranger.part:Right
needs = needing:judge
needs-extra = needing_extra:judge
async = stranger:asynchronous
a:b = stranger:Right
right = stranger:Right
sync = stranger:Sync
narrow = stranger:Narrow
fresh = stranger:Fresh
asking = stranger:Asking
named = stranger:Named
optioned = stranger:Optioned
built = stranger:right
bleu = stranger:Right
[spanjury.metrics]
unscoring = stranger:Unscoring
weighted = stranger:Weighted
[spanjury.statistics]
half = stranger:number
[spanjury.perturbations]
rule = stranger:number
[spanjury.sources]
rows = stranger:nothing
[spanjury.exams]
study = stranger:number
judged-twice = stranger:JudgedTwice
helpful = stranger:Helpful
mixed = stranger:Mixed
class = stranger:number
[spanjury.judge]
misplaced = stranger:Right
[spanjury.aggregations]
waits = stranger:asynchronous
[spanjury.models]
undecorated = stranger:backend
"""


def test_the_doctor_names_plugins_of_others_that_break_their_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "strange-1.2.dist-info"
    info.mkdir()
    requires = "Requires-Dist: nowhere\nRequires-Dist: else-where>=2; extra == 'all'\n"
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: strange\nVersion: 1.2\n{requires}"
    )
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "exiting.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "panicking.py").write_text("raise type('Panic', (BaseException,), {})('rust')\n")
    (tmp_path / "needing.py").write_text("import nowhere\n")
    (tmp_path / "needing_extra.py").write_text("import else_where.deep\n")
    (tmp_path / "stranger.py").write_text(STRANGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    done = spanjury("doctor", env={"COLUMNS": "400"})
    rows = [" ".join(row.replace("│", " ").split()) for row in done.output.splitlines()]
    kinds = [row.split(" ", 3) for row in rows if row.startswith("spanjury.") and ": " in row]
    states = {f"{group} {name}": (state, note) for group, name, state, note in kinds}
    assert states.pop("spanjury.judges: optioned")[0] == "unchecked"
    assert "needs-extra (needs else_where)" in " ".join(rows)
    assert " at 0x" not in done.output
    (verdict,) = [row for row in rows if row.startswith("all of spanjury is well")]
    assert "others: 14 in spanjury.judges, " in verdict
    assert "5 in spanjury.exams, " in verdict
    for plugin, reason in {
        "judges: ends": "spanjury.judges plugin 'ends' (exiting:judge, of the package strange)",
        "judges: panics": "spanjury.judges plugin 'panics' (panicking:judge, of the package",
        "judges: panicking": "'panicking' cannot be made: Panic('rust')",
        "judges: typo": "spanjury.judges plugin 'typo' (strangr:Right, of the package strange)",
        "judges: part": "spanjury.judges plugin 'part' (stranger.part:Right, of the package",
        "judges: needs": "spanjury.judges plugin 'needs' (needing:judge, of the package strange)",
        "judges: async": "the factory of 'async' must not be async: write `def`",
        "judges: a:b": "the name 'a:b' must consist of letters, digits and . _ + -",
        "exams: class": "the name 'class' cannot be that of a function in Python",
        "judge: misplaced": "there is no group spanjury.judge; did you mean spanjury.judges?",
        "aggregations: waits": "aggregation 'waits' of (2.0,) must not be async: write `def`",
        "judges: sync": "judge 'sync': assess must be async",
        "judges: narrow": "judge 'narrow': assess must take (segment, aspect), and does not",
        "judges: fresh": "'fresh': two objects with the same options have different signatures",
        "judges: built": "<stranger.Right object",
        "judges: named": "'named': a parameter called 'model' receives a chat model, and is",
        "judges: bleu": "the name 'bleu' belongs to a metric of spanjury, which is used",
        "metrics: unscoring": "metric 'unscoring': score_segments must not be async",
        "statistics: half": "statistic 'half' must return a PairedTest",
        "perturbations: rule": "perturbation 'rule' must be a Perturbation",
        "sources: rows": "source 'rows' must take (path), and does not",
        "exams: study": "exam 'study' must be a PanelStudy",
        "exams: judged-twice": "--judge: every command of an exam has a flag of this name",
        "exams: helpful": "--help: every command of an exam has a flag of this name",
        "exams: mixed": "'mixed': no flags can be made: Typer currently doesn't support Union",
        "models: undecorated": "model backend 'undecorated' must return an async context manager",
    }.items():
        state, note = states.pop(f"spanjury.{plugin}")
        assert state == "broken"
        assert note.startswith(f"broken (strange 1.2): {reason}")
    assert {name for name in states if ": " in name} == set()


def test_the_network_is_seen_and_refused_only_while_it_is_forbidden() -> None:
    with forbid_network() as attempts:
        with pytest.raises(ConnectionRefusedError, match="the network is forbidden"):
            socket.getaddrinfo("localhost", 80)
        with socket.socket() as tried, pytest.raises(ConnectionRefusedError):
            tried.connect(("127.0.0.1", 9))
    assert [attempt.split()[0] for attempt in attempts] == [
        "socket.getaddrinfo",
        "socket.connect",
    ]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
    assert len(attempts) == 2
