"""Overrides: options such as `--set base.n=100`, applied to a sweep file before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swingby.errors import InputFaults
from swingby.model.registry import nearest
from swingby.options import setting
from swingby.sweepfile.yaml import Document, Path, dotted, read_yaml, shown

KEYS = {
    "name": "up to 64 of a-z, 0-9 and -",
    "title": "heading of the report",
    "description": "text below the heading",
    "tags": "words by which `list sweeps --tag` and `status --tag` find it: `[width, long]`",
    "notes": "what you want to remember of it: shown by `status` and in the report",
    "experiment": "a Python file beside this one with a function `@experiment` (`train.py` or `train.py:function`), or "
    "the name of an installed experiment",
    "preset": "one of the experiment's bundles of defaults; `preset: [one, other]` under `axes` runs over several",
    "base": "parameters that stay fixed",
    "axes": "parameters that vary, each with its values: `[1, 2, 4]`, `{linspace: {from, to, points}}`, `{logspace: "
    "{from, to, points}}` or `{range: {from, to, step}}`; `zip: [{depth: [2, 8], width: [4, 64]}]` advances several "
    "together; `rates.1` is entry 1 of the vector `rates`, counted from 0",
    "where": "condition on parameters that a point must meet: `width >= depth and rates.1 / rates.0 > 1.5`",
    "seeds": "a count, a list of seeds, or a mapping with the keys below",
    "resources": "what each process of a batch occupies, where the experiment's own guess is not right: a mapping with "
    "the keys below",
    "record": "when each run is recorded, and what beside the experiment's own curves: a mapping with the keys below",
    "diagram": "the phase diagram: a mapping with the keys below",
    "refine": "`run` trains only cells that tell where an outcome changes (`run --no-refine`: the whole grid): a "
    "mapping with the keys below; `{}` takes the defaults",
    "drawings": "more figures, each a name or `{name: {option: value}}`; a drawing that needs a recording says which",
    "outcome": "outcome that the report sums up where there is no diagram",
    "outcomes": "outcomes of your own, a name and an SQL expression over one row each: `learned: loss[-1] < 0.1 * "
    "loss[1]`; curves are lists, counted from 1",
}
"""The keys of a sweep file, each with what it takes."""
TOP = list(KEYS)
NESTED = ("base", "axes", "seeds", "resources", "record", "diagram", "refine", "outcomes")


def apply_overrides(document: Document, overrides: Sequence[str]) -> None:
    """Apply each `path=value` to the value of `document`; the value is read as YAML, a bad path is a fault.

    An option wins over the file: `base.width=8` replaces an axis `width`, and `axes.width=[2, 4]` a base value.
    """
    for option in overrides:
        origin = setting(option if len(option) <= 80 else option[:77] + "...")
        path, equals, text = option.partition("=")
        key, _, rest = path.strip().partition(".")
        document.mark(("--set",), origin)
        if not equals:
            document.fault(("--set",), "no value", f"write {setting('base.n=100')}")
        elif key not in TOP:
            document.fault(("--set",), f"no key {key!r} in a sweep", nearest(key, TOP))
        elif rest and key not in NESTED:
            document.fault(("--set",), f"{key!r} has nothing below it", f"write {setting(f'{key}=...')}")
        else:
            _override(document, key, rest, text, origin)


def _override(document: Document, key: str, rest: str, text: str, origin: str) -> None:
    try:
        read = read_yaml(text, origin)
        read.finish()
    except InputFaults as error:
        for fault in error.faults:
            document.fault(("--set",), f"the value is {fault.message}", fault.hint)
        return
    if not rest:
        _put(document, document.value, (), (key,), read.value, origin)
        if key == "preset":
            _displace(document.value.get("axes"), key)
        return
    below = document.value.get(key)
    if below is None:
        below = document.value[key] = {}
    if isinstance(below, int) and not isinstance(below, bool) and key == "seeds":
        below = document.value[key] = {"count": below}  # the short form, spelt out
    if not isinstance(below, dict):
        document.fault(("--set",), f"{key} is {shown(below)}, with nothing below it", f"write {setting(f'{key}=...')}")
        return
    # `width.logspace.points` goes into the axis `width`, `rates.1` is one name: the longest known name counts.
    parts: tuple[str, ...] = (rest,)
    for name in sorted(below, key=len, reverse=True):
        if rest.startswith(f"{name}.") and isinstance(below[name], dict):
            parts = (name, *rest.removeprefix(f"{name}.").split("."))
            break
    _put(document, below, (key,), parts, read.value, origin)
    if key in ("base", "axes") and (key, rest) != ("axes", "zip"):
        _displace(document.value.get("axes" if key == "base" else "base"), rest)


def _put(document: Document, below: Any, above: Path, parts: tuple[str, ...], value: Any, origin: str) -> None:
    for part in parts[:-1]:
        above = (*above, part)
        if not isinstance(below, dict) or part not in below:
            known = list(below) if isinstance(below, dict) else []
            document.fault(("--set",), f"{dotted(above)} is not there", nearest(part, known))
            return
        below = below[part]
    if not isinstance(below, dict):
        document.fault(("--set",), f"{dotted(above)} is {shown(below)}, with nothing below it")
        return
    below[parts[-1]] = value
    document.mark((*above, parts[-1]), origin)


def _displace(other: Any, name: str) -> None:
    """Removes a name, also where it is spelt as `optim: {lr: ...}`."""
    group, _, part = name.partition(".")
    if isinstance(other, dict) and other.pop(name, None) is None and part:
        _displace(other.get(group), part)
