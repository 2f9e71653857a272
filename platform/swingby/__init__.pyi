from swingby.api import Results as Results
from swingby.api import Store as Store
from swingby.api import Sweep as Sweep
from swingby.function.experiment import experiment as experiment
from swingby.model.experiment import Column as Column
from swingby.model.params import Matrix as Matrix
from swingby.model.params import Vector as Vector

__version__: str
