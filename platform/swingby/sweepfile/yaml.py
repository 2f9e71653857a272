"""YAML read into plain values with the line of each, and faults of the text in plain words."""

from __future__ import annotations

import math
import re
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from swingby.errors import Fault, InputFaults
from swingby.model.registry import nearest

Model = TypeVar("Model", bound=BaseModel)

Path = tuple[str | int, ...]
# No sweep comes near these; a file that does would take the memory and the time of whoever reads it.
MOST_CHARACTERS = 1_000_000
MOST_NODES = 50_000
MOST_DEPTH = 30
MOST_FAULTS = 100
"""Faults that are told."""
MOST_NOTED = 1_000
"""Faults after which a file is not looked at any further: to find the nearest right word for each takes a while."""
MOST_TOLD = 500
"""Characters of a message, and of its hint."""

_TAG = "tag:yaml.org,2002:"
_NUMBERS = {
    # PyYAML reads 1e-3 as a string, 1:30 as 90 and 010 as 8, by YAML 1.1; here 1e-3 is a number, the others are texts.
    "int": r"[-+]?(?:0|[1-9][0-9_]*)",
    "float": r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9][0-9_]*(?=[eE]))(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "null": r"~|null|Null|NULL|",
}


class _TooLargeError(yaml.MarkedYAMLError):
    """The text has more values, or deeper ones, than a sweep file may have."""


class _Loader(yaml.SafeLoader):
    """The safe loader, with numbers such as 1e-3; on, off, yes, no, dates and times stay strings.

    It counts what it reads, and stops at the limits: PyYAML takes a tenth of a millisecond for each value.
    """

    nodes = depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.nodes, self.depth = self.nodes + 1, self.depth + 1
        if self.depth > MOST_DEPTH + 1 or self.nodes > MOST_NODES:
            raise _TooLargeError(problem_mark=self.peek_event().start_mark)
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _too_large(line: int | None) -> Fault:
    limit = f"{MOST_DEPTH} levels of nesting and {MOST_NODES:,} values, aliases followed"
    return Fault("too deep or too large", line, f"allowed: {limit}")


class Dumper(yaml.SafeDumper):
    """The safe dumper; it also quotes texts that are numbers for this reader alone, such as 0E0."""


_Loader.yaml_implicit_resolvers = {}
for _name, _pattern in _NUMBERS.items():
    for _class in (_Loader, Dumper):
        _class.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})\\Z"), None)


class Document:
    """A value read from YAML, with the line (counted from 1) or the option that each path into it came from."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.value: Any = None
        self._faults: dict[Fault, None] = {}
        self._origins: dict[Path, int | str] = {}

    def origin(self, path: Path) -> int | str | None:
        """The line of a path, or of the nearest path around it; a text where an option set it."""
        return next(
            (self._origins[path[:end]] for end in range(len(path), -1, -1) if path[:end] in self._origins), None
        )

    def place(self, path: Path, line: int) -> None:
        """Note the line of a path, unless it has one (a value has the line of its key)."""
        self._origins.setdefault(path, line)

    def mark(self, path: Path, origin: int | str) -> None:
        """Note that a path, and all below it, now comes from `origin`."""
        for known in [key for key in self._origins if key[: len(path)] == path]:
            del self._origins[known]
        self._origins[path] = origin

    def move(self, old: Path, new: Path) -> None:
        """Note that a path, and all below it, is now another one."""
        moved = {key: origin for key, origin in self._origins.items() if key[: len(old)] == old}
        self._origins |= {(*new, *key[len(old) :]): origin for key, origin in moved.items()}
        if old not in moved and (origin := self.origin(old)) is not None:
            self._origins[new] = origin

    def at(self, path: Path) -> Any:
        """The value at a path; None: there is none."""
        value: Any = self.value
        for part in path:
            if isinstance(value, list) and isinstance(part, int):
                value = value[part]
            else:
                value = value.get(part) if isinstance(value, dict) else None
        return value

    def fault(self, path: Path, message: str, hint: str | None = None) -> None:
        """Note a fault at a path, with the path's line or option."""
        origin = self.origin(path)
        line = origin if isinstance(origin, int) else None
        text = f"{origin}: {message}" if isinstance(origin, str) else message
        self.add(Fault(text, line, hint))

    def add(self, fault: Fault) -> None:
        """Note a fault, once, as long as may be told.

        Raises:
            InputFaults: it is one too many.
        """
        self._faults.setdefault(Fault(_cut(fault.message), fault.line, fault.hint and _cut(fault.hint)))
        if len(self._faults) >= MOST_NOTED:
            self.finish()

    @property
    def count(self) -> int:
        """How many faults were noted so far."""
        return len(self._faults)

    def read(self, path: Path, value: Any, model: type[Model]) -> Model | None:
        """`value` as a pydantic model, or None with every fault noted at its own line."""
        if not isinstance(value, dict):
            allowed = ", ".join(_keys(model))
            self.fault(path, f"{dotted(path)} must be a mapping, got {shown(value)}", f"allowed keys: {allowed}")
            return None
        try:
            return model.model_validate(value)
        except ValidationError as error:
            for detail in error.errors():
                place = (*path, *detail["loc"])
                message, hint = f"{dotted(place)} {plain_message(detail)}", guess(detail)
                if detail["type"] == "extra_forbidden":
                    message, hint = f"unknown key {dotted(place)!r}", nearest(str(place[-1]), _keys(model))
                elif detail["type"] == "missing":
                    message, hint = f"{dotted(place)} is missing", f"{dotted(path) or 'a sweep'} needs it"
                self.fault(place, message, hint)
            return None

    def finish(self) -> None:
        """Raise all faults noted so far, at once, if there are any."""
        faults = list(self._faults)
        if len(faults) > MOST_FAULTS:
            text = f"and {len(faults) - MOST_FAULTS:,} faults more"
            stopped = f"; after {MOST_NOTED:,} nothing else was looked at" if len(faults) >= MOST_NOTED else ""
            more = Fault(text + stopped)
            raise InputFaults(self.source, [*faults[:MOST_FAULTS], more])
        if faults:
            raise InputFaults(self.source, faults)


def dotted(path: Path) -> str:
    """A path as it is written on the command line."""
    return ".".join(str(part) for part in path)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 3]}..."


def shown(value: Any) -> str:
    """A value, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def flow(value: Any) -> str:
    """A value as YAML in one line."""
    text = yaml.dump(value, Dumper=Dumper, default_flow_style=True, width=math.inf, sort_keys=False)
    return text.removesuffix("...\n").strip()


def plain_message(detail: ErrorDetails) -> str:
    """The message of pydantic about one value, in the words of a sweep file."""
    words = {"valid tuple": "list", "valid list": "list", "valid dictionary": "mapping", "valid string": "text"}
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    message = re.sub("^Input should be", "must be", message)
    for word, plain in words.items():
        message = message.replace(word, plain)
    # The message of an experiment's own check names its values itself.
    return f"{message}, got {shown(detail['input'])}" if message.startswith("must be ") else message


def _keys(model: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def guess(detail: ErrorDetails) -> str | None:
    """A hint at a value of the wrong kind; None where there is none."""
    value, kind = detail["input"], detail["type"]
    if kind == "literal_error" and isinstance(value, str):
        return nearest(value, re.findall(r"'([^']*)'", detail.get("ctx", {})["expected"]))
    if kind == "int_type" and isinstance(value, float) and value.is_integer():
        return f"write {int(value)}"
    return None


def read_yaml(text: str, source: str) -> Document:
    """The one document in `text`, with its lines.

    Duplicate keys and values of an unknown kind are noted as faults, for the caller to raise together with its own.

    Raises:
        InputFaults: the text is too long, too deep, no YAML, or more than one document.
    """
    document = Document(source)
    if len(text) > MOST_CHARACTERS:
        fault = Fault(f"{len(text):,} characters are no sweep file; allowed: {MOST_CHARACTERS:,}")
        raise InputFaults(source, [fault])
    lines = [k for k, line in enumerate(text.split("\n"), start=1) if re.match(r" *\t", line) and line.strip()]
    if lines:
        hint = "YAML indents with blanks only: replace the tab"
        for line in lines:
            document.add(Fault("a tab in the indentation", line, hint))
        document.finish()
    try:
        node = yaml.compose(text, Loader=_Loader)
        if node is not None:
            document.value = _Builder(document).build(node, (), 0)
    except _TooLargeError as error:
        raise InputFaults(source, [_too_large(error.problem_mark.line + 1)]) from None  # pyright: ignore[reportOptionalMemberAccess]
    except yaml.MarkedYAMLError as error:
        raise InputFaults(source, [_syntax_fault(error)]) from None
    except yaml.reader.ReaderError as error:
        message = f"character {error.character!r} is not allowed in YAML" if error.character else str(error)
        raise InputFaults(source, [Fault(message, text.count("\n", 0, error.position) + 1)]) from None
    except RecursionError:
        raise InputFaults(source, [Fault(f"nested too deeply; allowed: {MOST_DEPTH} levels")]) from None
    return document


def _syntax_fault(error: yaml.MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    line = None if mark is None else mark.line + 1
    problem = error.problem or "not YAML"
    if "'\\t'" in problem:
        return Fault("a tab where only blanks may stand", line, "replace the tab by blanks")
    if "single document" in (error.context or ""):
        return Fault("more than one document ('---')", line, "write one sweep a file")
    context = f"{error.context}: " if error.context else ""
    hint = "a text that holds ': ' stands in quotes" if problem.startswith("mapping values") else None
    return Fault(f"not YAML: {context}{problem}", line, hint)


class _Builder:
    """Turns PyYAML's nodes into plain values; aliases are followed until `MOST_NODES` nodes are built."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.left = MOST_NODES

    def build(self, node: yaml.Node, path: Path, depth: int) -> Any:
        self.left -= 1
        if depth > MOST_DEPTH or self.left < 0:
            raise InputFaults(self.document.source, [_too_large(node.start_mark.line + 1)])
        self.document.place(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index), depth + 1) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self.document.add(Fault("a key must be a plain word", line))
                continue
            key = key_node.value
            if key in mapping:
                self.document.add(Fault(f"{key!r} is given twice", line, f"first on line {first[key]}"))
                continue
            first[key] = line
            self.document.place((*path, key), line)
            mapping[key] = self.build(value_node, (*path, key), depth + 1)
        if "<<" in mapping:
            merged = mapping.pop("<<")
            parts = merged if isinstance(merged, list) else [merged]
            every = {k: v for part in reversed(parts) if isinstance(part, dict) for k, v in part.items()}
            left = {key: value for key, value in every.items() if key not in mapping}
            hint = f"write its entries out: {flow(left)[1:-1]}" if left else "leave it out"
            self.document.add(Fault("'<<' merges no other mapping here", first["<<"], hint))
        return mapping

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        kind, text = node.tag.removeprefix(_TAG), node.value
        try:
            return _scalar(kind, text)
        except (ValueError, KeyError):
            known = "allowed: text, integers within 64 bits, floats, true, false, null"
            short = text if len(text) <= 40 else f"{text[:37]}..."
            self.document.fault(path, f"{short!r} cannot be read as {kind}", known)
            return None


def _scalar(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()]
    number = text.replace("_", "")
    if kind == "int":
        value = int(number)
        if not -(2**63) <= value < 2**63:
            raise ValueError(text)
        return value
    if kind == "float":
        return float(re.sub(r"\.(inf|nan)$", r"\1", number.lower()))
    raise KeyError(kind)
