"""Batch scripts and manifests, as text, that run a sweep on machines that SLURM or Kubernetes assigns."""
