from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading.sources import open_ids

IDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@given(st.lists(IDS | st.sampled_from(["a", "A", "a\x00", "a\x00b", " a", "é", "e\u0301"])))
def test_an_id_belongs_to_the_line_that_claimed_it_first(claims: list[str]) -> None:
    lines: dict[str, int] = {}
    with open_ids() as ids:
        for line, claim in enumerate(claims, start=1):
            assert ids.claim(claim, line) == lines.setdefault(claim, line)


def test_ids_that_fill_more_than_the_memory_kept_for_them_stay_exact() -> None:
    with open_ids() as ids:
        for line in range(1, 20_001):
            assert ids.claim(f"{line:01000}", line=line) == line
        assert ids.claim(f"{7:01000}", line=20_001) == 7
        assert ids.claim(f"{20_000:01000}", line=20_002) == 20_000
