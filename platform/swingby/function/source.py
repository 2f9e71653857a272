"""The source of an experiment that is a function: its file, the files beside it that it imports, and their hash."""

from __future__ import annotations

import ast
import base64
import hashlib
import inspect
import os
import shutil
import sys
import textwrap
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self

from swingby.errors import SwingbyError
from swingby.model.code import digest_of, is_installed
from swingby.model.needed import file_of

MOST_BYTES = 2_000_000
"""Bytes of data files that travel with the code, in a plan."""
LOCAL = {"folder", "large"}
"""Fields of a source that are of the machine where it was read."""
LONGEST_NAME = 200
"""Characters of a text in the code that is looked up as the name of a file."""


@dataclass(frozen=True)
class Source:
    """Where a function is defined, with the text of every file of its own that it needs.

    Attributes:
        file: the file that defines it, relative to its folder; "" for a function of a notebook or a prompt.
        function: its name there.
        files: path relative to the folder -> text, of the file and of the local modules that it imports, directly or
            through others; of a notebook's function, its own text under "".
        digest: 16 hexadecimal digits, the start of the SHA-256 of these texts without comments and layout.
        data: path relative to the folder -> content in base64, of the data files beside the code that it names. They
            travel with it, and a change of one is a change of the code.
        folder: the folder of the file, where it was read; not part of what it is.
        large: data files that it names, and that are too large to travel; not part of what it is.
    """

    file: str
    function: str
    files: Mapping[str, str]
    digest: str
    data: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    large: tuple[str, ...] = ()

    @classmethod
    def of_file(cls, path: Path, function: str, declared: Collection[str] = ()) -> Self:
        """The source of a function in a file.

        Args:
            declared: names of data files that it reads, relative to its folder; patterns such as `data/*.csv`, too.

        Raises:
            SwingbyError: a file cannot be read as Python, or a declared one is not there or too large; names it.
        """
        files = local_files(path)
        data, large = data_files(path.parent, files, declared)
        digest = digest_of(files)
        if data:
            content = "".join(f"\0{name}\0{text}" for name, text in sorted(data.items()))
            digest = hashlib.sha256(f"{digest}{content}".encode()).hexdigest()[:16]
        return cls(path.name, function, files, digest, data, str(path.parent.resolve()), large)

    def to_json(self) -> dict[str, Any]:
        """The source as plain JSON values, without the keys in LOCAL."""
        plain = {name: value for name, value in asdict(self).items() if name not in LOCAL}
        return plain if self.data else {name: value for name, value in plain.items() if name != "data"}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Self:
        """From plain JSON values.

        Raises:
            KeyError: something is missing.
        """
        fields = {"data": {}, **value}
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__ if name not in LOCAL})

    def write(self, folder: Path) -> Path:
        """Writes the files below a folder of a cache, but those that are there; gives the path of the file.

        Bytecode that is there goes: Python trusts what a power cut may have torn.
        """
        content = {name: text.encode() for name, text in self.files.items()}
        content |= {name: base64.b64decode(text) for name, text in self.data.items()}
        for name, data in content.items():
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts:
                raise SwingbyError(f"the source {name!r} of {self.function!r} leaves its folder")
            path = folder / place
            shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
            if not path.is_file() or path.read_bytes() != data:
                make_way(path)
                temporary = path.with_name(f".{path.name}.{id(self)}.{os.getpid()}")
                temporary.write_bytes(data)
                temporary.replace(path)
        return folder / self.file


def make_way(path: Path) -> None:
    """Makes the folders above a file of a cache, any of which may be gone, torn or of another kind at any time.

    Whatever else lies there, or in the file's own place, is removed.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)  # another worker may do the same now
    for folder in path.parents:
        if folder.is_dir():
            break
        # One above it is a file, which goes next; or another worker has just made the folder.
        with suppress(NotADirectoryError, IsADirectoryError):
            folder.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def data_files(
    folder: Path, files: Mapping[str, str], declared: Collection[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The data files beside the code: those that are declared, and those whose names stand in the code as texts.

    Returns:
        name -> content in base64; and the names of those that stand in the code and are too large to travel.

    Raises:
        SwingbyError: a declared one is not there, or they are too large to travel.
    """
    chosen, large = dict[str, Path](), list[str]()
    for name in declared:
        matches = sorted(path for path in folder.glob(name) if path.is_file())
        if not matches:
            raise SwingbyError(f"files names {name!r}, and {folder} has no such file")
        chosen |= {path.relative_to(folder).as_posix(): path for path in matches}
    total = sum(path.stat().st_size for path in chosen.values())
    if total > MOST_BYTES:
        raise SwingbyError(
            f"files have {total:,} bytes; at most {MOST_BYTES:,} travel with the code: give the path of a larger one, "
            "on a disk that all machines see, by a parameter"
        )
    for text in sorted({text for code in files.values() for text in texts_in(code)}):
        place = PurePosixPath(text)
        if place.is_absolute() or ".." in place.parts or place.suffix in (".py", ".pyc") or text in chosen:
            continue
        path = folder / place
        with suppress(OSError, ValueError):
            if not path.is_file():
                continue
            if total + path.stat().st_size > MOST_BYTES:
                large.append(place.as_posix())
                continue
            chosen[place.as_posix()], total = path, total + path.stat().st_size
    return {name: base64.b64encode(path.read_bytes()).decode() for name, path in chosen.items()}, tuple(large)


def texts_in(code: str) -> Iterator[str]:
    """The texts in a file of Python that may be names of files."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if 0 < len(text) <= LONGEST_NAME and text.isprintable() and text.strip("./") and "." in text:
                yield text


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
        todo += [module_file for module in imported(tree, name) for module_file in modules_at(folder, module)]
    return files


def imported(tree: ast.Module, name: str) -> list[str]:
    """The dotted names that a file may import from its own folder; `name` is the file's path relative to that."""
    package = PurePosixPath(name).parent.parts
    modules: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join([*above, *([node.module] if node.module else [])])
            modules += [stem, *(f"{stem}.{alias.name}".lstrip(".") for alias in node.names)]
    return [module for module in modules if module]


def modules_at(folder: Path, module: str) -> list[Path]:
    """The files of a module and of the packages that it lies in, if they are in this folder."""
    parts, files = module.split("."), list[Path]()
    for count in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:count])
        files += [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]
    return files


def unseen_modules(source: Source, names: Collection[str]) -> list[str]:
    """Which of these modules, by their names, are the user's and not in the source: the names, of a package its own.

    So are those that a function imports once it runs. They lie outside the folder of the code: they do not travel with
    it, and a change of one is not noticed.
    """
    known = {(Path(source.folder) / name).resolve() for name in source.files}
    files = {name: getattr(sys.modules.get(name), "__file__", None) or "" for name in names}
    for name in {
        module.partition(".")[0] for text in source.files.values() for module in imported(ast.parse(text), "")
    }:
        files.setdefault(name, file_of(name))
    paths = {name: Path(file).resolve() for name, file in files.items() if file.endswith(".py")}
    unseen = {name for name, path in paths.items() if path not in known and not is_installed(path)}
    return sorted(name for name in unseen if not any(name.startswith(f"{other}.") for other in unseen))


def source_of(function: Callable[..., Any], declared: Collection[str] = ()) -> Source:
    """The code of a function: that of its file, or, in a notebook, its own text.

    Args:
        declared: as of `Source.of_file`.
    """
    file = Path(inspect.getsourcefile(function) or "")
    if file.is_file() and "<locals>" not in function.__qualname__:  # of a script that is run, too: others load the file
        return Source.of_file(file, function.__name__, declared)
    return own_source(function)


def own_source(function: Callable[..., Any]) -> Source:
    """The code of a function that no file offers to other processes: its own text."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        digest = digest_of({"": text})
    except (OSError, TypeError, SyntaxError):
        text, digest = "", uuid.uuid4().hex[:16]
    return Source("", function.__name__, {"": text}, digest)
