"""What an exam leaves behind: findings for programs and for people, and pictures."""

import json
from pathlib import Path

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.config import PanelConfig, SeatConfig
from spanjury.orchestration.experiments.discernment.as_json import findings_json
from spanjury.orchestration.experiments.discernment.as_markdown import findings_markdown
from spanjury.orchestration.experiments.discernment.exam import Sitting
from spanjury.orchestration.interfaces.exam import ExamJob
from spanjury.orchestration.wiring.plots import load_discernment_plots

__all__ = ["write_report"]


def write_report(folder: Path, job: ExamJob, sitting: Sitting) -> list[Path]:
    """Write ``findings.json``, ``report.md`` and, with matplotlib, pictures into `folder`.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = _pictures(folder, sitting)
        told = json.dumps(findings_json(sitting.findings), ensure_ascii=False, indent=1)
        (folder / "findings.json").write_text(f"{told}\n", encoding="utf-8")
        page = findings_markdown(
            sitting.findings,
            judge=_judges(job.panel),
            data=str(job.data),
            recipe=job.recipe,
            pictures=[picture.name for picture in pictures],
        )
        (folder / "report.md").write_text(page, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    return [folder / "report.md", folder / "findings.json", *pictures]


def _judges(panel: PanelConfig) -> str:
    models = ", ".join(told if isinstance(told, str) else told.name for told in panel.models)
    judges = ", ".join(_name(seat) for seat in panel.heard)
    return f"{judges} ({models})" if models else judges


def _name(seat: SeatConfig) -> str:
    return seat.name or (seat.judge if isinstance(seat.judge, str) else type(seat.judge).__name__)


def _pictures(folder: Path, sitting: Sitting) -> list[Path]:
    """Draw what can be drawn; without matplotlib nothing."""
    try:
        plots = load_discernment_plots()
    except ConfigError:
        return []
    findings, evidence = sitting.findings.findings, sitting.evidence
    names = [finding.treatment for finding in findings]
    paths = [folder / f"{name}.png" for name in ("discernment", "specificity", "scores")]
    plots.draw_scores(
        paths[0],
        treatments=names,
        levels=[finding.level for finding in findings],
        discernment=[finding.discernment for finding in findings],
        weighted=[finding.weighted for finding in findings],
    )
    plots.draw_effects(
        paths[1],
        treatments=names,
        aspects=evidence.aspects,
        effects=[[cell.effects.net_drop for cell in finding.cells] for finding in findings],
        targeted=[[cell.expected == "falls" for cell in finding.cells] for finding in findings],
    )
    plots.draw_distributions(
        paths[2],
        treatments=names,
        aspects=evidence.aspects,
        clean=evidence.clean / evidence.repeats,
        damaged=evidence.damaged / evidence.repeats,
        highest=5,
    )
    return paths
