from spanjury.judges.core import (
    JudgeError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
    ParseError,
    TransientModelError,
)


def test_an_error_knows_the_outcome_it_comes_to() -> None:
    assert ModelError("x").outcome is Outcome.BACKEND_FAILED
    assert TransientModelError("x").outcome is Outcome.BACKEND_FAILED
    assert ModelTimeoutError("x").outcome is Outcome.TIMED_OUT
    assert ModelRefusedError("x").outcome is Outcome.REFUSED
    assert JudgeError("x").outcome is Outcome.BACKEND_FAILED
    assert ParseError("x", reply="y").outcome is Outcome.UNPARSEABLE


def test_errors_keep_what_is_needed_to_go_on() -> None:
    assert ParseError("no score", reply="what it said").reply == "what it said"
    assert TransientModelError("busy", retry_after=2.5).retry_after == 2.5
