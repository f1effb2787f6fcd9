"""BLEURT: a model that was taught by people's ratings of how much two texts mean the same [1].

Its library runs on TensorFlow, so it runs in an environment of its own.

References
----------
.. [1] Sellam, Das and Parikh (2020), BLEURT: learning robust metrics for text generation, ACL,
   arXiv:2004.04696
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from spanjury.adapters.lazy import Once
from spanjury.adapters.weights.worker import Environment, Worker, find_environment
from spanjury.judges.core import ConfigError, Sample, signature

__all__ = ["BLEURT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BLEURT:
    """The rating that BLEURT expects of people who see output and reference.

    Parameters
    ----------
    python
        The interpreter of the environment where BLEURT is installed.
    model
        The folder of a checkpoint, as ``BLEURT-20``; it is never fetched.
    batch_size
        Samples at once.
    timeout
        Seconds that it may take to start, and for each 256 samples.

    Raises
    ------
    ConfigError
        If no interpreter or no model is named, or the interpreter lacks BLEURT; at the first
        scoring, if the model cannot be loaded.
    ValueError
        If an option is out of its range.
    """

    python: str = ""
    model: str = ""
    batch_size: int = 16
    timeout: float = 900.0
    _environment: Environment = field(init=False, repr=False, compare=False)
    _worker: Once[Worker] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.batch_size < 1 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, timeout above 0;"
                f" got {self.batch_size!r}, {self.timeout!r}"
            )
        found = find_environment(
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
        start = partial(
            Worker,
            found,
            script="bleurt",
            settings={"model": str(Path(self.model).resolve()), "batch_size": self.batch_size},
            offline=True,
            timeout=self.timeout,
        )
        object.__setattr__(self, "_environment", found)
        object.__setattr__(self, "_worker", Once(start))

    @property
    def signature(self) -> str:
        """The model and the library."""
        model = Path(self.model).resolve().name
        return signature("bleurt", model=model, bleurt=self._environment.version)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score a sample, on the scale of the model's ratings."""
        return self._worker.get().scores(
            [{"mt": sample.output, "ref": sample.references[0]} for sample in samples]
        )

    def close(self) -> None:
        """End the worker, if there is one; it also ends with the program."""
        worker = self._worker.peek()
        if worker is not None:
            worker.close()
