"""Which sentences are agentic and which communal: classifiers, lexicon, training and judging (LABE, LAC)."""
