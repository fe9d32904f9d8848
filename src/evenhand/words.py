"""Names of columns, groups and figures as people say them: "body type", not `body_type`. Once, for all that is shown.

Only what stands here is said otherwise: a model or a file may have any name, and keeps it.
"""

from __future__ import annotations

import re

# Groups and situations in the datasets, then keys of the metrics' results.
_SPOKEN = """
body_type gender_and_sex political_ideologies sexual_orientation socioeconomic_class
equal_group_status common_goals intergroup_cooperation support_of_authorities extended_contact virtual_contact
no_contact positive_contact negative_contact counter_examples
law_enforcement team_dynamics media_and_movies planning_and_development
professor_review reference_letter
disability_status gender_identity physical_appearance

biased_percentage contact_effect worst_case best_case position_sensitivity unread_rate
bias_score anti_stereotypical above_chance tie_rate chance_score selection_rates association_score agency_gap
gender_variance race_variance intersectional_variance gender_difference gender_difference_by_race
"""
_OTHERWISE = {
    "race_ethnicity": "race and ethnicity",
    "ambig": "ambiguous",
    "disambig": "disambiguated",
    "race_x_ses": "race by socioeconomic status",
    "race_x_gender": "race by gender",
    **{
        f"{scenario}_{of}": f"{scenario}, {of}"
        for scenario in ("occupation", "descriptor", "persona")
        for of in ("gender", "race")
    },
}
WORDS = {name: name.replace("_", " ") for name in _SPOKEN.split()} | _OTHERWISE
_NAMES = re.compile(
    # not within a path or a longer name
    rf"(?<![\w./:@\\-])(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})(?![\w/@=-]|[.:]\w)"
)


def in_words(text: str) -> str:
    """The text with each of these names in words: 'certainty, no_contact' is 'certainty, no contact'."""
    return _NAMES.sub(lambda name: WORDS[name[0]], text)
