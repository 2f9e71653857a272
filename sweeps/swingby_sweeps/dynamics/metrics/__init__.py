"""Metrics of the features that a last layer reads: how far they are the minimum that the learned function needs, how
many are used, and how far they have collapsed to one point a class.

`measure` takes features, outputs and labels of a sample and gives every number; the functions beside it give single
ones. Arrays are those of numpy, torch or jax, of any float type; everything is computed in float64. A quantity that a
sample does not have is None, never nan, and `Metrics.reasons` says why.

Sources: Kornblith et al. (2019) for CKA; Cristianini et al. (2001) for kernels beside targets;
Canatar, Bordelon and Pehlevan (2021) for the share of a target that eigenfunctions express; Roy and Vetterli (2007)
for the effective dimension; Papyan, Han and Donoho (2020) for neural collapse; Galanti, Gyorgy and Hutter (2022) for
the CDNV.
"""

from .arrays import FeaturesWarning as FeaturesWarning
from .collapse import Collapse as Collapse
from .collapse import collapse as collapse
from .collapse import collapses as collapses
from .learned import Kappa as Kappa
from .learned import kappa as kappa
from .learned import kappas as kappas
from .learned import learned_space as learned_space
from .limits import COLLAPSED as COLLAPSED
from .limits import CONTAINED as CONTAINED
from .limits import MINIMUM as MINIMUM
from .measure import COLUMNS as COLUMNS
from .measure import Metrics as Metrics
from .measure import as_columns as as_columns
from .measure import measure as measure
from .measure import measures as measures
from .recorded import LastLayer as LastLayer
from .spectrum import Spectrum as Spectrum
from .spectrum import adjusted as adjusted
from .spectrum import effective_dimension as effective_dimension
from .spectrum import spectrum as spectrum
