"""Training from pairs and a base model to a folder with the trained model.

During training the folder contains a checkpoint. At the end it gets the whole model, readable by
transformers, vLLM and llama.cpp's converter, the adapter alone, and a card.

If targets begin with a verdict, a threshold on the probability of an error is chosen on the
validation examples. A small model tends to one verdict for every text, but its probability is
informative. The threshold chosen has the highest balanced accuracy: the mean of the share of
faulty texts that it catches and the share of correct texts that it does not flag.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import torch
from peft import PeftModel
from transformers import PreTrainedModel

from spanjury.adapters.causal.attention import best_attention
from spanjury.adapters.causal.base import Base, context_of, find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.low_rank import ADAPTER, attach, merged, save_adapter
from spanjury.adapters.model_files import finished_files
from spanjury.adapters.torch_models import find_device, quietly
from spanjury.adapters.training.card import table, write_card
from spanjury.adapters.training.checkpoint import RECORD, CheckpointFile, open_checkpoint
from spanjury.adapters.training.job import (
    Judging,
    Progress,
    Threshold,
    Trained,
    TrainingJob,
    TrainingOptions,
    VerdictWords,
    pairs_digest,
)
from spanjury.adapters.training.rendering import Rendered, RenderedPairs, render_all
from spanjury.adapters.training.trainer import Trainer, fixed_seed
from spanjury.judges.core import VERSION, ConfigError, markdown

_LAST = "config.json"  # written last: it makes the folder a model


def train(
    job: TrainingJob,
    *,
    tell: Callable[[Progress, int, str], None],
    stopped: Callable[[], bool],
) -> Trained:
    """Start or continue a training, and write the result into the job's folder.

    `tell` is called after each step with the progress, the total number of steps, and a message or
    an empty text. `stopped` is called before each step, and ends training if it returns True.

    Raises `ConfigError` if there are no examples; if the base cannot be loaded, has no chat
    template or does not fit into memory; or if the folder contains another training or a model.
    Raises `StoreError` if the folder cannot be written.
    """
    if not job.pairs:
        raise ConfigError("there is nothing to learn from: no training example")
    base, device = find_base(job.base), find_device(job.options.device)
    chat = ChatTokens(base.tokenizer(), name=job.base)
    checkpoints = _checkpoints(job, base)
    with fixed_seed(job.options.seed, device=device):
        model = base.load(device=device, attention=_attention(job.options, device))
        learnt, checked = _rendered(job, chat, model)
        options = job.options
        adapted = attach(model, rank=options.rank, alpha=options.alpha, dropout=options.dropout)
        trainer = Trainer(
            model=adapted,
            examples=learnt.examples,
            validation=checked.examples,
            padding=chat.padding,
            options=options,
            checkpoints=checkpoints,
            tell=lambda progress, line: tell(progress, trainer.plan.steps, line),
            stopped=stopped,
        )
        progress = trainer.run()
    outcome = Trained(
        finished=progress.step == trainer.plan.steps,
        progress=progress,
        steps=trainer.plan.steps,
        cut=learnt.cut + checked.cut,
        skipped=learnt.skipped + checked.skipped,
    )
    if outcome.finished:
        judging = _judging(job, adapted, checked, chat=chat)
        _write(job, adapted, outcome, base=base, chat=chat, device=device, judging=judging)
        checkpoints.remove()
    return outcome


def _checkpoints(job: TrainingJob, base: Base) -> CheckpointFile:
    """Return the checkpoint file; refuse a folder that contains a model."""
    belongs_to = {
        "base": base.identity,
        "data": pairs_digest(job.pairs),
        "validation data": pairs_digest(job.validation),
    }
    return open_checkpoint(
        job.folder, last=_LAST, belongs_to=belongs_to, options=asdict(job.options)
    )


def _attention(options: TrainingOptions, device: torch.device) -> str:
    """Return the name of the attention implementation, as transformers knows it."""
    if options.attention in {"eager", "sdpa"}:
        return options.attention
    best = best_attention(device)
    if options.attention not in {"auto", best}:
        raise ConfigError(
            f"attention {options.attention!r} needs a GPU and the package xformers with a"
            " kernel for it (pip install 'spanjury[gpu]'); 'auto' uses it where it can"
        )
    return best


def _rendered(
    job: TrainingJob, chat: ChatTokens, model: PreTrainedModel
) -> tuple[RenderedPairs, RenderedPairs]:
    """Render the training and the validation examples."""
    context = context_of(model)
    limit = min(context, job.options.max_length or context)
    learnt = render_all(job.pairs, chat, limit=limit)
    if not learnt.examples:
        raise ConfigError(
            f"no training example fits into {limit} tokens, however much of its sources is cut"
        )
    return learnt, render_all(job.validation, chat, limit=limit)


def _judging(
    job: TrainingJob, model: PeftModel, checked: RenderedPairs, *, chat: ChatTokens
) -> Judging:
    """Choose the threshold on the validation examples, if targets begin with a verdict."""
    if job.verdict is None:
        return Judging(layout=job.layout)
    labelled = [example for example in checked.examples if example.faulty is not None]
    likely = error_probabilities(model, labelled, chat=chat, words=job.verdict)
    return Judging(
        layout=job.layout,
        threshold=best_threshold(likely, [bool(example.faulty) for example in labelled]),
    )


def _write(
    job: TrainingJob,
    adapted: PeftModel,
    outcome: Trained,
    *,
    base: Base,
    chat: ChatTokens,
    device: torch.device,
    judging: Judging,
) -> None:
    """Write the model, its card, and the card's contents for programs."""
    options, progress = asdict(job.options), outcome.progress
    record = {
        "base": base.name,
        "base_identity": base.identity,
        "data": asdict(job.data),
        "options": options,
        "device": str(device),
        "examples": len(job.pairs),
        "validation": len(job.validation),
        "cut": outcome.cut,
        "left_out": outcome.skipped,
        "progress": asdict(progress),
        "judging": asdict(judging),
    }
    with finished_files(job.folder, last=_LAST) as aside:
        save_adapter(adapted, aside / ADAPTER, base=base)
        with quietly():
            merged(adapted).save_pretrained(aside)
        chat.save(str(aside))
        write_card(
            aside,
            front=_front(base, judging),
            data=job.data,
            rows=[
                ("training", len(job.pairs)),
                ("validation", len(job.validation)),
                ("with a source that was cut", outcome.cut),
                ("skipped as too long", outcome.skipped),
            ],
            device=f"{device}; {progress.micro_batch_size} examples in memory at once",
            options=options,
            progress=progress,
            end=_threshold_lines(judging),
        )
        (aside / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")


def _front(base: Base, judging: Judging) -> list[str]:
    """Return the card's beginning, with the options that a folder implies but a server does not."""
    judge = f"distilled:layout={judging.layout}"
    if judging.threshold is not None:
        judge += f",threshold={judging.threshold.value:.4g}"
    return [
        "---",
        "library_name: transformers",
        "pipeline_tag: text-generation",
        f"base_model: {json.dumps(base.name)}",  # YAML reads JSON's strings
        "tags: [spanjury, error-spans, evaluation]",
        "---",
        "",
        "# A judge that marks error spans",
        "",
        (
            f"Trained by spanjury {VERSION} from {markdown(base.identity)} with low-rank"
            " adapters, which are merged into the weights here; `adapter/` has them by"
            " themselves."
        ),
        "",
        "`--judge distilled:FOLDER` judges with it, and so does a server of this folder with",
        f"`--judge {judge}`.",
        "",
    ]


def _threshold_lines(judging: Judging) -> list[str]:
    """Return the table of the threshold and its validation results, if there is one."""
    chosen = judging.threshold
    if chosen is None:
        return []
    remark = (
        f"catches {chosen.caught:.0%} of faulty texts, flags {chosen.false_alarms:.0%} of others"
        f" ({chosen.examples} examples)"
    )
    heads = ("threshold on P(error)", "on validation")
    return ["", *table(heads, [(f"{chosen.value:.4g}", remark)])]


def error_probabilities(
    model: torch.nn.Module, examples: Sequence[Rendered], *, chat: ChatTokens, words: VerdictWords
) -> list[float]:
    """Return the probability of ``yes`` as opposed to ``no`` for each example, in order."""
    yes, no = (chat.answer(f"{words.prefix}{word}")[:-1] for word in (words.yes, words.no))
    offset = next(
        at for at, (left, right) in enumerate(zip(yes, no, strict=False)) if left != right
    )
    device = next(model.parameters()).device
    untyped: Any = model
    likely = []
    model.eval()
    with torch.inference_mode():
        for example in examples:
            ids = torch.tensor([example.ids[: example.answer + offset]], device=device)
            logits = untyped(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1]
            both = logits[[yes[offset], no[offset]]].float().softmax(dim=-1)
            likely.append(float(both[0]))
    return likely


def best_threshold(probabilities: Sequence[float], faulty: Sequence[bool]) -> Threshold | None:
    """Return the threshold that best separates the two kinds; None if one kind is missing.

    Of equally good thresholds, the one nearest to one half is chosen.

    Examples
    --------
    >>> best_threshold([0.1, 0.2, 0.3, 0.4], [False, False, True, True])
    Threshold(value=0.25, caught=1.0, false_alarms=0.0, examples=4)
    """
    bad, good = sum(faulty), len(faulty) - sum(faulty)
    if not bad or not good:
        return None
    edges = [0.0, *sorted({0.0, 1.0, *probabilities})]  # the first threshold, 0, flags everything
    thresholds = []
    for value in ((low + high) / 2 for low, high in pairwise(edges)):
        flagged = [probability >= value for probability in probabilities]
        caught = sum(flag and due for flag, due in zip(flagged, faulty, strict=True)) / bad
        alarms = sum(flag and not due for flag, due in zip(flagged, faulty, strict=True)) / good
        thresholds.append(
            Threshold(value=value, caught=caught, false_alarms=alarms, examples=len(faulty))
        )
    return max(
        thresholds,
        key=lambda threshold: (
            threshold.caught - threshold.false_alarms,
            -abs(threshold.value - 0.5),
        ),
    )
