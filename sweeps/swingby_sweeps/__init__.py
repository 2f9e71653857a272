"""The experiments that come with swingby, a package each, and metrics of features for experiments of users."""

from swingby.model.package import Package

PACKAGE = Package(metrics={"features": "dynamics.metrics:LastLayer"})
