import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.strict_json import excerpt, parse_json
from spanjury.judges.core import DataError

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(value=VALUES, escaped=st.booleans())
def test_json_output_is_read_back(value: object, *, escaped: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=escaped)) == value


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\ud800\udbff\udc00\udfff\\u")))
def test_lone_surrogates_are_replaced_one_for_one_and_nothing_else_is(text: str) -> None:
    # A surrogate pair that is written in two halves is one character to JSON.
    expected = json.loads(json.dumps(text))
    read = parse_json(json.dumps(text))
    assert isinstance(read, str)
    assert len(read) == len(expected)
    for got, wanted in zip(read, expected, strict=True):
        assert got == ("\ufffd" if "\ud800" <= wanted <= "\udfff" else wanted)
    read.encode("utf-8")


def test_an_escaped_backslash_before_a_u_begins_no_surrogate() -> None:
    assert parse_json(r'"\\ud800 \ud83d\ude00 \ude00"') == "\\ud800 \U0001f600 \ufffd"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', 'the key "c" occurs twice in one object'),
        ('{"a": NaN}', 'the number "NaN" is not finite'),
        ('{"a": -Infinity}', 'the number "-Infinity" is not finite'),
        ('{"a": 1e999}', 'the number "1e999" is not finite'),
        ('{"a": 1', "not JSON: Expecting ',' delimiter at column 8"),
        ('{"a": 1} {"a": 2}', "not JSON: Extra data at column 10"),
        ("", "not JSON: Expecting value at column 1"),
        ("[" * 100_000, "nested too deeply to be read"),
        ("1" * 5000, "not JSON: Exceeds the limit"),
    ],
)
def test_unsafe_json_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        parse_json(text)
    assert str(raised.value).startswith(message)


def test_an_excerpt_is_what_the_user_wrote_cut_short() -> None:
    assert excerpt({"ä": True, "b": None}) == '{"ä": true, "b": null}'
    assert excerpt("x" * 1000) == '"' + "x" * 59 + "…"
