"""CSV, JSON and parquet: `rows` reads a file whole, `records` one of any size record by record."""

from evenhand.row_files.rows import Rows, as_text, read_rows

__all__ = ["Rows", "as_text", "read_rows"]
