"""The phase diagrams of the page of findings, in its order: their headings, maps and lines of theory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swingby_analysis.grid import Grid, GridLine
from swingby_analysis.statements.diagram import Diagram, Lines, Map, none

REGIME = Map("generalization", "category", "When the runs generalise", "most common outcome")
DELAY = Map(
    "delay",
    "median",
    "How long the test accuracy lags behind",
    "median of test epoch / training epoch",
    "The colour of a tile is the median of the epoch at which the test accuracy has arrived over that of the training "
    "accuracy, over the runs that generalise; tiles without colour have fewer than two of them.",
    fewest=2,
)
TEST = Map("final_test_accuracy", "median", "Test accuracy at the end", "median test accuracy")
PROMPT = Map("generalization = prompt", "share", "Where runs generalise at once", "generalises at once")
GROKS = Map("generalization = grokked", "share", "Where runs grok", "groks")
LEARNED = "final_train_accuracy >= 0.9"
OF_LEARNED = (
    "The colour of a tile is the median over the runs that learn their labels (training accuracy 0.9 or more); tiles "
    "without colour have none: features of an output that weight decay has shrunk to a constant say nothing."
)
KAPPA = Map("final_kappa", "median", "kappa of the features at the end", "median kappa", OF_LEARNED, LEARNED)
DIMENSION = Map(
    "final_d_eff", "median", "Effective dimension of the features at the end", "median D_eff", OF_LEARNED, LEARNED
)
FITTED = Map("final_train_accuracy", "median", "Training accuracy at the end", "median training accuracy")


def as_large(resolved: Mapping[str, Any], grid: Grid) -> list[GridLine]:
    """Where the target is as large as the net's first outputs (`theory.target_ratio` = 1), over weight scale."""
    common, weights = resolved["common"], grid.x.positions
    if grid.rows_axis.name == "target_scale":
        edge = [common["output_scale"] * weight for weight in weights]
    else:
        edge = [common["target_scale"] / weight for weight in weights]
    corners = zip(weights, edge, strict=True)
    return [GridLine.through("target = output scale x weight scale", corners).inside(grid)]


def _diagram(slug: str, heading: str, lines: Lines = none, maps: tuple[Map, ...] = (REGIME, DELAY, TEST)) -> Diagram:
    return Diagram("mlp_regimes", slug, heading, maps, lines)


def _fine(slug: str, against: str, lines: Lines = none) -> Diagram:
    """A refined grid: few cells lie far from its boundaries, so that maps of shares show the surface fitted to them."""
    return _diagram(f"{slug}-fine", f"{against}: the boundaries, refined", lines, (PROMPT, GROKS, REGIME, DELAY))


DIAGRAMS: tuple[Diagram, ...] = (
    _diagram("weight-target", "Weight scale against target scale: how long generalisation takes", as_large),
    _fine("weight-target", "Weight scale against target scale", as_large),
    _diagram("weight-output", "Weight scale against output scale: how long generalisation takes", as_large),
    _fine("weight-output", "Weight scale against output scale", as_large),
    _diagram("weight-decay", "Weight scale against L2: how long generalisation takes"),
    _fine("weight-decay", "Weight scale against L2"),
    _diagram("weight-points", "Weight scale against training points: how long generalisation takes"),
    _fine("weight-points", "Weight scale against training points"),
    _diagram("labels-decay", "Random labels against L2: which features are left", maps=(KAPPA, DIMENSION, FITTED)),
)
