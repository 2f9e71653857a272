"""The source of an experiment that is a function: its file, the files beside it that it imports, and their hash."""

from __future__ import annotations

import ast
import inspect
import textwrap
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

from swingby.errors import SwingbyError
from swingby.model.code import digest_of


@dataclass(frozen=True)
class Source:
    """Where a function is defined, with the text of every file of its own that it needs.

    Attributes:
        file: the file that defines it, relative to its folder; "" for a function of a notebook or a prompt.
        function: its name there.
        files: path relative to the folder -> text, of the file and of the local modules that it imports, directly or
            through others; of a notebook's function, its own text under "".
        digest: 16 hexadecimal digits, the start of the SHA-256 of these texts without comments and layout.
        folder: the folder of the file, where it was read; not part of what it is.
    """

    file: str
    function: str
    files: Mapping[str, str]
    digest: str
    folder: str = ""

    @classmethod
    def of_file(cls, path: Path, function: str) -> Self:
        """The source of a function in a file.

        Raises:
            SwingbyError: a file cannot be read as Python; names its place.
        """
        files = local_files(path)
        return cls(path.name, function, files, digest_of(files), folder=str(path.parent.resolve()))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {name: value for name, value in asdict(self).items() if name != "folder"}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Self:
        """From plain JSON values.

        Raises:
            KeyError: something is missing.
        """
        return cls(**{name: value[name] for name in cls.__dataclass_fields__ if name != "folder"})

    def write(self, folder: Path) -> Path:
        """Writes the files below a folder, those that are there already left alone; gives the path of the file."""
        for name, text in self.files.items():
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts:
                raise SwingbyError(f"the source {name!r} of {self.function!r} leaves its folder")
            path = folder / place
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary = path.with_name(f".{path.name}.{id(self)}")
                temporary.write_text(text, encoding="utf-8")
                temporary.replace(path)
        return folder / self.file


def local_files(path: Path) -> dict[str, str]:
    """A file and the modules in its folder, or below, that it imports, directly or through each other.

    Raises:
        SwingbyError: one of them is no Python; names the line.
    """
    folder, files, todo = path.parent, dict[str, str](), [path]
    while todo:
        file = todo.pop()
        name = file.relative_to(folder).as_posix()
        if name in files:
            continue
        try:
            files[name] = file.read_text(encoding="utf-8")
            tree = ast.parse(files[name], filename=str(file))
        except SyntaxError as error:
            raise SwingbyError(f"{file}, line {error.lineno}: {error.msg}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise SwingbyError(f"{file} cannot be read: {error}") from None
        todo += [found for module in imported(tree, name) for found in modules_at(folder, module)]
    return files


def imported(tree: ast.Module, name: str) -> list[str]:
    """The dotted names that a file may import from its own folder; `name` is the file's path relative to that."""
    package = PurePosixPath(name).parent.parts
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*above, *([node.module] if node.module else [])])
            found += [stem, *(f"{stem}.{alias.name}".lstrip(".") for alias in node.names)]
    return [module for module in found if module]


def modules_at(folder: Path, module: str) -> list[Path]:
    """The files of a module and of the packages that it lies in, if they are in this folder."""
    parts, found = module.split("."), list[Path]()
    for count in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:count])
        found += [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
    return found


def source_of(function: Callable[..., Any]) -> Source:
    """The code of a function: that of its file, or, in a notebook, its own text."""
    file = Path(inspect.getsourcefile(function) or "")
    if file.is_file() and "<locals>" not in function.__qualname__:  # of a script that is run, too: others load the file
        return Source.of_file(file, function.__name__)
    return own_source(function)


def own_source(function: Callable[..., Any]) -> Source:
    """The code of a function that no file offers to other processes: its own text."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        digest = digest_of({"": text})
    except (OSError, TypeError, SyntaxError):
        text, digest = "", uuid.uuid4().hex[:16]
    return Source("", function.__name__, {"": text}, digest)
