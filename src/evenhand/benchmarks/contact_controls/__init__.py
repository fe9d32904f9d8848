"""Questions that tell less bias under intergroup contact from a learned polarity."""
