"""Self-contained HTML: figures, data and Vega inside; nothing is fetched, and no text is taken for markup."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from swingby.data.files import user_cache, write_whole
from swingby.errors import SwingbyError
from swingby_analysis.page import Page, marked
from swingby_analysis.page.plain_files import rows_of

VEGA_LITE = "6.4"
"""The Vega-Lite that Altair 6 writes for, of those that vl-convert carries."""
PACKED = "application/octet-stream"
"""The type of the script elements whose text is gzipped and in base85; a browser runs none of this type."""
ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=:?@^_`{|}~"
"""The digits of base85 (RFC 1924), with three others for those that HTML acts on; shorter by 6 % than base64."""


def environment(package: str) -> Environment:
    """Jinja for the templates of a package, in which every text is plain text."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_ENVIRONMENT = environment("swingby_analysis.page")
_ENVIRONMENT.globals["PACKED"] = PACKED
_ENVIRONMENT.filters["size"] = lambda spec: size(spec)
_ENVIRONMENT.filters["marked"] = marked
_ENVIRONMENT.filters["base64"] = lambda png: base64.b64encode(png).decode()


class Gzipped(bytes):
    """Bytes that are gzipped already."""


def html(
    page: Page,
    data: Mapping[str, Any] | None = None,
    attachments: Mapping[str, bytes] | None = None,
    scripts: Sequence[str] = (),
    libraries: Mapping[str, str] | None = None,
    allowed: Mapping[str, str] | None = None,
) -> str:
    """The page as one HTML file.

    Args:
        data: what the page's script reads: the specs of the figures by slug under "figures", and what it takes to show
            the curves of points (see `page.js`). None: a page without a script.
        attachments: further bytes in the page, by the id of their element, for `swingby.attachment(id)`.
        scripts: further assets that are run after `page.js`, by file name.
        libraries: texts of scripts that lie packed in the page until `swingby.library(id)` runs them, by id.
        allowed: what else the page's policy allows, by directive.
    """
    sheet = asset("page.css")
    packed = {} if data is None else {"vega": vega(), **(libraries or {})}
    inline = [] if data is None else [asset(name) for name in ("page.js", *scripts)]
    contents = {} if data is None else {"data": json_bytes(data), **(attachments or {})}
    panel = (data or {}).get("panel") or {}
    point = data["points"].get(str(panel["first"]), {}) if data and "first" in panel else {}
    return _ENVIRONMENT.get_template("page.html").render(
        page=page,
        first={"label": "", "text": "", **point, "losses": panel.get("losses"), "path": panel.get("path")},
        policy=policy([*inline, *packed.values()], sheet, allowed or {}),
        sheet=Markup(sheet),  # noqa: S704  our own file
        scripts=[Markup(script) for script in inline],  # noqa: S704  our own files
        packed={name: packed_text(content) for name, content in contents.items()}
        | {name: packed_text(text.encode()) for name, text in packed.items()},
    )


def size(spec: Mapping[str, Any]) -> tuple[int, int] | None:
    """About how wide and high a chart is with its axes and legends, in px; None of charts side by side."""
    of = spec.get("spec", spec)
    width, height = of.get("width"), of.get("height")
    if not (isinstance(width, int | float) and isinstance(height, int | float)):
        return None
    panels, columns = 1, spec.get("columns", 1)
    if "spec" in spec and "field" in spec.get("facet", {}):
        rows = rows_of(spec)
        panels = len({row.get(spec["facet"]["field"]) for row in rows})
    columns = min(columns, panels)
    lines = -(-panels // columns)
    return round(columns * (width + 18) + 70), round(lines * (height + (40 if panels > 1 else 0)) + 110)


def asset(name: str) -> str:
    """The text of a template, style sheet or script of this package."""
    return files("swingby_analysis.page").joinpath("templates", name).read_text(encoding="utf-8")


def packed_text(content: bytes) -> str:
    """Bytes as they stand in a script element of a page: gzipped, in base85; equal bytes give equal text."""
    packed = content if isinstance(content, Gzipped) else gzip.compress(content, 6, mtime=0)
    left_over = -len(packed) % 4
    numbers = np.frombuffer(packed + bytes(left_over), ">u4").astype(np.uint32)
    digits = numbers[:, None] // np.array([85**4, 85**3, 85**2, 85, 1], np.uint32) % 85
    return np.frombuffer(ALPHABET, np.uint8)[digits].tobytes()[: 5 * len(numbers) - left_over].decode()


def json_bytes(value: Any) -> bytes:
    """A value as the JSON that a page's script reads."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script, from vl-convert; kept in the user's cache, for it takes 1.3 s."""
    path = user_cache("vega") / f"{version('vl-convert-python')}-{VEGA_LITE}.js.gz"
    if (kept := sound(path)) is not None:
        return kept.decode()
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    with suppress(SwingbyError):  # where nothing can be kept it is made again
        write_whole(path, lambda to: to.write_bytes(gzip.compress(bundle.encode(), mtime=0)))
    return bundle


def sound(path: Path) -> bytes | None:
    """The content of a gzipped file; None if it is not there, empty, or not whole by its check sum."""
    try:
        return gzip.decompress(path.read_bytes()) or None
    except (OSError, EOFError, zlib.error):
        return None


def policy(scripts: Sequence[str], sheet: str, more: Mapping[str, str] | None = None) -> str:
    """The Content-Security-Policy of a page: these scripts, this style sheet, pictures in it, `more`, else nothing.

    Args:
        more: sources by directive, beside those of the page itself.
    """

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(map(hashed, scripts)) or "'none'",
        "style-src": hashed(sheet),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    for name, value in (more or {}).items():
        allowed[name] = f"{allowed[name]} {value}" if name in allowed else value
    return "; ".join(f"{name} {value}" for name, value in allowed.items())
