"""What `spanjury perturb` does once its flags are read."""

from pathlib import Path

from spanjury.orchestration.interfaces.cli.exits import say
from spanjury.orchestration.interfaces.damage import DamageJob, damage_file

__all__ = ["perturb_file"]


def perturb_file(
    *, data: Path, recipe: str, seed: int | None, limit: int | None, output: Path
) -> None:
    """Damage the texts of `data`, and say what could not be damaged."""
    job = DamageJob(
        data=data, recipe=recipe, output=output, seed=1 if seed is None else seed, limit=limit
    )
    damaged, left_out = damage_file(job)
    for (treatment, reason), count in left_out.items():
        say(f"left out: {count} x {treatment}: {reason}")
    say(f"{damaged} damaged texts are in {output}")
