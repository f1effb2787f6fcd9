"""COMET: a model that was taught by people's ratings of translations [1].

Its library pins others that cannot live beside ours, so it runs in an environment of its own.

References
----------
.. [1] Rei et al. (2020), COMET: a neural framework for MT evaluation, EMNLP, arXiv:2009.09025
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from spanjury.adapters.lazy import Once
from spanjury.adapters.weights.worker import Environment, Worker, find_environment
from spanjury.judges.core import ConfigError, Sample, signature

__all__ = ["COMET"]


@dataclass(frozen=True, slots=True, kw_only=True)
class COMET:
    """The rating that COMET expects of people who see source, output and reference.

    Parameters
    ----------
    python
        The interpreter of the environment where ``unbabel-comet`` is installed.
    model
        A checkpoint's file or folder, or a hub id, as ``Unbabel/wmt22-comet-da``.
    batch_size
        Samples at once.
    gpus
        How many the worker may use.
    download
        Whether the worker may fetch a model that is not here.
    timeout
        Seconds that it may take to start, and for each 256 samples.

    Raises
    ------
    ConfigError
        If no interpreter or no model is named, or the interpreter lacks COMET; at the first
        scoring, if the model cannot be loaded.
    ValueError
        If an option is out of its range.
    """

    python: str = ""
    model: str = ""
    batch_size: int = 8
    gpus: int = 0
    download: bool = False
    timeout: float = 900.0
    _environment: Environment = field(init=False, repr=False, compare=False)
    _worker: Once[Worker] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.gpus < 0 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, gpus from 0, timeout above 0;"
                f" got {self.batch_size!r}, {self.gpus!r}, {self.timeout!r}"
            )
        found = find_environment(
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
            "batch_size": self.batch_size,
            "gpus": self.gpus,
        }
        start = partial(
            Worker,
            found,
            script="comet",
            settings=settings,
            offline=not self.download,
            timeout=self.timeout,
        )
        object.__setattr__(self, "_environment", found)
        object.__setattr__(self, "_worker", Once(start))

    @property
    def signature(self) -> str:
        """The model and the library."""
        return signature("comet", model=self.model, comet=self._environment.version)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score a sample, on the scale of the model's ratings."""
        return self._worker.get().scores(
            [
                {"src": sample.source, "mt": sample.output, "ref": sample.references[0]}
                for sample in samples
            ]
        )

    def close(self) -> None:
        """End the worker, if there is one; it also ends with the program."""
        worker = self._worker.peek()
        if worker is not None:
            worker.close()
