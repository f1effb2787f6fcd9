"""Tables: a bench's findings as they are read."""

from collections.abc import Sequence
from types import MappingProxyType

from spanjury.orchestration.report import (
    Bullets,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.span_bench.cautions import cautions
from spanjury.orchestration.studies.span_bench.figures import FALSE_ALARMS
from spanjury.orchestration.studies.span_bench.findings import Findings
from spanjury.orchestration.studies.span_bench.set_page import (
    Figures,
    figure_cell,
    of,
    set_page,
)
from spanjury.orchestration.studies.span_bench.terminal_tables import (
    terminal_reading,
    terminal_tables,
)

_OVERVIEW: Figures = MappingProxyType(
    {
        "balanced accuracy": "decision.balanced_accuracy",
        "decided": "decision.decided",
        "vouched misses": "decision.vouched_misses",
        "false alarms": "faulty.false_alarms",
        "AUROC of score": "score.auroc",
        "AUROC of P(error)": "probability.auroc",
        "ECE": "probability.ece",
        "balanced ECE": "probability.balanced_ece",
        "F1": "characters.f1",
        "Spearman": "people.spearman",
    }
)


def bench_report(findings: Findings, *, examinee: Examinee, data: Sequence[str]) -> Report:
    """Return `findings` as a report; a terminal shows two tables a set, a page everything."""
    sentences = cautions(findings)
    return Report(
        title="Span bench",
        facts=[
            prose("texts of {}", code(", ".join(data))),
            *(prose("{}: {}", name, code(seat)) for name, seat in examinee.seats.items()),
        ],
        sections=[
            Section("Beware", [Bullets(sentences)], only="page"),
            Paragraph(_reading(findings.settings.confidence), only="page"),
            Section("Overview", [_overview(findings)], only="page"),
            *(set_page(one) for one in findings.sets),
            *(block for one in findings.sets for block in terminal_tables(one)),
            Paragraph(terminal_reading(), only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
        ],
    )


def _reading(confidence: float) -> Prose:
    return prose(
        "People marked the errors of these texts. **Balanced accuracy** is the mean of the shares "
        "of texts with and without errors that the decision gets right; the column *cut* says "
        "which decisions count as *has an error*: the better of *faulty* alone and whatever is "
        "*not ok*, on these texts. *Decided* is the share of the texts that are ok or faulty; "
        "*vouched misses* are the texts with errors that are ok, *false alarms* those without that "
        "are faulty, each as a share of its sort. "
        "**AUROC** says how often, of a text with an error and one without, the first has the "
        "worse score, or the greater P(error); 0.5 is chance. **ECE** is the mean distance of "
        "P(error) from the share of texts with errors, in ten bins of as many texts; in the "
        "*balanced ECE* texts with errors weigh as much in all as those without, so it can be "
        "compared between sets. **F1** is the harmonic mean of *precision*, the "
        "share of the marked characters that people mark too, and *recall*, the share of theirs "
        "that is marked, over all characters of a set together, so that long texts count more. "
        "What is *caught* at {} of false alarms is "
        "at the threshold of the score that suits these texts best: it is optimistic. Three "
        "baselines stand beside each judge: to mark **nothing**, **everything**, or every "
        "**new word**, a word of meaning whose stem the input lacks. A judge is worth its cost as "
        "far as it is better than these. Baselines are on the texts that the panel has answered, "
        "intervals, of {}, by a bootstrap of sources; *judged* says on how many texts of those "
        "that it is about a figure is.",
        f"{FALSE_ALARMS:.0%}",
        f"{confidence:.0%}",
    )


def _overview(findings: Findings) -> Table:
    """Return the table in which all judges stand on all sets."""
    shown = {
        heading: name
        for heading, name in _OVERVIEW.items()
        if any(finding.has(name) for one in findings.sets for finding in one.judges)
    }
    return table(
        ["set", "judge", *numeric("judged"), "cut", *numeric(*shown)],
        (
            row(
                one.name,
                finding.judge,
                of(finding.coverage.texts),
                finding.cut if one.is_decided else "",
                *(figure_cell(finding.figures[name]) for name in shown.values()),
                faint=finding.role == "baseline",
            )
            for one in findings.sets
            for finding in one.judges
            if finding.role != "baseline" or any(map(finding.has, shown.values()))
        ),
    )
