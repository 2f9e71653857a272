"""Exceptions of a user's code, in one line with their place in it."""

from __future__ import annotations

from pathlib import Path

from swingby.model.code import is_installed


def in_one_line(error: BaseException, folder: Path | None = None) -> str:
    """An exception in one line, with the innermost place in files of the user: `ValueError: no data (run.py, line 7)`.

    Args:
        folder: that of the user's files; None: any file that is neither installed nor part of Python.
    """
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({Path(error.filename or '?').name}, line {error.lineno})"
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_users(file, folder):
            place = f" ({Path(file).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    text = " ".join(str(error).split())
    if isinstance(error, FileNotFoundError) and place:
        place += "; a file beside the code is found everywhere by @experiment(files=[...]) and cell.file(name)"
    return f"{type(error).__name__}{': ' if text else ''}{text[:400]}{place}"


def is_users(file: str, folder: Path | None) -> bool:
    if folder is not None:
        return Path(file).is_absolute() and Path(file).resolve().is_relative_to(folder.resolve())
    if file.startswith("<"):
        return file.startswith(("<ipython", "<stdin", "<string"))
    return not is_installed(Path(file).resolve())
