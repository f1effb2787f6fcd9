"""Sentences: where they begin and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.sentences import sentence_intervals, sentences

WRAPPED = "The minister said that nobody in the whole department knew the new head of"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said no. She left!", ["He said no.", "She left!"]),
        ("It cost 3.5 m... Then it broke.", ["It cost 3.5 m...", "Then it broke."]),
        ("Mr. J. K. Bow of the U.S. Bureau came.", ["Mr. J. K. Bow of the U.S. Bureau came."]),
        ('"Stop." (He did.) So.', ['"Stop."', "(He did.)", "So."]),
        ("so am I. Then", ["so am I.", "Then"]),
        ("tokenised text . and more .", ["tokenised text .", "and more ."]),
        ("A title\n\nA text", ["A title", "A text"]),
        ("one\nline", ["one\nline"]),
        ("He left\nScore: 5", ["He left", "Score: 5"]),
        ("Name: Ann\nRole: head of the institute\nAge: 30", None),
        (f"{WRAPPED}\nBerlin", [f"{WRAPPED}\nBerlin"]),
        (f"{WRAPPED}{WRAPPED}\nBerlin", None),
        ("Buy:\n- milk\n- bread", ["Buy:", "- milk", "- bread"]),
        ("他来了。我走了。", ["他来了。", "我走了。"]),
        ("  ", []),
    ],
)
def test_sentences_end_at_stops_and_ended_lines(text: str, expected: list[str] | None) -> None:
    lines = text.splitlines() if expected is None else expected
    assert [sentence.text for sentence in sentences(text)] == lines


@given(st.text(alphabet=st.sampled_from("aB .!?\n'\")-1。")))
def test_sentences_hold_everything_but_blanks_in_order(text: str) -> None:
    cut = sentences(text)
    assert "".join("".join(s.text for s in cut).split()) == "".join(text.split())
    assert [(s.start, s.end) for s in cut] == list(sentence_intervals(text))
    assert all(text[s.start : s.end] == s.text == s.text.strip() for s in cut)
