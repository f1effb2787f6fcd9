"""Runs of pytest with our plugin, in a folder and process of their own, and what they report."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

from fakes.processes import completed

PLUGIN = "spanjury.orchestration.frameworks.pytest_plugin"


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    plugins = ["--disable-plugin-autoload", "-p", "anyio", "-p", PLUGIN]
    return completed(
        [sys.executable, "-m", "pytest", "--strict-markers", *plugins, *options],
        code=None,
        cwd=folder,
    )


def cases(report: Path) -> dict[str, ET.Element]:
    return {case.attrib["name"]: case for case in ET.parse(report).iter("testcase")}


def outcomes(report: Path) -> dict[str, str]:
    bad = ("failure", "error", "skipped")
    return {
        name: next((kind for kind in bad if case.find(kind) is not None), "passed")
        for name, case in cases(report).items()
    }
