"""The composition root: names become judges, models, panels, files. Nothing else joins them.

It alone reaches into the adapters; what needs no joining is handed on as it is.
"""

from spanjury.adapters.cluster.engine import load_ray
from spanjury.adapters.files.reading.chunks import CHUNK_ROWS, Chunk, cut_chunks, read_chunk
from spanjury.adapters.files.reading.segment_rows import write_segments
from spanjury.adapters.files.reading.source_order import by_source
from spanjury.adapters.files.results.exports import Export, ExportForm, ExportUnit
from spanjury.adapters.files.results.marked_results import MARKED_FORMS, marked_segments
from spanjury.adapters.files.results.merging import merge_parts
from spanjury.adapters.files.results.result_scores import ResultScores, read_result_scores
from spanjury.adapters.files.results.result_spans import ResultSpans, SeatWork, read_result_spans
from spanjury.adapters.files.results.results import result_row
from spanjury.adapters.files.results.shard_parts import find_parts
from spanjury.adapters.files.results.shards import ShardFolder
from spanjury.adapters.files.results.unanswered_rows import without_losses
from spanjury.adapters.runs.memory_file import MEMORY_NAME
from spanjury.adapters.runs.repair import Repaired, repair_memory
from spanjury.adapters.runs.run_folder import RunFolder
from spanjury.adapters.runs.runs_home import find_memory, find_run, new_run, runs_home
from spanjury.orchestration.wiring.files import (
    open_memory,
    open_results,
    open_source,
    set_data_limits,
)
from spanjury.orchestration.wiring.models import PROBE, Guard, guard_of, open_model
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.plugins import (
    AGGREGATIONS,
    ATTACKS,
    CONSOLIDATORS,
    EXPLANATION_PERTURBATIONS,
    GROUPS,
    JUDGES,
    METRIC_CARDS,
    METRICS,
    MODELS,
    PERTURBATIONS,
    SOURCES,
    STATISTICS,
)

__all__ = [
    "AGGREGATIONS",
    "ATTACKS",
    "CHUNK_ROWS",
    "CONSOLIDATORS",
    "EXPLANATION_PERTURBATIONS",
    "GROUPS",
    "JUDGES",
    "MARKED_FORMS",
    "MEMORY_NAME",
    "METRICS",
    "METRIC_CARDS",
    "MODELS",
    "PERTURBATIONS",
    "PROBE",
    "SOURCES",
    "STATISTICS",
    "Chunk",
    "Export",
    "ExportForm",
    "ExportUnit",
    "Guard",
    "Repaired",
    "ResultScores",
    "ResultSpans",
    "RunFolder",
    "SeatWork",
    "ShardFolder",
    "by_source",
    "cut_chunks",
    "find_memory",
    "find_parts",
    "find_run",
    "guard_of",
    "load_ray",
    "marked_segments",
    "merge_parts",
    "new_run",
    "open_configured_panel",
    "open_memory",
    "open_model",
    "open_results",
    "open_source",
    "read_chunk",
    "read_result_scores",
    "read_result_spans",
    "repair_memory",
    "result_row",
    "runs_home",
    "set_data_limits",
    "without_losses",
    "write_segments",
]
