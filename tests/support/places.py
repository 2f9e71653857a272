"""Folders of the checkout that tests name: the root, and the packages of experiments that tests install."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SUPPORT = Path(__file__).parent
TOY = SUPPORT / "toy_experiment"
MISBEHAVING = SUPPORT / "misbehaving_experiment"
BARE = SUPPORT / "bare_experiment"
IMAGES = SUPPORT / "image_experiment"
