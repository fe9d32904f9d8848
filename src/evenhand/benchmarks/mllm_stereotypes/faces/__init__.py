"""Pairs of faces that are alike but for gender or race, side by side: the vision modality (Jiang et al.)."""
