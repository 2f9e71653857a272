"""The process that writes one report for the server: at low priority, and killed when the server dies.

Prints one line of JSON: the path of the page and what went wrong with drawings, or why there is no page.
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

SQL = "/sql"
"""Where the server answers SQL: at this path with the ending of a format."""
NICENESS = 10
"""By how much a drawing process yields to the server, which answers while it draws."""
# PR_SET_PDEATHSIG of prctl(2).
_DIE_WITH_PARENT = 1


def main() -> None:
    """Writes the report. Arguments: the sweep's id, the data folder, the folder to write into, the server's pid."""
    sweep_id, data, out, parent = sys.argv[1:]
    os.nice(NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != int(parent):
            os._exit(3)  # the parent died before it could be watched
    with contextlib.redirect_stdout(sys.stderr):
        from swingby_analysis.report import write_report

        try:
            report = write_report(sweep_id, Path(data), Path(out), kinds=(), served=SQL)
            answer: dict[str, Any] = {"page": str(report.page), "faults": list(report.faults)}
        except SwingbyError as error:
            answer = {"error": str(error)}
    print(json.dumps(answer))  # noqa: T201  what the server reads


if __name__ == "__main__":
    main()
