"""Generate data with any model: agentic and communal sentences, scenarios of task assignment."""
