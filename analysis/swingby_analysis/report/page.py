"""One self-contained HTML page: figures, data and Vega inside; nothing is fetched, and no text is taken for markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from swingby.errors import SwingbyError
from swingby_analysis.query import Query

NOTHING = "'none'"
VEGA_LITE = "6.4"
"""The Vega-Lite that Altair 6 writes for, of those that vl-convert carries."""


@dataclass(frozen=True)
class Figure:
    """One figure of a report.

    Attributes:
        slug: names its files, e.g. "phase-diagram.png".
        title, caption, reading: plain text; `reading` tells how to read the marks.
        spec: Vega-Lite.
        queries: the SQL behind it, parameters filled in.
        facts: what was put in: sweep ids, seeds, n, conventions, versions.
        points: True if pointing at a mark that carries a `point` shows that point's curves.
    """

    slug: str
    title: str
    caption: str
    reading: str
    spec: Mapping[str, Any]
    queries: Sequence[Query] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    points: bool = False


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


def own(name: str) -> str:
    """The text of one of our own templates, style sheets or scripts."""
    return files("swingby_analysis").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """The page's Content-Security-Policy: these scripts and styles, by their hashes, and nothing from anywhere.

    Pictures only as part of the page itself.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts)) or NOTHING}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def plain_page(template: str, content: Mapping[str, Any], more_style: str = "") -> str:
    """A page without a script, from a template of this package; every text in the content is escaped.

    Args:
        more_style: rules beside those that all pages share.
    """
    sheet = own("page.css") + more_style
    return _template(template).render(**content, policy=policy([], [sheet]), sheet=Markup(sheet))  # noqa: S704  our own


def _template(name: str) -> Template:
    return Environment(
        loader=PackageLoader("swingby_analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(name)


def render(content: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        content: what the template shows; every text in it is escaped.
        data: what the page's script reads: specs of the figures and the curves of the points.
    """
    script, sheet = own("page.js"), own("page.css")
    return _template("report.html").render(
        **content,
        policy=policy([vega(), script], [sheet]),
        vega=Markup(vega()),  # noqa: S704  a library's script, not text from outside
        script=Markup(script),  # noqa: S704  our own file
        sheet=Markup(sheet),  # noqa: S704  our own file
        data=embedded(data),
    )
