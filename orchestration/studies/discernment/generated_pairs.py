"""Pairs whose damage a model writes on request, and a rule where no model can be asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

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

__all__ = ["generated_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """A damage that a model is asked for."""

    segment: Segment
    condition: Condition
    generated: GeneratedPerturbation
    k: int

    async def pair(self, model: ChatModel, *, seed: int, writer: str) -> PerturbedPair | Skipped:
        try:
            damage = await self.generated.damage(case_of(self.segment), model, k=self.k, seed=seed)
        except NothingToDamageError as error:
            return self.skipped(str(error), writer=writer)
        return pair_of(self.segment, self.condition, damage=damage, written_by=writer)

    def skipped(self, reason: str, *, writer: str) -> Skipped:
        return Skipped(
            segment_id=self.segment.segment_id,
            condition=self.condition.name,
            reason=reason,
            written_by=writer,
        )


async def generated_pairs(
    segments: Sequence[Segment],
    conditions: Sequence[Condition],
    *,
    seed: int,
    writer: TextGenerator,
    stop_token: StopToken,
) -> list[PerturbedPair | Skipped]:
    """Damage every segment under every condition, by a model where it can be asked.

    Parameters
    ----------
    segments, conditions
        As in `perturbed_pairs`, whose order is kept.
    seed
        Of the rules' random numbers; passed to servers that take one.
    writer
        The model. Texts for which it fails, or twice does something else, are skipped.
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
    by_rules = [condition for condition in conditions if condition.generated is None]
    # first: if a rule fails, no model has been paid
    ruled = iter(list(perturbed_pairs(segments, by_rules, seed=seed)))
    requests = [
        _Request(segment=segment, condition=condition, generated=generated, k=_k(condition))
        for condition in conditions
        if (generated := condition.generated) is not None
        for segment in segments
    ]
    pairs = iter(await _carried_out(requests, seed=seed, writer=writer, stop_token=stop_token))
    return [
        next(ruled if condition.generated is None else pairs)
        for condition in conditions
        for _ in segments
    ]


async def _carried_out(
    requests: Sequence[_Request], *, seed: int, writer: TextGenerator, stop_token: StopToken
) -> list[PerturbedPair | Skipped]:
    """Ask for all the damage, many at once; return the pairs in the order of the requests."""
    pairs: dict[int, PerturbedPair | Skipped] = {}
    async with open_generation(writer) as writing:

        async def work(number: int) -> None:
            request = requests[number]
            order = GenerationRequest(
                condition=request.condition.name,
                segment_id=request.segment.segment_id,
                unfit=f"the model, asked twice, did no {request.generated.kind}",
                ask=partial(request.pair, seed=seed, writer=writer.name),
            )
            written = await writing.generate(order)
            if isinstance(written, GenerationFailed):
                written = request.skipped(written.reason, writer=writer.name)
            pairs[number] = written

        await each(range(len(requests)), work, workers=writer.workers, stop_token=stop_token)
    return [pairs[number] for number in range(len(requests))]


def _k(condition: Condition) -> int:
    k = condition.options.get("k", 1)
    if not isinstance(k, int) or k < 1:
        raise PerturbationError(f"{condition.name}: a model is asked for k changes, not {k!r}")
    return k
