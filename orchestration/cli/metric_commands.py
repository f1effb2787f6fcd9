"""The commands about classic metrics."""

import typer

from spanjury.orchestration.cli.calling import call
from spanjury.orchestration.cli.flags import judged, measured, shown

__all__ = ["metrics"]

metrics = typer.Typer(
    help="Classic metrics, from BLEU to BERTScore.", no_args_is_help=True, rich_markup_mode=None
)


@metrics.command("list")
def list_metrics(
    *,
    reference_free: measured.ReferenceFree = False,
    dimension: measured.Dimension = None,
    category: measured.Category = None,
    task: measured.ForTask = None,
    available: measured.Available = False,
    json: measured.AsJson = False,
) -> None:
    """List the metrics, and what each lacks on this machine."""
    call("metric_cards:print_metrics", locals())


@metrics.command()
def card(
    *,
    name: measured.MetricName,
    json: measured.AsJson = False,
    markdown: measured.AsMarkdown = False,
) -> None:
    """Print the card of a metric: what it says, its formula, its bounds, its limits."""
    call("metric_cards:print_card", locals())


@metrics.command()
def score(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: measured.Texts,
    metric: measured.Metrics = None,
    reference: measured.References = None,
    source: measured.SourceTexts = None,
    column: judged.Columns = None,
    limit: judged.Limit = None,
    output: measured.ScoresOutput = None,
    by_system: measured.BySystem = False,
    workers: measured.Workers = None,
    json: measured.AsJson = False,
    no_progress: shown.NoProgress = False,
) -> None:
    """Measure the texts of DATA by metrics.

    Without --metric all metrics are run that the data and this machine suffice for.
    """
    call("measuring:score_texts", locals())


@metrics.command()
def show(
    *,
    data: measured.Texts,
    row: measured.RowId,
    metric: measured.ShownMetric,
    output: measured.HtmlPage,
    column: judged.Columns = None,
) -> None:
    """Write a page that shows what a metric sees in one row of DATA.

    Shared n-grams (bleu, sacrebleu, rouge-1, rouge-2), the longest common subsequence
    (rouge-l), a map of similar tokens (bertscore), or which tokens move where (wmd, moverscore).
    """
    call("showing:show_row", locals())
