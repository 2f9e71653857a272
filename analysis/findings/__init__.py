"""What the project's own phase diagrams show: sentences that queries decide, beside the diagrams, on one page."""
