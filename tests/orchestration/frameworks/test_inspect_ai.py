"""The scorer of inspect-ai gives a value for each aspect; no verdict is no value."""

import math
from pathlib import Path

import pytest
from fakes.installed import is_absent

if is_absent("inspect_ai"):
    pytest.skip("inspect-ai is not installed: just frameworks", allow_module_level=True)

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample, EvalScore, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from spanjury.frameworks import spanjury_scorer

COPIED = pytest.approx(4.36, abs=0.01)
"""Score of a sentence beside itself, by the rules alone."""

SOURCE = "The bridge opened in 1932."
SOUND, WRONG = SOURCE, "The bridge opened in 1935."


def logged(
    folder: Path,
    *samples: tuple[str, object],
    aspects: list[str],
    target: str | list[str] = "",
    judge: str = "grounding",
) -> EvalLog:
    """Have inspect evaluate completions by their sources, and read its log."""
    data = [
        Sample(id=number, input="Sum it up.", target=target, metadata={"article": source})
        for number, (_, source) in enumerate(samples)
    ]
    # mockllm fetches a tokenizer where the usage is not given
    replies = [
        ModelOutput(
            model="mockllm/model",
            completion=text,
            choices=ModelOutput.from_content("mockllm/model", text).choices,
            usage=ModelUsage(),
        )
        for text, _ in samples
    ]
    scorer = spanjury_scorer(aspects, source="article", judges=[judge])
    model = get_model("mockllm/model", custom_outputs=replies, memoize=False)
    (log,) = evaluate(
        Task(dataset=data, scorer=scorer),
        model=model,
        log_dir=str(folder),
        display="none",
        max_samples=1,
        fail_on_error=False,
    )
    return read_eval_log(log.location)


def summed(log: EvalLog) -> dict[str, EvalScore]:
    assert log.results is not None
    return {score.name: score for score in log.results.scores}


def samples_of(log: EvalLog) -> list[EvalSample]:
    return sorted(log.samples or [], key=lambda sample: int(sample.id))


def test_each_aspect_has_its_mean_over_the_samples(tmp_path: Path) -> None:
    log = logged(tmp_path, (SOUND, SOURCE), (WRONG, {"Article": SOURCE}), aspects=["consistency"])
    sound, wrong = [(sample.scores or {})["spanjury_scorer"] for sample in samples_of(log)]
    assert sound.value == {"consistency": COPIED}
    score = summed(log)["consistency"]
    assert (score.scored_samples, score.unscored_samples) == (2, 0)
    assert score.metrics["mean"].value == pytest.approx(
        (4.36 + wrong.as_dict()["consistency"]) / 2, abs=0.01
    )


def test_the_log_keeps_the_spans_and_says_why(tmp_path: Path) -> None:
    (sample,) = samples_of(logged(tmp_path, (WRONG, SOURCE), aspects=["consistency"]))
    score = (sample.scores or {})["spanjury_scorer"]
    assert score.answer == WRONG
    assert '"1935" (severity 4)' in str(score.explanation)
    (row,) = (score.metadata or {})["results"]
    assert [span["text"] for span in row["spans"]] == ["1935"]


def test_an_aspect_without_a_score_is_left_out_of_the_mean(tmp_path: Path) -> None:
    log = logged(tmp_path, (SOUND, SOURCE), aspects=["consistency", "fluency"])
    scores = summed(log)
    assert scores["consistency"].metrics["mean"].value == COPIED
    assert (scores["fluency"].scored_samples, scores["fluency"].unscored_samples) == (0, 1)
    assert math.isnan(scores["fluency"].metrics["mean"].value)


def test_a_source_may_be_a_list_of_texts_or_documents(tmp_path: Path) -> None:
    for source in (["It is old.", SOURCE], [{"id": "a.txt", "text": SOURCE}]):
        (sample,) = samples_of(logged(tmp_path, (WRONG, source), aspects=["consistency"]))
        (row,) = ((sample.scores or {})["spanjury_scorer"].metadata or {})["results"]
        assert [span["text"] for span in row["spans"]] == ["1935"]


def test_the_target_is_the_reference_of_judges_that_need_one(tmp_path: Path) -> None:
    terms = {"aspects": ["relevance"], "judge": "chrf"}
    with_target = logged(tmp_path, (SOUND, SOURCE), target=SOUND, **terms)  # type: ignore[arg-type]  # the terms
    assert summed(with_target)["relevance"].metrics["mean"].value == 5
    (without,) = samples_of(logged(tmp_path, (SOUND, SOURCE), **terms))  # type: ignore[arg-type]  # as above
    assert math.isnan((without.scores or {})["spanjury_scorer"].as_float())


def test_a_sample_without_any_score_is_unscored(tmp_path: Path) -> None:
    log = logged(tmp_path, (SOUND, SOURCE), (WRONG, {"none": ""}), aspects=["consistency"])
    score = summed(log)["consistency"]
    assert (score.scored_samples, score.unscored_samples) == (1, 1)
    assert score.metrics["mean"].value == COPIED
    unscored = (samples_of(log)[1].scores or {})["spanjury_scorer"]
    assert math.isnan(unscored.as_float())
    assert unscored.reason == "scoring_failed"
    assert "no score (abstained)" in str(unscored.explanation)


def test_a_sample_whose_source_is_not_there_is_an_error_of_the_sample(tmp_path: Path) -> None:
    (sample,) = samples_of(logged(tmp_path, (SOUND, None), aspects=["consistency"]))
    assert sample.error is not None
    assert "metadata['article'] is no source" in sample.error.message
