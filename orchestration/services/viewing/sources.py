"""The runs to view: results and texts of a folder, a run's name or a file, and known aspects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from spanjury.judges.core import Aspect, ConfigError, DataError, Scale, Segment, Task
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.judges.tasks.table import Table
from spanjury.orchestration.engine.sharding import Shard
from spanjury.orchestration.wiring.runs import (
    PART,
    RunFolder,
    find_run,
    own_results,
    part_of,
    runs_home,
)
from spanjury.orchestration.wiring.sources import by_source, open_source

with lazily():
    import pydantic

T = TypeVar("T")

_RESULTS = "results.jsonl"
JUDGED_RESULTS = "judged_results.jsonl"
"""Name of the results file that an exam writes; its folder may also be that of a run."""
_FINDINGS = "findings.json"
JUDGED_TEXTS = "judged_texts.jsonl"
"""Name of the file with the texts of these results."""
_MOST = 2
_RUBRIC = Once(lambda: pydantic.TypeAdapter(Rubric | None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The file of the judged texts, and how it was read.

    `limit`, `shard` and `is_by_source` are those of the run; a limit or a shard of None is for all
    rows. A file that the user named (`is_named`) must be readable.
    """

    data: Path
    columns: tuple[str, ...] = ()
    limit: int | None = None
    shard: Shard | None = None
    is_by_source: bool = False
    is_named: bool = False

    def segments(self) -> Iterator[Segment]:
        """Yield the texts in the order in which they were judged; unreadable rows were not."""
        rows = islice(open_source(self.data, columns=self.columns), self.limit)
        segments = (row for row in rows if isinstance(row, Segment))
        judged = segments if self.shard is None else self.shard.of_rows(segments)
        return by_source(judged) if self.is_by_source else judged


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewedRun:
    """A run to view.

    `results` is a part file while the run is under way. Files that are unknown or missing are None;
    `begun` is empty if the manifest does not say it.
    """

    name: str
    results: Path
    texts: Texts | None = None
    folder: Path | None = None
    memory: Path | None = None
    aspects_files: tuple[Path, ...] = ()
    rubric: Rubric | None = None
    begun: str = ""
    is_done: bool = True


def folder_of_runs(named: Sequence[Path]) -> Path | None:
    """Return the folder whose runs are all meant; None if `named` are runs themselves.

    Without a name it is the folder among the user's data.
    """
    if not named:
        return runs_home()
    folder = RunFolder(named[0])
    if len(named) > 1 or folder.exists:
        return None
    results = folder.results
    if results.exists() or part_of(results).exists():
        return None
    return next((folder.path for _ in RunFolder.among(folder.path)), None)


def find_runs(
    named: Sequence[Path], *, data: Path | None = None, columns: Sequence[str] = ()
) -> tuple[ViewedRun, ...]:
    """Return the named runs, one or two.

    Each is named by a run's folder or name, an exam's folder, or a file of results. `data` is the
    file of the texts, overriding the manifests.

    Raise `ConfigError` if there are more, or columns without a file, and `DataError` or
    `StoreError` if one of them is no run, or has no results yet.
    """
    if not 1 <= len(named) <= _MOST:
        raise ConfigError(f"expected one or two runs, got {len(named)}")
    if columns and data is None:
        raise ConfigError("--column names columns of a file: name it with --data")
    runs = [_viewed(path) for path in named]
    if data is not None:
        if not data.exists() and ":" not in str(data):
            raise DataError(f"{data}: there is no such file")
        given = Texts(data=data, columns=tuple(columns), is_named=True)
        runs = [replace(run, texts=given) for run in runs]
    if len({run.name for run in runs}) < len(runs):
        names = [str(run.folder or run.results) for run in runs]
        if len(set(names)) < len(names):
            names = [f"{run.name} ({number})" for number, run in enumerate(runs, start=1)]
        runs = [replace(run, name=name) for run, name in zip(runs, names, strict=True)]
    return tuple(runs)


def _viewed(named: Path) -> ViewedRun:
    if named.is_file():
        folder = RunFolder(named.parent)
        is_of_run = folder.exists and named.name.removesuffix(PART) == _RESULTS
        run = _of_folder(folder) if is_of_run else _bare(named)
        return replace(run, results=named)
    if named.is_dir() and not RunFolder(named).exists:
        judged = named / JUDGED_RESULTS
        run = _bare(judged if judged.is_file() else _there(named / _RESULTS, whose=named))
        return _of_shards(run, named)
    return _of_folder(find_run(named))


def _bare(results: Path) -> ViewedRun:
    """Return a run without a manifest: an exam with its texts, or a bare file of results."""
    whole = results.name.removesuffix(PART)
    is_named_by_folder = whole in {_RESULTS, JUDGED_RESULTS}
    name = results.absolute().parent.name if is_named_by_folder else Path(whole).stem
    texts = results.with_name(JUDGED_TEXTS)
    return ViewedRun(
        name=name or whole,
        results=results,
        texts=Texts(data=texts) if whole == JUDGED_RESULTS and texts.is_file() else None,
        is_done=results.suffix != PART,
    )


def _of_shards(run: ViewedRun, folder: Path) -> ViewedRun:
    """Return a `run` of merged results with what the manifest of a shard in `folder` says."""
    for inner in RunFolder.among(folder):
        job = _job(inner.manifest())
        texts = _texts(job)
        if texts is not None and inner.path.name == str(texts.shard):
            return replace(
                run,
                texts=replace(texts, shard=None),
                aspects_files=tuple(map(Path, _listed(job, "aspects_files"))),
                rubric=_rubric(job.get("rubric")),
            )
    return run


def _job(manifest: Mapping[str, object]) -> Mapping[str, object]:
    job = manifest.get("job")
    return job if isinstance(job, Mapping) else {}


def _of_folder(folder: RunFolder) -> ViewedRun:
    manifest = folder.manifest()
    job = _job(manifest)
    output = folder.path / str(job.get("output") or _RESULTS)
    return ViewedRun(
        name=folder.path.absolute().name,
        results=own_results(_there(output, whose=folder.path), folder),
        texts=_texts(job),
        folder=folder.path,
        memory=folder.memory if folder.memory.is_file() else None,
        aspects_files=tuple(map(Path, _listed(job, "aspects_files"))),
        rubric=_rubric(job.get("rubric")),
        begun=str(manifest.get("begun") or ""),
        is_done=folder.is_done,
    )


def _rubric(kept: object) -> Rubric | None:
    """Return the rubric of a job; None if there is none, or another release wrote it."""
    try:
        return _RUBRIC.get().validate_python(kept)
    except pydantic.ValidationError:
        return None


def _there(results: Path, *, whose: Path) -> Path:
    """Return the results file, or its part file if the results are incomplete."""
    for path in (results, part_of(results)):
        if path.is_file():
            return path
    if (whose / _FINDINGS).is_file():
        raise DataError(
            f"{whose} holds an exam without {JUDGED_RESULTS}: run the exam again with the same"
            " command, which asks no question twice; exams of pairs have no texts to show"
        )
    raise DataError(f"{whose} has no results yet: there is no {results.name} in it")


def _texts(job: Mapping[str, object]) -> Texts | None:
    """Return the texts named in a manifest; a job of another release may lack a part."""
    data, limit, shard = job.get("data"), job.get("limit"), job.get("shard")
    if not isinstance(data, str):
        return None
    return Texts(
        data=Path(data),
        columns=tuple(_listed(job, "columns")),
        limit=limit if isinstance(limit, int) else None,
        shard=_shard(shard) if isinstance(shard, Mapping) else None,
        is_by_source=job.get("order") == "source",
    )


def _shard(shard: Mapping[str, object]) -> Shard | None:
    number, of = shard.get("number"), shard.get("of")
    return Shard(number=number, of=of) if isinstance(number, int) and isinstance(of, int) else None


def _listed(job: Mapping[str, object], name: str) -> list[str]:
    values = job.get(name)
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


class KnownAspects:
    """The aspects that are built in, and those of some files.

    Files `of_runs` that cannot be read are named in `problems`. A criterion has the scale of the
    first of `rubrics` that contains it.

    Raises `ConfigError` if one of the `named` files cannot be read.
    """

    def __init__(
        self,
        named: Iterable[Path],
        *,
        of_runs: Iterable[Path] = (),
        rubrics: Iterable[Rubric | None] = (),
    ) -> None:
        self.problems: list[str] = []
        self._catalogue = Catalogue.load(*named)
        for file in dict.fromkeys(of_runs):
            try:
                self._catalogue = self._catalogue.extended([Table.read(file)])
            except ConfigError as error:
                self.problems.append(f"aspects are not read: {error}")
        self._rubrics = tuple(filter(None, rubrics))

    def find(self, task: str, name: str) -> Aspect | None:
        """Return an aspect of a task; None if it is unknown."""
        rubric = next((each for each in self._rubrics if name in each.aspects), None)
        try:
            return self._catalogue.with_rubric(rubric).aspect(task, name)
        except ConfigError:
            return None

    def task(self, name: str) -> Task | None:
        """Return a task; None if it is unknown."""
        try:
            return self._catalogue.task(name)
        except ConfigError:
            return None

    def described(self, task: str, name: str) -> dict[str, object]:
        """Return an aspect for a page; an unknown aspect has the default scale."""
        aspect = self.find(task, name)
        scale = aspect.scale if aspect else Scale()
        return {
            "name": name,
            "task": task,
            "definition": aspect.definition if aspect else "",
            "low": scale.low,
            "high": scale.high,
            "labels": list(scale.labels) if scale.labels else None,
        }
