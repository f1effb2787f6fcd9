"""Pairs whose damage a model writes on request, and a rule where no model can be asked."""

from collections.abc import Sequence

from spanjury.judges.core import ChatModel, PerturbationError, Segment
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.generation import (
    GenerationFailed,
    GenerationRequest,
    TextGenerator,
    open_generation,
)
from spanjury.perturbations.generated import GeneratedPerturbation
from spanjury.perturbations.pairs import (
    Condition,
    PerturbedPair,
    Skipped,
    case_of,
    pair_of,
    perturbed_pairs,
)
from spanjury.perturbations.perturbation import NothingToDamageError


async def generated_pairs(
    segments: Sequence[Segment],
    conditions: Sequence[Condition],
    *,
    seed: int,
    generator: TextGenerator | None,
    stop_token: StopToken,
) -> list[PerturbedPair | Skipped]:
    """Damage every segment under every condition, by a model where it can be asked.

    Parameters
    ----------
    segments, conditions
        As in `perturbed_pairs`, whose order is kept.
    seed
        Of the rules' random numbers; passed to servers that take one.
    generator
        The model. Texts for which it fails, or twice does something else, are skipped. None to
        have all damage done by rules.
    stop_token
        Ends it early: the model is asked nothing more once it is requested.

    Raises
    ------
    PerturbationError
        If a rule fails, or `k` is not a number of changes.
    PermanentModelError
        If the model cannot be asked, as by a wrong key; names the text.
    ModelError
        If it answers nothing at all.
    RunStoppedError
        If the stop token came before the end.
    """
    if generator is None:
        return list(perturbed_pairs(segments, conditions, seed=seed))
    by_rules = [condition for condition in conditions if condition.generated is None]
    # first: if a rule fails, no model has been paid
    ruled = iter(list(perturbed_pairs(segments, by_rules, seed=seed)))
    requests = [
        _request(segment, condition, generated, seed=seed, model_name=generator.name)
        for condition in conditions
        if (generated := condition.generated) is not None
        for segment in segments
    ]
    pairs = iter(await _answers(requests, generator, stop_token=stop_token))
    return [
        next(ruled if condition.generated is None else pairs)
        for condition in conditions
        for _ in segments
    ]


def _request(
    segment: Segment,
    condition: Condition,
    generated: GeneratedPerturbation,
    *,
    seed: int,
    model_name: str,
) -> GenerationRequest[PerturbedPair | Skipped]:
    """Return the request for one damaged text."""
    k = _k(condition)

    async def ask(model: ChatModel) -> PerturbedPair | Skipped:
        try:
            damage = await generated.damage(case_of(segment), model, k=k, seed=seed)
        except NothingToDamageError as error:
            return Skipped(
                segment_id=segment.segment_id,
                condition=condition.name,
                reason=str(error),
                written_by=model_name,
            )
        return pair_of(segment, condition, damage=damage, written_by=model_name)

    return GenerationRequest(
        condition=condition.name,
        segment_id=segment.segment_id,
        unfit=f"the model, asked twice, did no {generated.kind}",
        ask=ask,
    )


async def _answers(
    requests: Sequence[GenerationRequest[PerturbedPair | Skipped]],
    generator: TextGenerator,
    *,
    stop_token: StopToken,
) -> list[PerturbedPair | Skipped]:
    """Ask for all the damage, many at once; return the pairs in the order of the requests."""
    pairs: dict[int, PerturbedPair | Skipped] = {}
    async with open_generation(generator) as generation:

        async def work(number: int) -> None:
            request = requests[number]
            pair = await generation.generate(request)
            if isinstance(pair, GenerationFailed):
                pair = Skipped(
                    segment_id=request.segment_id,
                    condition=request.condition,
                    reason=pair.reason,
                    written_by=generator.name,
                )
            pairs[number] = pair

        await each(range(len(requests)), work, workers=generator.workers, stop_token=stop_token)
    return [pairs[number] for number in range(len(requests))]


def _k(condition: Condition) -> int:
    k = condition.options.get("k", 1)
    if not isinstance(k, int) or k < 1:
        raise PerturbationError(f"{condition.name}: a model is asked for k changes, not {k!r}")
    return k
