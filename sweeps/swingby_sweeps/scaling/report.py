"""Contents of every report of a sweep over the multilinear model: its curves, and the outcomes that have maps."""

from __future__ import annotations

from swingby.model.reported import Curves, Reported

REPORT = Reported(
    companions=("exponent", "followed_law", "binds", "learned_share", "stages"),
    titles={"followed_law": "Which law the exponent follows", "binds": "Which resource binds"},
    curves=Curves(
        titles={"loss": "loss"},
        axis="loss",
        title="The loss along the curve",
        caption="The loss at single points of the grid",
        reading=(
            "Steps number the points of the curve, spaced evenly in the logarithm of the resource. Thick: the "
            "median over training sets; shaded: from 10 % to 90 % of them. Where nothing is random there is one curve."
        ),
    ),
)
