"""TensorBoard's event files: the scalars of runs, and the settings of its HParams.

Sources: https://github.com/tensorflow/tensorboard, tensorboard/compat/proto/{event,summary,tensor}.proto and
tensorboard/plugins/hparams/plugin_data.proto; records are TFRecord's, with masked CRC-32C.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from swingby.imports.tools.run import LeftOut, Run, files_below
from swingby.imports.tools.wire import WireError, block, fields, real, signed, text

TOOL = "TensorBoard event files"
PATTERN = "*tfevents*"
HPARAMS = "hparams"
START = 3
"""The field of HParams' data that tells a run's settings."""
FLOAT, DOUBLE = 1, 2
CHECKED = 16_384
"""Bytes of a record up to which its check sum is always looked at; images are larger, and hold no scalar."""


def recognises(path: Path) -> bool:
    """Whether it is such a file, or a folder that has one."""
    if path.is_dir():
        return next((one for one in path.rglob(PATTERN) if one.is_file()), None) is not None
    return "tfevents" in path.name


def runs(path: Path) -> Iterator[Run | LeftOut]:
    """The runs of a folder: each folder with event files is one, named by its path; or that of a file.

    A folder in a run's own that has settings and last values alone, as `add_hparams` makes it, is part of that run.
    """
    by_folder = dict[Path, list[Path]]()
    for file in files_below(path, PATTERN) if path.is_dir() else [path]:
        by_folder.setdefault(file.parent, []).append(file)
    read = dict[Path, Run]()
    for folder, files in by_folder.items():
        name = str(folder.relative_to(path)) if path.is_dir() and folder != path else folder.resolve().name
        read[folder] = run = Run(name)
        for file in files:
            read_events(file, run)
    for folder, run in read.items():
        above = next((read[one] for one in folder.parents if one in read), None)
        points = max((len(curve) for curve in run.curves.values()), default=0)
        if above is not None and run.params and not above.params and points <= 1:
            above.params = run.params
            above.curves |= {name: curve for name, curve in run.curves.items() if name not in above.curves}
            above.notes += run.notes
        elif not run.curves:
            yield LeftOut(run.name, "; ".join(run.notes) or "no scalars")
        else:
            yield run


def read_events(file: Path, run: Run) -> None:
    """Takes the scalars and the settings of a file into a run; the later of two values of one step counts."""
    try:
        for frame, check in _frames(file.read_bytes()):
            step, entries = _event(frame)
            if (entries or len(frame) <= CHECKED) and _masked(frame) != check:
                raise WireError("a check sum is wrong")
            for tag, plain, settings in entries:
                run.params = {**run.params, **settings}
                if plain is not None and not tag.startswith("_hparams_/"):
                    run.curves.setdefault(tag, {})[max(step, 0)] = plain
    except WireError as error:
        run.notes.append(f"{file.name} is damaged ({error}): what comes after is not read")


def _frames(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The records of a file, with their check sums.

    Raises:
        WireError: a length is wrong, or the file ends within a record.
    """
    place = 0
    while place < len(data):
        if place + 12 > len(data):
            raise WireError("it ends within a record")
        size, check = struct.unpack("<QI", data[place : place + 12])
        if _masked(data[place : place + 8]) != check:
            raise WireError(f"no record at byte {place:,}")
        end = place + 12 + size
        if end + 4 > len(data):
            raise WireError("it ends within a record")
        yield data[place + 12 : end], struct.unpack("<I", data[end : end + 4])[0]
        place = end + 4


def _event(data: bytes) -> tuple[int, list[tuple[str, float | None, dict[str, Any]]]]:
    """The step of an event, and of each of its scalars and settings the tag, the number and the settings."""
    step, entries = 0, list[tuple[str, float | None, dict[str, Any]]]()
    for place, value in fields(data):
        if place == 2:
            step = signed(value)
        for at, summary in fields(block(value)) if place == 5 else ():
            tag, plain, settings = "", None, None
            for here, inner in fields(block(summary)) if at == 1 else ():
                if here == 1:
                    tag = text(inner)
                elif here == 2:
                    plain = real(inner)
                elif here == 8:
                    plain = _scalar(block(inner))
                elif here == 9:
                    settings = _settings(block(inner))
            if plain is not None or settings:
                entries.append((tag, plain, settings or {}))
    return step, entries


def _scalar(data: bytes) -> float | None:
    """The number that a tensor of one number holds; None: it is another one."""
    kind, plain = 0, None
    for place, value in fields(data):
        if place == 1:
            kind = signed(value)
        elif place == 2 and any(at == 2 for at, _ in fields(block(value))):
            return None
        elif place in (4, 5, 6) and isinstance(value, bytes):
            size = 8 if kind == DOUBLE else 4
            plain = real(value) if len(value) == size and kind in (FLOAT, DOUBLE) else plain
    return plain


def _settings(data: bytes) -> dict[str, Any] | None:
    """The settings that HParams' data in a summary tells; None: it is other data."""
    plugin, content = "", b""
    for place, value in fields(data):
        for at, inner in fields(block(value)) if place == 1 else ():
            plugin, content = (text(inner), content) if at == 1 else (plugin, block(inner))
    if plugin != HPARAMS:
        return None
    settings = dict[str, Any]()
    for place, value in fields(content):
        for at, entry in fields(block(value)) if place == START else ():
            if at == 1:
                key, of = "", b""
                for here, inner in fields(block(entry)):
                    key, of = (text(inner), of) if here == 1 else (key, block(inner))
                settings[key] = _plain(of)
    return settings


def _plain(data: bytes) -> Any:
    """A value of `google.protobuf.Value`: number, text or boolean."""
    for place, value in fields(data):
        if place == 2:
            plain = real(value)
            return int(plain) if plain == round(plain) and abs(plain) < 2**53 else plain
        if place == 3:
            return text(value)
        if place == 4:
            return bool(value)
    return None


@cache
def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


def _masked(data: bytes) -> int:
    """The masked CRC-32C of bytes, as TFRecord has it."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
