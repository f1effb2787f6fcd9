"""Train the tiny model, as a program of its own, until it waits to be killed: BASE FOLDER."""

import sys
from pathlib import Path

import torch
from fakes.tiny_chat import tiny_pairs

from spanjury.adapters.training.job import DataStatistics, Progress, TrainingJob, TrainingOptions
from spanjury.adapters.training.training import train

# Something is dropped at random, so that going on needs the generator's state as well.
OPTIONS = TrainingOptions(
    dropout=0.1, learning_rate=1e-3, batch_size=3, micro_batch_size=2, epochs=4, checkpoint_every=2
)


def job(base: str, folder: Path) -> TrainingJob:
    return TrainingJob(
        pairs=tiny_pairs(),
        validation=tiny_pairs()[:1],
        base=base,
        folder=folder,
        options=OPTIONS,
        data=DataStatistics(source="tiny", digest="0"),
    )


def _wait_at_the_fifth(progress: Progress, steps: int, line: str) -> None:
    if progress.step == 5:
        sys.stdout.write("waiting\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(job(sys.argv[1], Path(sys.argv[2])), tell=_wait_at_the_fifth, stopped=lambda: False)
