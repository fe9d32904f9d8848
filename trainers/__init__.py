"""evenhand.trainers: train checkpoints. One mapping names all trainers; packages add theirs as entry points."""

from evenhand.plugins import Registry
from evenhand.trainers.rewards import bias_prompts, bias_reward

__all__ = ["TRAINERS", "bias_prompts", "bias_reward"]

TRAINERS = Registry(
    "trainer",
    "evenhand.trainers",
    {
        "agency": "evenhand.language_agency.trainer:AgencyTrainer",
        "expected-score": "evenhand.trainers.expected_score:ExpectedScoreTrainer",
        "implicit-bias": "evenhand.trainers.implicit_bias:ImplicitBiasTrainer",
        "preference": "evenhand.trainers.preference:PreferenceTrainer",
        "reward": "evenhand.trainers.reward:RewardTrainer",
        "social-contact": "evenhand.trainers.social_contact:SocialContactTrainer",
    },
)
