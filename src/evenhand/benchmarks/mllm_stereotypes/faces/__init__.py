"""Pairs of faces that are alike but for gender or race, side by side: pictures of the vision modality (paper 004)."""
