"""Models on this machine: in the folder of models, and in the Hugging Face cache.

The cache's layout is ``models--OWNER--NAME/snapshots/COMMIT``; its ``refs`` map branches and tags
to commits. Only `fetch_model` uses the network.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import ConfigError, reason_of
from spanjury.judges.core.lazy import lazily

with lazily():
    import huggingface_hub
    from huggingface_hub import errors as hub_errors

MODELS = "SPANJURY_MODELS"
"""Environment variable that names the folder of models."""

_REPOSITORY = re.compile(r"[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*")
_REVISION = re.compile(r"[\w-](?:/?[\w-]|\.(?!\.))*")
_MAIN = "main"
_SHORT = 12
"""Number of digits of a commit that are shown."""
_TEXTS = (".json", ".model", ".txt")
_PICKLES = (".bin", ".ckpt", ".pt", ".pth")
_SAFE = re.compile(r"model[\w.-]*\.safetensors")
_SHARD = re.compile(r"model-\d+-of-(?P<count>\d+)\.safetensors")
_GRAPH = re.compile(r"(?:onnx/)?model\.onnx(?:_data)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """The folder of a model on this machine.

    Parameters
    ----------
    repository, commit
        Source of the model, if the folder lies in the hub's cache; otherwise empty.
    """

    folder: Path
    repository: str = ""
    commit: str = ""

    @property
    def identity(self) -> str:
        """Its repository and commit, or else the folder's last name."""
        if self.repository:
            return f"{self.repository}@{self.commit[:_SHORT]}"
        return self.folder.resolve().name

    @property
    def has_weights(self) -> bool:
        """True if it has all its weights in a format that can be read."""
        names = [file.name for file in self.folder.glob("model*")]
        shards = [match for name in names if (match := _SHARD.fullmatch(name))]
        if shards:
            return len(shards) == int(shards[0]["count"])
        whole = any(name in {"model.safetensors", "model.onnx"} for name in names)
        return whole or (self.folder / "onnx" / "model.onnx").is_file()

    @property
    def size(self) -> int:
        """Total size of its files in bytes."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())


def models_folder() -> Path | None:
    """Return the folder of models that the environment names, or None."""
    named = os.environ.get(MODELS, "").strip()
    return Path(named).expanduser() if named else None


def hub_cache() -> Path:
    """Return the folder of the hub's cache, which may not exist, by the hub's own variables."""
    variables = os.environ
    named = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE")
    if named:
        return Path(os.path.expandvars(named)).expanduser()
    home = variables.get("HF_HOME")
    if not home:
        home = str(Path(variables.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    return Path(os.path.expandvars(home)).expanduser() / "hub"


def local_model(*, name: str = "", repository: str = "", revision: str = "") -> LocalModel | None:
    """Return a model that is on this machine, or None.

    The folder of models is searched first, for a folder called by the model's short name, by the
    name of its repository, or OWNER/NAME. If a revision is given, only folders in the layout of
    the hub's cache are searched.

    Raises `ConfigError` if the repository or the revision is malformed.

    Parameters
    ----------
    name
        Short name; may be empty.
    repository
        OWNER/NAME on the hub; may be empty.
    revision
        A commit, its first digits, a branch or a tag. Empty for ``main``, or the only commit.
    """
    if repository and not _REPOSITORY.fullmatch(repository):
        raise ConfigError(f"expected OWNER/NAME of the Hugging Face hub, got {repository!r}")
    if revision and not _REVISION.fullmatch(revision):
        raise ConfigError(f"expected a commit, branch or tag, got revision={revision!r}")
    shelf = models_folder()
    if shelf is not None and not revision:
        for called in filter(None, (name, repository, repository.rpartition("/")[2])):
            if (folder := shelf / called).is_dir():
                return LocalModel(folder=folder)
    roots = (hub_cache(),) if shelf is None else (shelf, hub_cache())
    snapshots = (_snapshot(root, repository, revision) for root in roots if repository)
    return next((model for model in snapshots if model is not None), None)


def searched() -> str:
    """Return a phrase that names the folders `local_model` searches."""
    shelf = models_folder()
    listed = f"{MODELS} (not set)" if shelf is None else str(shelf)
    if shelf is not None and not shelf.is_dir():
        listed = f"{MODELS}={shelf} (no folder)"
    return f"{listed} and {hub_cache()}"


def model_at(folder: Path) -> LocalModel:
    """Return the model in `folder`, with repository and commit if the path shows them."""
    path = folder.resolve()
    kind, *parts = path.parent.parent.name.split("--")
    if path.parent.name == "snapshots" and kind == "models" and len(parts) > 1:
        return LocalModel(folder=folder, repository="/".join(parts), commit=path.name)
    return LocalModel(folder=folder)


def fetch_model(repository: str, *, revision: str = "") -> LocalModel:
    """Fetch a model from the Hugging Face hub into its cache.

    It fetches the configuration, the tokenizer and the weights: safetensors, or otherwise ONNX. It
    never fetches pickles or programs.

    Raises `ConfigError` if the hub cannot be reached, has no such model, or has no weights in
    these formats.
    """
    endpoint = os.environ.get("HF_ENDPOINT") or None  # may be set after the import
    what = f"{repository} cannot be fetched"
    try:
        hub = huggingface_hub.HfApi(endpoint=endpoint)
        info = hub.model_info(repository, revision=revision or None)
        fetched = [
            hub.hf_hub_download(repository, name, revision=revision or None, cache_dir=hub_cache())
            for name in _wanted([file.rfilename for file in info.siblings or ()])
        ]
    except ConfigError as error:
        raise ConfigError(
            f"{what}: {error}; docs/checkers.md shows how to convert weights"
        ) from error
    except hub_errors.RevisionNotFoundError as error:
        raise ConfigError(f"{what}: it has no revision {revision!r}") from error
    except hub_errors.RepositoryNotFoundError as error:
        raise ConfigError(
            f"{what}: the hub has no such model, or shows it only to whoever sets HF_TOKEN"
        ) from error
    except Exception as error:  # the border to the hub's client and to the network
        raise ConfigError(f"{what}: {reason_of(error)}") from error
    model = model_at(Path(fetched[0]).parent)
    if not all(Path(file).is_relative_to(model.folder) for file in fetched):
        raise ConfigError(f"{what}: it was changed meanwhile; start again")
    return model


def _wanted(names: Collection[str]) -> list[str]:
    """Return the files to fetch, the weights last, so that a folder with weights is complete.

    Raises `ConfigError` if there are no weights among them that can be read without a pickle.
    """
    weights = [name for name in names if _SAFE.fullmatch(name)]
    weights = weights or [name for name in names if _GRAPH.fullmatch(name)]
    if not weights:
        pickles = [name for name in names if name.endswith(_PICKLES)]
        raise ConfigError(
            f"its weights are a pickle, {pickles[0]}, which is never fetched"
            if pickles
            else "it has no weights as safetensors or ONNX"
        )
    return [*(name for name in names if "/" not in name and name.endswith(_TEXTS)), *weights]


def _snapshot(root: Path, repository: str, revision: str) -> LocalModel | None:
    """Return a model in the layout of the hub's cache below `root`, or None."""
    home = root / f"models--{repository.replace('/', '--')}"
    snapshots = sorted(path.name for path in (home / "snapshots").glob("*") if path.is_dir())
    reference = home / "refs" / (revision or _MAIN)
    if reference.is_file():
        commits = [reference.read_text(encoding="utf-8").strip()]
    else:
        commits = [name for name in snapshots if name.startswith(revision)]
    if len(commits) != 1 or commits[0] not in snapshots:
        return None
    return LocalModel(
        folder=home / "snapshots" / commits[0], repository=repository, commit=commits[0]
    )
