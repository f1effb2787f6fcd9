"""Pages that show what a metric sees: the command, and the numbers on them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call, complaint
from fakes.installed import is_absent

if is_absent("rouge_score_rs"):
    pytest.skip("the metrics' libraries are not installed", allow_module_level=True)

from spanjury.judges.core import DataError, Sample
from spanjury.orchestration.services.judging.metrics import score_metric
from spanjury.orchestration.wiring.metric_pages import metric_page

OUTPUT = "The cats sat; the café's cat ran."
NEAR, FAR = "The cats ran. The cat sat", "Dogs ran"


def page_of(spec: str, output: str = OUTPUT, *references: str) -> str:
    return metric_page(spec, Sample(output=output, references=references or (NEAR,)), row="r")


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    loaded: dict[str, Any] = json.loads(found.group(1))
    return loaded


@pytest.mark.parametrize("options", ["", ":stem=true", ":script=unicode", ":script=characters"])
@pytest.mark.parametrize("output", [OUTPUT, "cat", "Ünïcode, the CATS"])
def test_a_page_of_rouge_l_has_the_metrics_own_number(options: str, output: str) -> None:
    spec = f"rouge-l{options}"
    (score,) = score_metric(spec, [output], [NEAR]).segments or ()
    assert f"F {score:.3f}" in page_of(spec, output)


def test_stemmed_words_are_aligned_and_shown_as_they_are_written() -> None:
    shown = data_of(page_of("rouge-l:stem=true", "cats sat", "Cat sat"))
    assert (shown["output"]["words"], shown["reference"]["words"]) == (
        ["cats", "sat"],
        ["Cat", "sat"],
    )
    assert shown["pairs"] == [[0, 0], [1, 1]]
    assert data_of(page_of("rouge-l", "cats sat", "Cat sat"))["pairs"] == [[1, 1]]


def test_the_reference_that_counts_is_aligned() -> None:
    shown = data_of(page_of("rouge-l", OUTPUT, FAR, NEAR))
    assert "".join(shown["reference"]["words"]).startswith("Thecats")


def test_a_page_of_bleu_marks_n_grams_in_every_reference() -> None:
    shown = data_of(page_of("bleu:max_order=2", "the cat ran", "a cat ran", "the dog", "nothing"))
    assert len(shown["references"]) == 3
    ones, twos = shown["steps"]
    assert (ones["clipped"], ones["all"], twos["places"]) == (3, 3, [[[1], [1], [], []]])


def test_bleu_minds_case_as_its_option_says() -> None:
    plain, lowered = (
        data_of(page_of(f"sacrebleu{options}", "The Cat", "the cat"))["steps"][0]["clipped"]
        for options in ("", ":lowercase=true")
    )
    assert (plain, lowered) == (0, 2)


def test_words_that_are_not_in_the_text_are_shown_instead_of_it() -> None:
    shown = data_of(page_of("bleu", "a &quot;b&quot;", "a"))
    assert shown["output"]["words"] == ["a", '"', "b", '"']


@pytest.mark.parametrize("spec", ["bleu", "sacrebleu", "rouge-1", "rouge-2", "rouge-l"])
@pytest.mark.parametrize("output", ["", "\ud800 \u202e", "日本 語", "<script>x</script>"])
def test_every_text_has_a_page(spec: str, output: str) -> None:
    assert page_of(spec, output).startswith("<!DOCTYPE html>")


def test_a_text_without_references_has_no_page() -> None:
    with pytest.raises(DataError, match="needs references"):
        metric_page("bleu", Sample(output="x"), row="r")


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    row = {"id": "r", "output": OUTPUT, "references": [NEAR]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    show = ("metrics", "show", "rows.jsonl", "--row", "r", "--metric", "rouge-l")
    call(tmp_path, *show, "--output", "page.html")
    assert (tmp_path / "page.html").read_text() == page_of("rouge-l")


@pytest.mark.parametrize(
    ("row", "metric", "output", "code", "problem"),
    [
        ("r", "ter", "x.html", 2, "there is no page of 'ter'; choose from bertscore, bleu"),
        ("z", "bleu", "x.html", 1, "there is no row 'z'"),
        ("r", "bleu", "x.pdf", 2, "a page ends in .html, got 'x.pdf'"),
        ("r", "bleu:order=2", "x.html", 2, "order"),
    ],
)
def test_values_that_cannot_be_shown_are_refused(
    tmp_path: Path, row: str, metric: str, output: str, code: int, problem: str
) -> None:
    row_of_data = {"id": "r", "output": OUTPUT, "references": [NEAR]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row_of_data) + "\n")
    flags = ("--row", row, "--metric", metric, "--output", output)
    shown = call(tmp_path, "metrics", "show", "rows.jsonl", *flags, code=code)
    assert problem in complaint(shown.stderr)
    assert not (tmp_path / output).exists()
