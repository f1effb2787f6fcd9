"""Judges that are handed a checker."""

import pytest
from fakes.checker import FakeChecker

from spanjury.judges.checker.judge import CheckerJudge
from spanjury.judges.core import Checker, ConfigError, PluginError
from spanjury.judges.rules.form import FormJudge
from spanjury.orchestration.wiring import checking
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.specs import parse_seat


class _Kinds:
    """Stands for the registry, with a checker of one option."""

    @staticmethod
    def names() -> tuple[str, ...]:
        return ("fake",)

    @staticmethod
    def get(name: str) -> object:
        assert name == "fake"
        return lambda *, size=200: FakeChecker(size=size)


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "CHECKERS", _Kinds)


@pytest.mark.usefixtures("_fake")
def test_options_that_the_judge_does_not_have_are_the_checkers() -> None:
    options = checking.with_checker(
        CheckerJudge, {"kind": "fake", "size": 7, "passages": 2}, judge="checker"
    )
    checker = options.pop("checker")
    assert isinstance(checker, Checker)
    assert checker.room() == 7
    assert options == {"passages": 2}


@pytest.mark.usefixtures("_fake")
def test_an_unknown_option_is_refused_with_those_of_both() -> None:
    with pytest.raises(
        ConfigError, match=r"no option 'sise'; did you mean 'size'. Choose from .*passages.*size"
    ):
        checking.with_checker(CheckerJudge, {"kind": "fake", "sise": 7}, judge="checker")


def test_a_judge_that_asks_for_no_checker_keeps_its_options() -> None:
    assert checking.with_checker(FormJudge, {"max_spans": 3}, judge="checker") == {"max_spans": 3}


def test_without_a_folder_the_judge_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="checker:FOLDER"):
        checking.with_checker(CheckerJudge, {}, judge="checker")


def test_a_folder_that_follows_the_name_is_the_checkers(tmp_path: object) -> None:
    seat = parse_seat(f"checker:{tmp_path}:passages=2")
    assert (seat.judge, seat.name) == ("checker", f"checker:{tmp_path}")
    assert seat.options == {"folder": str(tmp_path), "passages": 2}


class _Paragraphs(FakeChecker):
    @property
    def signature(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (object(), "lacks signature"),
        (FakeChecker(unit="page"), "unit must be one of sentence, text, answer, got 'page'"),  # type: ignore[arg-type]
        (_Paragraphs(), "signature must be a text that is not empty"),
    ],
)
def test_what_is_no_checker_is_refused_at_the_door(made: object, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        checked_checker(made, "mine")
