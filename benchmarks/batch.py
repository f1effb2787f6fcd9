"""The cost of the batch engine, from a file of rows to a file of results, and beside its peers.

Run as ``python -m benchmarks.batch [SECTION [N ...]]``: a table of each section, or of one
with N rows or calls. The model is a stub in another process, whose CPU is not counted. Each
figure comes from a process of its own, after a warm-up; of several rounds the best one
counts. Linux only.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.batch_peers import PEERS
from benchmarks.batch_sections import SECTIONS, Asked


def peer(text: str) -> tuple[str, Path]:
    """Read ``NAME=FOLDER``: a peer, and the virtual environment that it is installed in."""
    name, _, folder = text.partition("=")
    if name not in PEERS or not (Path(folder) / "bin" / "python").exists():
        choices = ", ".join(PEERS)
        raise argparse.ArgumentTypeError(f"expected NAME=VIRTUAL_ENVIRONMENT, NAME of {choices}")
    return name, Path(folder)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure the batch engine.")
    parser.add_argument("section", nargs="?", choices=SECTIONS, help="all, if none is named")
    parser.add_argument("counts", nargs="*", type=int, metavar="N", help="rows or calls")
    parser.add_argument(
        "--peer",
        dest="peers",
        action="append",
        default=[],
        type=peer,
        metavar="NAME=FOLDER",
        help="a peer, and the virtual environment that has it; may be repeated",
    )
    parser.add_argument("--folder", help="where rows, results and memories are put meanwhile")
    return parser.parse_args()


def main() -> None:
    """Print the tables that are asked for."""
    options = read_options()
    for name in [options.section] if options.section else SECTIONS:
        section = SECTIONS[name]
        print(f"-- {name}: {section.show.__doc__}", flush=True)
        with TemporaryDirectory(dir=options.folder) as folder:
            section.show(
                Asked(
                    counts=options.counts or section.counts,
                    folder=Path(folder),
                    peers=dict(options.peers),
                )
            )
        print(flush=True)


if __name__ == "__main__":
    main()
