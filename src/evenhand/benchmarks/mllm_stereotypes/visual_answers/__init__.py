"""Read the side, box or social group that a multimodal model answers (Jiang et al., sections 3.1 and 3.2, Appendix A).

Each reader accepts any text, in time linear in its length. None means unread: the text is no simple answer.
"""

from evenhand.benchmarks.mllm_stereotypes.visual_answers.boxes import read_box
from evenhand.benchmarks.mllm_stereotypes.visual_answers.sides import read_side
from evenhand.benchmarks.mllm_stereotypes.visual_answers.social_terms import read_social_term

__all__ = ["read_box", "read_side", "read_social_term"]
