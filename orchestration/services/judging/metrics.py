"""Metrics: of a file of texts, by their names, or of lists of texts in Python."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.judges.core import (
    VERSION,
    ConfigError,
    DataError,
    Sample,
    Segment,
    check_arguments,
    first_problem,
    repeatable,
    stamped,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.metrics.named import NamedMetric, check_samples, sample_of
from spanjury.judges.metrics.scores import MetricScores, measured, put_together, run_metrics
from spanjury.orchestration.report.files import write_page, write_whole
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.studies.sources import known_source_of, text_name
from spanjury.orchestration.wiring.metrics import availability, metric_cards, open_metric

with lazily():
    from spanjury.orchestration.wiring import metric_pages

_SOURCE = "Source"
Format = Literal["spanjury metric scores 1"]
Parsed = TypeVar("Parsed", bound=BaseModel)
T = TypeVar("T")


def with_texts(
    segments: Sequence[Segment], *, references: Sequence[Path], source: Path | None
) -> tuple[Segment, ...]:
    """Add references and a source from other files to segments.

    A file of references has one text for each segment, in the same order. A folder has a file for
    each segment, with the name of the segment's own file.

    Raise `DataError` if a file cannot be read or has another length, or if a folder lacks a text.
    """
    for path in references:
        segments = [
            replace(segment, references=(*segment.references, text))
            for segment, text in zip(segments, _texts(path, segments), strict=True)
        ]
    if source is not None:
        segments = [
            replace(segment, inputs={**segment.inputs, _SOURCE: text})
            for segment, text in zip(segments, _texts(source, segments), strict=True)
        ]
    return tuple(segments)


def _texts(path: Path, segments: Sequence[Segment]) -> list[str]:
    read = list(read_segments(path))
    if path.is_dir():
        return _by_name(path, read, segments)
    if len(read) != len(segments):
        raise DataError(f"{len(segments)} texts, and {path} has {len(read)}")
    return [segment.output for segment in read]


def _by_name(path: Path, read: Sequence[Segment], segments: Sequence[Segment]) -> list[str]:
    """Find the text for each segment by the name of its file, in any folder."""
    texts = {PurePosixPath(segment.segment_id).name: segment.output for segment in read}
    names = [PurePosixPath(segment.segment_id).name for segment in segments]
    missing = [name for name in names if name not in texts]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise DataError(f"{path} has no text for {missing[0]!r}{more}")
    return [texts[name] for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A file of texts, the metrics that can run on them, and the scores by each so far.

    `skipped` gives the reason why a metric that the user did not name cannot run.
    """

    segments: tuple[Segment, ...]
    samples: tuple[Sample, ...]
    metrics: tuple[NamedMetric, ...]
    skipped: Mapping[str, str]
    scores: tuple[MetricScores, ...] = ()

    def scored(self, scores: Sequence[MetricScores]) -> "Scored":
        """Return the file with the scores so far."""
        return replace(self, scores=tuple(scores))

    @property
    def sources(self) -> list[str]:
        """The source of each segment; without inputs, texts of several systems share it by id."""
        return [known_source_of(each) or text_name(each)[0] for each in self.segments]

    def corpus_of(self, scores: MetricScores, rows: Sequence[int]) -> float:
        """Return the corpus score of some rows; a metric of whole corpora measures them again.

        Raise `MetricError` if it fails.
        """
        score = scores.corpus_of(rows)
        if score is None:
            part = measured(scores.named, [self.samples[row] for row in rows])
            score = put_together(scores.named, [part]).corpus
        return score


def score_metric(
    metric: str,
    outputs: str | Sequence[str],
    references: str | Sequence[str | Sequence[str]] = (),
    *,
    sources: str | Sequence[str] = (),
) -> MetricScores:
    """Measure texts in memory by one metric.

    Parameters
    ----------
    metric
        ``NAME`` or ``NAME:option=value,…``.
    outputs
        The text or the texts.
    references
        One or more references for each output, or those of the one text; empty for metrics that
        take none.
    sources
        The source of each output, in the same order.

    Returns
    -------
    MetricScores
        With a score for each text in ``segments`` and a joint score in ``corpus``.

    Raises
    ------
    ConfigError
        If there is no such metric or option, or the lengths differ.
    DataError
        If the metric needs an input that is missing; names the first such text by its index.

    Examples
    --------
    >>> score_metric("wer", ["a cat sat"], ["the cat sat"]).segments
    (0.3333333333333333,)
    """
    outputs, references, sources = repeatable(outputs), repeatable(references), repeatable(sources)
    check_arguments(score_metric, locals())
    references = _several(references)
    texts = [text for text in references if isinstance(text, str)]
    if isinstance(outputs, str) and len(texts) == len(references) > 0:
        references = [texts]
    outputs, sources = _several(outputs), _several(sources)
    for parts, name in ((references, "references"), (sources, "sources")):
        if parts and len(parts) != len(outputs):
            raise ConfigError(f"{len(outputs)} outputs, but {name} for {len(parts)}")
    if not outputs:
        raise ConfigError("there is no output to measure")
    named = open_metric(metric)
    samples = [
        Sample(
            output=output,
            references=tuple(_several(own)),
            source=source,
        )
        for output, own, source in zip(
            outputs, references or [()] * len(outputs), sources or [""] * len(outputs), strict=True
        )
    ]
    check_samples(named, samples, ids=[str(index) for index in range(len(samples))])
    return put_together(named, [measured(named, samples)])


def _several(texts: str | Sequence[T]) -> Sequence[str | T]:
    """Return one text or several as several; a text is itself a sequence of strings."""
    return (texts,) if isinstance(texts, str) else texts


def prepare(
    data: Path,
    *,
    metrics: Sequence[str] = (),
    references: Sequence[Path] = (),
    source: Path | None = None,
    columns: Sequence[str] = (),
    limit: int | None = None,
) -> Scored:
    """Read a file and build the metrics.

    Metrics are named ``NAME`` or ``NAME:option=value,…``; without names, all metrics run that the
    data allow. `with_texts` explains references and source.

    Raise `ConfigError` if a metric or option is unknown, or lacks something on this machine, and
    `DataError` if the data cannot be read, or a row lacks an input that a named metric needs.
    """
    whole = tuple(read_segments(data, columns=columns))
    segments = with_texts(whole, references=references, source=source)[:limit]
    samples = tuple(map(sample_of, segments))
    ids = [segment.segment_id for segment in segments]
    chosen, skipped = choose_metrics(metrics, samples, ids=ids)
    return Scored(segments=segments, samples=samples, metrics=tuple(chosen), skipped=skipped)


async def score_file(
    prepared: Scored,
    *,
    workers: int | None = None,
    show: Callable[[MetricScores], None] = lambda _: None,
) -> Scored:
    """Measure a file; `show` is called with the scores of each metric as soon as they exist.

    Raise `MetricError` if a metric fails.
    """
    scores = await run_metrics(prepared.metrics, prepared.samples, workers=workers, show=show)
    return prepared.scored(scores)


def choose_metrics(
    specs: Sequence[str], samples: Sequence[Sample], *, ids: Sequence[str]
) -> tuple[list[NamedMetric], dict[str, str]]:
    """Return the named metrics, or all that can run, and the reasons why others cannot.

    Raise the errors of `open_metric`, `ConfigError` if two metrics have the same name, and
    `DataError` if a sample lacks an input that a named metric needs.
    """
    if not specs:
        return _runnable(samples, ids=ids)
    metrics = [open_metric(spec) for spec in specs]
    names = [named.name for named in metrics]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"two metrics are called {', '.join(sorted(doubled))}: add name=…")
    for named in metrics:
        check_samples(named, samples, ids=ids)
    return metrics, {}


def _runnable(
    samples: Sequence[Sample], *, ids: Sequence[str]
) -> tuple[list[NamedMetric], dict[str, str]]:
    metrics: list[NamedMetric] = []
    skipped: dict[str, str] = {}
    for name, card in metric_cards().items():
        try:
            if reason := availability(card):
                skipped[name] = reason
                continue
            named = open_metric(name)
            check_samples(named, samples, ids=ids)
        except DataError as error:
            skipped[name] = str(error).removeprefix(f"metric {name!r} ")
        else:
            metrics.append(named)
    return metrics, skipped


class _Described(BaseModel):
    """A metric in the header of a score file; `corpus` is None if the score is undefined."""

    signature: str
    better: Literal["higher", "lower", "neither"]
    corpus: float | None


class MetricHead(BaseModel):
    """The header of a score file: its metrics, and the number of rows that follow."""

    format: Format
    spanjury: str
    rows: int
    metrics: dict[str, _Described]


class MetricRow(BaseModel):
    """The scores of one segment; None if a score is undefined."""

    id: str
    system: str = ""
    scores: dict[str, float | None]


def write_metric_scores(path: Path, scored: Scored) -> None:
    """Write the scores of all segments as JSON Lines.

    Raise `StoreError` if the file cannot be written; an existing file then stays unchanged.
    """
    described = {
        score.named.name: _Described(
            signature=stamped(score.named.signature),
            better=score.named.card.direction,
            corpus=_number(score.corpus),
        )
        for score in scored.scores
    }
    head = MetricHead(
        format="spanjury metric scores 1",
        spanjury=VERSION,
        rows=len(scored.segments),
        metrics=described,
    )
    lines = [head.model_dump_json(), *(row.model_dump_json() for row in _rows(scored))]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def read_metric_scores(path: Path) -> tuple[MetricHead, list[MetricRow]]:
    """Read a file of scores.

    Raise `DataError` if it cannot be read, is not a score file or is truncated; the message names
    the line.
    """
    try:
        first, *lines = path.read_bytes().rstrip(b"\n").split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    head = _line(first, MetricHead, f"{path}:1")
    rows = [_line(line, MetricRow, f"{path}:{number}") for number, line in enumerate(lines, 2)]
    if len(rows) != head.rows:
        raise DataError(f"{path} is cut short: it has {len(rows)} of {head.rows} rows")
    return head, rows


def are_metric_scores(path: Path) -> bool:
    """Return whether a file holds scores of metrics, judging by its first line."""
    try:
        with path.open("rb") as file:
            MetricHead.model_validate_json(file.readline())
    except (OSError, ValidationError):
        return False
    return True


def _line(line: bytes, kind: type[Parsed], where: str) -> Parsed:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise DataError(f"{where}: {first_problem(error)}") from error


def _rows(scored: Scored) -> Iterator[MetricRow]:
    for index, segment in enumerate(scored.segments):
        scores = {
            score.named.name: _number(score.segments[index])
            for score in scored.scores
            if score.segments is not None
        }
        yield MetricRow(id=segment.segment_id, system=segment.system, scores=scores)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def show_metric(
    data: Path, output: Path, *, row: str, metric: str, columns: Sequence[str] = ()
) -> None:
    """Write a page on which a metric compares the text of a row with its references.

    Raise `ConfigError` if there is no such metric, the metric has no page, or `output` does not end
    in ``.html``; `DataError` if the file cannot be read, has no such row, or the row has no
    reference; and `StoreError` if the page cannot be written.
    """
    for segment in read_segments(data, columns=columns):
        if segment.segment_id == row:
            page = metric_pages.metric_page(metric, sample_of(segment), row=row)
            write_page(output, page)
            return
    raise DataError(f"{data}: there is no row {row!r}")
