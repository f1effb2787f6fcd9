"""The repair of a text from an agent's program: any model of pydantic-ai may write."""

from collections.abc import Sequence
from pathlib import Path

from pydantic_ai.models import Model

from spanjury.judges.agent.outside_model import OutsideModel
from spanjury.judges.core import Aspect
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging import repair as service
from spanjury.orchestration.services.judging.check import Source
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.repair import Repair, WriterModel
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.wiring.config import PanelConfig


async def arepair(  # noqa: PLR0913  all but text and model have defaults
    text: str,
    *,
    model: WriterModel | Model,
    source: Source | None = None,
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    rounds: int = 3,
    limits: Limits = Limits(),
    aspects_files: Sequence[Path] = (),
) -> Repair:
    """Have a model correct a text inside its error spans, and keep the best version.

    It needs asyncio. `model` may be a model of pydantic-ai, as ``agent.model``; a text is a name
    of ours, as ``"ollama/gemma2:27b"``. `services.repair.arepair` explains the rest.
    """
    return await service.arepair(
        text,
        model=OutsideModel(model) if isinstance(model, Model) else model,
        source=source,
        task=task,
        aspects=aspects,
        panel=panel,
        judges=judges,
        models=models,
        rounds=rounds,
        limits=limits,
        aspects_files=aspects_files,
    )


repair = synchronous(
    arepair,
    name="repair",
    doc="""Repair a text, from code that is not asynchronous; `arepair` explains the parameters.""",
)
