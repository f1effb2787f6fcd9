"""The commands that put judges on trial."""

from pathlib import Path

import typer

from spanjury.orchestration.cli.calling import call
from spanjury.orchestration.cli.flags import (
    attacked,
    examined,
    faithful,
    heard,
    judged,
    kept,
    shown,
)

__all__ = ["exam"]

exam = typer.Typer(help="Put judges on trial.", no_args_is_help=True, rich_markup_mode=None)


@exam.command()
def discernment(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: examined.OptionalTexts = None,
    demo: examined.Demo = False,
    recipe: examined.RecipeName = "dhp/summarization",
    damage_model: examined.DamageModel = None,
    damage_model_base_url: examined.DamageModelBaseUrls = None,
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
    seed: heard.Seed = None,
    weights: examined.Weights = None,
    limit: judged.Limit = None,
    repeats: examined.Repeats = 1,
    mode: examined.ModeName = "calibrated",
    test: examined.TestName = "",
    output: examined.ExamOutput = Path("exam"),
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Damage good texts, judge them and the clean ones apart, and see whether the score falls.

    Without --judge and --model the offline judges are examined.
    """
    call("examining:examine_discernment", locals())


@exam.command()
def faithfulness(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: faithful.OptionalData = None,
    replay: faithful.Replay = None,
    perturbation: faithful.Perturbations = None,
    writer: faithful.WriterName = None,
    writer_base_url: faithful.WriterBaseUrls = None,
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
    seed: heard.Seed = None,
    limit: judged.Limit = None,
    output: faithful.FaithfulnessOutput = Path("faithfulness"),
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Change judges' error lists, and see whether their scores follow.

    Every seat of the panel is examined by itself.
    """
    call("examining_faithfulness:examine_faithfulness", locals())


@exam.command()
def robustness(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: attacked.OptionalTexts = None,
    demo: examined.Demo = False,
    attack: attacked.Attacks = None,
    recipe: attacked.FlawRecipe = "flaws",
    as_they_are: attacked.AsTheyAre = False,
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
    seed: heard.Seed = None,
    limit: judged.Limit = None,
    step: attacked.Step = 0.5,
    span_share: attacked.SpanShare = 0.5,
    require: examined.Demands = None,
    output: attacked.RobustnessOutput = Path("robustness"),
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Attack flawed texts, and count how often a judge scores them better or overlooks errors.

    An attack adds to a text, or to its source, what makes the text no better: a finished review,
    a quoted score, marks of chat templates, orders, appeals. Without --judge and --model the
    offline judges are examined.
    """
    call("examining_robustness:examine_robustness", locals())


@exam.command()
def compare(
    first: examined.FirstExam,
    second: examined.SecondExam,
    *,
    output: examined.ComparisonOutput = None,
    seed: examined.DrawsSeed = 1,
    draws: examined.Draws = 10_000,
) -> None:
    """Compare two judges by the effects that their exams have found on the same texts."""
    call("comparing:compare_exams", locals())


@exam.command()
def card(
    folders: examined.ExamFolders,
    *,
    require: examined.Demands = None,
    output: examined.CardOutput = None,
) -> None:
    """Join the exams of one judge into one page, and hold it against what is demanded."""
    call("carding:make_card", locals())
