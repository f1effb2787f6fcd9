"""The turns of a trajectory as the page shows them, and where each part stands in the output."""

from spanjury.judges.core import Segment, Trajectory
from spanjury.judges.core.transcript import Transcript, header_of, transcript_of


def turns_of(segment: Segment) -> dict[str, object]:
    """Return the turns of a trajectory and the parts of its calls, for JSON; nothing for a text.

    A turn of the agent's has offsets in the output, any other the header of its input.
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
