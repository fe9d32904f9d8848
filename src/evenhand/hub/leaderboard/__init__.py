"""The leaderboard: results from many places in one table, as a static page and as a Gradio Space that shows it.

sources → places → records, checked → board (rows, columns, ranks) → page, CSV, Space

- **A source** is a folder or file here, or a repository of the Hub (`places.py`, `hub_places.py`). In it are run
  folders, records of Every Eval Ever (JSON), and `.eval_results` of model repositories (YAML). A run is read as the
  record that `evenhand submit` would make of it, so that both ways lead to the same cell; of `.eval_results` that
  evenhand wrote, the record beside them is read.
- **A record** (`records.py`) is one figure of one model. `checking.py` refuses what has the wrong form or range, is no
  number, is dated later than today, contradicts evenhand's own `Figure` of that name, or whose names hold characters
  that can't be seen.
  Runs with --limit, rehearsals and stubs are refused as by `submit`. Each refusal is said, with its reason, and in
  refused.csv; nothing that is read stops the rest.
- **Duplicates**: a model has one result in a column. Of several, the one of the source named first stands; within a
  source the youngest, then the first by path. The others are refused as duplicates. So sources are named in the order
  in which they are trusted.
- **A column** is a figure under one setting: benchmark, task, metric, dataset with its version, protocol and whatever
  else decides what is asked or how it is read, and the library that did. What differs in any of these stands in
  another column, and is never ranked together. Seeds, dtypes and a model's commit don't part columns.
- **A row** is a model, or a model under a mitigation, whose base is the model itself. Debiased models name their
  base.
- **Ranks** are ranges (`ranks.py`): of all models that can't be told apart each has all their ranks.
- **The page** (`page.py`, templates/) is one HTML file that asks nobody for anything: tables that stand there without
  JavaScript, to which a small script adds sorting and filters. The Space's app.py shows the same file.
"""
