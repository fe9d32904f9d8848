"""Social Contact Debiasing (Raj et al. 2024): tuning on the unbiased answers of the benchmark's own questions."""
