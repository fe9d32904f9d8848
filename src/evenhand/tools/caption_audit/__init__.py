"""Why models may be biased: gender terms in the texts that they are trained on (Jiang et al., section 6)."""
