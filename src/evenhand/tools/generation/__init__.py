"""Generate data with any model: agentic and communal sentences."""
