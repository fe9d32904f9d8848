"""Language agency bias (Wan & Chang)."""
