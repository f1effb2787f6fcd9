"""Details of rows for a page: texts and reports unabridged, prompts, and comparisons by scores."""

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock

import anyio
import msgspec

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    EvaluationError,
    Segment,
    ToolCall,
    Trajectory,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import Transcript, header_of, transcript_of
from spanjury.orchestration.services.viewing.reading import NOTHING, Names, Pairing, Text
from spanjury.orchestration.services.viewing.sources import KnownAspects, ViewedRun

with lazily():
    from spanjury.orchestration.services.runs import run_folder as runs
    from spanjury.orchestration.studies.comparison import runs as comparing
    from spanjury.orchestration.wiring import replay
    from spanjury.orchestration.wiring import runs as run_folders


_NO_REPLIES = (
    "the memory holds no reply to what these judges ask today: they were asked by another version"
    " or with other options, or did not answer"
)
CONSOLIDATOR = "consolidator"
"""The name under which a consolidator's calls are shown."""


class Unasked(msgspec.Struct, frozen=True):
    """The seats that were not asked about a row, and why."""

    seats: tuple[str, ...] = ()
    reason: str = ""


class _UnaskedOfRow(msgspec.Struct, frozen=True):
    """The only part of a row that is decoded here."""

    unasked: Unasked | None = None


_UNASKED = msgspec.json.Decoder(_UnaskedOfRow)


class Details:
    """The details of the rows of a view."""

    def __init__(self, pairing: Pairing, aspects: KnownAspects) -> None:
        self._pairing = pairing
        self._aspects = aspects

    def of(
        self, numbers: Sequence[int], *, is_hidden: Callable[[int], bool] = lambda _: False
    ) -> dict[str, object]:
        """Return the details of some rows, for JSON; rows about the same text share it.

        `is_hidden` returns whether the results of a row, and other people's marks, are hidden from
        the reader.

        Raise `DataError` if results were rewritten since they were read.
        """
        texts: dict[tuple[int, int, str, bool], int] = {}
        written: list[dict[str, object]] = []
        rows = []
        for number in numbers:
            task, aspect = self.aspect(number)
            hidden, indices = is_hidden(number), list[int | None]()
            for text in self._pairing.texts(number):
                if text is None:
                    indices.append(None)
                    continue
                key = id(text[0]), text[1], task, hidden
                if key not in texts:
                    texts[key] = len(written)
                    written.append(self._text(text, task=task, is_hidden=hidden))
                indices.append(texts[key])
            run, row = self._pairing.row_of(number)
            rows.append(
                {
                    "number": number,
                    "id": run.columns.ids[row],
                    "system": run.columns.names.systems.values[run.columns.systems[row]],
                    "task": task,
                    "aspect": aspect,
                    "text": indices[0] if len(indices) == 1 else None,
                    "texts": indices if len(indices) > 1 else [],
                    "results": list(self._results(number, is_hidden=hidden)),
                }
            )
        return {"texts": written, "rows": rows}

    def aspect(self, number: int) -> tuple[str, str]:
        """Return the task and the aspect of a row, by name."""
        run, row = self._pairing.row_of(number)
        return run.columns.names.aspects.values[run.columns.aspects[row]]

    def segment(self, number: int) -> Segment | None:
        """Return the text of a row as its judges saw it; None if it is unavailable."""
        text = self._pairing.text(number)
        return None if text is None else self._fitted(text, task=self.aspect(number)[0])

    def unasked(self, number: int, *, run: int) -> Unasked | None:
        """Return the seats that a run did not ask about a row, and why; None if it asked all."""
        row = self._pairing.rows[run][number]
        if row == NOTHING:
            return None
        return _UNASKED.decode(self._pairing.runs[run].line(row)).unasked

    def _fitted(self, text: Text, *, task: str) -> Segment:
        store, number = text
        segment = store.segment(number)
        declared = self._aspects.task(task)
        return segment if declared is None else declared.fit(segment)

    def _text(self, text: Text, *, task: str, is_hidden: bool) -> dict[str, object]:
        segment = self._fitted(text, task=task)
        scores = {} if is_hidden else segment.human
        return {
            "id": segment.segment_id,
            "system": segment.system,
            "output": segment.output,
            "inputs": dict(segment.inputs),
            **turns_of(segment),
            "references": list(segment.references),
            "human": {name: dict(by_rater) for name, by_rater in scores.items()},
            "gold": [] if is_hidden else text[0].gold(text[1]),
        }

    def _results(self, number: int, *, is_hidden: bool) -> Iterator[msgspec.Raw | None]:
        for run, rows in zip(self._pairing.runs, self._pairing.rows, strict=True):
            row = rows[number]
            there = row != NOTHING and not is_hidden
            yield msgspec.Raw(run.line(row).rstrip(b"\n")) if there else None


def turns_of(segment: Segment) -> dict[str, object]:
    """Return a trajectory's turns and the parts of its calls, for JSON; empty for a text.

    A turn of the agent has offsets in the output, any other turn the header of its input.
    """
    made, trajectory = transcript_of(segment), segment.trajectory
    if made is None or trajectory is None:
        return {}
    return {
        "turns": _turns(trajectory, made),
        "parts": [
            {
                "turn": part.position.turn,
                "call": part.position.call,
                "path": part.position.path,
                "start": part.start,
                "end": part.end,
            }
            for part in made.parts
        ],
    }


def _turns(trajectory: Trajectory, made: Transcript) -> list[dict[str, object]]:
    turns: list[dict[str, object]] = []
    own: dict[str, object] | None = None
    cursor = 0
    for number, turn in enumerate(trajectory.turns, 1):
        call = trajectory.caller_of(number)
        row: dict[str, object] = {
            "number": number,
            "role": turn.role,
            "name": turn.name or (call.name if call else ""),
            "failed": turn.failed,
            "images": list(turn.images),
        }
        turns.append(row)
        if turn.role != "assistant":
            row["header"] = header_of(turn, number)
            continue
        start = made.text.index(f"Turn {number}:", cursor)
        ends = [part.end for part in made.parts if part.position.turn == number]
        cursor = max(ends, default=start)
        if own is not None:
            own["end"] = start
        row |= {"start": start, "end": len(made.text)}
        own = row
    return turns


class Asked:
    """The prompts that the models of a run received, and their replies.

    The run may have no memory.
    """

    def __init__(self, run: ViewedRun, aspects: KnownAspects) -> None:
        self._run = run
        self._aspects = aspects
        self._lock = Lock()  # models may run in this process, and memories are read one at a time

    def of(
        self, segment: Segment | None, *, task: str, aspect: str, unasked: Unasked | None = None
    ) -> dict[str, object]:
        """Return the calls about a text, seat by seat, for JSON; and a note on seats without any.

        A cascade did not ask the seats in `unasked`, so their calls in the memory belong to another
        row or a later run.
        """
        run, definition = self._run, self._aspects.find(task, aspect)
        if run.folder is None or run.memory is None:
            return _nothing(f"{run.name} keeps no memory: prompts and replies are not there")
        if segment is None:
            return _nothing(
                "the text of this row is missing, and the prompts cannot be made without it"
            )
        if definition is None:
            return _nothing(f"the aspect {aspect} of {task} is not known here")
        try:
            with self._lock:
                calls, asking = _replayed(run.folder, segment, definition, memory=run.memory)
        except EvaluationError as error:
            return _nothing(f"prompts and replies cannot be shown: {error}")
        left = unasked or Unasked()
        made = [call for call in calls if call.seat not in left.seats]
        seats = [
            {
                "judge": seat or CONSOLIDATOR,
                "calls": [_call(call) for call in made if call.seat == seat],
            }
            for seat in sorted(dict.fromkeys(call.seat for call in made), key=lambda seat: not seat)
        ]
        return {"seats": seats, "note": _note(made, asking, unasked=left)}


def _replayed(
    folder: Path, segment: Segment, aspect: Aspect, *, memory: Path
) -> "tuple[list[replay.Call], tuple[str, ...]]":
    """Assess again from a run's memory; return the calls and the seats that assessed."""
    panel = runs.job_of(run_folders.RunFolder(folder)).panel
    recorder = replay.Recorder()
    if not replay.asking_seats(panel):
        raise ConfigError("its judges ask no model")

    async def assess() -> tuple[str, ...]:
        opening = replay.open_replayed_panel(panel, memory=memory, recorder=recorder)
        async with opening as opened:
            await opened.assess(segment, aspect)
            return tuple(seat.name for seat in opened.seats)

    asking = anyio.run(assess)
    return recorder.calls, asking


def _note(made: "Sequence[replay.Call]", asking: Sequence[str], *, unasked: Unasked) -> str:
    """Return the reasons why seats with a model have no calls; empty if none lacks them."""
    left = [seat for seat in asking if seat in unasked.seats]
    notes = [f"{', '.join(left)}: not asked about this text. {unasked.reason}"] if left else []
    if not made and len(left) < len(asking):
        notes.append(_NO_REPLIES)
    return " ".join(notes)


def _nothing(note: str) -> dict[str, object]:
    return {"seats": [], "note": note}


def _call(call: "replay.Call") -> dict[str, object]:
    request = call.request
    messages = [
        {"role": message.role, "content": _with_tools(message.content, message.tool_calls)}
        for message in request.messages
    ]
    if request.prefix:
        messages.append({"role": "assistant", "content": request.prefix})
    reply = _with_tools(call.reply.text or request.forced, call.reply.tool_calls)
    return {"messages": messages, "reply": reply}


def _with_tools(text: str, calls: Sequence[ToolCall]) -> str:
    """Return a text and the tool calls that accompany it, one a line."""
    parts = [text] if text else []
    return "\n".join((*parts, *(f"{call.name}({call.arguments})" for call in calls)))


_Scores = Mapping[int, Mapping[str, float]]
"""Aspect -> key of the pairing -> score."""


class Comparisons:
    """Comparisons of the scores of a view, each computed once.

    All rows of the `pairing` must have been read; `sources` are the numbers of their inputs.
    """

    def __init__(self, pairing: Pairing, *, names: Names, sources: "array[int]") -> None:
        self._pairing = pairing
        self._names = names
        self._sources = sources
        self._computed: dict[tuple[str, str], dict[str, object]] = {}
        self._lock = Lock()

    def of(self, first: str, second: str) -> dict[str, object]:
        """Compare two runs (``run:0`` and ``run:1``) or systems (``system:A`` and ``system:B``).

        Raise `ConfigError` if there is no such run or system, or one is a run and one a system.
        """
        kinds = {name.partition(":")[0] for name in (first, second)}
        if len(kinds) > 1 or not kinds <= {"run", "system"}:
            raise ConfigError(
                f"got {first!r} and {second!r}, expected run:0 and run:1, or system:A and system:B"
            )
        with self._lock:
            if (first, second) not in self._computed:
                self._computed[first, second] = self._compared(first, second)
            return self._computed[first, second]

    def _compared(self, first: str, second: str) -> dict[str, object]:
        left, right = self._scores(first), self._scores(second)
        sources: dict[str, int] = {}
        if first.startswith("run:"):  # the scores of systems are by input already
            numbered = (pair for pair in enumerate(self._sources) if pair[1] != NOTHING)
            sources = {str(row): source for row, source in numbered}
        compared = {
            aspect: comparing.mean_difference(scores, right[aspect], sources=sources)
            for aspect, scores in left.items()
            if aspect in right
        }
        rows = [
            {
                "aspect": self._names.aspects.values[aspect][1],
                "task": self._names.aspects.values[aspect][0],
                "texts": difference.texts,
                **{
                    name: _finite(getattr(difference, name))
                    for name in ("first", "second", "difference", "low", "high")
                },
            }
            for aspect, difference in compared.items()
        ]
        return {
            "first": first,
            "second": second,
            "rows": rows,
            "note": self._note(first, is_any=any(row["texts"] for row in rows)),
        }

    def _note(self, first: str, *, is_any: bool) -> str:
        is_of_runs = first.startswith("run:")
        if not is_any and not is_of_runs:
            return (
                "the two systems have no known inputs in common: systems are paired by equal "
                "inputs, so their texts must be available"
            )
        if not is_any:
            return "the two runs have no text with scores of both"
        over = "texts with scores of both" if is_of_runs else "inputs for which both have scores"
        return f"second minus first over the {over}; 95 % interval of a bootstrap over inputs"

    def _scores(self, named: str) -> _Scores:
        """Return the scores of a run by the row in the view, or of a system by input."""
        kind, _, name = named.partition(":")
        if kind == "run":
            if not name.isdecimal() or int(name) >= len(self._pairing.runs):
                raise ConfigError(f"there is no {named}: the runs are numbered from run:0")
            of_run: defaultdict[int, dict[str, float]] = defaultdict(dict)
            run, rows = self._pairing.runs[int(name)], self._pairing.rows[int(name)]
            for index, row in enumerate(rows):
                if row != NOTHING and (score := run.columns.score(row)) is not None:
                    of_run[run.columns.aspects[row]][str(index)] = score
            return of_run
        if name not in self._names.systems.values:
            systems = ", ".join(self._names.systems.values)
            raise ConfigError(f"there is no system {name!r}; known: {systems}")
        return self._of_system(self._names.systems.of(name))

    def _of_system(self, system: int) -> _Scores:
        """Return the scores of a system in the first run, averaged by input."""
        run, rows = self._pairing.runs[0], self._pairing.rows[0]
        scores: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for index, row in enumerate(rows):
            source = self._sources[index]
            if NOTHING in {row, source} or run.columns.systems[row] != system:
                continue
            if (score := run.columns.score(row)) is not None:
                scores[run.columns.aspects[row]][str(source)].append(score)
        return {
            aspect: {source: math.fsum(some) / len(some) for source, some in by_source.items()}
            for aspect, by_source in scores.items()
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
