"""Import marked texts into a run; what fits none of its rows is reported, never guessed."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, ErrorSpan, Segment
from spanjury.orchestration.services.people.marks.exporting import NO_ERROR
from spanjury.orchestration.services.people.marks.mark import (
    Mark,
    MarkedSpan,
    annotator_name,
    check_mark,
    mark_json,
    mark_of_json,
)
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun, MarkedText
from spanjury.orchestration.wiring.marks import (
    ANNOTATORS,
    MARKS,
    NEUTRAL,
    READINGS,
    SEGMENT_ID,
    SPANS,
    MarksStore,
)
from spanjury.orchestration.wiring.sources import open_source


class Sheet:
    """The marks of people on one text.

    `aspect` is the aspect of marks that name none; if it is None, the text must have a single one,
    or people's scores in the row must be on a single one.
    """

    def __init__(self, row: Segment, text: MarkedText, *, aspect: str | None) -> None:
        self._row = row
        self._aspects = tuple(text.aspects)
        single = [each for each in (self._aspects, tuple(row.human)) if len(each) == 1]
        only = single[0][0] if single else None
        self._default = aspect if aspect in self._aspects else only
        self._without_aspect: set[str] = set()
        """Those who found no error, and gave a score on another aspect than the default."""
        self._marks: dict[tuple[str, str], Mark] = {}
        self.problems: list[str] = []
        """The marks that name no aspect, filled in by `marks`."""
        self.unjudged: Counter[str] = Counter()
        """Aspect on which the text was not judged -> number of its marks."""

    def marks(self) -> Mapping[tuple[str, str], Mark]:
        """Return the marks by annotator and aspect; count those that fit no aspect of the text."""
        self._take_readings()
        self._take_scores()
        self._take_spans()
        self._take_clean_texts()
        return self._marks

    def _add(self, who: str, aspect: str | None, *, what: str) -> Mark | None:
        """Return the mark so far, or count it and return None if the text lacks the aspect."""
        if aspect is None:
            self.problems.append(f"{what}: the aspect is missing (--aspect names it)")
        elif aspect not in self._aspects:
            self.unjudged[aspect] += 1
        else:
            return self._marks.setdefault((who, aspect), Mark(is_done=True))
        return None

    def _take_readings(self) -> None:
        meta = self._row.meta
        for about in _objects(meta.get(MARKS)):
            who, aspect = str(about.get("annotator", "")), str(about.get("aspect", ""))
            mark = self._add(who, aspect, what=f"a mark of {who or 'someone'}")
            if mark is not None:
                empty = {"start": None, "end": None, "text": ""}
                spans = [{**empty, **span} for span in _objects(about.get(SPANS))]
                begun = mark_of_json(json.dumps({"score": about.get("score"), SPANS: spans}))
                self._marks[who, aspect] = replace(
                    mark,
                    score=begun.score,
                    spans=begun.spans,
                    note=str(about.get("note", "")),
                    is_done=about.get("is_done") is not False,
                    scores_only=about.get("scores_only") is True,
                )
        pairs = meta.get(READINGS)
        for pair in pairs if isinstance(pairs, list) else []:
            if isinstance(pair, list) and len(pair) == 2:  # noqa: PLR2004  a pair
                who, aspect = map(str, pair)
                self._add(who, aspect, what=f"a reading of {who}")
        for opinion in _objects(meta.get(NEUTRAL)):
            who, category = str(opinion.get("annotator", "")), str(opinion.get("category", ""))
            if category.endswith(f"/{NO_ERROR}"):
                aspect = category.removesuffix(f"/{NO_ERROR}")
                self._add(who, aspect, what=f"a reading of {who}")

    def _take_scores(self) -> None:
        for aspect, scores in self._row.human.items():
            for who, score in scores.items():
                is_new = (who, aspect) not in self._marks
                mark = self._add(who, aspect, what=f"a score of {who or 'someone'}")
                if mark is not None:
                    scores_only = self._only_scored(who, aspect) if is_new else mark.scores_only
                    self._marks[who, aspect] = replace(mark, score=score, scores_only=scores_only)

    def _only_scored(self, who: str, aspect: str) -> bool:
        """Return whether a score on an aspect does not tell that its annotator looked for errors.

        Spans without an aspect, and a list without spans, are about the default aspect alone, so
        that texts with errors and texts without are treated alike. If the row does not name its
        readers, all who scored an aspect looked for the errors that the row lists on it: otherwise
        people would be compared only on the texts in which all of them, or none, marked an error.
        """
        gold = self._row.gold
        if gold and not self._readers():
            return aspect not in {named or self._default for named, *_ in self._spans()}
        looked = self._row.meta.get(SPANS) == [] or who in self._readers()
        is_named = gold and all(named for named, *_ in self._spans())
        if looked and not gold and aspect != self._default:
            self._without_aspect.add(who)
        return not (looked and (is_named or aspect == self._default))

    def _take_spans(self) -> None:
        readers = self._readers() or [*{who for of in self._row.human.values() for who in of}]
        only = readers[0] if len(readers) == 1 else ""
        for named, category, span in self._spans():
            aspect = named or self._default
            who = ";".join(span.found_by) or only
            mark = self._add(who, aspect, what=f"a span of {who or 'someone'}, {span.text[:40]!r}")
            if mark is not None and aspect is not None:
                marked = MarkedSpan(
                    start=span.start,
                    end=span.end,
                    text=span.text,
                    severity=span.severity,
                    category=category,
                    explanation=span.explanation,
                )
                spans = (*mark.spans, marked)
                self._marks[who, aspect] = replace(mark, spans=spans, scores_only=False)

    def _spans(self) -> Iterator[tuple[str | None, str, ErrorSpan]]:
        """Yield each span with the aspect that it names, and the rest of its category."""
        written = _objects(self._row.meta.get(SPANS))
        details = written if len(written) == len(self._row.gold) else [{}] * len(self._row.gold)
        for about, span in zip(details, self._row.gold, strict=True):
            yield *self._aspect_of(about, span), span

    def _aspect_of(self, about: Mapping[str, object], span: ErrorSpan) -> tuple[str | None, str]:
        """Return the aspect that a span or its category names, and the rest of the category."""
        if "aspect" in about:
            return str(about["aspect"]), span.category
        for aspect in sorted(self._aspects, key=len, reverse=True):
            if span.category == aspect:
                return aspect, ""
            if span.category.startswith(f"{aspect}/"):
                return aspect, span.category.removeprefix(f"{aspect}/")
        return None, span.category

    def _take_clean_texts(self) -> None:
        """Add a mark without errors for each reader who has no mark yet."""
        for who in sorted(self._without_aspect):
            self._add(who, self._default, what=f"no error found by {who or 'someone'}")
        annotators = {who for who, _ in self._marks}
        is_read = self._row.meta.get(SPANS) == [] and not annotators
        for who in self._readers() or ([""] if is_read else []):
            if who not in annotators:
                self._add(who, self._default, what=f"no error found by {who or 'someone'}")

    def _readers(self) -> list[str]:
        names = self._row.meta.get(ANNOTATORS, self._row.meta.get("annotator"))
        several = names if isinstance(names, list) else ()
        return [names] if isinstance(names, str) else [*map(str, several)]


def _objects(value: object) -> Sequence[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


@dataclass(slots=True, kw_only=True)
class Imported:
    """The outcome of an import.

    `kept` names rows that the annotator had marked differently; those marks are unchanged.
    `unmatched` names marks that fit no row of the run, and says why; `unjudged` counts marks of
    aspects on which their texts were not judged.
    """

    marks: int = 0
    unchanged: int = 0
    kept: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    unjudged: Counter[str] = field(default_factory=Counter)


def import_marks(
    run: MarkedRun,
    path: Path,
    *,
    annotator: str | None = None,
    aspect: str | None = None,
    replaces: bool = False,
) -> Imported:
    """Import marks into a run from a file of texts or rows, in our format, factgenie's or MQM.

    Without `annotator`, marks belong to the annotator that the file names. Without `aspect`, a mark
    that names no aspect needs a text with a single one. If `replaces` is true, marks replace those
    of the same annotator on the same row.

    Raise `ConfigError` if `annotator` is given for marks of several annotators, or no text is
    judged on `aspect`; `DataError` if the file cannot be read; and `StoreError` if marks cannot be
    stored.
    """
    named = None if annotator is None else annotator_name(annotator)
    if aspect is not None and not any(aspect in text.aspects for text in run.texts):
        aspects = ", ".join(sorted({name for text in run.texts for name in text.aspects}))
        raise ConfigError(f"no text of {run.named} is judged on {aspect!r}; known: {aspects}")
    done, index = Imported(), TextIndex(run.texts)
    entries = [*_read(path, done, index, aspect=aspect)]
    if named is not None and len(names := {entry.annotator for entry in entries} - {""}) > 1:
        raise ConfigError(
            f"{path} has marks of {', '.join(sorted(names))}: they cannot all be {named}'s;"
            " leave the name out"
        )
    with MarksStore(run.marks) as store:
        for entry in entries:
            named_entry = entry._replace(annotator=named or entry.annotator)
            if problem := _problem(named_entry):
                done.unmatched.append(f"{named_entry.text.segment.segment_id}: {problem}")
            else:
                _put(store, named_entry, done, replaces=replaces)
    return done


class TextIndex:
    """The texts of a run."""

    def __init__(self, texts: Iterable[MarkedText]) -> None:
        self._by_id: dict[str, MarkedText] = {}
        self._by_output: defaultdict[str, list[MarkedText]] = defaultdict(list)
        for text in texts:
            self._by_id[text.segment.segment_id] = text
            self._by_output[text.segment.output].append(text)

    def find(self, row: Segment) -> MarkedText | str:
        """Return the text of `row`: found by its id, or else the only one with its output.

        If no text is found, return the reason.
        """
        names = (row.meta.get(SEGMENT_ID), row.segment_id, row.meta.get("seg_id"))
        for name in filter(None, names):
            text = self._by_id.get(str(name))
            if text is not None and text.segment.output == row.output:
                return text
        if not {*names[:2]}.isdisjoint(self._by_id):
            return "the run has another text under this id"
        texts = self._by_output[row.output]
        of_system = [text for text in texts if text.segment.system == row.system]
        texts = of_system or texts
        if len(texts) == 1:
            return texts[0]
        problem = (
            f"{len(texts)} texts of the run read like this" if texts else "the run has no such text"
        )
        return f"{problem}, and none has this id"


class _Entry(NamedTuple):
    """A mark with its annotator, text and aspect."""

    annotator: str
    text: MarkedText
    aspect: str
    mark: Mark


def _put(store: MarksStore, entry: _Entry, done: Imported, *, replaces: bool) -> None:
    who = annotator_name(entry.annotator)
    key = entry.text.key(who, entry.aspect)
    stored = store.get(key)
    if stored is not None and _is_same(stored.content, entry.mark):
        done.unchanged += 1
    elif stored is not None and not replaces:
        done.kept.append(f"{key.segment}, {entry.aspect}: {who} has marked it otherwise")
    else:
        store.put(key, mark_json(entry.mark), based_on=stored.revision if stored else 0)
        done.marks += 1


def _is_same(content: str, mark: Mark) -> bool:
    """Return whether a mark is already stored; verdicts on judges' spans are not compared."""
    try:
        current = mark_of_json(content)
    except DataError:
        return False
    plain = tuple(replace(span, verdict="own", origin=None) for span in current.spans)
    return replace(current, spans=plain, rejected=()) == mark


def _problem(entry: _Entry) -> str:
    if not entry.annotator:
        return "no annotator is named: say whose it is with --annotator"
    scale = entry.text.aspects[entry.aspect]
    try:
        annotator_name(entry.annotator)
        check_mark(entry.mark, output=entry.text.segment.output, low=scale.low, high=scale.high)
    except (ConfigError, DataError) as error:
        return f"{entry.aspect}: {error}"
    return ""


def _read(path: Path, done: Imported, index: TextIndex, *, aspect: str | None) -> Iterator[_Entry]:
    """Yield the marks of each text; report those that fit no row in `done`."""
    seen: set[tuple[str, str, str]] = set()
    for row in open_source(path):
        if not isinstance(row, Segment):
            done.unmatched.append(str(row))
            continue
        text = index.find(row)
        if isinstance(text, str):
            done.unmatched.append(f"{row.segment_id}: {text}")
            continue
        sheet = Sheet(row, text, aspect=aspect)
        for (who, of), mark in sheet.marks().items():
            name = (text.segment.segment_id, who, of)
            if name in seen:
                done.unmatched.append(
                    f"{row.segment_id}: {of} is marked twice by {who or 'someone'}"
                )
            else:
                seen.add(name)
                yield _Entry(who, text, of, mark)
        done.unmatched += [f"{row.segment_id}: {problem}" for problem in sheet.problems]
        done.unjudged += sheet.unjudged
