"""Building a training set: from checked material to a folder."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from anyio import to_thread

from spanjury.judges.core import VERSION, DataError, Result, stamped
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.services.discernment import conditions_of
from spanjury.orchestration.services.distil_material import DistilJob, Material
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.distillation.damage_data import DamagePlan, damage_examples
from spanjury.orchestration.studies.distillation.damaged_text import Harm
from spanjury.orchestration.studies.distillation.examples import Example, example_line
from spanjury.orchestration.studies.distillation.panel_data import taught
from spanjury.orchestration.studies.distillation.tables import Inventory
from spanjury.orchestration.studies.distillation.training_set import FORMAT, split_file
from spanjury.orchestration.wiring.training_files import open_training_files
from spanjury.perturbations.recipe import Recipe
from spanjury.perturbations.recipe_files import find_recipe

__all__ = ["build_from_damage", "build_from_panel", "harms_of"]


def build_from_damage(job: DistilJob, material: Material) -> Inventory:
    """Damage texts and write the training set; return what it holds.

    Raises
    ------
    EvaluationError
        If the recipe is not found, a rule fails, there is nothing to learn from, or the
        folder cannot be written.
    """
    recipe = find_recipe(job.recipe)
    plan = DamagePlan(
        harms=harms_of(recipe),
        recipe=recipe.name,
        texts=job.damages_per_text,
        per_output=job.aspects_per_output,
        lesson=material.lesson,
    )
    examples = damage_examples(material.rows, material.aspects, plan)
    return _write(job, examples, Inventory(), made_by={"recipe": recipe.name})


def harms_of(recipe: Recipe) -> tuple[Harm, ...]:
    """Return what `recipe` does to a text; raise `ConfigError` if a name in it is unknown."""
    return tuple(
        Harm(
            name=item.name,
            rule=item.perturbation,
            perturbation=condition.perturbation,
            options=condition.options,
            severity=condition.severity,
        )
        for item, condition in zip(recipe.items, conditions_of(recipe), strict=True)
    )


async def build_from_panel(
    job: DistilJob,
    material: Material,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
) -> Inventory:
    """Hear the panel and write the training set; return what it holds.

    Parameters
    ----------
    stop_token, meter
        End it early, and count what models are asked.
    show
        Is told of every result.

    Raises
    ------
    RunStoppedError
        If it was ended early: nothing is written, and what was said is remembered.
    EvaluationError
        If the panel cannot be opened, there is nothing to learn from, or the folder cannot
        be written.
    """
    assert job.panel is not None
    panel, results, signature = job.panel, list[Result](), list[str]()

    def keep(result: Result) -> None:
        results.append(result)
        show(result)

    with open_session(job, stop_token=stop_token, meter=meter) as session:

        async def judge() -> None:
            async with session.open_panel(panel) as opened:
                signature.append(stamped(opened.signature))
                pairs = ((row.segment, aspect) for row, aspect in material.pairs)
                await evaluate(
                    opened, pairs, write=keep, workers=panel.workers, stop_token=stop_token
                )

        await session.run(judge)
    inventory = Inventory()
    examples = _taught(material, results, inventory)
    made_by = {"panel": signature[0], "teachers": dict(material.lesson.teachers)}
    return await to_thread.run_sync(lambda: _write(job, examples, inventory, made_by=made_by))


def _taught(
    material: Material, results: Sequence[Result], inventory: Inventory
) -> Iterator[Example]:
    for (row, aspect), result in zip(material.pairs, results, strict=True):
        inventory.outliers.add(aspect.task.name, result.report)
        come = taught(row, result, material.lesson)
        if come.example is not None:
            yield come.example
        else:
            inventory.left_out[come.left_out] += 1


def _write(
    job: DistilJob,
    examples: Iterable[Example],
    inventory: Inventory,
    *,
    made_by: Mapping[str, object],
) -> Inventory:
    with open_training_files(job.output) as files:
        for example in examples:
            files.append(split_file(example.split), example_line(example))
            inventory.add(example)
        if not inventory.examples:
            reasons = ", ".join(f"{count} x {why}" for why, count in inventory.left_out.items())
            raise DataError(f"there is nothing to learn from: {reasons or 'no example was made'}")
        files.close_with(
            {
                "format": FORMAT,
                "spanjury": VERSION,
                "made_by": made_by,
                "seed": job.seed,
                "reading": job.reading,
                **inventory.plain(),
            }
        )
    return inventory
