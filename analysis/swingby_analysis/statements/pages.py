"""The pages of claims and findings, which have templates of their own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from swingby_analysis.page.html import asset, policy


def own(name: str) -> str:
    """The text of a template or a style sheet of these pages."""
    return files("swingby_analysis").joinpath("templates", name).read_text(encoding="utf-8")


def plain_page(template: str, content: Mapping[str, Any], more_style: str = "") -> str:
    """A page without a script, from a template of this package; every text in the content is escaped.

    Args:
        more_style: rules beside those that all pages share.
    """
    sheet = asset("page.css") + more_style
    environment = Environment(
        loader=PackageLoader("swingby_analysis"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(**content, policy=policy([], sheet), sheet=Markup(sheet))  # noqa: S704  our own
