"""Pictures of the 14 persona traits: painted, chosen (scripts/generate_persona_images.py) and read (Jiang et al.)."""

from evenhand.benchmarks.mllm_stereotypes.persona_images.reading import PersonaImage, PersonaImages, read_persona_images
from evenhand.benchmarks.mllm_stereotypes.persona_images.traits import PROMPTS, TRAITS

__all__ = ["PROMPTS", "TRAITS", "PersonaImage", "PersonaImages", "read_persona_images"]
