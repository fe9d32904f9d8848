"""evenhand.trainers: TRL, accelerate and transformers trainers that make debiased checkpoints."""
