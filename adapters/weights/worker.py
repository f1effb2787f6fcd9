"""BLEURT [1] and COMET [2], trained on human ratings, each in its own environment.

Their libraries cannot be installed together with ours. So a worker process runs a script of ours
in the interpreter that the user names. It first reports that it is ready, and then answers each
line of JSON with one line.

References
----------
.. [1] Sellam, Das and Parikh (2020), BLEURT: learning robust metrics for text generation, ACL,
   arXiv:2004.04696
.. [2] Rei et al. (2020), COMET: a neural framework for MT evaluation, EMNLP, arXiv:2009.09025
"""

import json
import math
import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import IO, NoReturn

from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ConfigError, MetricError, Sample, signature
from spanjury.judges.core.lazy import Once

_START_LIMIT = 60.0  # seconds for an interpreter to report its packages
_END_LIMIT = 5.0  # seconds for a process to end after it has stopped answering
_ROWS = 256  # samples per request, to which the time limit applies
_COMPLAINT_BYTES = 2000  # shown of a worker's error output, from its end
_PROBE = """\
import importlib.util, importlib.metadata, json, sys
sys.path[:] = [place for place in sys.path if place]
found = importlib.util.find_spec(sys.argv[1]) is not None
try:
    version = importlib.metadata.version(sys.argv[2])
except importlib.metadata.PackageNotFoundError:
    version = "unknown"
print(json.dumps({"found": found, "version": version}))
"""


def package_version(
    metric: str, python: str, *, module: str, distribution: str, install: str
) -> str:
    """Return the version of the package that a metric needs, in an interpreter, or ``"unknown"``.

    `module` is to be imported, and is part of the package `distribution`; `metric` and `install`,
    the argument of ``pip install``, are for messages.

    Raises `ConfigError`, with advice, if no interpreter is named, it does not run, or it lacks the
    module.
    """
    if not python:
        raise ConfigError(
            f"{metric} runs in an environment of its own: python -m venv {metric}-env &&"
            f" {metric}-env/bin/pip install {install}, then"
            f" --metric {metric}:python={metric}-env/bin/python,model=…"
        )
    try:
        answer = subprocess.run(  # noqa: S603 -- the user names the interpreter
            [python, "-c", _PROBE, module, distribution],
            capture_output=True,
            check=True,
            timeout=_START_LIMIT,
        )
        facts = json.loads(answer.stdout)
        is_installed, version = bool(facts["found"]), str(facts["version"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{metric}: {python!r} is not a Python interpreter: {error}") from error
    if not is_installed:
        raise ConfigError(
            f"{metric}: the environment of {python!r} lacks {module!r}:"
            f" {python} -m pip install {install}"
        )
    return version


class Worker:
    """A running worker; it ends when closed, garbage-collected, or when this program ends.

    `python` is the interpreter, and `script` the name of a file in ``workers/`` without its suffix;
    it gets `settings` at the start. If `offline`, Hugging Face's libraries in it use only their
    cache. `timeout` is the limit in seconds for the start, and for each answer.

    Raises `ConfigError`, with its error output, if it cannot start.
    """

    def __init__(
        self,
        python: str,
        *,
        script: str,
        settings: Mapping[str, object],
        offline: bool,
        timeout: float,
    ) -> None:
        self._script, self._timeout = script, timeout
        self._lock = threading.Lock()
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with it
        code = files("spanjury.adapters.weights.workers").joinpath(f"{script}.txt")
        quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(  # noqa: S603 -- the user names the interpreter
            [python, "-c", code.read_text(encoding="utf-8"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env=os.environ | quiet | ({"HF_HUB_OFFLINE": "1"} if offline else {}),
        )
        self.close = weakref.finalize(self, _end, self._process, self._complaints)
        try:
            self._read()
        except MetricError as error:
            self.close()
            raise ConfigError(
                f"{error}; check that its model is installed, or allow its download"
            ) from error

    def scores(self, rows: Sequence[Mapping[str, str]]) -> list[float]:
        """Return one score per row.

        Raises `MetricError` if the worker fails, takes too long, or does not return a number for
        each row. It is not restarted.
        """
        numbers: list[float] = []
        for start in range(0, len(rows), _ROWS):
            batch = rows[start : start + _ROWS]
            with self._lock:
                self._write({"rows": [_clean(row) for row in batch]})
                answer = self._read().get("scores")
            scores = answer if isinstance(answer, list) else []
            if len(scores) != len(batch) or not all(map(_is_score, scores)):
                raise MetricError(f"{self._script}: no {len(batch)} scores, but {answer!r:.100}")
            numbers += map(float, scores)
        return numbers

    def _write(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise MetricError(f"{self._script}: its worker has ended: {self._ending()}") from error

    def _read(self) -> dict[str, object]:
        """Return the next answer; kill the worker if it takes too long."""
        assert self._process.stdout is not None
        late = threading.Timer(self._timeout, self._process.kill)
        late.start()
        try:
            line = self._process.stdout.readline()
        finally:
            late.cancel()
        if not line:
            raise MetricError(
                f"{self._script}: its worker gave no answer, and had {self._timeout:g} s:"
                f" {self._ending()}"
            )
        answer: object = None
        with suppress(ValueError):
            answer = json.loads(line)
        if not isinstance(answer, dict):  # e.g. something that its Python prints at every start
            raise MetricError(f"{self._script}: its worker wrote {line!r:.100}")
        if "error" in answer:
            raise MetricError(f"{self._script}: {answer['error']}")
        return answer

    def _ending(self) -> str:
        """Return the exit status of the worker, and the end of its error output."""
        try:
            status = self._process.wait(timeout=_END_LIMIT)
        except subprocess.TimeoutExpired:  # it closed its output without ending
            self._process.kill()
            status = self._process.wait()
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - _COMPLAINT_BYTES))
        complaint = self._complaints.read().decode(errors="replace").strip()
        return f"exit status {status}; {complaint}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerMetric:
    """A metric computed by a worker, which is started when first needed.

    Raises `ConfigError` if no interpreter or no model is named, or the interpreter lacks the
    library, and at the first scoring if the model cannot be loaded; `ValueError` if an option is
    out of its range.

    Parameters
    ----------
    python
        The interpreter of the environment in which the library is installed.
    model
        The model for the library to load.
    batch_size
        Samples per batch.
    timeout
        Limit in seconds for the worker's start, and for each 256 samples.
    """

    python: str = ""
    model: str = ""
    batch_size: int = 8
    timeout: float = 900.0
    _version: str = field(init=False, repr=False, compare=False)
    _worker: Once[Worker] = field(init=False, repr=False, compare=False)

    def close(self) -> None:
        """End the worker, if there is one; without this call it ends with the program."""
        worker = self._worker.peek()
        if worker is not None:
            worker.close()

    def _starts(
        self,
        *,
        version: str,
        script: str,
        settings: Mapping[str, object],
        offline: bool = True,
    ) -> None:
        """Prepare the worker of the library's `version`; parameters are those of `Worker`."""
        start = partial(
            Worker,
            self.python,
            script=script,
            settings={**settings, "batch_size": self.batch_size},
            offline=offline,
            timeout=self.timeout,
        )
        object.__setattr__(self, "_version", version)  # the dataclass is frozen
        object.__setattr__(self, "_worker", Once(start))


def _end(process: subprocess.Popen[bytes], complaints: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, complaints):
        # Data buffered for a process that has ended cannot be flushed.
        with suppress(BrokenPipeError):
            assert stream is not None
            stream.close()


def _clean(row: Mapping[str, str]) -> dict[str, str]:
    return {key: without_lone_surrogates(text) for key, text in row.items()}


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class BLEURT(WorkerMetric):
    """The human rating, given output and reference, that BLEURT predicts.

    Parameters
    ----------
    model
        The folder of a checkpoint, such as ``BLEURT-20``; it is never downloaded. Other parameters
        are those of `WorkerMetric`.
    """

    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.batch_size < 1 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, timeout above 0;"
                f" got {self.batch_size!r}, {self.timeout!r}"
            )
        version = package_version(
            "bleurt",
            self.python,
            module="bleurt",
            distribution="BLEURT",
            install="git+https://github.com/google-research/bleurt.git",
        )
        if not Path(self.model or "?").is_dir():
            raise ConfigError(
                f"bleurt needs the folder of a checkpoint, got {self.model!r}: unpack"
                " https://storage.googleapis.com/bleurt-oss-21/BLEURT-20.zip, then"
                " --metric bleurt:python=…,model=BLEURT-20"
            )
        settings = {"model": str(Path(self.model).resolve())}
        self._starts(version=version, script="bleurt", settings=settings)

    @property
    def signature(self) -> str:
        """The model and the library."""
        model = Path(self.model).resolve().name
        return signature("bleurt", model=model, bleurt=self._version)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, on the scale of the model's ratings."""
        return self._worker.get().scores(
            [{"mt": sample.output, "ref": sample.references[0]} for sample in samples]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class COMET(WorkerMetric):
    """The human rating, given source, output and reference, that COMET predicts.

    Parameters
    ----------
    model
        A checkpoint's file or folder, or a hub id, such as ``Unbabel/wmt22-comet-da``.
    gpus
        Number of GPUs that the worker may use.
    download
        Whether the worker may download a model that is not on this machine. Other parameters are
        those of `WorkerMetric`.
    """

    gpus: int = 0
    download: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.gpus < 0 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, gpus from 0, timeout above 0;"
                f" got {self.batch_size!r}, {self.gpus!r}, {self.timeout!r}"
            )
        version = package_version(
            "comet",
            self.python,
            module="comet",
            distribution="unbabel-comet",
            install="unbabel-comet",
        )
        if not self.model:
            raise ConfigError(
                "comet needs a model: --metric comet:python=…,model=CHECKPOINT_OR_HUB_ID"
            )
        file = Path(self.model)
        settings = {
            "model": str(file.resolve()) if file.exists() else self.model,
            "gpus": self.gpus,
        }
        self._starts(version=version, script="comet", settings=settings, offline=not self.download)

    @property
    def signature(self) -> str:
        """The model and the library."""
        return signature("comet", model=self.model, comet=self._version)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, on the scale of the model's ratings."""
        return self._worker.get().scores(
            [
                {"src": sample.source, "mt": sample.output, "ref": sample.references[0]}
                for sample in samples
            ]
        )


def nubia() -> NoReturn:
    """Raise `ConfigError`, because NUBIA cannot be installed.

    Its authors' package [1]_ pins libraries of 2020, and downloads four models from servers of its
    own; the network that combines them to a score was trained on these models only.

    References
    ----------
    .. [1] Kane et al. (2020), NUBIA: neural based interchangeability assessor for text
       generation, EvalNLGEval, arXiv:2004.14667
    """
    raise ConfigError(
        "nubia is not available: its package is no longer kept and needs libraries of 2020;"
        " bertscore, comet and bleurt measure how far two texts mean the same"
    )
