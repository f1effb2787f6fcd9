from fakes.judges import located

from spanjury.judges.core import ErrorSpan, gravest


def span(text: str, *, severity: int, at: int, probability: float | None = None) -> ErrorSpan:
    fields = {"severity": severity, "probability": probability}
    return located(text, at, explanation=f"{text} is wrong.", **fields)


def texts(spans: tuple[ErrorSpan, ...]) -> list[str]:
    return [each.text for each in spans]


def test_the_gravest_are_kept_in_order_of_place() -> None:
    spans = [
        span(text, severity=grade, at=n)
        for n, (text, grade) in enumerate(zip("abc", (2, 4, 3), strict=True))
    ]
    assert texts(gravest(spans, limit=2)) == ["b", "c"]
    assert gravest(spans, limit=0) == ()


def test_the_likelier_of_equally_grave_errors_is_kept() -> None:
    spans = [
        span("a", severity=3, at=0, probability=0.6),
        span("b", severity=3, at=1, probability=0.9),
    ]
    assert texts(gravest(spans, limit=1)) == ["b"]


def test_omissions_come_behind_what_has_a_place() -> None:
    omission = ErrorSpan(text="", explanation="The cost is missing.", severity=2)
    assert gravest([omission, span("a", severity=4, at=3)], limit=2)[-1] == omission


def test_a_repeated_error_leaves_room_for_the_others() -> None:
    repeated = [span("x", severity=5, at=n) for n in range(25)]
    assert texts(gravest([*repeated, span("a", severity=1, at=30)], limit=3)) == ["x", "x", "a"]
