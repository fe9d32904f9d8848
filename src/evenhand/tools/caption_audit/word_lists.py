"""The words that are counted, as Jiang et al. print them."""

from __future__ import annotations

# Table A2.
MALE = (
    "he", "son", "his", "him", "father", "man", "boy", "himself", "male", "brother", "sons", "fathers", "men", "boys",
    "males", "brothers", "uncle", "uncles", "nephew", "nephews",
)  # fmt: skip
FEMALE = (
    "she", "daughter", "hers", "her", "mother", "woman", "girl", "herself", "female", "sister", "daughters", "mothers",
    "women", "girls", "females", "sisters", "aunt", "aunts", "niece", "nieces",
)  # fmt: skip

# Table 1, in the words of Table A9: an attractive person is "attractive" there, a person cleaning is "cleaning".
OCCUPATIONS = (
    "pilot", "firefighter", "software developer", "chef", "nurse", "housekeeper", "therapist", "cook", "taxi driver",
    "flight attendant",
)  # fmt: skip
DESCRIPTORS = (
    "attractive", "exotic", "poor", "terrorist", "thug", "cleaning", "stealing", "seductive", "emotional", "illegal",
)  # fmt: skip
INSTANCES = {"occupation": OCCUPATIONS, "descriptor": DESCRIPTORS}
