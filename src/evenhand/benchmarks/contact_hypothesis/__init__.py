"""Social bias under intergroup contact (Raj et al.)."""
