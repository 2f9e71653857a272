"""Wheels of the packages that are installed here, for the machines of a cluster."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from email import message_from_bytes
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from swingby.data.provenance import NEEDED, required
from swingby.errors import SwingbyError

BUILD_SECONDS = 300
_LEFT_HERE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_OTHERWISE = "or install it on every machine and say --code installed"
Files = Mapping[str, bytes]


def make_wheel(distribution: Distribution, folder: Path) -> Path:
    """Writes a wheel of an installed package; equal files make equal wheels, and other files a wheel of another name.

    Ray knows a wheel by its name alone, so the name has a digest of the content. Ray installs a wheel with all of its
    requirements, torch too; so these are moved to a file that `provenance.required` reads and pip does not.

    Raises:
        SwingbyError: the package was not installed whole, or cannot be built.
    """
    source = _editable(distribution)
    files = _recorded(distribution) if source is None else _built(distribution, source)
    info = _info(files, distribution)
    kept = {name: data for name, data in files.items() if name not in {f"{info}/{left}" for left in _LEFT_HERE}}
    kept |= _without_requirements(kept[f"{info}/METADATA"], required(distribution), info)
    return _write(kept, info, folder)


def _editable(distribution: Distribution) -> Path | None:
    """The source folder of a package in editable installation; None for any other."""
    content = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not content.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(content["url"]).path))


def _recorded(distribution: Distribution) -> Files:
    """The files of an installed package by its own record, without scripts and compiled files."""
    name, listed = distribution.metadata["Name"], distribution.files
    if not listed or distribution.read_text("RECORD") is None:
        raise SwingbyError(
            f"the package {name} has no record of its files and cannot travel whole: install it with pip, {_OTHERWISE}"
        )
    found = {}
    for path in listed:
        if ".." in path.parts or path.is_absolute() or "__pycache__" in path.parts:
            continue
        try:
            found[path.as_posix()] = Path(str(path.locate())).read_bytes()
        except OSError as error:
            raise SwingbyError(f"the package {name} lacks a file of its own ({error}): install it again") from error
    return found


def _built(distribution: Distribution, source: Path) -> Files:
    """The files of the wheel that a package's build system makes from its sources."""
    name = distribution.metadata["Name"]
    with tempfile.TemporaryDirectory(prefix="swingby-wheel-") as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check"]
        for isolated in (["--no-build-isolation"], []):  # works without the network if the build system is installed
            try:
                done = subprocess.run(
                    [*command, *isolated, "--wheel-dir", folder, str(source)],
                    capture_output=True,
                    text=True,
                    timeout=BUILD_SECONDS,
                )
            except subprocess.TimeoutExpired:
                reason = f"it was not built after {BUILD_SECONDS:g} s"
                continue
            if done.returncode == 0:
                (wheel,) = Path(folder).glob("*.whl")
                return _unpacked(wheel)
            reason = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
    raise SwingbyError(
        f"the package {name} cannot be made a wheel of from {source}: {reason}. Install its build system "
        f"(pip install hatchling, for swingby itself), {_OTHERWISE}"
    )


def _unpacked(wheel: Path) -> Files:
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}


def _info(files: Files, distribution: Distribution) -> str:
    """The name of the folder with the package's metadata."""
    found = {PurePosixPath(name).parent.name for name in files if name.endswith(".dist-info/METADATA")}
    if len(found) != 1:
        raise SwingbyError(f"the package {distribution.metadata['Name']} is not described as pip does: {sorted(found)}")
    return found.pop()


def _without_requirements(metadata: bytes, needed: Iterable[str], info: str) -> Files:
    """The metadata without requirements, and a file with the requirements."""
    content = message_from_bytes(metadata)
    for name in ("Requires-Dist", "Provides-Extra"):
        del content[name]
    return {f"{info}/METADATA": content.as_bytes(), f"{info}/{NEEDED}": "\n".join(needed).encode()}


def _write(files: Files, info: str, folder: Path) -> Path:
    """Writes a wheel of these files, byte for byte reproducible."""
    record = f"{info}/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in sorted(files.items())]
    content = {**files, record: "\n".join([*lines, f"{record},,", ""]).encode()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(content):
            packed.writestr(zipfile.ZipInfo(name), content[name], zipfile.ZIP_DEFLATED, compresslevel=1)
    mark = hashlib.sha256(content[record]).hexdigest()[:20]
    tags = message_from_bytes(files[f"{info}/WHEEL"]).get_all("Tag") or ["py3-none-any"]
    path = folder / f"{info.removesuffix('.dist-info')}-0x{mark}-{_joined(tags)}.whl"
    path.write_bytes(made.getvalue())
    return path


def _joined(tags: Iterable[str]) -> str:
    """Compatibility tags joined: "py2-none-any" and "py3-none-any" are "py2.py3-none-any"."""
    return "-".join(".".join(sorted(set(part))) for part in zip(*(tag.split("-") for tag in tags), strict=True))


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
