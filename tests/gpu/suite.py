"""The tests with the marker `gpu`, each result as soon as it is known; without a GPU they are skipped."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

from tests.gpu.__main__ import ROOT
from tests.gpu.sheet import FAILURE, Setting, Sheet

_RESULT = re.compile(r"^(tests/\S+::.*?) (PASSED|FAILED|ERROR|SKIPPED)\b")


def run(sheet: Sheet, setting: Setting) -> None:
    """Counts, and a row for each test that fails."""
    files = sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if is_marked(path.read_text(encoding="utf-8"))
    )
    # Options of the project's configuration that need further packages, and warnings of other versions, stay out.
    options = ["-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-m", "gpu", *options, *files]
    counts: Counter[str] = Counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        for line in tests.stdout:
            print(line, end="", flush=True)
            if match := _RESULT.match(line):
                name, result = match.groups()
                counts[result.lower()] += 1
                sheet.put("all", dict(counts))
                if result in ("FAILED", "ERROR"):
                    sheet.put(name, {FAILURE: result.lower()})
    if not counts:
        raise RuntimeError(f"pytest ended with {tests.returncode} and gave no result")


def is_marked(text: str) -> bool:
    """Whether a file of tests has some that need a GPU."""
    return "mark.gpu" in text
