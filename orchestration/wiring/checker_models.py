"""Checkers by name: their folders on this machine, their options, and the panels made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from spanjury.judges.core import ConfigError, choices_for, reason_of
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.wiring.config import CHECKER, TUNED, PanelConfig, SeatConfig

with lazily():
    from spanjury.adapters.checkers import card, catalogue, local_models

FOLDER, MODEL = "folder", "model"
"""Options of the judge: a folder, or instead of it the name of a model."""
BEST = "best"
"""Name of the panel with the best installed checker; `TUNED` is that with the tuned model."""

_REVISION, _DOWNLOAD = "revision", "download"
_GUARDIAN = "guardian"
_HUB = "hf:"
_FORMATS = (
    "Formats: classifiers of tokens, and of pairs with 2 or 3 classes, as safetensors or ONNX;"
    " MiniCheck's T5, HHEM and AlignScore as safetensors."
)
_TORCH = ("torch", "transformers")
_TUNED_BASE = "qwen2.5-coder-1.5b-instruct"
_TUNED_REPOSITORY = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
_TUNED_FILE = f"{_TUNED_BASE}-q4_k_m.gguf"
"""The quantization that thresholds were measured with; others are used where it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledChecker:
    """An installed checker of the catalogue; `problem` says why it cannot be used, or is empty."""

    model: "catalogue.CheckerModel"
    local: "local_models.LocalModel"
    problem: str

    @property
    def published(self) -> str:
        """Its published figures in words; empty if there are none."""
        return catalogue.read_catalogue().published(self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPanel:
    """A panel with a name instead of a file, and the reason for its seats in words."""

    panel: PanelConfig
    reason: str


def is_folder(path: str) -> bool:
    """Return whether `path`, which may be any text, names a folder."""
    try:
        return bool(path) and Path(path).is_dir()
    except OSError:  # the text is too long for a path
        return False


def is_model(name: str) -> bool:
    """Return whether `name` is a model in the catalogue."""
    return name in catalogue.read_catalogue().models


def pinned(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a seat that names a model, with the commit that is installed.

    Raise `ConfigError` if the name matches no checker, or the model is not installed and must not
    be downloaded.
    """
    local = _Named.read(options).local()
    commit = {_REVISION: local.commit} if local is not None and local.commit else {}
    return {**options, **commit}


def with_folder(options: Mapping[str, object]) -> dict[str, object]:
    """Return a judge's options with a folder in place of the model, and with the model's options.

    The model is downloaded if it is not installed and `download` is true. Given options take
    precedence over those of the catalogue. Raise the `ConfigError` of `pinned`, and `ConfigError`
    if the model cannot be downloaded.
    """
    if MODEL not in options:
        return dict(options)
    named = _Named.read(options)
    local = named.local()
    if local is None:
        local = local_models.fetch_model(named.repository, revision=named.revision)
    own = {MODEL, _REVISION, _DOWNLOAD}
    given = {option: value for option, value in options.items() if option not in own}
    return {FOLDER: str(local.folder), **named.options, **given}


def installed_checkers() -> list[InstalledChecker]:
    """Return the installed checkers of the catalogue, best first.

    `Catalogue.rank` defines the order.
    """
    roots = (local_models.models_folder(), local_models.hub_cache())
    if not any(root is not None and root.is_dir() for root in roots):
        return []
    listed = catalogue.read_catalogue()
    installed = [
        InstalledChecker(model=model, local=local, problem=_problem(model, local))
        for model in listed.models.values()
        if not model.is_chat
        and (local := local_models.local_model(name=model.name, repository=model.repository))
    ]
    return sorted(installed, key=lambda checker: listed.rank(checker.model), reverse=True)


def best_panel() -> NamedPanel:
    """Return the default panel with the best installed checker added.

    If no checker can be used, return the default panel. Nothing is downloaded.
    """
    default = PanelConfig().seats_or_default
    names = ", ".join(str(seat.judge) for seat in default)
    installed = installed_checkers()
    best = _best(installed)
    if best is None:
        problems = "; ".join(f"{each.model.name}: {each.problem}" for each in installed)
        why = problems or f"searched {local_models.searched()}"
        return NamedPanel(
            panel=PanelConfig(seats=default),
            reason=f"the default panel ({names}), because no checker can be used here: {why}",
        )
    name = best.model.name
    seat = SeatConfig(judge=CHECKER, name=f"{CHECKER}:{name}", options=pinned({MODEL: name}))
    others = f", the best of {len(installed)} installed" if len(installed) > 1 else ""
    return NamedPanel(
        panel=PanelConfig(seats=(*default, seat)),
        reason=f"{names} and {name} ({best.published}, as published{others})",
    )


def tuned_panel() -> NamedPanel:
    """Return the default panel with the tuned model added.

    Raise `ConfigError` if the model's file is not on this machine. Nothing is downloaded.
    """
    local = local_models.local_model(name=_TUNED_BASE, repository=_TUNED_REPOSITORY)
    at_hand = sorted(local.folder.glob(f"{_TUNED_BASE}*.gguf")) if local else []
    if not at_hand:
        raise ConfigError(
            f"--panel {TUNED} needs {_TUNED_FILE} (searched {local_models.searched()}); fetch it:"
            f" hf download {_TUNED_REPOSITORY} {_TUNED_FILE}"
        )
    file = next((file for file in at_hand if file.name == _TUNED_FILE), at_hand[0])
    default = PanelConfig().seats_or_default
    seat = SeatConfig(
        judge=_GUARDIAN,
        name=f"{_GUARDIAN}:{TUNED}",
        model=f"{TUNED}/{file}",
        options={"form": TUNED},
    )
    names = ", ".join(str(seat.judge) for seat in default)
    return NamedPanel(
        panel=PanelConfig(seats=(*default, seat)),
        reason=f"{names} and {_GUARDIAN}:{TUNED} with {file}",
    )


def named_panel(name: str) -> NamedPanel | None:
    """Return the panel of that name, or None if there is no such panel."""
    if name == BEST:
        return best_panel()
    return tuned_panel() if name == TUNED else None


def notices(panel: PanelConfig) -> Iterator[str]:
    """Yield a notice about the checker that the default panel could use, if there is one.

    Yield another for each model that a server runs and whose licence forbids commercial use.
    """
    is_default = not (panel.seats or panel.models)
    if is_default and (best := _best(installed_checkers())) is not None:
        yield (
            f"{best.model.name} is installed ({best.published}, as published): --panel {BEST} adds "
            "it to the default panel"
        )
    used = (*panel.models, *(seat.model for seat in panel.seats), panel.consolidate_model)
    names = [model if isinstance(model, str) else model.name for model in used if model]
    if not names:
        return
    listed = catalogue.read_catalogue()
    models = {model.name: model for name in names if (model := listed.of_model_name(name))}
    for model in models.values():
        if model.is_non_commercial:
            yield f"{model.repository} is licensed under {model.licence}: no commercial use"


def describe_models(judge: str) -> Iterator[str]:
    """Yield lines on the catalogue's models for `judge`, and on how to name them."""
    listed = catalogue.read_catalogue()
    models = [model for model in listed.models.values() if model.judge.partition(":")[0] == judge]
    if judge == CHECKER:
        prefixed = (f"{name}:FOLDER" for name in listed.recipes)
        forms = ("NAME", "FOLDER", f"{_HUB}OWNER/NAME", *prefixed)
        yield f"Takes {', '.join(f'{CHECKER}:{form}' for form in forms)}."
        yield _FORMATS
    if models:
        here = {checker.model.name for checker in installed_checkers() if not checker.problem}
        marked = [_marked(model, is_here=model.name in here) for model in models]
        yield f"Models: {', '.join(marked)}."


def outlook(installed: Sequence[InstalledChecker]) -> str:
    """Describe what the default panel gains by a checker, whether installed or to be downloaded."""
    listed = catalogue.read_catalogue()
    parts = [best_panel().reason]
    if _best(installed) is None:
        models = [model for model in listed.models.values() if model.can_be_fetched]
        best = max(models, key=listed.rank)
        parts.append(
            f"{best.name} ({best.parameters} parameters, {best.licence}, {listed.published(best)}, "
            f"as published) is fetched by --judge {CHECKER}:{best.name}:{_DOWNLOAD}=true"
        )
    return "; ".join([*parts, f"to compare: {listed.comparison}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A model named by a seat: of the catalogue, of the hub, or in a folder.

    Parts that the name lacks are empty or None. `recipe` is the prefix of the name, `repository`
    the OWNER/NAME on the hub.
    """

    name: str
    recipe: str = ""
    model: "catalogue.CheckerModel | None" = None
    repository: str = ""
    folder: Path | None = None
    revision: str = ""
    is_to_be_fetched: bool = False

    @staticmethod
    def read(options: Mapping[str, object]) -> "_Named":
        """Parse the options of a seat; raise `ConfigError` if they name nothing available."""
        if FOLDER in options:
            raise ConfigError(f"name a {MODEL} or a {FOLDER} for the checker, not both")
        is_to_be_fetched = options.get(_DOWNLOAD, False)
        if not isinstance(is_to_be_fetched, bool):
            raise ConfigError(f"option {_DOWNLOAD!r} is true or false, got {is_to_be_fetched!r}")
        revision = options.get(_REVISION, "")
        if isinstance(revision, float):  # TOML reads a commit such as 1e5 as a float
            raise ConfigError(f'write the commit in quotes: {_REVISION}="…"')
        listed = catalogue.read_catalogue()
        name = str(options[MODEL])
        prefix, _, after = name.partition(":")
        recipe, rest = (prefix, after) if prefix in listed.recipes else ("", name)
        repository = rest.removeprefix(_HUB) if rest.startswith(_HUB) else ""
        model = listed.of_repository(repository) if repository else listed.models.get(rest)
        if model is not None:
            _check(model, options)
        is_folder = not repository and model is None
        return _Named(
            name=name,
            recipe=recipe,
            model=model,
            repository=repository or (model.repository if model else ""),
            folder=_folder(rest, name=name) if is_folder else None,
            revision=str(revision),
            is_to_be_fetched=is_to_be_fetched,
        )

    @property
    def options(self) -> dict[str, object]:
        """The options set by the recipe and the catalogue."""
        listed = catalogue.read_catalogue()
        recipe = listed.recipes[self.recipe].options if self.recipe else {}
        return {**recipe, **(listed.options_of(self.model) if self.model else {})}

    def local(self) -> "local_models.LocalModel | None":
        """Return the installed model; None if it must be downloaded.

        Raise `ConfigError` if it is not installed and must not be downloaded.
        """
        if self.folder is not None:
            if self.revision:
                raise ConfigError(f"{_REVISION} is for models of the hub, not for {self.folder}")
            return local_models.LocalModel(folder=self.folder)
        local = local_models.local_model(
            name=self.model.name if self.model else "",
            repository=self.repository,
            revision=self.revision,
        )
        can_be_fetched = self.is_to_be_fetched and self.repository != ""
        if local is None and not can_be_fetched:
            raise ConfigError(self._absence())
        # An interrupted download is resumed.
        is_part = local is not None and local.repository != "" and not local.has_weights
        return None if can_be_fetched and is_part else local

    def _absence(self) -> str:
        at = f" at revision {self.revision}" if self.revision else ""
        revision = f"{_REVISION}={self.revision}," if self.revision else ""
        remedy = f"fetch it with --judge {CHECKER}:{self.name}:{revision}{_DOWNLOAD}=true"
        if not self.repository:
            remedy = f"convert it into {local_models.MODELS}/{self.name}, as docs/checkers.md shows"
        if is_folder(self.name):
            remedy += f"; for the folder of this name, write ./{self.name}"
        searched = local_models.searched()
        return f"{self.name}{at} is not on this machine (searched {searched}); {remedy}"


def _folder(path: str, *, name: str) -> Path:
    if not path:
        raise ConfigError(f"{CHECKER}:{name} lacks a model: {CHECKER}:{name}:FOLDER, or a name")
    shelf = local_models.models_folder()
    candidates = [path] if shelf is None else [path, str(shelf / path)]
    folder = next(filter(is_folder, candidates), None)
    if folder is None:
        models = catalogue.read_catalogue().models.values()
        choices = choices_for(path, [model.name for model in models if not model.is_chat])
        raise ConfigError(
            f"checker {name!r} is neither a folder nor the name of a model: {choices}, or "
            f"{_HUB}OWNER/NAME for a model of the Hugging Face hub"
        )
    return Path(folder)


def _check(model: "catalogue.CheckerModel", options: Mapping[str, object]) -> None:
    if model.is_chat:
        raise ConfigError(
            f"{model.name} is a chat model, which a server runs: --judge {model.judge} --model NAME"
        )
    if lacking := [f"{option}=FILE" for option in model.needs if option not in options]:
        raise ConfigError(
            f"{model.name} also needs {', '.join(lacking)} with the words of its card"
        )


def _best(installed: Sequence[InstalledChecker]) -> InstalledChecker | None:
    """Return the best usable checker with a published figure; None if there is none."""
    usable = (each for each in installed if not each.problem and each.model.figures)
    return next(usable, None)


def _problem(model: "catalogue.CheckerModel", local: "local_models.LocalModel") -> str:
    """Return the reason why a checker cannot be used; empty if its files show none."""
    if model.needs:
        return f"needs {', '.join(model.needs)}=FILE"
    named = catalogue.read_catalogue().options_of(model).get("supported", "")
    try:
        graph = card.read_checker_card(
            local.folder, supported=named if isinstance(named, int | str) else ""
        ).graph
    except ConfigError as error:
        return reason_of(error)
    lacking = [library for library in _TORCH if find_spec(library) is None]
    return f"needs {lacking[0]}: pip install 'spanjury[neural]'" if lacking and not graph else ""


def _marked(model: "catalogue.CheckerModel", *, is_here: bool) -> str:
    marks = ["installed"] if is_here else []
    marks += [f"{model.licence}: no commercial use"] if model.is_non_commercial else []
    return f"{model.name} ({', '.join(marks)})" if marks else model.name
