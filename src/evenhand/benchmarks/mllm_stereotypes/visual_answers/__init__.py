"""What a multimodal model answered: a side, a box or a social group, read surely or not at all.

Pure functions for the answers that "Measuring Stereotypical Bias in Multi-modal Large Language Models" parses
(sections 3.1 and 3.2, Appendix A). They accept any text, in time linear in its length; None is unread.
"""

from evenhand.benchmarks.mllm_stereotypes.visual_answers.boxes import read_box
from evenhand.benchmarks.mllm_stereotypes.visual_answers.sides import read_position, read_side
from evenhand.benchmarks.mllm_stereotypes.visual_answers.social_terms import read_social_term

__all__ = ["read_box", "read_position", "read_side", "read_social_term"]
