"""Joining a cluster: what travels with a run, and whether every machine can take part in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swingby.errors import SwingbyError
from swingby.run.ray.machines import Code, check, look, needed
from swingby.run.ray.wheels import make_wheel

INSTALL_SECONDS = 300
"""How long a machine may take to install what travels with a run."""


def luggage(code: Code, folder: Path) -> dict[str, Any]:
    """What every worker of a run gets: wheels of the code, where it travels, and a folder of its own to work in.

    Without that folder Ray would put this process's on the workers' path, and a checkout's folders before the wheel.
    """
    (folder / "empty").mkdir()
    (folder / "empty" / "README").write_text("Workers of swingby start here; there is nothing in it.\n")
    env: dict[str, Any] = {"working_dir": str(folder / "empty"), "config": {"setup_timeout_seconds": INSTALL_SECONDS}}
    if code.comes == "wheel":
        env["py_modules"] = [str(make_wheel(package, folder)) for package in code.packages().values()]
    return env


def check_machines(code: Code, mark: Path | None, data: Path) -> None:
    """Asks every machine what it has, and whether it sees a folder in the data folder, if there is one to see.

    Raises:
        SwingbyError: one cannot take part, or does not say.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    asked, arguments = {}, (list(code.packages()), needed(code), None if mark is None else str(mark))
    for node in ray.nodes():
        if node["Alive"] and (node["Resources"].get("CPU") or node["Resources"].get("GPU")):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, node {node['NodeID'][:8]})"
            asked[name] = (
                ray.remote(look).options(num_cpus=0, max_retries=0, scheduling_strategy=there).remote(*arguments)
            )
    check(code, look(*arguments), {name: _answer(name, said) for name, said in asked.items()}, data)


def _answer(name: str, said: Any) -> Any:
    """What a machine says."""
    import ray
    from ray.exceptions import RayError, RuntimeEnvSetupError

    try:
        return ray.get(said, timeout=2 * INSTALL_SECONDS)
    except RuntimeEnvSetupError as error:
        raise SwingbyError(
            f"machine {name} cannot install the code: {_last(error)}. Ray runs `pip` there, so the PATH that its "
            "Ray was started with has to lead to one; or install the code there, and say --code installed"
        ) from error
    except (RayError, TimeoutError) as error:
        raise SwingbyError(f"machine {name} does not say whether it has the code: {_last(error)}") from error


def _last(error: Exception) -> str:
    """The last line that is not blank: there Ray puts the reason."""
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__)
