"""Why models may be biased: gender terms in the texts that they are trained on (paper 004, section 6)."""
