"""The code of functions on its way: from the driver into a plan, and from there into the processes that train."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment
from swingby.function.load import loaded
from swingby.function.source import Source
from swingby.model import registry
from swingby.model.code import folder_of
from swingby.model.experiment import Experiment

KEY = "code"
"""Where a plan's provenance has the code of its experiment."""
NOTEBOOK = (
    "{}() is defined in a notebook or at a prompt, and can be trained in that process only: run it with local=True, or "
    "write it into a file"
)
FOLDER = "code_folder"
"""Where it has the folder that this code came from."""


def sent_with(experiment: Experiment, elsewhere: bool) -> dict[str, Any]:
    """What a plan's provenance has of an experiment's code, and where it lay; nothing of an installed one.

    Args:
        elsewhere: whether other processes train it.

    Raises:
        SwingbyError: other processes cannot have a function of a notebook.
    """
    if not isinstance(experiment, FunctionExperiment) or experiment.source is None or folder_of(experiment.name):
        return {}
    source = experiment.source
    if not source.file and elsewhere:
        raise SwingbyError(NOTEBOOK.format(source.function))
    return {KEY: source.to_json(), **({FOLDER: source.folder} if source.folder else {})}


def take(provenance: Mapping[str, Any], folder: Path) -> None:
    """Makes the experiment whose code came with a plan known to this process.

    Args:
        folder: where its files are written if need be.

    Raises:
        SwingbyError: its code cannot be loaded here.
    """
    if KEY not in provenance:
        return
    source = Source.of_json(provenance[KEY])
    of = registry.adopted(source.digest)
    if of is None:
        if not source.file:
            raise SwingbyError(NOTEBOOK.format(source.function))
        registry.adopt(loaded(source, folder))
