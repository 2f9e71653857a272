"""W&B's `.wandb` files, of runs offline and online: a log of records, in blocks.

Source: W&B's `wandb_internal.proto`; the log is LevelDB's, https://github.com/google/leveldb/blob/main/doc/log_format.md,
with zlib's CRC-32 and a header of seven bytes.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swingby.imports.tools.run import LeftOut, Run, files_below, record
from swingby.imports.tools.wire import WireError, block, fields, signed, text

TOOL = "W&B run files"
MARK = b":W&B"
HEAD = 7
BLOCK = 32_768
HISTORY, SUMMARY, CONFIG, RUN, EXIT = 2, 3, 5, 17, 18
ABOUT = ("_timestamp", "_runtime", "_step", "_wandb")


def recognises(path: Path) -> bool:
    """Whether it is such a file, or a folder that has one."""
    if path.is_dir():
        return next((one for one in path.rglob("*.wandb") if one.is_file()), None) is not None
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs of a folder, each once, or that of a file."""
    seen = set[Path]()
    for file in files_below(path, "*.wandb") if path.is_dir() else [path]:
        if file.resolve() in seen:  # `latest-run` is a link to one of them
            continue
        seen.add(file.resolve())
        yield _run(file)


def _run(file: Path) -> Run | LeftOut:
    data, fault = file.read_bytes(), ""
    if data[:4] != MARK:
        return LeftOut(file.name, "no W&B run file")
    run, config, summary = Run(file.stem), dict[str, Any](), dict[str, Any]()
    exited, logged = None, 0
    try:
        for frame in _frames(data):
            for kind, value in fields(frame):
                if kind == RUN:
                    _about(run, block(value), config)
                elif kind == CONFIG:
                    _items(block(value), config)
                elif kind == SUMMARY:
                    _items(block(value), summary)
                elif kind == HISTORY:
                    logged = _history(run, block(value), logged)
                elif kind == EXIT:
                    exited = next((signed(code) for place, code in fields(block(value)) if place == 1), 0)
    except (WireError, ValueError, RecursionError) as error:
        fault = f"damaged: {error}"
    if not config and not run.curves and not summary:
        return LeftOut(run.name, fault or "an empty file")
    run.params = {name: value for name, value in config.items() if name != "_wandb"}
    run.scalars = {name: value for name, value in summary.items() if name not in run.curves and name not in ABOUT}
    if fault:
        run.notes.append(fault)
    if exited is None:
        run.status, run.message = "crashed", "its file has no end: it was killed, or still runs"
    else:
        run.status, run.message = ("failed", f"exit code {exited}") if exited else ("finished", None)
    return run


def _about(run: Run, data: bytes, config: dict[str, Any]) -> None:
    """The names of a run, and the settings that it began with."""
    for place, value in fields(data):
        if place == 4:
            _items(block(value), config)
        elif place == 3:
            run.study = text(value)
        elif place == 8:
            run.name = f"{text(value)} ({run.name})"


def _items(data: bytes, values: dict[str, Any]) -> None:
    """Takes what a record of settings or last values says into those before it."""
    for place, value in fields(data):
        if place not in (1, 2):
            continue
        path, plain = _item(block(value))
        into = values
        for name in path[:-1]:
            inner = into.setdefault(name, {})
            into = into[name] = inner if isinstance(inner, dict) else {}
        if place == 1:
            into[path[-1]] = plain
        else:
            into.pop(path[-1], None)


def _item(data: bytes) -> tuple[list[str], Any]:
    """The path of an item's name, and its value."""
    keys, nested, plain = list[str](), list[str](), None
    for place, value in fields(data):
        if place == 1 and block(value):
            keys = [text(value)]
        elif place == 2:
            nested.append(text(value))
        elif place == 16:
            plain = json.loads(text(value))
    return keys or nested or [""], plain


def _history(run: Run, data: bytes, logged: int) -> int:
    """Takes a row of a history; returns the number of rows so far, which is the step where the row says none."""
    values, step = dict[str, Any](), logged
    for place, value in fields(data):
        if place == 1:
            path, plain = _item(block(value))
            values[".".join(path)] = plain
        elif place == 2:
            step = next((signed(of) for at, of in fields(block(value)) if at == 1), 0)
    reported = values.get("_step")
    step = reported if isinstance(reported, int) and reported >= 0 else step
    record(run, step, {name: value for name, value in values.items() if name not in ABOUT})
    return logged + 1


def _frames(data: bytes) -> Iterator[bytes]:
    """The records of a log.

    Raises:
        WireError: a check sum is wrong, or the file ends within a record.
    """
    place, parts = HEAD, list[bytes]()
    while place < len(data):
        left = BLOCK - place % BLOCK
        if left < HEAD:
            place += left
            continue
        if place + HEAD > len(data):
            raise WireError("it ends within a record")
        check, size, kind = struct.unpack("<IHB", data[place : place + HEAD])
        body = data[place + HEAD : place + HEAD + size]
        if not kind and not size:  # the rest of a block that was not written
            place += left
            continue
        if len(body) < size:
            raise WireError("it ends within a record")
        if zlib.crc32(body, zlib.crc32(bytes([kind]))) != check:
            raise WireError(f"the check sum at byte {place:,} is wrong")
        place += HEAD + size
        parts = [body] if kind in (1, 2) else [*parts, body]
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []
