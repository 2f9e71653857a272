"""Experiments loaded from the files that define them, in this process."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.function.faults import in_one_line, is_users
from swingby.function.source import Source, modules_at, unseen_modules
from swingby.model.ending import is_its_own, without_exit


def loaded(source: Source, folder: Path) -> FunctionExperiment:
    """The experiment of a source in this process; its files are written below the folder first.

    Raises:
        SwingbyError: it cannot be loaded.
    """
    path = source.write(folder / source.digest)
    return _found_in(_load_file(path, source.digest), path, source.function)


def from_file(path: Path, function: str | None = None) -> FunctionExperiment:
    """The experiment in a Python file; `function` names one of several.

    Raises:
        SwingbyError: no such file, it raises, or it has no such experiment.
    """
    if not path.is_file():
        raise SwingbyError(f"no file {path}")
    source, before = Source.of_file(path, function or ""), dict(sys.modules)
    module = _load_file(path, source.digest)
    experiment = _found_in(module, path, function)
    if before.get(module.__name__) is not module and experiment.source is not None:
        more = sys.modules.keys() - before.keys() - {module.__name__}
        experiment.unseen = tuple(unseen_modules(experiment.source, more))
    return experiment


def _found_in(module: ModuleType, path: Path, function: str | None) -> FunctionExperiment:
    """The experiment of a module that was loaded from a file."""
    experiments = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionExperiment) and getattr(value.function, "__module__", None) == module.__name__
    }
    names = ", ".join(experiments) or "(none)"
    if function:
        match = experiments.get(function) or next((of for of in experiments.values() if of.name == function), None)
        if match is None:
            raise SwingbyError(f"{path} has no experiment {function!r}; its functions with @experiment: {names}")
        return match
    if len(experiments) != 1:
        say = f"write {path.name}:NAME" if experiments else "write @experiment above the function that trains"
        raise SwingbyError(f"{path} has {len(experiments)} experiments ({names}); {say}")
    return next(iter(experiments.values()))


def _load_file(path: Path, digest: str) -> ModuleType:
    """The module of a file, run in this process; the modules beside it can be imported by their names.

    Args:
        digest: of the source; a module that was loaded from the same source is given again, while its file is there:
            its data files lie beside it.

    Raises:
        SwingbyError: it raises; names the file and the line.
    """
    name = f"swingby_source_{path.stem}_{digest}"
    known = sys.modules.get(name)
    if known is not None and Path(known.__file__ or "").is_file():
        return known
    folder = str(path.parent.resolve())
    for other, module in list(sys.modules.items()):  # modules beside an earlier version of the file are others
        file = getattr(module, "__file__", None)
        if file and modules_at(Path(folder), other) and is_users(file, None):
            del sys.modules[other]
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SwingbyError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with without_exit():
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not is_its_own(error):
            raise
        raise SwingbyError(f"{path} cannot be loaded: {in_one_line(error, path.parent)}") from error
    return module
