"""The file of a fitted cascade, which panel files and `--cascade` name."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.studies.panel_study.cascade_findings import CascadeFindings


class FittedCascade(NamedTuple):
    """Findings on a cascade, with the panel and the aspect that its file is for.

    Seats of the panel that say nothing of the aspect are `silent`, and asked first.
    """

    findings: CascadeFindings
    panel: str
    seats: tuple[str, ...]
    aspect: str
    silent: tuple[str, ...] = ()


def write_fitted(path: Path, fitted: FittedCascade) -> None:
    """Write the cascade for a panel file to name; raise `StoreError` if that fails."""
    findings = fitted.findings
    lines = [
        f"# Fitted to {findings.chosen.share:.0%} of the {findings.unit} of all seats.",
        f'panel = "{fitted.panel}"',
        f"seats = {_listed(map(_quoted, fitted.seats))}",
        f"aspect = {_quoted(fitted.aspect)}",
        f"fitted_on = {_quoted(f'{findings.texts} texts, {findings.aspect}')}",
    ]
    first, *others = findings.stages
    asked = ((*fitted.silent, *first), *others)
    for stage, fit in zip(asked, findings.fitted, strict=False):
        lines += ["", "[[stages]]", f"seats = {_listed(map(_quoted, stage))}"]
        lines.append(f"unsure = {_listed(map(repr, fit.unsure))}")
        lines.append(f"estimates = {_listed(map(repr, fit.estimates))}")
        lines.append(f"scores = {_listed(map(repr, fit.scores))}")
    lines += ["", "[[stages]]", f"seats = {_listed(map(_quoted, findings.stages[-1]))}"]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
