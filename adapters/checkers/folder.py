"""A checker in a folder, in one of the formats that the module `card` recognises."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.adapters.checkers import inputs, onnx_model, torch_model
from spanjury.adapters.checkers.card import (
    CLAIM,
    HEADS,
    PASSAGE,
    CheckerCard,
    Form,
    Layout,
    read_checker_card,
)
from spanjury.adapters.model_files import batches
from spanjury.judges.core import (
    Calibration,
    Checker,
    ClaimPair,
    ClaimSupport,
    ClaimUnit,
    ConfigError,
    JudgeError,
    WordSupport,
    fingerprint,
    signature,
)
from spanjury.judges.core.lazy import Once, require

_MOST_PAIRS = 64  # in one batch
_SAMPLE = ClaimPair("It rains.", "It rains.")
_LEAST_SHARE = 0.5  # least probability of an encoder-decoder's two answers together


class _Loaded(NamedTuple):
    """A model with the encoder of its inputs."""

    tokens: "inputs.PairTokens"
    model: "onnx_model.OnnxModel | torch_model.TorchModel"


def open_folder(
    *,
    folder: str = "",
    form: Form | None = None,
    template: str = "",
    supported: int | str = "",
    answers: str = "",
    max_length: int = 0,
    batch_tokens: int = 8192,
    device: str = "cpu",
) -> "FolderChecker":
    """Return the checker in `folder`; its model is loaded at the first check.

    onnxruntime runs it if the folder holds ``model.onnx``, otherwise torch.

    Raises `ConfigError` if there is no such folder, it holds no checker that can be run safely, its
    classes are unclear, the form or the length does not fit, or torch is needed and not installed;
    `ValueError` if a number is out of range.

    Parameters
    ----------
    folder
        Holds ``config.json``, a tokenizer, and ``model.safetensors`` or ``model.onnx``.
    form
        How passage and claim are put together; None for the form the model was trained on.
    template
        A file whose text has ``{passage}`` and ``{claim}``, for the form ``"template"``.
    supported
        Name or index of the class that means *supported*, if ``config.json`` leaves it open.
    answers
        What an encoder-decoder writes for *not supported* and *supported*, separated by a slash;
        empty for ``"0/1"``. For AlignScore (Zha et al., 2023, section 3.1), the head that
        answers: ``"tri"`` for three classes, the default, ``"bin"`` for two, ``"reg"`` for a
        number.
    max_length
        Maximum number of tokens per input, special tokens included; 0 for the model's maximum, at
        most 4,096. Models that count positions relatively accept more than configured.
    batch_tokens
        Maximum number of tokens per batch; a longer pair forms a batch of its own.
    device
        A torch device; onnxruntime runs on the CPU. ``"auto"`` is a GPU if there is one, with
        bfloat16 if it supports that. Everywhere else the model runs in 32-bit floats.
    """
    if not folder:
        raise ConfigError("the judge checker needs a model: --judge checker:FOLDER")
    if not Path(folder).is_dir():
        raise ConfigError(f"{folder!r} is not a folder")
    if max_length < 0 or batch_tokens < 1:
        raise ValueError(
            "max_length must not be negative and batch_tokens must be positive, got "
            f"{max_length!r} and {batch_tokens!r}"
        )
    card = read_checker_card(Path(folder), supported=supported, answers=answers)
    layout = _layout(card, form=form, template=_template(template))
    if card.graph is None:
        require(torch_model)
    if max_length > card.longest and not card.is_relative:
        raise ConfigError(
            f"max_length={max_length}: {folder!r} has room for {card.longest} tokens at once"
        )
    card = replace(card, longest=max_length or card.longest)
    is_half = card.graph is None and device == "auto" and torch_model.has_half_precision()
    return FolderChecker(
        card=card,
        layout=layout,
        is_half=is_half,
        batch_tokens=batch_tokens,
        _loaded=Once(partial(_load, card, layout=layout, device=device, is_half=is_half)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderChecker(Checker):
    """Checks pairs with the model in a folder; one instance serves all threads.

    Apart from rounding, the answer for a pair does not depend on the other pairs.
    """

    card: CheckerCard
    layout: Layout
    is_half: bool
    batch_tokens: int
    _loaded: Once[_Loaded] = field(repr=False, compare=False)

    @property
    def signature(self) -> str:
        """The folder's identity and every option that can change an answer."""
        card, template = self.card, self.layout.template
        head = {"head": HEADS[card.head].layer}
        return signature(
            "onnx" if card.graph else "torch",
            model=card.identity,
            form=self.layout.form,
            supported=card.supported,
            max_length=card.longest,
            **({"template": fingerprint(template)} if template else {}),
            **({"answers": "/".join(card.labels)} if card.head == "writer" else {}),
            **(head if card.head in {"alignscore-bin", "alignscore-reg"} else {}),
            **({"floats": "bfloat16"} if self.is_half else {}),
        )

    @property
    def unit(self) -> ClaimUnit:
        """Return "text" for a classifier of tokens, which reads an answer as a whole."""
        return "text" if self.card.head == "token" else "sentence"

    @property
    def judging(self) -> dict[str, float]:
        """Return the judge's options fitted by calibration; empty if there are none."""
        fitted = self.card.calibration
        return {"threshold": fitted.threshold, "vouched": fitted.vouched} if fitted else {}

    def room(self) -> int:
        """Return the maximum number of tokens of passage and claim together; loads the model."""
        return self._ready().tokens.room

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; raise `JudgeError` as `check` does."""
        tokens = self._ready().tokens
        return [tokens.count(text) for text in texts]

    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        """Return one answer per pair, in order.

        Raises `JudgeError` if the model cannot be loaded or run.
        """
        tokens, model = self._ready()
        read = [tokens.encode(pair) for pair in pairs]
        answers: dict[int, ClaimSupport] = {}
        lengths = [len(row.ids) for row in read]
        for batch in batches(lengths, size=_MOST_PAIRS, tokens=self.batch_tokens):
            logits = self._logits(model, [read[index] for index in batch])
            for index, row in zip(batch, logits, strict=True):
                answers[index] = _calibrated(self._answer(read[index], row), self.card.calibration)
        return [answers[index] for index in range(len(pairs))]

    def _logits(
        self,
        model: "onnx_model.OnnxModel | torch_model.TorchModel",
        rows: "Sequence[inputs.Tokens]",
    ) -> NDArray[np.float32]:
        width = max(len(row.ids) for row in rows)
        ids = np.full((len(rows), width), self.card.padding, dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row.ids)] = row.ids
            mask[at, : len(row.ids)] = 1
            types[at, : len(row.ids)] = row.types
        try:
            logits = model.logits(ids, mask, types)
        except Exception as error:  # the border to torch and onnxruntime
            raise JudgeError(f"the checker in {self.card.folder} failed: {error}") from error
        if self.card.head == "hhem":
            logits = logits[:, 0]  # HHEM classifies at the first token
        if logits.shape[-1] != len(self.card.labels) or not np.isfinite(logits).all():
            raise JudgeError(
                f"the checker in {self.card.folder} gave logits of shape {logits.shape} for "
                f"{len(self.card.labels)} classes, or numbers that are not finite"
            )
        return logits

    def _answer(self, tokens: "inputs.Tokens", logits: NDArray[np.float32]) -> ClaimSupport:
        shares = _shares(logits)
        if self.card.head != "token":
            against = self.card.contradicted
            return ClaimSupport(
                supported=float(shares[self.card.supported]),
                contradicted=None if against is None else float(shares[against]),
            )
        supported = shares[:, self.card.supported]
        words = tuple(  # the support of a word is the lowest of its tokens
            WordSupport(start, end, float(supported[list(positions)].min()))
            for start, end, positions in tokens.words
        )
        return ClaimSupport(
            supported=min((word.supported for word in words), default=1.0), words=words
        )

    def _ready(self) -> _Loaded:
        try:
            return self._loaded.get()
        except ConfigError as error:
            raise JudgeError(f"the checker cannot be loaded: {error}") from error
        except Exception as error:  # the border to torch, onnxruntime and tokenizers
            raise JudgeError(
                f"the checker in {self.card.folder} cannot be loaded: {error}"
            ) from error


def _calibrated(answer: ClaimSupport, fitted: Calibration | None) -> ClaimSupport:
    """Return the answer with calibrated probabilities.

    The classes other than *supported* keep their ratios to each other.
    """
    if fitted is None:
        return answer
    supported = 1.0 - fitted.calibrated(1.0 - answer.supported)
    against = answer.contradicted
    if against is not None and answer.supported < 1.0:
        against = min(1.0, against * (1.0 - supported) / (1.0 - answer.supported))
    words = tuple(
        word._replace(supported=1.0 - fitted.calibrated(1.0 - word.supported))
        for word in answer.words
    )
    return ClaimSupport(supported=supported, contradicted=against, words=words)


def _load(card: CheckerCard, *, layout: Layout, device: str, is_half: bool) -> _Loaded:
    is_hugging_face = card.graph is None and card.head != "hhem"  # HHEM's needs code of its own
    words = torch_model.load_words(card) if is_hugging_face else inputs.read_tokenizer(card.folder)
    tokens = inputs.PairTokens(words, card=card, layout=layout)
    if card.graph is not None:
        return _Loaded(tokens=tokens, model=onnx_model.OnnxModel(card))
    answers = tokens.answers() if card.head == "writer" else ()
    model = torch_model.TorchModel(card, answers=answers, device=device, is_half=is_half)
    if card.head == "writer":
        _check_answers(card, tokens, model)
    return _Loaded(tokens=tokens, model=model)


def _check_answers(
    card: CheckerCard, tokens: "inputs.PairTokens", model: "torch_model.TorchModel"
) -> None:
    """Refuse an encoder-decoder that is not a checker; its configuration does not say."""
    ids = np.array([tokens.encode(_SAMPLE).ids], dtype=np.int64)
    share = model.share_of_answers(ids, np.ones_like(ids))
    if share < _LEAST_SHARE:
        raise ConfigError(
            f"{card.folder} does not answer with {' or '.join(card.labels)} (probability"
            f" {share:.2g} on a simple claim): it is not a checker, or answers=NO/YES must name its"
            " answers"
        )


def _layout(card: CheckerCard, *, form: Form | None, template: str) -> Layout:
    """Return the requested layout, or the usual one for models of this kind."""
    usual = HEADS[card.head].layout
    form = form or ("template" if template else usual.form)
    words = template or usual.template
    if bool(template) > (form == "template") or (form == "template") > bool(words):
        raise ConfigError("form=template and template=FILE go together")
    if card.head == "token" and form != "pair":
        raise ConfigError(
            f"{str(card.folder)!r} classifies tokens, and reads pairs only: leave out the form"
        )
    return replace(usual, form=form, template=words if form == "template" else "")


def _template(file: str) -> str:
    """Read and check a template; return an empty text if no file is named."""
    if not file:
        return ""
    try:
        template = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the template {file!r} cannot be read: {error}") from error
    if template.count(PASSAGE) != 1 or template.count(CLAIM) != 1:
        raise ConfigError(f"a template holds {PASSAGE} and {CLAIM} once each, got {template!r}")
    return template


def _shares(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the softmax over the last axis, clipped to 0..1 against rounding."""
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = np.clip(powers / powers.sum(axis=-1, keepdims=True), 0.0, 1.0)
    return shares
