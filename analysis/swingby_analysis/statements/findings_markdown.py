"""The findings as Markdown, for a README."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swingby import __version__
from swingby_analysis.statements.findings_page import Shown
from swingby_analysis.statements.statement import YES
from swingby_analysis.statements.verdict import MISSING


def markdown(shown: Sequence[Shown], notes: Sequence[str], command: str) -> str:
    """A heading a diagram, its first figure's file name, and its sentences with what became of each."""
    lines: list[str] = []
    for item in shown:
        lines += [f"### {_plain(item.diagram.heading)}", ""]
        lines += [f"![{_plain(figure.title)}]({figure.slug}.png)" for figure in item.figures[:1]]
        lines += [""] if item.figures else []
        for told in item.told:
            mark = "" if told.verdict == YES else f" *({told.verdict})*"
            lines.append(f"- {_plain(told.text)}{mark if told.verdict != MISSING else ''}")
        lines += ["", f"Sweep `{item.diagram.sweep}`: {item.size}.", ""]
    made = f"Made by `{command}` (swingby {__version__})."
    return "\n".join([*lines, " ".join([made, *map(_plain, notes)])]) + "\n"


def _plain(text: str) -> str:
    """Text that no Markdown reader takes for markup."""
    return re.sub(r"([\\|*_`<>\[\]])", r"\\\1", text).replace("\n", " ")
