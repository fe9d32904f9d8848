"""The case study among students (Borah & Mihalcea, appendix C)."""
