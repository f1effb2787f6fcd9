"""METEOR and the reader of WordNet, on a WordNet of five words."""

import zipfile
from pathlib import Path

import nltk.data
import pytest
from fakes.metric_texts import varied_samples
from nltk.translate.meteor_score import meteor_score

from spanjury.judges.core import ConfigError, Sample
from spanjury.judges.metrics.overlap.meteor import Meteor, read_wordnet

# Two synsets in the format of wndb(5WN): car and auto; glad and happy.
CARS = "00000054 06 n 03 car 0 motor_car 0 auto 0 000 | a vehicle\n"
GLAD = "00000054 00 a 02 glad(p) 0 Happy 0 000 | pleased\n"
LICENCE = "  1 This is WordNet 3.0 in five words, made for tests\n"


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "wordnet"
    folder.mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("" if name.endswith("exc") else LICENCE)
    assert len(LICENCE) == 54
    (folder / "data.noun").write_text(LICENCE + CARS)
    (folder / "data.adj").write_text(LICENCE + GLAD)
    lines = [f"{word} n 1 0 1 0 00000054\n" for word in ("auto", "car", "motor_car")]
    (folder / "index.noun").write_text(LICENCE + "".join(lines))
    lines = [f"{word} a 1 1 ! 1 0 00000054\n" for word in ("glad", "happy")]
    (folder / "index.adj").write_text(LICENCE + "".join(lines))
    (folder / "adj.exc").write_text("gladdest glad\n")
    return folder


def test_synonyms_are_the_single_words_of_all_synsets(wordnet: Path) -> None:
    read = read_wordnet(wordnet)
    assert read.version == "3.0"
    assert read.synonyms("car") == {"car", "auto"}
    assert read.synonyms("glad") == {"glad", "Happy"}
    assert read.synonyms("tree") == frozenset()


def test_forms_of_a_word_are_found_by_suffix_and_by_exception(wordnet: Path) -> None:
    read = read_wordnet(wordnet)
    assert read.synonyms("cars") == {"car", "auto"}
    assert read.synonyms("gladdest") == {"glad", "Happy"}
    assert read.synonyms("gladder") == frozenset()


def test_an_archive_of_nltk_is_read_as_it_is(
    wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpora").mkdir()
    with zipfile.ZipFile(tmp_path / "corpora" / "wordnet.zip", "w") as archive:
        for file in wordnet.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    sample = Sample(output="one car", references=("an auto",))
    assert Meteor().score_segments([sample])[0] > 0.0
    assert "|wordnet:3.0|" in Meteor().signature


def test_meteor_of_a_worked_example(wordnet: Path) -> None:
    # "the", "stop" by stem, "cars" by synonym (of its stem, as NLTK looks it up):
    # 3 matches in 1 chunk, of 3 and of 4 words
    precision, recall = 3 / 3, 3 / 4
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = (1 - 0.5 * (1 / 3) ** 3) * mean
    sample = Sample(output="the cars stopped", references=("the auto stops now",))
    assert Meteor(wordnet=str(wordnet)).score_segments([sample]) == [pytest.approx(expected)]


class _NoWordNet:
    def synsets(self, _word: str) -> list[object]:
        return []


def test_without_synonyms_it_is_that_of_nltk_without_wordnet() -> None:
    samples = varied_samples(200, references=3)
    expected = [
        meteor_score(
            [reference.split() for reference in sample.references],
            sample.output.split(),
            wordnet=_NoWordNet(),
        )
        for sample in samples
    ]
    metric = Meteor(synonyms=False, tokenize="whitespace")
    assert metric.score_segments(samples) == pytest.approx(expected, abs=1e-12)
    assert "|wordnet:none|" in metric.signature


def test_a_lack_of_wordnet_says_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="apt install wordnet-base.*synonyms=false"):
        Meteor(wordnet=str(tmp_path))
    monkeypatch.setattr(nltk.data, "path", [])
    if not Path("/usr/share/wordnet/data.noun").is_file():
        with pytest.raises(ConfigError, match="needs WordNet, which is not in NLTK's data"):
            Meteor()


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha and gamma are shares"):
        Meteor(alpha=2.0, synonyms=False)
    with pytest.raises(ValueError, match="beta must be at least 0"):
        Meteor(beta=-1.0, synonyms=False)
