"""Recorded results of the sweeps on diffusion that take hours, one file a sweep, with every curve and sample.

Written by `swingby pack figure-6-small learning-order --whole --out sweeps/diffusion/recorded`. `swingby report` and
`swingby claims` read them where a sweep was never run, and say so. If a sweep or its experiment changes, its file has
to be written anew.
"""
