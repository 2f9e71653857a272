"""Unconstrained features: last-layer features as free parameters, W H on one-hot labels, with weight decay."""
