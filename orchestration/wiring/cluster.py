"""A run on many machines: the cluster, the shards of the data, and their merged results."""

from spanjury.adapters.cluster import ray_engine
from spanjury.adapters.files.places import find_place
from spanjury.adapters.files.reading.dataset_rows import CHUNK_ROWS, Chunk, cut_chunks, read_chunk
from spanjury.adapters.files.results.merging import ShardFolder, find_parts, merge_parts
from spanjury.adapters.files.results.unanswered_rows import without_losses
from spanjury.judges.core.lazy import require

__all__ = [
    "CHUNK_ROWS",
    "Chunk",
    "ShardFolder",
    "cut_chunks",
    "find_parts",
    "find_place",
    "merge_parts",
    "ray_engine",
    "read_chunk",
    "require",
    "without_losses",
]
