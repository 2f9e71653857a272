"""Ray Tune as an executor. Nothing outside this folder imports ray."""

from swingby.run.deal import RETRIES
from swingby.run.tune.session import Standby, try_ray, version
from swingby.run.tune.trials import run_tune

__all__ = ["RETRIES", "Standby", "run_tune", "try_ray", "version"]
