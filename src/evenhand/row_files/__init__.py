"""The one place that knows CSV, JSON and parquet: `rows` reads a file whole, `records` one of any size bit by bit.

What columns mean is their readers' to know.
"""

from evenhand.row_files.rows import Rows, as_text, read_rows

__all__ = ["Rows", "as_text", "read_rows"]
