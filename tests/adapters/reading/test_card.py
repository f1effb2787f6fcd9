"""The card of a reader: read as it stands if all in it is plain, else by a validator."""

import json
from pathlib import Path

import pytest

from spanjury.adapters.reading import card
from spanjury.judges.core import ConfigError

PLAIN = {
    "name": "reader",
    "version": "1",
    "files": {"model.onnx": "a", "tokenizer.json": "b"},
    "classes": ["absent", "supported", "contradicted"],
    "constants": {"slope": 1.5},
}


def written(folder: Path, **changes: object) -> Path:
    (folder / card.CARD).write_text(json.dumps({**PLAIN, **changes}))
    return folder


def test_a_plain_card_is_read_as_the_validator_reads_it(tmp_path: Path) -> None:
    content = (written(tmp_path) / card.CARD).read_bytes()
    plain = card._plain_card(content)
    assert plain is not None
    assert plain == card.read_card(tmp_path) == card._CARD.get().validate_json(content)
    assert repr(plain) == repr(card._CARD.get().validate_json(content))


@pytest.mark.parametrize(
    "changes", [{"max_length": "64"}, {"constants": {"slope": 2}}, {"author": "someone"}]
)
def test_an_unusual_card_goes_to_the_validator(tmp_path: Path, changes: dict[str, object]) -> None:
    content = (written(tmp_path, **changes) / card.CARD).read_bytes()
    assert card._plain_card(content) is None
    assert card.read_card(tmp_path) == card._CARD.get().validate_json(content)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"files": []}, "files"),
        ({"name": 3}, "name"),
        ({"classes": ["supported"]}, "classes"),
        ({"constants": {"slope": "steep"}}, "slope"),
    ],
)
def test_an_unfit_card_is_refused(tmp_path: Path, changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        card.read_card(written(tmp_path, **changes))
