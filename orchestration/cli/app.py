"""The commands.

Only what reads flags is imported here; what a command does is loaded when it is called, so
that ``--help`` and a mistyped flag answer at once.
"""

import typer

from spanjury.orchestration.cli.calling import call
from spanjury.orchestration.cli.distil_commands import distil
from spanjury.orchestration.cli.exam_commands import exam
from spanjury.orchestration.cli.flags import agreeing, examined, heard, judged, kept, shown
from spanjury.orchestration.cli.metric_commands import metrics
from spanjury.orchestration.cli.run_commands import runs

__all__ = ["app", "main"]

app = typer.Typer(
    name="spanjury",
    help="A jury of judges marks the error spans of generated texts, says why, and scores them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text, at a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(distil, name="distil")
app.add_typer(exam, name="exam")
app.add_typer(metrics, name="metrics")
app.add_typer(runs, name="runs")


def main() -> None:
    """Run the command line; `exits` has its exit codes."""
    app()


@app.command()
def evaluate(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: judged.Data,
    task: judged.TaskName = None,
    aspect: judged.AspectNames = None,
    aspects_file: judged.AspectsFiles = None,
    column: judged.Columns = None,
    judge: heard.Judges = None,
    panel: heard.PanelFile = None,
    model: heard.Models = None,
    via: heard.Via = None,
    model_base_url: heard.BaseUrls = None,
    max_connections: heard.MaxConnections = None,
    min_connections: heard.MinConnections = None,
    requests_per_minute: heard.RequestsPerMinute = None,
    tokens_per_minute: heard.TokensPerMinute = None,
    timeout: heard.Timeout = None,
    attempts: heard.Attempts = None,
    aggregate: heard.Aggregate = None,
    consolidate: heard.Consolidate = None,
    score: heard.Score = None,
    limit: judged.Limit = None,
    shard: judged.ShardOf = None,
    order: judged.Order = "file",
    engine: kept.Engine = "local",
    ray_address: kept.RayAddress = None,
    ray_workers: kept.RayWorkers = None,
    output: kept.Output = None,
    run_dir: kept.RunDir = None,
    no_memory: kept.NoMemory = False,
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    dry_run: kept.DryRun = False,
    json: shown.AsJson = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
    seed: heard.Seed = None,
    skip_bad_rows: judged.SkipBadRows = False,
    min_coverage: shown.MinCoverage = 0.0,
) -> None:
    """Judge every row of DATA and write the results.

    Without --judge and --model the offline judges are heard: no model, no key, no network.
    """
    told = locals()
    if told.pop("dry_run"):
        call("dry_run:judge_sample", told)
    elif told["engine"] == "ray":
        call("clustering:judge_on_cluster", told)
    else:
        call("judging:judge_file", told)


@app.command()
def resume(  # noqa: PLR0913  a command's flags are its parameters
    *,
    run: kept.Run,
    retry_failed: kept.RetryFailed = False,
    aspect: judged.AspectNames = None,
    judge: heard.Judges = None,
    panel: heard.PanelFile = None,
    model: heard.Models = None,
    via: heard.Via = None,
    model_base_url: heard.BaseUrls = None,
    max_connections: heard.MaxConnections = None,
    min_connections: heard.MinConnections = None,
    requests_per_minute: heard.RequestsPerMinute = None,
    tokens_per_minute: heard.TokensPerMinute = None,
    timeout: heard.Timeout = None,
    attempts: heard.Attempts = None,
    aggregate: heard.OtherAggregate = None,
    consolidate: heard.OtherConsolidate = None,
    score: heard.OtherScore = None,
    seed: heard.Seed = None,
    output: kept.OtherOutput = None,
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    json: shown.AsJson = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
    min_coverage: shown.MinCoverage = 0.0,
) -> None:
    """Go on with a run that broke off, or change it.

    Nobody is asked what was answered, and all results are written. What the flags change,
    a judge, a model, an option, an aspect, is judged anew, and nothing else.
    """
    call("judging:resume_run", locals())


@app.command()
def rescore(  # noqa: PLR0913  a command's flags are its parameters
    *,
    run: kept.Run,
    aggregate: heard.OtherAggregate = None,
    consolidate: heard.OtherConsolidate = None,
    score: heard.OtherScore = None,
    output: kept.OtherOutput = None,
    json: shown.AsJson = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
    min_coverage: shown.MinCoverage = 0.0,
) -> None:
    """Make the results of a run anew, without a call to any model.

    What was replied is read, aggregated and consolidated again; what was never replied has
    no score.
    """
    call("judging:rescore_run", locals())


@app.command()
def export(
    *,
    run: kept.ExportedRun,
    output: kept.ExportOutput = None,
    form: kept.ExportForm = None,
    rows: kept.ExportRows = "assessments",
) -> None:
    """Write the results of a run as JSON Lines, CSV or TSV, whether it is done or not."""
    call("exporting:export_run", locals())


@app.command()
def merge(
    *,
    parts: kept.Parts,
    output: kept.MergeOutput = None,
) -> None:
    """Join the results of the shards of a run, in the order of the rows."""
    call("merging:merge_shards", locals())


@app.command()
def perturb(
    *,
    data: examined.Texts,
    recipe: examined.RecipeName,
    column: judged.Columns = None,
    output: examined.DamagedOutput,
    damage_model: examined.DamageModel = None,
    damage_model_base_url: examined.DamageModelBaseUrls = None,
    seed: heard.Seed = None,
    limit: judged.Limit = None,
) -> None:
    """Damage good texts by a recipe; the damage is marked as gold error spans."""
    call("damaging:perturb_file", locals())


@app.command()
def meta(  # noqa: PLR0913  a command's flags are its parameters
    *,
    results: agreeing.Results,
    human: agreeing.Human,
    aspect: agreeing.RatedAspects = None,
    column: judged.Columns = None,
    category: agreeing.Categories = None,
    level: agreeing.LevelName = "by-input",
    correlation: agreeing.CorrelationName = "spearman",
    draws: agreeing.Draws = 1000,
    seed: agreeing.DrawSeed = 1,
    output: agreeing.PageOutput = None,
    json: agreeing.AsJson = False,
    no_progress: shown.NoProgress = False,
) -> None:
    """Say how far judges and metrics agree with people.

    RESULTS are results of runs, folders of runs, and what `metrics score --output` wrote, of
    the rows that people rated.
    """
    call("meta_evaluating:compare_with_people", locals())


@app.command()
def compare(
    first: agreeing.FirstRun,
    second: agreeing.SecondRun,
    *,
    seed: agreeing.DrawSeed = 1,
    draws: agreeing.ComparisonDraws = 2000,
    json: agreeing.AsJson = False,
) -> None:
    """Compare the scores of two runs on the same texts, text by text."""
    call("comparing_runs:compare_runs", locals())


@app.command()
def judges() -> None:
    """List the judges and what they do."""
    call("listings:print_judges", locals())


@app.command()
def aspects(*, task: judged.TaskName = None, aspects_file: judged.AspectsFiles = None) -> None:
    """List the aspects with their definitions."""
    call("listings:print_aspects", locals())


@app.command()
def tasks(*, aspects_file: judged.AspectsFiles = None) -> None:
    """List the tasks and their default aspects."""
    call("listings:print_tasks", locals())


@app.command()
def plugins() -> None:
    """List the plugins and where they come from."""
    call("listings:print_plugins", locals())


@app.command()
def doctor(
    *,
    model: heard.AskedModels = None,
    model_base_url: heard.BaseUrls = None,
    offline: heard.Offline = False,
) -> None:
    """Say what is installed, loads and answers.

    Exits with 1 if a plugin does not load, a model does not answer, or, with --offline,
    the network was touched.
    """
    call("doctor:examine", locals())


@app.callback()
def _every_command(
    *,
    version: shown.Version = False,
    data_limit: judged.DataLimits = None,
) -> None:
    del version  # its callback has done the work
    if data_limit:
        call("limiting:limit_data", {"data_limit": data_limit})
