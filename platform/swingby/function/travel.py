"""The code of functions on its way: from the driver into a plan, and from there into the processes that train."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.function.experiment import FunctionExperiment, loaded, pickled
from swingby.function.source import Source
from swingby.model import registry
from swingby.model.experiment import Experiment

KEY = "code"
"""Where a plan's provenance has the code of its experiment."""
FOLDER = "code_folder"
"""Where it has the folder that this code came from."""


def sent_with(experiment: Experiment, elsewhere: bool) -> dict[str, Any]:
    """What a plan's provenance has of an experiment's code, and where it lay; nothing of an installed one.

    Args:
        elsewhere: whether other processes train it; a function of a notebook is then pickled.

    Raises:
        SwingbyError: a function of a notebook cannot be sent.
    """
    if not isinstance(experiment, FunctionExperiment) or experiment.source is None:
        return {}
    source = experiment.source
    if not source.file and elsewhere:
        source = pickled(experiment)
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
        if not source.file and not source.pickled:
            raise SwingbyError(f"{source.function}() of a notebook was not sent along; run it with local=True")
        registry.adopt(loaded(source, folder))
