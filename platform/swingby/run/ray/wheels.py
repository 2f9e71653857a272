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
from collections.abc import Mapping
from email import message_from_bytes
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from swingby.data.provenance import NEEDED, listed
from swingby.errors import SwingbyError
from swingby.options import option

BUILD_SECONDS = 300
"""Seconds for the build system of a package to make its wheel."""
_LEFT_HERE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_OTHERWISE = "or install it on every machine and say"
Files = Mapping[str, bytes]
"""The contents of files, by their paths in a wheel."""


def make_wheel(distribution: Distribution, folder: Path) -> Path:
    """Writes a wheel of an installed package; equal files make equal wheels, and other files a wheel of another name.

    Ray knows a wheel by its name alone, so the name has a digest of the content. Ray installs a wheel with all of its
    requirements, torch too; so these are moved to a file that `provenance.required` reads and pip does not.

    Raises:
        SwingbyError: the package was not installed whole, or cannot be built.
    """
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        files = _built(distribution, Path(unquote(urlsplit(origin["url"]).path)))
    else:
        files = _recorded(distribution)
    infos = {PurePosixPath(name).parent.name for name in files if name.endswith(".dist-info/METADATA")}
    if len(infos) != 1:
        raise SwingbyError(f"the package {distribution.metadata['Name']} is not described as pip does: {sorted(infos)}")
    (info,) = infos
    kept = {name: data for name, data in files.items() if name not in {f"{info}/{left}" for left in _LEFT_HERE}}
    metadata = message_from_bytes(kept[f"{info}/METADATA"])
    for name in ("Requires-Dist", "Provides-Extra"):
        del metadata[name]
    kept[f"{info}/METADATA"] = metadata.as_bytes()
    kept[f"{info}/{NEEDED}"] = "\n".join(listed(distribution)).encode()
    return _write(kept, info, folder)


def _recorded(distribution: Distribution) -> Files:
    """The files of an installed package by its own record, without scripts and compiled files."""
    name, listed = distribution.metadata["Name"], distribution.files
    if not listed or distribution.read_text("RECORD") is None:
        raise SwingbyError(
            f"the package {name} has no record of its files and cannot travel whole: install it with pip, "
            f"{_OTHERWISE} {option('code', 'installed')}"
        )
    files = {}
    for path in listed:
        if ".." in path.parts or path.is_absolute() or "__pycache__" in path.parts:
            continue
        try:
            files[path.as_posix()] = Path(str(path.locate())).read_bytes()
        except OSError as error:
            raise SwingbyError(f"the package {name} lacks a file of its own ({error}): install it again") from error
    return files


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
                with zipfile.ZipFile(wheel) as packed:
                    return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
            reason = (done.stderr.strip().splitlines() or ["pip did not say why"])[-1]
    raise SwingbyError(
        f"the package {name} cannot be made a wheel of from {source}: {reason}. Install its build system "
        f"(pip install hatchling, for swingby itself), {_OTHERWISE} {option('code', 'installed')}"
    )


def _write(files: Files, info: str, folder: Path) -> Path:
    """Writes a wheel of these files, byte for byte reproducible; `info` is its metadata's folder."""
    record, lines = f"{info}/RECORD", list[str]()
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    content = {**files, record: "\n".join([*lines, f"{record},,", ""]).encode()}
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(content):
            packed.writestr(zipfile.ZipInfo(name), content[name], zipfile.ZIP_DEFLATED, compresslevel=1)
    mark = hashlib.sha256(content[record]).hexdigest()[:20]
    tags = message_from_bytes(files[f"{info}/WHEEL"]).get_all("Tag") or ["py3-none-any"]
    # Compatibility tags joined: "py2-none-any" and "py3-none-any" are "py2.py3-none-any".
    parts = zip(*(tag.split("-") for tag in tags), strict=True)
    tag = "-".join(".".join(sorted(set(part))) for part in parts)
    path = folder / f"{info.removesuffix('.dist-info')}-0x{mark}-{tag}.whl"
    path.write_bytes(wheel.getvalue())
    return path
