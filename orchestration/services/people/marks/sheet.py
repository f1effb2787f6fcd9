"""The marks on one text of a file, sorted by annotator and aspect."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spanjury.judges.core import ErrorSpan, Segment
from spanjury.orchestration.services.people.marks.exporting import NO_ERROR
from spanjury.orchestration.services.people.marks.mark import Mark, MarkedSpan
from spanjury.orchestration.services.people.marks.marked_run import MarkedText
from spanjury.orchestration.wiring.marks import ANNOTATORS, MARKS, NEUTRAL, READINGS, SPANS


class Sheet:
    """Marks of people on one text.

    Parameters
    ----------
    row
        The text as the file has it.
    text
        The run's, whose aspects count.
    aspect
        That of marks that name none; without it, the text must have a single aspect.
    """

    def __init__(self, row: Segment, text: MarkedText, *, aspect: str | None) -> None:
        self._row = row
        self._aspects = tuple(text.aspects)
        only = self._aspects[0] if len(self._aspects) == 1 else None
        self._default = aspect if aspect in self._aspects else only
        self._marks: dict[tuple[str, str], Mark] = {}
        self.problems: list[str] = []
        """Marks that are of no aspect of the text, once `marks` was asked for."""

    def marks(self) -> Mapping[tuple[str, str], Mark]:
        """Return annotator and aspect -> mark; what is of no aspect goes to the problems."""
        self._take_readings()
        self._take_scores()
        self._take_spans()
        self._take_clean_texts()
        return self._marks

    def _add(self, who: str, aspect: str | None, *, what: str) -> Mark | None:
        """Return the mark so far; None, and a problem, if the text is not judged on the aspect."""
        if aspect is None:
            self.problems.append(f"{what}: the aspect is missing (--aspect names it)")
        elif aspect not in self._aspects:
            self.problems.append(f"{what}: the text is not judged on {aspect}")
        else:
            return self._marks.setdefault((who, aspect), Mark(is_done=True))
        return None

    def _take_readings(self) -> None:
        meta = self._row.meta
        for about in _objects(meta.get(MARKS)):
            who, aspect = str(about.get("annotator", "")), str(about.get("aspect", ""))
            mark = self._add(who, aspect, what=f"a mark of {who or 'someone'}")
            if mark is not None:
                self._marks[who, aspect] = replace(
                    mark,
                    note=str(about.get("note", "")),
                    is_done=about.get("is_done") is not False,
                    scores_only=about.get("scores_only") is True,
                )
        pairs = meta.get(READINGS)
        for who, aspect in pairs if isinstance(pairs, list) else []:
            self._add(str(who), str(aspect), what=f"a reading of {who}")
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
                    scores_only = not self._looked(who) if is_new else mark.scores_only
                    self._marks[who, aspect] = replace(mark, score=score, scores_only=scores_only)

    def _take_spans(self) -> None:
        written = _objects(self._row.meta.get(SPANS))
        details = written if len(written) == len(self._row.gold) else [{}] * len(self._row.gold)
        for about, span in zip(details, self._row.gold, strict=True):
            who = ";".join(span.found_by) or self._only_reader()
            aspect, category = self._aspect_of(about, span)
            mark = self._add(who, aspect, what=f"a span of {who or 'someone'}, {span.text[:40]!r}")
            if mark is not None and aspect is not None:
                marked = (*mark.spans, _span(span, category=category))
                self._marks[who, aspect] = replace(mark, spans=marked, scores_only=False)

    def _aspect_of(self, about: Mapping[str, object], span: ErrorSpan) -> tuple[str | None, str]:
        """Return the aspect that a span names, or that stands before its category, and the rest."""
        if "aspect" in about:
            return str(about["aspect"]), span.category
        for aspect in sorted(self._aspects, key=len, reverse=True):
            if span.category == aspect:
                return aspect, ""
            if span.category.startswith(f"{aspect}/"):
                return aspect, span.category.removeprefix(f"{aspect}/")
        return self._default, span.category

    def _take_clean_texts(self) -> None:
        """Take it that readers of whom nothing else is said found no error."""
        annotators = {who for who, _ in self._marks}
        is_read = self._row.meta.get(SPANS) == [] and not annotators
        for who in self._readers() or ([""] if is_read else []):
            if who not in annotators:
                self._add(who, self._default, what=f"no error found by {who or 'someone'}")

    def _readers(self) -> list[str]:
        names = self._row.meta.get(ANNOTATORS, self._row.meta.get("annotator"))
        return (
            [names]
            if isinstance(names, str)
            else list(map(str, names))
            if isinstance(names, list)
            else []
        )

    def _looked(self, who: str) -> bool:
        """Say whether someone looked for errors: a score alone does not say so."""
        return self._row.meta.get(SPANS) == [] or who in self._readers()

    def _only_reader(self) -> str:
        readers = self._readers()
        return readers[0] if len(readers) == 1 else ""


def _objects(value: object) -> Sequence[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _span(span: ErrorSpan, *, category: str) -> MarkedSpan:
    return MarkedSpan(
        start=span.start,
        end=span.end,
        text=span.text,
        severity=span.severity,
        category=category,
        explanation=span.explanation,
    )
