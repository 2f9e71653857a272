"""The process that writes one report beside the server: below everybody else's priority, and gone with the server.

Reads nothing; prints one line of JSON: where the page lies and what went wrong with drawings, or why there is none.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError

POLITE = 10
_DIE_WITH_PARENT = 1


def main() -> None:
    """Arguments: the sweep's id, the data folder, the folder to write into, the parent's process id."""
    sweep_id, data, out, parent = sys.argv[1:]
    os.nice(POLITE)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != int(parent):
            os._exit(3)  # the parent died before it could be watched
    with contextlib.redirect_stdout(sys.stderr):
        told = drawn(sweep_id, Path(data), Path(out))
    print(json.dumps(told))  # noqa: T201  what the server reads


def drawn(sweep_id: str, data: Path, out: Path) -> dict[str, Any]:
    """Writes the report; where it lies, or why there is none."""
    from swingby_analysis.report import write_report

    try:
        report = write_report(sweep_id, data, out, kinds=())
    except SwingbyError as error:
        return {"error": str(error)}
    return {"page": str(report.page), "faults": list(report.faults)}


if __name__ == "__main__":
    main()
