"""What `spanjury perturb` does once its flags are read."""

from pathlib import Path

import anyio

from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told_writer import told_writer
from spanjury.orchestration.services.perturb import DamageJob, damage_file

__all__ = ["perturb_file"]


def perturb_file(
    *,
    data: Path,
    recipe: str,
    column: list[str] | None,
    damage_model: str | None,
    damage_model_base_url: list[str] | None,
    seed: int | None,
    limit: int | None,
    output: Path,
) -> None:
    """Damage the texts of `data`, and say what could not be damaged."""
    log_to(None)
    model = told_writer(damage_model, damage_model_base_url)
    job = DamageJob(
        data=data,
        recipe=recipe,
        columns=tuple(column or ()),
        output=output,
        seed=1 if seed is None else seed,
        limit=limit,
        model=model,
        memory=output.with_name(f"{output.name}.memory.sqlite3") if model else None,
    )
    damaged, skipped = anyio.run(damage_file, job)
    for (condition, reason), count in skipped.items():
        say(f"left out: {count} x {condition}: {reason}")
    say(f"{damaged} damaged texts are in {output}")
