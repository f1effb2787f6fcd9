import pytest
from fakes.judges import located
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading.gold import SEVERITIES, GoldSpan
from spanjury.judges.core import DataError, ErrorSpan

OUTPUT = "The cat sat on the mät."


def test_a_span_takes_its_text_from_the_output() -> None:
    span = GoldSpan(start=19, end=22, severity=3, annotator="anna").error_span(OUTPUT)
    assert span == located("mät", 19, explanation="", found_by=("anna",))


def test_a_span_without_offsets_has_no_place_but_keeps_its_quote() -> None:
    span = GoldSpan(text="the dog", explanation="Left out.").error_span(OUTPUT)
    assert span == ErrorSpan(text="the dog", explanation="Left out.", severity=None)


@pytest.mark.parametrize(
    ("written", "severity"),
    [("minor", 2), (" Major", 4), ("CRITICAL", 5), ("neutral", 1), (3, 3), (4.0, 4), (None, None)],
)
def test_severities_may_be_words_or_whole_numbers(written: object, severity: int | None) -> None:
    assert GoldSpan.model_validate({"severity": written}).severity == severity


def test_the_severity_words_are_ordered_as_their_meaning_is() -> None:
    assert list(SEVERITIES) == sorted(SEVERITIES, key=SEVERITIES.__getitem__)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (GoldSpan(start=4, end=7, text="dog"), "got the text 'dog', expected 'cat', which is"),
        (GoldSpan(start=4), "got start 4 and end None, expected both or none"),
        (GoldSpan(start=4, end=4), "got start 4 and end 4, expected 0 <= start < end <= 23"),
        (GoldSpan(start=-3, end=4), "got start -3 and end 4, expected 0 <= start < end <= 23"),
        (GoldSpan(start=20, end=24), "got start 20 and end 24, expected 0 <= start < end <= 23"),
    ],
)
def test_a_span_that_does_not_fit_the_output_is_refused(span: GoldSpan, message: str) -> None:
    with pytest.raises(DataError) as raised:
        span.error_span(OUTPUT)
    assert str(raised.value).startswith(message)


@given(st.text(min_size=1), st.data())
def test_offsets_are_code_points_of_any_output(output: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(output) - 1))
    end = data.draw(st.integers(start + 1, len(output)))
    span = GoldSpan(start=start, end=end, text=output[start:end]).error_span(output)
    assert (span.interval, span.text) == ((start, end), output[start:end])
