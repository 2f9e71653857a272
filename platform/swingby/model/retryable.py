"""Errors of machines, told apart from those of the cells that they strike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from swingby.model.process_group import LostWorkerError, SpoiledError


@contextmanager
def retryable(probe: Callable[[], object]) -> Iterator[None]:
    """Raise errors of a GPU or of another process, inside the block, as errors that another attempt may mend.

    The platform does not import torch: it knows torch's errors by the names of their classes.

    Args:
        probe: asks the GPU of this process for an answer, and raises RuntimeError where the answer is an error. It is
            called after errors that name no GPU: libraries raise their own in the place of the GPU's.

    Raises:
        SpoiledError: the GPU answers this process with an error from now on, whatever it is asked (after an
            uncorrectable error of memory, say, or an access to memory that is not there).
        LostWorkerError: another process is gone, or does not answer in time; or a port was taken meanwhile.
    """
    try:
        yield
    except RuntimeError as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "OutOfMemoryError" in kinds:
            raise
        # The first line of the message, without the place in a library's source, and without advice.
        first = (str(error).splitlines() or [type(error).__name__])[0]
        reason = re.sub(r"^\[[^]]*] ", "", first).split(". This is typically")[0]
        if "DistError" in kinds or "/gloo/" in str(error):
            raise LostWorkerError(f"the processes lost each other: {reason}") from error
        if "AcceleratorError" in kinds or not _answers(probe):
            raise SpoiledError(f"this process cannot use its GPU any more: {reason}") from error
        raise


def _answers(probe: Callable[[], object]) -> bool:
    try:
        probe()
    except RuntimeError:
        return False
    return True
