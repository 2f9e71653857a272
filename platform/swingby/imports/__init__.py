"""Imports: runs that were trained elsewhere, in CSV, Parquet or JSON files, become cells of a data folder.

An imported experiment is known by its declaration only, as readers know one that is a function: it has no code, and
nothing of it can be trained. Its cells are marked as imported, and everything that reads results reads them.
"""
