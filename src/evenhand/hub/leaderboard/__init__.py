"""The leaderboard: results from many places in one table, as a static page and as a Gradio Space that shows it.

sources → records, checked → board (rows, columns, ranks) → page, CSV, Space

- **A source** is a folder or file here, or a repository of the Hub. It holds run folders and records of Every Eval Ever
  (JSON); `sources.py` finds them, `records.py` knows the format. A run is read as the record that `evenhand submit`
  would make of it, so that both lead to the same cell.
- **A record** (`records.py`) is one figure of one model. Its form is checked against `formats.schema.json`, and all
  else in one place (`check_record`). Runs with --limit, rehearsals and stubs are refused as by `submit`.
  Each refusal is reported with its reason, and is in refused.csv; none stops the rest.
- **Duplicates**: a model has one result in a column. Of several, that of the source named first stands; within a source
  the youngest, then the first by path. The others are refused as duplicates.
- **A column** is a figure under one setting: benchmark, task, metric, dataset with its version, protocol and whatever
  else decides what is asked or how it is read, and the library. What differs in any of these is in another column, and
  is never ranked together. Seeds, dtypes and a model's commit don't separate columns.
- **A row** is a model, or a model under a mitigation, whose base is the model itself. Debiased models name their base.
- **Ranks** are ranges (`ranks.py`): models that don't differ significantly share all their ranks.
- **The page** (`page.py`, templates/) is one HTML file that loads nothing: its tables need no JavaScript, a
  small script adds sorting and filters. The Space's app.py shows the same file (`writing.py`).
"""
