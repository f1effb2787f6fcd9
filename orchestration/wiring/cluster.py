"""A run on many machines: the cluster, the shards of the data, and their merged results."""

from spanjury.adapters.cluster import ray_engine
from spanjury.adapters.files.locations import find_location
from spanjury.adapters.files.reading.dataset_rows import CHUNK_ROWS, Chunk, cut_chunks, read_chunk
from spanjury.adapters.files.results.merging import ShardFolder, find_parts, merge_parts
from spanjury.adapters.files.results.unanswered_rows import without_losses

__all__ = [
    "CHUNK_ROWS",
    "Chunk",
    "ShardFolder",
    "cut_chunks",
    "find_location",
    "find_parts",
    "merge_parts",
    "ray_engine",
    "read_chunk",
    "without_losses",
]
