import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading import sources
from spanjury.adapters.files.reading.sources import Owner, open_ids

IDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@given(st.lists(IDS | st.sampled_from(["a", "A", "a\x00", "a\x00b", " a", "é", "e\u0301"])))
def test_an_id_belongs_to_the_line_that_claimed_it_first(claims: list[str]) -> None:
    owners: dict[str, Owner] = {}
    with open_ids() as ids:
        for line, claim in enumerate(claims, start=1):
            owner = Owner(line, "")
            assert ids.claim(claim, owner) == owners.setdefault(claim, owner)


def test_ids_that_fill_more_than_the_memory_kept_for_them_stay_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "_HELD", 100)
    with open_ids() as ids:
        for line in range(1, 301):
            owner = Owner(line, f"system {line}")
            assert ids.claim(f"{line:01000}", owner) == owner
        assert ids.claim(f"{7:01000}", Owner(301, "")) == (7, "system 7")
        assert ids.claim(f"{300:01000}", Owner(302, "")) == (300, "system 300")
