"""Texts out to people who label them, their labels back, and how far they agree."""
