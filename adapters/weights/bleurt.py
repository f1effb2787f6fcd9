"""BLEURT: a model that was trained on people's ratings of how much two texts mean the same [1].

Its library runs on TensorFlow, so it runs in an environment of its own.

References
----------
.. [1] Sellam, Das and Parikh (2020), BLEURT: learning robust metrics for text generation, ACL,
   arXiv:2004.04696
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spanjury.adapters.weights.worker import WorkerMetric, find_environment
from spanjury.judges.core import ConfigError, Sample, signature


@dataclass(frozen=True, slots=True, kw_only=True)
class BLEURT(WorkerMetric):
    """The rating that BLEURT expects of people who see output and reference.

    Parameters
    ----------
    model
        The folder of a checkpoint, as ``BLEURT-20``; it is never fetched. Other parameters are
        those of `WorkerMetric`.
    """

    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.batch_size < 1 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, timeout above 0;"
                f" got {self.batch_size!r}, {self.timeout!r}"
            )
        environment = find_environment(
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
        self._starts(environment, script="bleurt", settings=settings)

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
