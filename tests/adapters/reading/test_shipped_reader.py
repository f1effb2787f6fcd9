"""Cards of readers, and the reader that comes with the package: its files fit, and it reads."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from spanjury.adapters.reading import card
from spanjury.adapters.reading.card import CARD, MODEL, TOKENIZER
from spanjury.adapters.reading.onnx_reader import open_reader
from spanjury.judges.core import ConfigError, ErrorSpan, Segment
from spanjury.judges.reader.judge import ReaderJudge
from spanjury.judges.reader.tuning import Tuning
from spanjury.judges.reader.windows import sentence_windows
from spanjury.judges.tasks import Catalogue

PLAIN = {
    "name": "reader",
    "version": "1",
    "files": {"model.onnx": "a", "tokenizer.json": "b"},
    "classes": ["absent", "supported", "contradicted"],
    "constants": {"slope": 1.5},
}
FOLDER = Path(str(files("spanjury.adapters.reading"))) / "weights"
SOURCE = {
    "Article": "The public library on Harbour Street will not close this winter. Mayor Ines"
    " Carvalho said on Monday that the roof had been repaired for 40,000 euros, and that the"
    " reading room would open again in January."
}
MOST_BYTES = 25_000_000


def written(folder: Path, **changes: object) -> Path:
    (folder / card.CARD).write_text(json.dumps({**PLAIN, **changes}))
    return folder


def test_a_plain_card_is_read_as_the_validator_reads_it(tmp_path: Path) -> None:
    content = (written(tmp_path) / card.CARD).read_bytes()
    plain = card._plain_card(content)
    assert plain is not None
    assert plain == card.read_reader_card(tmp_path) == card._CARD.get().validate_json(content)
    assert repr(plain) == repr(card._CARD.get().validate_json(content))


@pytest.mark.parametrize(
    "changes", [{"max_length": "64"}, {"constants": {"slope": 2}}, {"author": "someone"}]
)
def test_an_unusual_card_goes_to_the_validator(tmp_path: Path, changes: dict[str, object]) -> None:
    content = (written(tmp_path, **changes) / card.CARD).read_bytes()
    assert card._plain_card(content) is None
    assert card.read_reader_card(tmp_path) == card._CARD.get().validate_json(content)


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
        card.read_reader_card(written(tmp_path, **changes))


async def spans(output: str) -> tuple[ErrorSpan, ...]:
    reader = open_reader(FOLDER)
    judge = ReaderJudge(encoder=reader, tuning=Tuning(**reader.constants))
    aspect = Catalogue.load().aspect("summarization", "consistency")
    report = await judge.assess(Segment(segment_id="1", output=output, inputs=SOURCE), aspect)
    assert report.score is not None, report.reason
    return report.spans


def test_it_is_small_and_says_how_it_was_made() -> None:
    assert sum((FOLDER / name).stat().st_size for name in (MODEL, TOKENIZER, CARD)) < MOST_BYTES
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for heading in ("## Data", "## Training", "## Limits"):
        assert heading in card
    constants = json.loads((FOLDER / CARD).read_text(encoding="utf-8"))["constants"]
    assert set(constants) == {"threshold", "sentence_threshold", "vouched", "slope", "intercept"}


def test_it_says_the_same_of_a_window_alone_and_among_others() -> None:
    reader = open_reader(FOLDER)
    windows = [
        sentence.window
        for text in ("The library stays open.", "Some say that the moon is red tonight.")
        for sentence in sentence_windows(text, SOURCE)
    ]
    assert reader.read(windows) == [reader.read([window])[0] for window in windows]


async def test_it_leaves_a_copy_and_a_paraphrase_alone() -> None:
    assert not await spans("The public library on Harbour Street will not close this winter.")
    assert not await spans("The mayor said that the roof had been repaired.")


async def test_it_marks_what_the_source_says_nothing_of() -> None:
    (span, *_) = await spans("A new cinema with six hundred seats will be built in Lisbon.")
    assert span.interval is not None
    assert span.probability is not None
    assert span.probability > 0.5
    assert "source" in span.explanation
