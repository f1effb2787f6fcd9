"""Other libraries making the same calls: one scorer call per row, at the same server.

Run as ``python -m benchmarks.batch_peers --peer NAME=FOLDER [--rows N] [--rounds N]``. FOLDER is
the virtual environment in which the peer is installed; for promptfoo, the folder of its package.
Each peer runs by its own command if it has one, else by the script in `peers/`; its output is
discarded. All alternate with `spanjury evaluate --show none` and bare aiohttp. The cost per row is
the difference between a run of all rows and one of few.
"""

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.batch import BARE, QUIET, Run, Size, in_rounds, parser, size_of
from benchmarks.batch_process import Cost, RowCost, cost_of
from benchmarks.batch_runs import Course, bare, evaluate, expected_calls
from benchmarks.batch_server import served

HERE = Path(__file__).parent / "peers"
OURS = "spanjury evaluate"
SILENT: Mapping[str, str] = {
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_KEY": "none-needed",
    "PROMPTFOO_DISABLE_DEBUG_LOG": "1",  # its log files can make it fail at its end
    "PROMPTFOO_DISABLE_ERROR_LOG": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}
"""Environment variables that keep the peers from using the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A peer's package, and its command in the folder of its installation.

    `command` begins with a program relative to that folder; ``{connections}`` is replaced by the
    number of concurrent calls.
    """

    package: str
    command: Sequence[str]
    version: str = "lib/python3.*/site-packages/{package}-*.dist-info"


PEERS: Mapping[str, Peer] = {
    "inspect-eval": Peer(
        package="inspect_ai",
        command=[
            "bin/inspect", "eval", "with_inspect_ai.py", "--model", "mockllm/model",
            "--display", "none", "--log-dir", "logs", "--max-samples", "{connections}",
        ],
    ),
    "deepeval-test-run": Peer(
        package="deepeval",
        command=[
            "bin/deepeval", "test", "run", "test_with_deepeval.py", "--display", "failing",
        ],
    ),
    "deepeval": Peer(package="deepeval", command=["bin/python", "with_deepeval.py"]),
    "pydantic-evals": Peer(
        package="pydantic_evals", command=["bin/python", "with_pydantic_evals.py"]
    ),
    "autorubric": Peer(package="autorubric", command=["bin/python", "with_autorubric.py"]),
    "promptfoo-eval": Peer(
        package="promptfoo",
        command=[
            "node_modules/.bin/promptfoo", "eval", "-c", "promptfoo.json", "--no-cache",
            "--no-table", "--no-progress-bar", "-j", "{connections}",
        ],
        version="node_modules/{package}/package.json",
    ),
}  # fmt: skip


def peer(text: str) -> tuple[str, Path]:
    """Parse ``NAME=FOLDER``: a peer and its installation folder."""
    name, _, folder = text.partition("=")
    program = Path(folder).absolute() / PEERS[name].command[0] if name in PEERS else None
    if program is None or not program.exists():
        raise argparse.ArgumentTypeError(f"expected NAME=FOLDER, NAME of {', '.join(PEERS)}")
    return name, Path(folder).absolute()


def run_peer(course: Course, rows: int, *, named: Peer, folder: Path) -> Cost:
    """Let a peer make the calls for `rows` rows, in a temporary home folder with our scripts."""
    program, *rest = named.command
    with TemporaryDirectory(dir=course.folder) as empty:
        shutil.copytree(HERE, empty, dirs_exist_ok=True)
        order = Path(empty) / "order.json"
        order.write_text(
            json.dumps(
                {
                    "address": course.address,
                    "calls": str(course.calls(rows)),
                    "connections": course.connections,
                }
            )
        )
        (Path(empty) / "promptfoo.json").write_text(json.dumps(promptfoo(course, rows)))
        variables = {**SILENT, "HOME": empty, "PEER_ORDER": str(order), "PYTHONPATH": empty}
        command = [word.format(connections=course.connections) for word in rest]
        with expected_calls(course, rows):
            return cost_of([str(folder / program), *command], cwd=Path(empty), variables=variables)


def promptfoo(course: Course, rows: int) -> object:
    """Return promptfoo's configuration: the prompt is echoed, and graded by one call."""
    with course.calls(rows).open(encoding="utf-8") as calls:
        conversations = [json.loads(call)["messages"] for call in calls]
    grader = {"id": "openai:chat:stub", "config": {"apiBaseUrl": f"{course.address}/json/v1"}}
    rubric = {"type": "llm-rubric", "value": "The facts agree.", "provider": grader}
    return {
        "prompts": ["{{text}}"],
        "providers": ["echo"],
        "defaultTest": {"assert": [rubric]},
        "tests": [
            {"vars": {"text": "\n\n".join(message["content"] for message in said_all)}}
            for said_all in conversations
        ],
    }


def version(named: Peer, folder: Path) -> str:
    """Return the installed version of a peer."""
    match = next(folder.glob(named.version.format(package=named.package)), None)
    if match is None:
        return "unknown"
    if match.suffix == ".json":
        return str(json.loads(match.read_text())["version"])
    return match.name.removesuffix(".dist-info").rpartition("-")[2]


def print_peers(rounds: Mapping[str, Sequence[RowCost]], versions: Mapping[str, str]) -> None:
    """Print each peer's cost per row, and its ratio to ours."""
    ours = median(cost.cpu_ms for cost in rounds[OURS])
    print("| peer | version | CPU ms a row | times ours | calls a s | peak MB | start-up s |")
    print("|---|---|---|---|---|---|---|")
    for name, costs in rounds.items():
        cpu = median(cost.cpu_ms for cost in costs)
        print(
            f"| {name} | {versions.get(name, '')} | {cpu:.2f} | {cpu / ours:.1f}"
            f" | {median(cost.rate for cost in costs):,.0f}"
            f" | {median(cost.peak_mb for cost in costs):.0f}"
            f" | {median(cost.start_up for cost in costs):.1f} |"
        )


def main() -> None:
    """Run all and print the table."""
    flags = parser(rows=1_000, rounds=1, about="Measure other libraries making the same calls.")
    flags.add_argument("--peer", dest="peers", action="append", default=[], type=peer)
    options = flags.parse_args()
    size: Size = size_of(options)
    runs: dict[str, Run] = {BARE: bare, OURS: partial(evaluate, flags=QUIET)}
    for name, folder in options.peers:
        runs[name] = partial(run_peer, named=PEERS[name], folder=folder)
    with served(delay=size.delay) as address, TemporaryDirectory(dir=options.folder) as scratch:
        course = Course(address=address, folder=Path(scratch), connections=size.connections)
        rounds = in_rounds(runs, course, rows=size.rows, size=size)
    print(f"{size}; each line interleaved with the others.\n")
    print_peers(rounds, {name: version(PEERS[name], folder) for name, folder in options.peers})


if __name__ == "__main__":
    main()
