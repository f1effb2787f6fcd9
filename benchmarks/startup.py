"""CPU seconds to import the package and to print the help, beside the bare interpreter.

Run as ``python benchmarks/startup.py [RUNS]``.
"""

import resource
import statistics
import subprocess
import sys

CASES = {
    "python": ["-c", ""],
    "import spanjury": ["-c", "import spanjury"],
    "spanjury --help": ["-m", "spanjury", "--help"],
}
LIMITS = {"import spanjury": 0.15, "spanjury --help": 0.6}


def cpu_seconds(arguments: list[str]) -> float:
    """Run the interpreter and return the CPU time of that process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(runs: int) -> None:
    """Print the median of `runs` runs after a first one that is not counted."""
    medians = {}
    for name, arguments in CASES.items():
        cpu_seconds(arguments)
        medians[name] = statistics.median(cpu_seconds(arguments) for _ in range(runs))
    print(f"{'process':<18}{'CPU s':>8}{'beyond python':>15}{'limit':>8}")
    for name, seconds in medians.items():
        beyond = seconds - medians["python"]
        print(f"{name:<18}{seconds:>8.3f}{beyond:>15.3f}{LIMITS.get(name, ''):>8}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
