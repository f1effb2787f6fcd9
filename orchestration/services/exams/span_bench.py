"""The span bench: whether judges mark what people marked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import Aspect, ConfigError, DataError, Segment, counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan

with lazily():
    import json

    from spanjury.judges import tasks
    from spanjury.orchestration.report import files
    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.judging import exam_texts
    from spanjury.orchestration.studies import estimates
    from spanjury.orchestration.studies.span_bench import findings, gold, tables

By = Annotated[
    str, Parameter("Key of a row by which pages group texts, for example system.", "KEY")
]
Draws = Annotated[
    int, Parameter("Number of resamples of the sources; 0 for no intervals.", min=0, rare=True)
]
_TASK = "summarization"  # of texts that name none
_RECORDS = "texts.jsonl"  # a record of every text


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan(Plan["findings.BenchResult"]):
    """A bench that is ready to run, and the names of its sets."""

    sets: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanBench(PanelStudy["findings.BenchResult"]):
    """Compare judges' error spans and decisions with people's marks, beside baselines.

    By default, the offline judges are measured, together and one by one. `data` may be a sequence
    of several sets of texts. `aspects` is the one aspect that the marked errors are of.
    """

    aspects: "terms.Aspects" = "consistency"
    by: By = "kind"
    draws: Draws = 1000

    def plan(self) -> BenchPlan:
        """Read the sets; raise as `PanelStudy.plan` does, and if nothing is known of any text."""
        sets = self._sets()
        read = []
        for name, texts in self._texts_by_set(sets).items():
            # Texts that something is known of, under ids of their own.
            kept = tuple(
                replace(
                    text,
                    segment=replace(text.segment, segment_id=f"{name}/{text.segment.segment_id}"),
                )
                for text in texts
                if text.is_known
            )
            read.append(gold.BenchSet(name=name, texts=kept, unknown=len(texts) - len(kept)))
        planned = findings.Bench(
            sets=tuple(read),
            settings=estimates.Settings(seed=self.drawn_by, draws=self.draws),
        )
        names = [each.name for each in planned.sets]

        async def run(live: Live) -> "study_report.StudyReport[findings.BenchResult]":
            with self.session(live) as opened:
                work = partial(findings.run_bench, planned, self.exam_run(opened, live))
                return _report(await opened.run(work), planned, data=sets)

        return BenchPlan(
            run=run,
            total=len(planned.texts),
            scope=f"{counted(len(planned.texts), 'text')}, {self._aspect}: {', '.join(names)}",
            measures=findings.ranges_of(names),
            sets=[each.name for each in planned.sets if each.texts],
        )

    @property
    def _aspect(self) -> str:
        names = terms.aspects_of(self.aspects)
        if len(names) != 1 or isinstance(names[0], Aspect):
            raise ConfigError(f"the bench takes the name of one aspect, got {self.aspects!r}")
        return names[0]

    def _sets(self) -> "tuple[Path | exam_texts.Texts, ...]":
        """Return each file once, and several sets in memory under names of their own.

        One set is a file, rows or a data frame.
        """
        data: Sequence[object] = (self.data,)
        if isinstance(self.data, Sequence) and not isinstance(self.data, str):
            are_rows = all(isinstance(row, Mapping | Segment) for row in self.data)
            data = data if are_rows else self.data
        sets = [exam_texts.texts_of(item, columns=self.columns, limit=self.limit) for item in data]
        if sum(isinstance(item, exam_texts.Texts) for item in sets) > 1:
            sets = [
                replace(item, name=f"texts {number}")
                if isinstance(item, exam_texts.Texts)
                else item
                for number, item in enumerate(sets, start=1)
            ]
        return tuple(dict.fromkeys(sets))

    def _texts_by_set(
        self, sets: "Sequence[Path | exam_texts.Texts]"
    ) -> "Mapping[str, Sequence[gold.BenchText]]":
        """Read the texts of each set: those of one ``dataset``, or else of one file."""
        # Files are called by their names up to the first full stop, if these differ.
        stems = {path: path.name.partition(".")[0] or path.name for path in sets}
        shared = Counter(stems.values())
        labels = {path: stem if shared[stem] == 1 else str(path) for path, stem in stems.items()}
        read = [
            (labels[path], name or labels[path], text)
            for path in sets
            for name, text in self._texts_in(path)
        ]
        files_of = Counter(
            name for _, name in dict.fromkeys((label, name) for label, name, _ in read)
        )
        by_set: dict[str, list[gold.BenchText]] = {}
        for label, name, text in read:
            # Two files may have texts of one data set, under the same ids.
            whole = name if files_of[name] == 1 or name == label else f"{label}/{name}"
            by_set.setdefault(whole, []).append(text)
        return by_set

    def _texts_in(self, path: "Path | exam_texts.Texts") -> "Iterator[tuple[str, gold.BenchText]]":
        """Yield each text of a file with the name of its data set, empty where it has none."""
        catalogue = tasks.Catalogue.load(*self.aspects_files)
        aspects: dict[str, Aspect] = {}
        for segment in islice(exam_texts.read_texts(path, columns=self.columns), self.limit):
            task = self.task or segment.task or _TASK
            if task not in aspects:
                aspects[task] = catalogue.aspect(task, self._aspect)
            try:
                fitted = aspects[task].task.fit(segment)
                text = gold.bench_text(fitted, aspects[task], catalogue=catalogue, by=self.by)
            except DataError as error:
                raise DataError(f"{path}: {error}") from error
            name = segment.meta.get("dataset")
            yield name.strip() if isinstance(name, str) else "", text


aspan_bench, span_bench = from_python(SpanBench, name="span_bench")


def _report(
    result: "findings.BenchResult",
    planned: "findings.Bench",
    *,
    data: "Sequence[Path | exam_texts.Texts]",
) -> "study_report.StudyReport[findings.BenchResult]":
    examinee = result.examinee

    def write_records(path: Path) -> None:
        judges = findings.judges_of(examinee)
        rows = findings.records_of(planned.sets, result.answers, judges=judges)
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        files.write_whole(path, lines.encode("utf-8", "surrogatepass"))

    return study_report.exam_report(
        "span bench",
        result,
        examinee=examinee,
        data=", ".join(map(str, data)),
        document=lambda _: tables.bench_report(
            result.findings, examinee=examinee, data=[each.name for each in data]
        ),
        values=findings.findings_json(result.findings, examinee=examinee),
        measures=findings.measures_of(result.findings),
        declared=findings.ranges_of(each.name for each in planned.sets),
        cautions=findings.cautions(result.findings),
        judged=result.judged,
        files={_RECORDS: write_records},
    )
