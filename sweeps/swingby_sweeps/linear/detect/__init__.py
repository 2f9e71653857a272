"""Detectors of regression on fixed features: what overfitting does, how far theory is off, and what is learned when."""
