"""Texts of four systems with scores, and two models that judge them, for the pages on panels.

The texts are those of `spanjury perturb`, whose errors are known, and so are their scores; a
worse system has more with an error of meaning. The models are scripts that know the scores, and
misjudge one text in three, and in eight.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from loopback.answers import Answer, chat
from loopback.reading import ReadingServer

PANEL = """\
seats = [{{ judge = "reader" }}, {{ judge = "grounding" }}, {{ judge = "annotator" }}]

[[models]]
name = "openai-compatible/small"
base_url = "{small}"

[[models]]
name = "openai-compatible/large"
base_url = "{large}"
"""
_LABELS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
_TOKENS = 4
"""Characters of a token."""
_SCORES = {
    "invariance": 5,
    "character": 4,
    "word-and-grammar": 4,
    "content": 3,
    "meaning": 2,
    "entities-and-numbers": 1,
}
"""Consistency by the family of the rule that damaged a text."""
_WRONG = 3
"""The best score of a text that says something else than its article."""
_SYSTEMS = {"system-a": 1, "system-b": 2, "system-c": 5, "system-d": 6}
"""Texts in ten that are wrong."""


def write_scored(damaged: Path, scored: Path) -> None:
    """Write one of the damaged versions of each text for each system, with its score."""
    rows = [json.loads(line) for line in damaged.read_text("utf-8").splitlines()]
    versions: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["meta"]["family"] in _SCORES:
            versions.setdefault(row["meta"]["clean_id"], []).append(row)
    texts = [_text(name, system, versions[name]) for name in versions for system in _SYSTEMS]
    scored.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")


def _text(name: str, system: str, versions: list[dict[str, Any]]) -> dict[str, object]:
    draw = _number(f"{name} {system}")
    is_wrong = draw % 10 < _SYSTEMS[system]
    fitting = [version for version in versions if (_score(version) <= _WRONG) is is_wrong]
    row = fitting[draw // 10 % len(fitting)]
    return {
        **{key: row[key] for key in ("task", "inputs", "output")},
        "id": f"{name}/{system}",
        "system": system,
        "human": {"consistency": _score(row)},
    }


def _score(row: dict[str, Any]) -> int:
    return _SCORES[row["meta"]["family"]]


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


@contextmanager
def judging_models(panel: Path, *, scored: Path) -> Iterator[None]:
    """Write a panel of two models, which answer until the block ends."""
    rows = [json.loads(line) for line in scored.read_text("utf-8").splitlines()]
    scores = {row["output"]: row["human"]["consistency"] for row in rows}
    small, large = (ReadingServer(partial(_review, scores=scores, errs=errs)) for errs in (3, 8))
    with small, large:
        panel.write_text(PANEL.format(small=small.base_url, large=large.base_url))
        yield


def _review(summary: str, prompt: str, *, scores: Mapping[str, int], errs: int) -> Answer:
    """Give the score that is known, but to one text in `errs`."""
    draw = _number(f"{errs} {summary}")
    level = scores.get(summary, len(_LABELS)) - 1
    if draw % errs == 0:
        level = draw // errs % len(_LABELS)
    reply = (
        f"No Error\n\nOverall score: {_LABELS[level]}\nExplanation of the score: I have read it."
    )
    tokens = len(prompt) // _TOKENS
    usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
    return chat(reply, usage=usage)
