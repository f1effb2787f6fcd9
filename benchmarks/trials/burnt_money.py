"""Calls beyond a budget or a limit, whoever makes them, also after kills and retries.

The real command judges real rows with a real server that counts its calls and their costs. Harm is
a call whose actual cost takes the total beyond the limit.
"""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from benchmarks.trials.lost_results import environment, serving, spanjury
from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

ROWS = 200
KILLS, CALLS_A_KILL = 20, 12
THOUGHT = 0.02
"""Seconds that the model takes, so that calls overlap."""
PROMPT, COMPLETION = 1e-5, 1e-4
"""Price of a token in dollars."""
WRITTEN = 80
BUDGET = 150
_NEVER = threading.Event()
_QUIET = ("--no-progress", "--show", "none")
_MODEL = (
    '[[models]]\nname = "openai-compatible/{name}"\nbase_url = "{url}"\nmax_connections = 16\n'
    "price = {{ prompt = {prompt}, completion = {completion} }}\n"
)
_CASCADE = """
[[seats]]
judge = "annotator"

[cascade]
stages = [["annotator:openai-compatible/first"]]
unsure = [0.0, 1.0]
"""


@dataclass(slots=True)
class Bill:
    """The calls that a server received, and how many of them exceeded a limit.

    Parameters
    ----------
    unit
        Unit of the limit: ``calls``, ``tokens`` or ``dollars``.
    is_readable
        Whether replies can be parsed; after an unparseable one, a judge asks again.
    """

    unit: str
    most: float
    is_readable: bool = True
    calls: int = 0
    taken: float = 0.0
    beyond: int = 0
    _news: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, body: str) -> str:
        """Record a call, and return the reply."""
        texts = [str(message["content"]) for message in json.loads(body)["messages"]]
        usage = {"prompt_tokens": sum(map(len, texts)) // 4, "completion_tokens": WRITTEN}
        prices = {
            "calls": 1.0,
            "tokens": sum(usage.values()),
            "dollars": usage["prompt_tokens"] * PROMPT + WRITTEN * COMPLETION,
        }
        with self._news:
            self.calls += 1
            self.taken += prices[self.unit]
            self.beyond += self.taken > self.most * (1 + 1e-9)
            self._news.notify_all()
        _NEVER.wait(THOUGHT)
        message = {"role": "assistant", "content": self._review(texts[-1])}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return json.dumps({"model": "judge", "choices": [choice], "usage": usage})

    def _review(self, text: str) -> str:
        if not self.is_readable:
            return "I like it."
        label = ("Poor", "Fair", "Good")[sha256(text.encode()).digest()[0] % 3]
        return (
            'Error 1:\nLocation: "ends"\nExplanation: It does not.\nSeverity: 3\n\n'
            f"Overall score: {label}\nExplanation of the score: One word is wrong."
        )

    def wait(self, calls: int, process: "subprocess.Popen[bytes]") -> None:
        """Wait for so many more calls, or until the process has ended."""
        end = self.calls + calls
        with self._news:
            while self.calls < end and process.poll() is None:
                self._news.wait(0.05)


def trials() -> list[Trial]:
    """Test the command with every kind of limit; a trial has as many tries as calls."""
    return [
        _tried("a budget of a panel whose agent consolidates", Bill("calls", BUDGET), _once),
        _tried(f"a budget after {KILLS} kills", Bill("calls", 2 * BUDGET), _killed),
        _tried(
            "a budget after four times resume --retry-failed",
            Bill("calls", BUDGET, is_readable=False),
            _retried,
        ),
        *(
            _tried(f"{flag}, 16 calls at once, each asked twice", bill, _limited(flag))
            for flag, bill in (
                ("--max-calls", Bill("calls", 50, is_readable=False)),
                ("--max-tokens-total", Bill("tokens", 30_000, is_readable=False)),
                ("--max-cost", Bill("dollars", 0.5, is_readable=False)),
            )
        ),
    ]


Run = Callable[[Path, str, Bill], list[int]]
"""Runs commands in a folder, with a server at an address; returns their exit codes."""


def _tried(name: str, bill: Bill, run: Run) -> Trial:
    with tempfile.TemporaryDirectory(prefix="burnt-") as path, serving(bill.answer) as url:
        folder = Path(path)
        rows = (
            {"id": str(number), "task": "summarization", "output": f"Text {number} ends here."}
            for number in range(ROWS)
        )
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        codes = run(folder, url, bill)
    taken = f"{bill.calls} calls" if bill.unit == "calls" else f"{bill.taken:.6g} {bill.unit}"
    ended = f"exit {', '.join(map(str, codes))}"
    return Trial(
        harm=Harm.BURNT,
        name=name,
        tries=bill.calls,
        harmed=bill.beyond,
        note=f"{taken} of {bill.most:g}, {ended}",
    )


def _judge(folder: Path, url: str, bill: Bill) -> tuple[str, ...]:
    """Write a panel of two models with the budget of `bill`; return the command."""
    prices = {"url": url, "prompt": PROMPT, "completion": COMPLETION}
    models = "".join(_MODEL.format(name=name, **prices) for name in ("first", "second"))
    budget = f'budget = "{bill.most:g}{bill.unit}"\n'
    (folder / "panel.toml").write_text(f'consolidate = "agent"\n{models}{_CASCADE}{budget}')
    return _evaluate()


def _evaluate(*flags: str) -> tuple[str, ...]:
    given = ("--aspect", "fluency", "--panel", "panel.toml", "--run-dir", "run")
    return ("evaluate", "rows.jsonl", *given, *_QUIET, *flags)


def _resume(*flags: str) -> tuple[str, ...]:
    return ("resume", "run", *_QUIET, *flags)


def _once(folder: Path, url: str, bill: Bill) -> list[int]:
    return [spanjury(folder, *_judge(folder, url, bill)).returncode]


def _killed(folder: Path, url: str, bill: Bill) -> list[int]:
    arguments = _judge(folder, url, bill)
    for _ in range(KILLS):
        command = [sys.executable, "-m", "spanjury", *arguments]
        process = subprocess.Popen(  # noqa: S603  our own command
            command,
            cwd=folder,
            env=environment(folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        bill.wait(CALLS_A_KILL, process)
        process.kill()
        process.wait()
        arguments = _resume()
    return [spanjury(folder, *arguments).returncode]


def _retried(folder: Path, url: str, bill: Bill) -> list[int]:
    commands = (_judge(folder, url, bill), *(_resume("--retry-failed"),) * 4)
    return [spanjury(folder, *command).returncode for command in commands]


def _limited(flag: str) -> Run:
    def run(folder: Path, url: str, bill: Bill) -> list[int]:
        prices = {"url": url, "prompt": PROMPT, "completion": COMPLETION}
        (folder / "panel.toml").write_text(_MODEL.format(name="judge", **prices))
        return [spanjury(folder, *_evaluate(flag, f"{bill.most:g}")).returncode]

    return run
