"""The commands that make a small judge of large ones, or of damage alone."""

from pathlib import Path

import typer

from spanjury.orchestration.cli.calling import call
from spanjury.orchestration.cli.flags import (
    distilled,
    examined,
    gated,
    heard,
    judged,
    kept,
    shown,
    trained,
)

__all__ = ["distil"]

distil = typer.Typer(
    help="Make a small judge of large ones.", no_args_is_help=True, rich_markup_mode=None
)


@distil.command()
def build(  # noqa: PLR0913  a command's flags are its parameters
    *,
    data: distilled.TextFiles,
    from_damage: distilled.FromDamage = False,
    recipe: distilled.RecipeName = None,
    task: judged.TaskName = None,
    aspect: distilled.SampledAspects = None,
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
    systems_per_input: distilled.Systems = 4,
    aspects_per_output: distilled.AspectsPerOutput = 3,
    damages_per_text: distilled.DamagesPerText = 4,
    seed: distilled.BuildSeed = 1,
    validation: distilled.ValidationShare = 0.1,
    test: distilled.TestShare = 0.1,
    evaluation: distilled.Evaluation = None,
    licence: distilled.Licence = "",
    teacher_licence: distilled.TeacherLicences = None,
    require_licence: distilled.RequireLicence = False,
    accept_licence: distilled.AcceptedLicences = None,
    reading: distilled.ReadingName = "stretched",
    limit: distilled.RowsPerFile = None,
    output: distilled.SetOutput = Path("distilled"),
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Make training data: of what a panel says of DATA, or of damage to DATA.

    The panel is named with --panel, or with --judge and --model.
    """
    call("distilling:build_training_set", locals())


@distil.command()
def train(  # noqa: PLR0913  a command's flags are its parameters
    data: trained.Examples,
    *,
    base: trained.Base,
    output: trained.ModelOutput,
    rank: trained.Rank = 16,
    alpha: trained.Alpha = 32,
    dropout: trained.Dropout = 0.0,
    learning_rate: trained.LearningRate = 2e-4,
    weight_decay: trained.WeightDecay = 0.01,
    warmup: trained.Warmup = 0.05,
    max_gradient_norm: trained.MaxGradientNorm = 1.0,
    batch_size: trained.BatchSize = 16,
    micro_batch_size: trained.MicroBatchSize = 4,
    epochs: trained.Epochs = 1,
    max_steps: trained.MaxSteps = None,
    max_length: trained.MaxLength = None,
    seed: trained.TrainingSeed = 1,
    checkpoint_every: trained.CheckpointEvery = 50,
    validate_every: trained.ValidateEvery = None,
    device: trained.Device = "auto",
    attention: trained.Attention = "auto",
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Train a small model on what `build` has written; after Ctrl-C the same command goes on."""
    call("distil_training:train_distilled", locals())


@distil.command()
def gate(  # noqa: PLR0913  a command's flags are its parameters
    folder: gated.ModelFolder,
    *,
    data: gated.TrainingSets,
    option: gated.JudgeOptions = None,
    base: gated.BaseName = None,
    no_base: gated.NoBase = False,
    teacher: gated.TeacherPanel = None,
    judge: gated.TeacherJudges = None,
    model: gated.TeacherModels = None,
    model_base_url: heard.BaseUrls = None,
    discernment: gated.Discernment = None,
    recipe: examined.RecipeName = "dhp/summarization",
    faithfulness: gated.Faithfulness = None,
    robustness: gated.Robustness = None,
    human: gated.Human = None,
    task: judged.TaskName = None,
    aspect: judged.AspectNames = None,
    aspects_file: judged.AspectsFiles = None,
    column: judged.Columns = None,
    limit: gated.ExamplesPerSet = None,
    require: examined.Demands = None,
    require_over_base: gated.OverBase = None,
    seed: gated.GateSeed = 1,
    output: gated.GateOutput = Path("gate"),
    max_cost: kept.MaxCost = None,
    max_tokens_total: kept.MaxTokensTotal = None,
    max_seconds: kept.MaxSeconds = None,
    max_outage: kept.MaxOutage = None,
    no_preflight: kept.NoPreflight = False,
    no_progress: shown.NoProgress = False,
    log_file: shown.LogFile = None,
) -> None:
    """Examine what `train` has made beside its base and its teacher, on what it was not shown.

    Exits with 5 if a demand is not met. Without any, 95 % of its reports must be readable
    (reports.parsed>=.95), and spans.f1 better than the base's.
    """
    call("gating:examine_distilled", locals())
