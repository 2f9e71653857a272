"""What training needs beyond what reading results needs, and the one line that says how to install it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from swingby.errors import SwingbyError


def lacking(modules: Mapping[str, str]) -> dict[str, str]:
    """Those of the modules that are not installed here, with what installs each."""
    return {name: source for name, source in modules.items() if not _is_there(name)}


def require(modules: Mapping[str, str], purpose: str, otherwise: str = "") -> None:
    """Refuses to go on where a module is not installed.

    Args:
        modules: top-level module -> what pip installs to have it, such as "swingby[run]".
        purpose: what needs them, such as "training walk".
        otherwise: another way to go on.

    Raises:
        SwingbyError: one line that names what is missing, and the command that installs it.
    """
    missing = lacking(modules)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        install = " ".join(f"'{source}'" for source in dict.fromkeys(missing.values()))
        raise SwingbyError(
            f"{purpose} needs {' and '.join(missing)}, which {verb} not installed here: pip install {install}"
            + (f"; {otherwise}" if otherwise else "")
        )


def file_of(module: str) -> str:
    """The file that a top-level module would be imported from; "" if there is none, or it has no file."""
    try:
        return getattr(find_spec(module), "origin", None) or ""
    except (ImportError, ValueError):
        return ""


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # one that is hidden, or half removed
        return False
