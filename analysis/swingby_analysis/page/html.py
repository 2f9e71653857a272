"""Self-contained HTML: figures, data and Vega inside; nothing is fetched, and no text is taken for markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from swingby.errors import SwingbyError
from swingby_analysis.page import Page

VEGA_LITE = "6.4"
"""The Vega-Lite that Altair 6 writes for, of those that vl-convert carries."""
_ENVIRONMENT = Environment(
    loader=PackageLoader("swingby_analysis.page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["base64"] = lambda png: base64.b64encode(png).decode()


def html(page: Page, data: Mapping[str, Any] | None = None) -> str:
    """The page as one HTML file.

    Args:
        data: what the page's script reads: the specs of the figures by slug under "figures", and what it takes to show
            the curves of points (see `page.js`). None: a page without a script.
    """
    sheet = asset("page.css")
    scripts = [] if data is None else [vega(), asset("page.js")]
    return _ENVIRONMENT.get_template("page.html").render(
        page=page,
        policy=policy(scripts, sheet),
        sheet=Markup(sheet),  # noqa: S704  our own file
        scripts=[Markup(script) for script in scripts],  # noqa: S704  a library's script and our own file
        data=None if data is None else embedded(data),
    )


def asset(name: str) -> str:
    """The text of a template, style sheet or script of this package."""
    return files("swingby_analysis.page").joinpath("templates", name).read_text(encoding="utf-8")


def embedded(value: Any) -> Markup:
    """JSON that can stand inside a script element: no character of it can end the element or open a comment."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  every character that HTML could act on was just replaced


@cache
def vega() -> str:
    """Vega, Vega-Lite and vega-embed as one script, from vl-convert.

    Raises:
        SwingbyError: it has grown a piece that would end the page's script element early.
    """
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    if re.search(r"</script|<!--", bundle, re.IGNORECASE):
        raise SwingbyError("this release of vl-convert bundles a Vega that cannot stand inside a page; pin vl-convert")
    return bundle


def policy(scripts: Sequence[str], sheet: str) -> str:
    """The Content-Security-Policy of a page: these scripts, this style sheet and pictures inside it, else nothing."""

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
    return "; ".join(f"{name} {value}" for name, value in allowed.items())
