"""Runs that the page of `spanjury view` is tried on: every kind of row that it draws."""

from fakes.view_data import Json, ViewData, result, seat, span, text

ARTICLE = (
    "The ferry Halvard ran aground off Sund on Tuesday morning with 84 people on board. All were"
    " taken off by noon. The captain, Ruth Elling, said that fog had hidden the buoy. The owner has"
    " ordered a new radar for the ship, at 60,000 euros."
)
OVERLAPPING = "The ferry Halvard sank off Sund on Monday with 48 people, and the captain was drunk."
MIXED = "Тhe 😀 ferry \u05e9\u05dc\u05d5\u05dd עולם, 渡轮搁浅了 👩‍👩‍👧 at noon."
HEBREW = "המעבורת עלתה על שרטון ביום שני, ורב החובל ישן."
USAGE = {"calls": 2, "prompt": 1840, "cached": 512, "completion": 212, "reasoning": 0}


def evidence(quote: str) -> list[Json]:
    start = ARTICLE.index(quote)
    return [{"input": "Article", "start": start, "end": start + len(quote), "text": quote}]


def overlapping() -> Json:
    """Return a result with nested and overlapping spans of three seats, one span without place."""
    out = OVERLAPPING
    spans = [
        span(out, "sank off Sund on Monday", severity=3, category="event", found_by=["b", "c"])
        | {"explanation": "It ran aground and did not sink.", "evidence": evidence("ran aground")},
        span(out, "Monday", severity=4, category="date", found_by=["a", "b", "c"])
        | {"explanation": "It was a Tuesday.", "evidence": evidence("on Tuesday morning")}
        | {"probability": 0.94},
        span(out, "on Monday with 48 people", severity=2, category="number", found_by=["a"])
        | {"explanation": "84 people were on board.", "evidence": evidence("84 people")},
        span(out, "the captain was drunk", severity=5, category="unsupported", found_by=["a", "b"])
        | {"explanation": "Nothing of this is in the article.", "located": "fuzzy"},
        span(out, "the mate was asleep", severity=2, explanation="No mate is mentioned."),
        span(out, "", severity=1, explanation="That all were rescued is left out."),
    ]
    own = [each | {"found_by": []} for each in spans]
    seats = [
        seat("a", 2.0, spans=own[1:], rationale="Several facts are wrong.", error_probability=0.97),
        seat("b", 1.0, spans=[own[0], own[1], own[3]], usage=USAGE, seconds=3.4),
        seat("c", 4.5, spans=own[:2], rationale="One small slip."),
        seat("d", None, outcome="unparseable", reason="No JSON is in the reply.", reply="Sure! It"),
    ]
    basis = {"ground": "spans", "reason": "An error of severity 4 or 5 is marked."}
    given: Json = {"score": 2.5, "spans": spans, "seats": seats, "system": "bart", "left_out": 1}
    given |= {"decision": "faulty", "set_aside": ["c"]}
    given |= {"decision_basis": {**basis, "threshold": None, "false_alarms": None}}
    return result("ferry/bart", **given)


def failed() -> Json:
    """Return a result without a score, with the reply that could not be read."""
    reply = "I think this text is <b>fine</b>.\nThere is no score to give."
    seats = [seat("a", None, outcome="unparseable", reason="No score is in it.", reply=reply)]
    given: Json = {"score": None, "outcome": "unparseable", "seats": seats, "system": "t5"}
    return result("ferry/t5", **given, reason="No seat has a score: a: No score is in it.")


def texts() -> list[Json]:
    inputs = {"Article": ARTICLE}
    gold = [span(OVERLAPPING, "sank", severity=4), span(OVERLAPPING, "48 people", severity=3)]
    human = {"consistency": {"anna": 2, "ben": 1}}
    many = {"inputs": inputs, "references": ["The ferry ran aground; all were rescued."]}
    return [
        text("ferry/bart", OVERLAPPING, system="bart", gold=gold, human=human, **many),
        text("ferry/t5", "The ferry ran aground off Sund.", system="t5", **many),
        text("mixed", MIXED, system="bart", inputs={"Source": "渡轮搁浅 😀 noon שלום"}),
        text("hebrew", HEBREW, system="t5", inputs={"מקור": "המעבורת עלתה על שרטון ביום שלישי."}),
        text("clean", "All is well.", system="bart", inputs={"A": "All is well.", "B": ""}),
    ]


def mixed() -> Json:
    spans = [
        span(MIXED, "😀", severity=1, category="style"),
        span(MIXED, "עולם, 渡轮", severity=3, category="event")
        | {"evidence": [{"input": "Source", "start": 5, "end": 6, "text": "😀"}]},
        span(MIXED, "👩‍👩‍👧 at", severity=4, category="number"),
    ]
    return result(
        "mixed", score=3.5, system="bart", spans=spans, seats=[seat("a", 3.5, spans=spans)]
    )


def hebrew() -> Json:
    spans = [span(HEBREW, "שני", severity=4), span(HEBREW, "ורב החובל ישן", severity=5)]
    return result("hebrew", score=1.5, system="t5", spans=spans, decision="unsure")


def one_run() -> ViewData:
    rows = [overlapping(), failed(), mixed(), hebrew(), result("clean", score=5, decision="ok")]
    rows[-1]["system"] = "bart"
    return ViewData(texts=texts(), runs=[rows], names=("ferries",))


def two_runs() -> ViewData:
    """Return a run and a later one that found other spans, and lacks a row."""
    first = one_run().runs[0]
    out = OVERLAPPING
    spans = [
        span(out, "on Monday", severity=4, explanation="The day is wrong.", found_by=["a"])
        | {"evidence": evidence("on Tuesday morning")},
        span(out, "ferry Halvard", severity=1, explanation="The name is doubtful.", found_by=["a"]),
    ]
    changed = result("ferry/bart", score=3.25, spans=spans, system="bart", decision="unsure")
    later = [changed, result("ferry/t5", score=4.5, system="t5"), mixed(), None, first[4]]
    compared = {"aspect": "consistency", "texts": 3, "first": 3.67, "second": 3.92}
    interval = {"difference": 0.25, "low": -0.1, "high": 0.75}
    comparison = {"first": "run:0", "second": "run:1", "rows": [compared | interval], "note": ""}
    return ViewData(
        texts=texts(), runs=[first, later], names=("panel-a", "panel-b"), comparisons=[comparison]
    )


def many_rows(count: int) -> ViewData:
    """Return a run of `count` rows: every score from 1 to 5, a span where it is below 3."""
    out = "A short text with a wrong word."
    rows = []
    for number in range(count):
        score = 1 + (number % 9) / 2
        spans = [span(out, "wrong", severity=1 + number % 5, category="word")] if score < 3 else []
        name = f"text-{number:05}"
        rows.append(result(name, score=score, spans=spans, system=f"system-{number % 3}"))
    return ViewData(
        texts=[text(row["id"], out, inputs={"Source": row["id"]}) for row in rows],
        runs=[rows],
        names=("many",),
    )
