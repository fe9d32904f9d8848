"""The pictures of this dataset, drawn by code: persona images and placeholders for faces."""
