"""Functions from finished tables to Altair charts; no database inside."""
