"""The names of what can be asked: three scenarios of Jiang et al., each for gender and for race."""

from evenhand.benchmarks.mllm_stereotypes.faces.face import GROUPS

DATASET = "mllm_stereotypes"
SPLIT = "test"
OF_FACES = tuple(f"{scenario}_{attribute}" for scenario in ("occupation", "descriptor") for attribute in GROUPS)
OF_PERSONAS = tuple(f"persona_{attribute}" for attribute in GROUPS)
CONFIGS = OF_FACES + OF_PERSONAS

REHEARSAL = "rehearsal"  # in place of a folder of faces: the placeholders
REHEARSAL_NOTE = "a rehearsal with placeholders for faces: it measures nothing, and nothing that publishes will take it"


def in_words(config: str) -> str:
    """ "occupation, gender" """
    return config.replace("_", ", ")
