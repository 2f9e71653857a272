"""A diagonal linear net on a sparse task: delayed generalization (grokking) with exact laws."""
