"""Data of the page of `spanjury view`, built from results and texts."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from gzip import compress
from typing import Any

from spanjury.orchestration.report.view.page import view_page

Json = dict[str, Any]

OUTCOMES = ["scored", "abstained", "unparseable", "truncated", "refused", "timed_out"]
OUTCOMES.append("backend_failed")
DECISIONS = ["ok", "unsure", "faulty"]
_SEAT: Json = {"signature": "", "rationale": "", "seconds": 0.01, "reason": "", "reply": None}
_USAGE = {"calls": 0, "prompt": 0, "cached": 0, "completion": 0, "reasoning": 0}


def span(output: str, quote: str, **given: Any) -> Json:  # noqa: ANN401  # as JSON has it
    """Return an error span at the first place of `quote` in `output`, or without a place."""
    start = output.find(quote) if quote else -1
    location: Json = {"start": None, "end": None, "located": "unlocated"}
    if start >= 0:
        location = {"start": start, "end": start + len(quote), "located": "exact"}
    filled: Json = {"explanation": "It is wrong.", "severity": 3, "category": None, "evidence": []}
    return {**location, "text": quote, **filled, "probability": None, "found_by": ["a"], **given}


def seat(judge: str, score: float | None = 3.0, **given: Any) -> Json:  # noqa: ANN401  # as JSON has it
    outcome = "scored" if score is not None else "abstained"
    filled: Json = {"outcome": outcome, "score": score, "spans": [], "usage": _USAGE}
    return {"judge": judge, **_SEAT, **filled, "error_probability": None, **given}


def result(row_id: str, **given: Any) -> Json:  # noqa: ANN401  # as JSON has it
    """Return a result as ``docs/data.md`` describes it."""
    score = given.get("score", 3.0)
    filled: Json = {"aspect": "consistency", "score": score, "task": "summarization"}
    filled |= {"outcome": "scored" if score is not None else "abstained", "spans": [], "reason": ""}
    filled |= {"seats": [seat("a", score)], "aggregation": "mean", "consolidator": "rules"}
    filled |= {"system": "", "signature": "", "set_aside": [], "left_out": 0}
    filled |= {"decision": None, "error_probability": None, "decision_basis": None}
    return {"id": row_id, **filled, **given}


def text(row_id: str, output: str, **given: Any) -> Json:  # noqa: ANN401  # as JSON has it
    filled: Json = {"system": "", "inputs": {}, "references": [], "human": {}, "gold": []}
    return {"id": row_id, "output": output, **filled, **given}


@dataclass(frozen=True, kw_only=True)
class ViewData:
    """Runs over the same texts; the rows of all of them stand in the order of the first.

    A result that a run does not have is None.
    """

    texts: Sequence[Json]
    runs: Sequence[Sequence[Json | None]]
    names: Sequence[str] = ("first", "second")
    comparisons: Sequence[Json] = ()
    second_texts: Mapping[str, Json] = field(default_factory=dict)
    """The text by its id, if the second run judged another text."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    part: int = 100
    """Rows in a part of the details."""

    @property
    def rows(self) -> list[Json]:
        """A result for each row, of the first run that has it."""
        return [next(each for each in pair if each) for pair in zip(*self.runs, strict=True)]

    def head(self) -> Json:
        aspects = sorted({(row["aspect"], row["task"]) for row in self.rows})
        described = [
            {"name": name, "task": task, "definition": f"Whether the text has {name}."}
            | {"low": 1, "high": 5, "labels": ["Unacceptable", "Poor", "Fair", "Good", "Excellent"]}
            for name, task in aspects
        ]
        runs = [
            {"name": name, "panel": "panel|…", "begun": "2026-11-23T10:00:00Z", "is_done": True}
            | {"judges": self.judges()}
            for name, _ in zip(self.names, self.runs, strict=False)
        ]
        head = {"format": 1, "title": self.names[0], "runs": runs, "aspects": described}
        head |= {"outcomes": OUTCOMES, "decisions": DECISIONS, "rows": len(self.rows)}
        head |= {"has_texts": bool(self.texts), "has_replies": False, "marking": None}
        return {**head, "notes": [], "file": None, **self.changes}

    def judges(self) -> list[str]:
        rows = (row for run in self.runs for row in run if row)
        return list(dict.fromkeys(each["judge"] for row in rows for each in row["seats"]))

    def columns(self, start: int = 0, stop: int | None = None) -> Json:
        rows, stop = self.rows, len(self.rows) if stop is None else min(stop, len(self.rows))
        systems = list(dict.fromkeys(row["system"] for row in rows))
        aspects = [(each["name"], each["task"]) for each in self.head()["aspects"]]
        inputs = [json.dumps(each["inputs"]) for each in self.texts]
        sources = {key: number for number, key in enumerate(dict.fromkeys(inputs))}
        of_texts = {each["id"]: sources[key] for each, key in zip(self.texts, inputs, strict=True)}
        wanted = rows[start:stop]
        names = {"systems": systems, "aspects": self.head()["aspects"]}
        names |= {"categories": self.categories(), "judges": self.judges()}
        names["conditions"] = list(dict.fromkeys(row.get("condition", "") for row in rows))
        return {
            "from": start,
            "done": stop == len(rows),
            "rows": len(wanted),
            "names": names,
            "id": [row["id"] for row in wanted],
            "system": [systems.index(row["system"]) for row in wanted],
            "aspect": [aspects.index((row["aspect"], row["task"])) for row in wanted],
            "source": [of_texts.get(row["id"], -1) for row in wanted],
            "condition": [names["conditions"].index(row.get("condition", "")) for row in wanted],
            "clean": {
                index: row["clean_id"] for index, row in enumerate(wanted) if row.get("clean_id")
            },
            "runs": [run_columns(run[start:stop], names) for run in self.runs],
        }

    def categories(self) -> list[str]:
        rows = (row for run in self.runs for row in run if row)
        named = {each["category"] for row in rows for each in row["spans"] if each["category"]}
        return sorted(named)

    def details(self, numbers: Sequence[int]) -> Json:
        rows, texts, index_of = self.rows, list[Json](), dict[str, int]()
        text_of = {each["id"]: each for each in self.texts}
        all_rows = []
        for number in numbers:
            row = rows[number]
            if row["id"] in text_of and row["id"] not in index_of:
                index_of[row["id"]] = len(texts)
                texts.append(text_of[row["id"]])
            named = {key: row[key] for key in ("id", "system", "task", "aspect")}
            results = [run[number] for run in self.runs]
            index, both = index_of.get(row["id"]), list[int | None]()
            if row["id"] in self.second_texts:
                index, both = None, [index, len(texts)]
                texts.append(self.second_texts[row["id"]])
            all_rows.append(
                {"number": number, **named, "text": index, "texts": both, "results": results}
            )
        return {"texts": texts, "rows": all_rows}

    def page(self) -> str:
        """Return the page as one file."""
        count = len(self.rows)
        parts = [range(at, min(at + self.part, count)) for at in range(0, count, self.part)]
        names = [f"details-{index}" for index in range(len(parts))]
        file = {"columns": "columns", "details": names, "rows_a_part": self.part}
        head = {**self.head(), "file": {**file, "comparisons": "comparisons"}}
        blocks = {"head": json.dumps(head), "columns": packed(self.columns())}
        blocks |= {
            name: packed(self.details(part)) for name, part in zip(names, parts, strict=True)
        }
        blocks["comparisons"] = packed(list(self.comparisons))
        return view_page(head["title"], blocks=blocks)


def run_columns(results: Sequence[Json | None], names: Json) -> Json:
    rows = [run_row(each, names) for each in results]
    of = ("outcome", "score", "decision", "error_probability", "spans", "severity")
    others = ("disagreement", "categories", "judges", "caught")
    return {name: [row[name] for row in rows] for name in (*of, *others)}


def run_row(row: Json | None, names: Json) -> Json:
    if row is None:
        empty: Json = dict.fromkeys(("outcome", "score", "decision", "error_probability"))
        return (
            empty
            | {"disagreement": None, "caught": None}
            | {"spans": 0, "severity": 0, "categories": [], "judges": []}
        )
    scores = [each["score"] for each in row["seats"] if each["score"] is not None]
    spans, named = row["spans"], {each["category"] for each in row["spans"] if each["category"]}
    return {
        "outcome": OUTCOMES.index(row["outcome"]),
        "score": row["score"],
        "decision": DECISIONS.index(row["decision"]) if row["decision"] else None,
        "error_probability": row["error_probability"],
        "spans": len(spans),
        "severity": max((each["severity"] for each in spans), default=0),
        "caught": row.get("caught"),
        "disagreement": max(scores) - min(scores) if len(scores) > 1 else None,
        "categories": sorted(names["categories"].index(name) for name in named),
        "judges": sorted(
            {names["judges"].index(seat) for each in spans for seat in each["found_by"]}
        ),
    }


def packed(value: object) -> str:
    """Return a block: base64 of gzip of JSON, as a JSON string."""
    written = json.dumps(value).encode()
    return json.dumps(b64encode(compress(written, compresslevel=6)).decode())
