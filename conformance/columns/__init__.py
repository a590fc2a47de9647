"""Whole traces as columns: `insync.columns/1`, in Arrow or Parquet files.

`schema` says what the columns are; `writing` makes them of a trace, `judge` checks them, `magic`
knows such a file when it sees one, without loading anything.
"""
