"""Frameworks that report to their makers do not: it is switched off before they are imported."""

import os
from pathlib import Path

import pytest

SILENCE = {
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
os.environ.update(SILENCE)


@pytest.fixture(autouse=True)
def _files_of_frameworks_in_a_folder_of_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
