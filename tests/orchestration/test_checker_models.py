"""Checkers by name: where they are looked for, what their names set, and which is the best."""

import inspect
from pathlib import Path

import pytest
from fakes.model_folders import in_cache, save_card

from spanjury.adapters.checkers import catalogue, folder, local_models
from spanjury.judges.checker.judge import CheckerJudge
from spanjury.judges.core import ConfigError
from spanjury.orchestration.services.judging.panels import panel_config
from spanjury.orchestration.wiring.checker_models import (
    best_panel,
    describe_models,
    installed_checkers,
    notices,
    with_folder,
)
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.specs import parse_seat

ROBERTA = "lytang/MiniCheck-RoBERTa-Large"
DEBERTA = "lytang/MiniCheck-DeBERTa-v3-Large"
COMMIT, OTHER = "ab" * 20, "cd" * 20
DEFAULT = ["grounding", "reader", "form"]


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache and an empty folder of models, and work in a third folder."""
    for name in ("cache", "models", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SPANJURY_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def cached(tmp_path: Path) -> Path:
    return save_card(in_cache(tmp_path / "cache", ROBERTA, COMMIT))


def test_every_model_of_the_catalogue_is_asked_by_options_that_exist() -> None:
    listed = catalogue.read_catalogue()
    opener = inspect.signature(folder.open_folder).parameters
    options = {*inspect.signature(CheckerJudge).parameters, *opener}
    for model in listed.models.values():
        assert {*listed.options_of(model), *model.needs} <= options
        assert {*model.figures} <= {*listed.sets}
        assert model.judge.partition(":")[0] in {"checker", "guardian", "prometheus"}
    for figures in listed.compared.values():
        assert {*figures} <= {*listed.sets}


@pytest.mark.parametrize("path", ["minicheck-roberta", "MiniCheck-RoBERTa-Large", ROBERTA])
def test_a_name_is_found_in_the_folder_of_models(path: str, tmp_path: Path) -> None:
    save_card(tmp_path / "models" / path)
    options = with_folder(parse_seat("checker:minicheck-roberta:passages=4,form=pair").options)
    assert options.pop("folder") == str(tmp_path / "models" / path)
    assert options == {"form": "pair", "supported": 1, "passages": 4}


@pytest.mark.parametrize("name", ["minicheck-roberta", f"hf:{ROBERTA}"])
def test_a_name_is_found_in_the_cache_and_its_commit_is_pinned(name: str, cached: Path) -> None:
    seat = parse_seat(f"checker:{name}")
    assert seat.name == f"checker:{name}"
    assert seat.options == {"model": name, "revision": COMMIT}
    options = with_folder(seat.options)
    assert options == {"folder": str(cached), "form": "joined", "supported": 1}


def test_a_pinned_commit_stays_when_the_branch_moves_on(tmp_path: Path, cached: Path) -> None:
    before = parse_seat("checker:minicheck-roberta").options
    save_card(in_cache(tmp_path / "cache", ROBERTA, OTHER))
    assert with_folder(before)["folder"] == str(cached)
    assert parse_seat("checker:minicheck-roberta").options["revision"] == OTHER
    short = parse_seat("checker:minicheck-roberta:revision=abab")
    assert short.options["revision"] == COMMIT


def test_the_only_commit_needs_no_branch_and_one_of_several_needs_a_name(tmp_path: Path) -> None:
    save_card(in_cache(tmp_path / "cache", ROBERTA, COMMIT, ref=""))
    assert parse_seat(f"checker:hf:{ROBERTA}").options["revision"] == COMMIT
    save_card(in_cache(tmp_path / "cache", ROBERTA, OTHER, ref=""))
    with pytest.raises(ConfigError, match="is not on this machine"):
        parse_seat(f"checker:hf:{ROBERTA}")


@pytest.mark.parametrize(
    ("seat", "message"),
    [
        ("hhem", r"searched .*models and .*cache\); fetch it with .*checker:hhem:download=true"),
        (
            "hf:a/b:revision=v1",
            "a/b at revision v1 is not.*checker:hf:a/b:revision=v1,download=true",
        ),
        ("alignscore-base:download=true", "convert it into SPANJURY_MODELS/alignscore-base"),
        ("minicheck-robert", r"did you mean 'minicheck-roberta'\?"),
        ("hf:../b", "expected OWNER/NAME"),
        ("hf:a/b:revision=../x", "expected a commit, branch or tag"),
        ("hf:a/b:revision=12e4", "in quotes"),
        ("nli", "checker:nli:FOLDER"),
        ("factcg", "needs template=FILE"),
        ("granite-guardian", "--judge guardian:granite"),
        ("hhem:download=maybe", "true or false, got 'maybe'"),
        ("hhem:folder=x", "not both"),
    ],
)
def test_a_model_that_cannot_be_had_is_refused_in_one_line(seat: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_seat(f"checker:{seat}")


def test_a_model_that_may_be_fetched_is_not_asked_for_before_the_panel_opens() -> None:
    seat = parse_seat(f"checker:hf:{ROBERTA}:download=true")
    assert seat.options == {"model": f"hf:{ROBERTA}", "download": True}


def test_a_folder_may_hold_colons_and_commas_and_may_be_an_nli_model(tmp_path: Path) -> None:
    named = save_card(tmp_path / "work" / "a:b,c=1")
    assert parse_seat(f"checker:{named}").options == {"folder": str(named)}
    seat = parse_seat(f"checker:nli:{named.parent}/a:b,c=1/.:passages=2")
    assert with_folder(seat.options) == {
        "folder": str(named),
        "passage_tokens": 200,
        "passages": 2,
    }


def test_a_folder_of_ones_own_among_the_models_has_its_name(tmp_path: Path) -> None:
    own = save_card(tmp_path / "models" / "mine")
    assert with_folder(parse_seat("checker:nli:mine").options)["folder"] == str(own)
    with pytest.raises(ConfigError, match="revision is for models of the hub"):
        parse_seat("checker:mine:revision=v1")


def test_a_plugin_that_is_a_checker_is_named_like_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = type("Names", (), {"names": staticmethod(lambda: ("folder", "overlap"))})
    monkeypatch.setattr("spanjury.orchestration.wiring.specs.CHECKERS", plugin)
    seat = parse_seat("checker:overlap:min_letters=5")
    assert seat.options == {"kind": "overlap", "min_letters": 5}


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HF_HUB_CACHE": "$ROOT/a", "HF_HOME": "/b"}, "/top/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/c", "HF_HOME": "/b"}, "/c"),
        ({"HF_HOME": "/b"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/d"}, "/d/huggingface/hub"),
        ({"HOME": "/home/me"}, "/home/me/.cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_the_hubs_client_has_it(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"ROOT": "/top", **variables}.items():
        monkeypatch.setenv(name, value)
    assert str(local_models.hub_cache()) == folder


def test_the_best_panel_takes_the_best_checker_that_can_be_used(
    tmp_path: Path, cached: Path
) -> None:
    del cached
    flan = in_cache(tmp_path / "cache", "lytang/MiniCheck-Flan-T5-Large", COMMIT)
    save_card(flan, weights="pytorch_model.bin")
    save_card(in_cache(tmp_path / "cache", DEBERTA, OTHER))
    save_card(tmp_path / "models" / "nli-deberta-large", labels={0: "entailment", 1: "b", 2: "c"})
    states = [(each.model.name, each.problem == "") for each in installed_checkers()]
    assert states == [
        ("minicheck-flan-t5", False),
        ("minicheck-roberta", True),
        ("minicheck-deberta", True),
        ("nli-deberta-large", False),
    ]
    best = best_panel()
    assert [seat.judge for seat in best.panel.seats] == [*DEFAULT, "checker"]
    assert best.panel.seats[-1].options == {"model": "minicheck-roberta", "revision": COMMIT}
    assert best.reason.startswith("grounding, reader, form and minicheck-roberta (73.5 on LLM-")
    assert panel_config("best") == best.panel
    assert "minicheck-roberta (installed)" in " ".join(describe_models("checker"))


def test_without_a_checker_the_best_panel_is_the_default_and_says_so(tmp_path: Path) -> None:
    best = best_panel()
    assert [seat.judge for seat in best.panel.seats] == DEFAULT
    assert "the default panel" in best.reason
    assert str(tmp_path / "cache") in best.reason
    save_card(tmp_path / "models" / "hhem", weights="")
    assert "hhem: " in best_panel().reason
    assert [seat.judge for seat in best_panel().panel.seats] == DEFAULT


def test_a_long_option_is_no_path_and_a_folder_may_have_the_name_of_a_model(tmp_path: Path) -> None:
    assert parse_seat(f"annotator:note={'long ' * 100}").options["note"]
    with pytest.raises(ConfigError, match="neither a folder nor the name of a model"):
        parse_seat(f"checker:{'x' * 400}")
    named = save_card(tmp_path / "work" / "hhem")
    with pytest.raises(ConfigError, match="write ./hhem"):
        parse_seat("checker:hhem")
    assert with_folder(parse_seat("checker:./hhem").options) == {"folder": "./hhem"}
    assert with_folder(parse_seat(f"checker:{named}").options) == {"folder": str(named)}


def test_the_tuned_panel_adds_the_tuned_model_where_its_file_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="hf download Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"):
        panel_config("tuned")
    folder = tmp_path / "models" / "Qwen2.5-Coder-1.5B-Instruct-GGUF"
    folder.mkdir(parents=True)
    (folder / "qwen2.5-coder-1.5b-instruct-q2_k.gguf").touch()
    measured = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    measured.touch()
    *others, seat = panel_config("tuned").seats
    assert [other.judge for other in others] == DEFAULT
    assert (seat.judge, seat.model) == ("guardian", f"tuned/{measured}")
    assert seat.options == {"form": "tuned"}


def test_a_file_called_best_is_a_panel_file() -> None:
    Path("best").write_text('[[seats]]\njudge = "form"\n')
    assert [seat.judge for seat in panel_config("best").seats] == ["form"]


def test_the_default_panel_alone_is_shown_what_it_could_have(cached: Path) -> None:
    del cached
    (notice,) = notices(PanelConfig())
    assert notice.startswith("minicheck-roberta is installed")
    assert "--panel best" in notice
    assert not list(notices(PanelConfig(seats=(SeatConfig(judge="form"),))))


def test_a_licence_without_commercial_use_is_named() -> None:
    server = ModelConfig(name="hosted_vllm/bespokelabs/Bespoke-MiniCheck-7B")
    panel = PanelConfig(models=("openai/judge",), seats=(SeatConfig(judge="a", model=server),))
    (notice,) = notices(panel)
    assert notice == (
        "bespokelabs/Bespoke-MiniCheck-7B is licensed under CC BY-NC 4.0: no commercial use"
    )
    (models,) = describe_models("guardian")
    assert "lynx-8b (CC BY-NC 4.0: no commercial use)" in models
