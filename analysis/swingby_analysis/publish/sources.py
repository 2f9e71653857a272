"""What a published sweep was made from: the sweep as it was resolved, its file, and the code of its experiment."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swingby.archive.origins import portable, portable_text
from swingby.archive.publication import FILE
from swingby.errors import SwingbyError
from swingby.function.travel import KEY as CODE
from swingby.model import registry
from swingby.model.code import digest_of, folder_of
from swingby.store.lookup import KnownSweep
from swingby.sweepfile.sweep import Sweep, named_sweeps


@dataclass(frozen=True)
class Sources:
    """What a sweep was made from, as it is published.

    Attributes:
        files: texts and data by path in the folder: the sweep, its file, the code of its experiment.
        code: digest of the code; of a package that of its modules as they are installed now; "" if nobody has it.
        package: the package of the experiment, and its version; "" for a function.
        provenance: of the newest plan, without names and paths of its machine.
    """

    files: Mapping[str, bytes]
    code: str
    package: str
    provenance: Mapping[str, Any]


def sources_of(sweep: str, row: KnownSweep, resolved: Mapping[str, Any], provenance: Mapping[str, Any]) -> Sources:
    """The sweep as it was resolved, its file if that is at hand and still says the same, and the experiment's code."""
    plain = {**resolved, "source": portable_text(str(resolved.get("source") or ""))}
    files = {"sweep.json": (json.dumps(plain, indent=1) + "\n").encode()}
    package, code = "", str(resolved["recording"].get("code") or "")
    if CODE in provenance:
        source = provenance[CODE]
        texts = {name or "notebook.py": text.encode() for name, text in source["files"].items()}
        texts |= {name: base64.b64decode(text) for name, text in source.get("data", {}).items()}
        code = source["digest"]
    elif (place := folder_of(row.experiment)) is not None:
        paths = sorted(path for path in place.rglob("*.py") if "__pycache__" not in path.parts)
        texts = {f"{place.name}/{path.relative_to(place).as_posix()}": path.read_bytes() for path in paths}
        package = registry.package_of(registry.offered(registry.EXPERIMENTS)[row.experiment])
        code = code or digest_of({path.relative_to(place).as_posix(): path.read_text() for path in paths})
    else:
        texts = {}
    files |= {f"code/{name}": text for name, text in texts.items() if FILE.fullmatch(f"code/{name}")}
    written = _sweep_file(sweep, row, str(resolved.get("source") or ""))
    if written is not None:
        files[f"code/{row.name}.yaml"] = written
    rest = {name: value for name, value in portable(provenance).items() if name not in (CODE, "recorded", "imported")}
    return Sources(files, code, package, rest)


def _sweep_file(sweep: str, row: KnownSweep, source: str) -> bytes | None:
    """The text of the sweep file; None where it is not at hand, or is of another sweep by now."""
    for name in (sweep, row.name, source):
        packaged = named_sweeps().get(name)
        path = Path(name) if name.endswith((".yaml", ".yml")) else None
        if packaged is None and (path is None or not path.is_file()):
            continue
        try:
            if Sweep.load(name, confirm_above=None).sweep_id == row.sweep_id:
                return packaged.read_bytes() if packaged is not None else Path(name).read_bytes()
        except SwingbyError:  # it was changed since
            continue
    return None
