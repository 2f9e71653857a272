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

from swingby_sweeps.dynamics.metrics.arrays import FeaturesWarning as FeaturesWarning
from swingby_sweeps.dynamics.metrics.collapse import Collapse as Collapse
from swingby_sweeps.dynamics.metrics.collapse import collapse as collapse
from swingby_sweeps.dynamics.metrics.collapse import collapses as collapses
from swingby_sweeps.dynamics.metrics.learned import Kappa as Kappa
from swingby_sweeps.dynamics.metrics.learned import kappa as kappa
from swingby_sweeps.dynamics.metrics.learned import kappas as kappas
from swingby_sweeps.dynamics.metrics.learned import learned_space as learned_space
from swingby_sweeps.dynamics.metrics.limits import COLLAPSED as COLLAPSED
from swingby_sweeps.dynamics.metrics.limits import CONTAINED as CONTAINED
from swingby_sweeps.dynamics.metrics.limits import MINIMUM as MINIMUM
from swingby_sweeps.dynamics.metrics.measure import COLUMNS as COLUMNS
from swingby_sweeps.dynamics.metrics.measure import Metrics as Metrics
from swingby_sweeps.dynamics.metrics.measure import as_columns as as_columns
from swingby_sweeps.dynamics.metrics.measure import measure as measure
from swingby_sweeps.dynamics.metrics.measure import measures as measures
from swingby_sweeps.dynamics.metrics.recorded import LastLayer as LastLayer
from swingby_sweeps.dynamics.metrics.spectrum import Spectrum as Spectrum
from swingby_sweeps.dynamics.metrics.spectrum import adjusted as adjusted
from swingby_sweeps.dynamics.metrics.spectrum import effective_dimension as effective_dimension
from swingby_sweeps.dynamics.metrics.spectrum import spectrum as spectrum
