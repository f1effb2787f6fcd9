"""Perturbing texts by a recipe, for users who want the damaged texts themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Segment, stamped
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Terms
from spanjury.orchestration.services.exams.terms import memory_of, model_of
from spanjury.orchestration.services.judging.conditions import conditions_of
from spanjury.orchestration.services.judging.exam_texts import read_texts, texts_of
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.studies.discernment.exam import generated_pairs
from spanjury.orchestration.studies.discernment.score_arrays import BIAS, is_harmless
from spanjury.orchestration.studies.span_bench.gold import EFFECTS
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.results import check_output, write_segments
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.perturbation import EVERY_ASPECT
from spanjury.perturbations.recipe import find_recipe


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PerturbedTexts:
    """Damaged texts, whose gold error spans are the damage.

    Parameters
    ----------
    skipped
        ``(condition, reason)`` -> the number of texts to which it was not done.
    """

    segments: tuple[Segment, ...]
    skipped: Mapping[tuple[str, str], int]

    def save(self, path: Path | str) -> int:
        """Write the texts as JSONL and return how many there are.

        Raise `StoreError` if the file cannot be written.
        """
        return write_segments(Path(path), self.segments)

    def __repr__(self) -> str:
        skipped = sum(self.skipped.values())
        return f"<PerturbedTexts: {len(self.segments)} texts, {skipped} skipped>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturb:
    """Damage good texts by a recipe, and mark the damage as gold error spans.

    Parameters
    ----------
    data
        Good texts: a path, rows, segments or a data frame.
    recipe
        Its name, as ``dhp/summarization``, or a TOML file.
    writer
        A model that writes the damage that it can be asked for; without one, rules do it all.
    columns, limit
        As in `read_segments`, and the number of rows that are taken.
    memory, limits
        A file that keeps replies, and when the model is asked no more.

    Raises
    ------
    ConfigError
        If a name is unknown, or nothing in the recipe is for a model.
    DataError
        If the texts cannot be read.
    EvaluationError
        If a rule fails, or the model cannot be asked or answers nothing.
    """

    data: object = field(kw_only=False)
    recipe: str
    writer: str | ModelConfig | None = None
    columns: Sequence[str] = ()
    limit: int | None = None
    seed: int = 1
    memory: Path | str | None = None
    limits: Limits = Limits()

    async def answer(self) -> PerturbedTexts:
        """Damage the texts and return them."""
        skipped: Counter[tuple[str, str]] = Counter()
        segments = tuple(await self._damaged_texts(skipped))
        return PerturbedTexts(segments=segments, skipped=skipped)

    async def write(self, output: Path) -> tuple[int, Mapping[tuple[str, str], int]]:
        """Write each damaged text as a row; return how many, and how many were `skipped`.

        Raise as `answer` does, `ConfigError` if `output` is the file that is read, and `StoreError`
        if rows cannot be written.
        """
        check_output(output, self.data)
        skipped: Counter[tuple[str, str]] = Counter()
        damaged = await self._damaged_texts(skipped)
        return write_segments(output, damaged), skipped

    async def _damaged_texts(self, skipped: Counter[tuple[str, str]]) -> Iterator[Segment]:
        """Return what yields each damaged text and counts, as it does, those that are skipped."""
        texts = texts_of(self.data, columns=self.columns, limit=self.limit)
        segments = tuple(islice(read_texts(texts, columns=self.columns), self.limit))
        recipe, model = find_recipe(self.recipe), model_of(self.writer)
        conditions = conditions_of(recipe, has_generator=model is not None)
        by_name = {condition.name: condition for condition in conditions}
        pairs = await self._pairs(segments, conditions, model=model)

        def damaged() -> Iterator[Segment]:
            for pair in pairs:
                if isinstance(pair, Skipped):
                    skipped[pair.condition, pair.reason] += 1
                else:
                    yield _damaged(pair, by_name[pair.condition], seed=self.seed)

        return damaged()

    async def _pairs(
        self,
        segments: Sequence[Segment],
        conditions: Sequence[Condition],
        *,
        model: ModelConfig | None,
    ) -> Iterable[PerturbedPair | Skipped]:
        """Damage one by one as they are written to the file; by a model, all before that."""
        if model is None:
            return perturbed_pairs(segments, conditions, seed=self.seed)
        terms = Terms(
            memory=memory_of(self.memory),
            limits=self.limits,
            failures=FailurePolicy(preflight=False),  # no small call before the first text
        )
        with open_session(terms) as session:
            return await generated_pairs(
                segments,
                conditions,
                seed=self.seed,
                generator=session.generator(model),
                stop_token=session.stop_token,
            )


aperturb, perturb = from_python(Perturb, name="perturb")


def _damaged(pair: PerturbedPair, condition: Condition, *, seed: int) -> Segment:
    """Return the damaged segment with all that it takes to do it again.

    A text is none the worse for a harmless change, so no error is marked in it. The damage is not
    an error on every aspect, so the row says what each score should do. An attempt to sway the
    judge is no error on the aspects whose scores it should leave unchanged, but a judge that flags
    it need not be wrong: their effects are left out.
    """
    effects = condition.perturbation.effects
    if condition.perturbation.family == BIAS:
        effects = {name: effect for name, effect in effects.items() if effect != "unchanged"}
    harmless = is_harmless(condition.perturbation, aspects=(EVERY_ASPECT,))
    written: dict[str, object] = {}
    if pair.written_by and condition.generated is not None:
        written = {"written_by": pair.written_by, "written": stamped(condition.generated.signature)}
    return replace(
        pair.damaged,
        gold=() if harmless else pair.damaged.gold,
        meta={
            **pair.damaged.meta,
            "clean_id": pair.clean.segment_id,
            "treatment": condition.name,
            **written,
            "family": condition.perturbation.family,
            "level": condition.level,
            "options": dict(condition.options),
            "seed": seed,
            "edits": [edit._asdict() for edit in pair.damage.edits],
            **({"supported": True} if harmless else {EFFECTS: dict(effects)}),
        },
    )
