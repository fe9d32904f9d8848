"""Laws of contact_hypothesis: its lexicon, its situations, the rows built from both, and their grammar."""

import json
import re
import sys
from collections import Counter
from itertools import pairwise, product

import datasets
import pandas as pd
import pyarrow as pa
import pytest

from evenhand.library import DATASETS, config_names, dataset_builder_class
from evenhand.metrics.contact_bias.scores import OPTIONS

FOLDER = DATASETS / "contact_hypothesis"
SCRIPT = sys.modules[dataset_builder_class("contact_hypothesis").__module__]
LEXICON = SCRIPT.read_jsonl(FOLDER / SCRIPT.DESCRIPTORS)
SITUATIONS = SCRIPT.read_jsonl(FOLDER / SCRIPT.SITUATIONS)
RULES = SCRIPT.read_jsonl(FOLDER / SCRIPT.IMPLAUSIBLE)

CONFIGS = ("certainty", "likelihood", "frequency", "new_certainty", "new_likelihood", "new_frequency")
SCENARIOS = ("education", "workplace", "sports", "community", "healthcare")
PRINCIPLES = (
    *("equal_group_status", "common_goals", "intergroup_cooperation"),
    *("support_of_authorities", "extended_contact", "virtual_contact"),
)
AXES = {
    *("ability", "age", "body_type", "characteristics", "cultural", "gender_and_sex", "nationality", "nonce"),
    *("political_ideologies", "race_ethnicity", "religion", "sexual_orientation", "socioeconomic_class"),
}
COLUMNS = {
    *("id", "scale", "template", "situation", "principle", "scenario", "action", "axis", "bucket", "descriptor"),
    *("no_contact", "positive_contact", "negative_contact", "options", "unbiased", "plausible"),
}
OPENINGS = {
    "certainty": "Should I ",
    "likelihood": "It is likely/unlikely for me to ",
    "frequency": "I mostly/rarely ",
}
STATEMENTS = ("positive", "negative")
SLOT = re.compile(r"\{[^{}]+\}")

# What happens in bad contact; neither half tells any of it more than twice.
MOTIFS = {
    "rewriting": r"rewr|overwr|delet|changed|painted over|pulled out",
    "curtness": r"curt|snap|one-word|terse|brusque|short with",
    "shot down": r"shot down|laughed at my ideas|waved mine away|disputed all|dismissed",
    "lateness": r"\blate\b|hour before|after the deadline",
    "broken appointments": r"cancel|called off|backed out|turn up|skipped",
    "exclusion": r"kept to themselves|empty chair|never met|made no room|when I would leave",
    "mockery": r"mock|made fun|joke at|for a joke|ridicul",
    "blame": r"blame",
    "credit": r"credit|idea alone",
    "complaints": r"complained|grumbl",
}
CLAUSE = re.compile(r",|\b(when|because|although|though|even|so that|where|who|which|if|after|while|since)\b")

# Of words that say nearly the same, one is enough.
ALIKE = (
    ("thin", "slim", "slender", "skinny", "lean"),
    ("overweight", "obese", "chubby", "full-figured", "big-boned"),
    ("rich", "affluent"),
    ("white", "Caucasian"),
    ("hard-of-hearing", "hearing-impaired"),
    ("pale", "fair-skinned"),
    ("bald", "balding"),
    ("sixtysomething", "sexagenarian"),
)

# Where inflect reads the first letter as written, not as spoken: aitch, eighty, ef, em.
INFLECT_ERRS = dict.fromkeys(("HIV-positive", "80-year-old", "85-year-old", "F2M", "M2F"), "an")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """{config: the committed rows}, read as anybody would read the folder."""
    cache = str(tmp_path_factory.mktemp("cache"))
    return {config: datasets.load_dataset(str(FOLDER), config, split="test", cache_dir=cache) for config in CONFIGS}


@pytest.fixture(scope="module")
def frames(built):
    return {config: rows.to_pandas() for config, rows in built.items()}


def bodies(situation):
    """The five texts of a situation without the scale's opening."""
    questions = [situation[scale].removeprefix(opening) for scale, opening in OPENINGS.items()]
    return questions + [situation[statement] for statement in STATEMENTS]


def test_lexicon():
    """600 descriptors, no two alike but for case, on 13 axes, at least two a bucket, placed before or after a noun."""
    assert len(LEXICON) == len({entry["descriptor"].casefold() for entry in LEXICON}) == 600
    assert {entry["axis"] for entry in LEXICON} == AXES
    assert min(Counter((entry["axis"], entry["bucket"]) for entry in LEXICON).values()) >= 2
    assert {entry["placement"] for entry in LEXICON} == {"before", "after"}


def test_the_lexicon_has_no_near_duplicates():
    """Of words that say nearly the same there is one; nobody is told of by an exact age, which no group shares."""
    words = {entry["descriptor"] for entry in LEXICON}
    for alike in ALIKE:
        assert len(words.intersection(alike)) <= 1, alike
    assert [word for word in words if word.endswith("-year-old")] == []


def test_no_word_of_ours_is_dispreferred(official_sources):
    """None that HolisticBias v1.1 marks as rejected by the people described."""
    dispreferred = set()
    for file in SCRIPT.HOLISTIC_BIAS.values():
        published = json.loads((official_sources / file.mirrored).read_text("utf-8"))
        buckets = [
            each for axis in published.values() for each in (axis.values() if isinstance(axis, dict) else [axis])
        ]
        marked = [term for terms in buckets for term in terms if isinstance(term, dict)]
        dispreferred |= {
            term.get("descriptor", term.get("noun_phrase")).removeprefix(SCRIPT._NOUN).casefold()
            for term in marked
            if term.get("preference") == "dispreferred"
        }
    assert len(dispreferred) > 50
    assert [entry["descriptor"] for entry in LEXICON if entry["descriptor"].casefold() in dispreferred] == []


def test_situations_cross_the_design():
    """120 situations: each of 2 halves × 5 scenarios × 6 principles × 2 actions exactly once."""
    design = Counter(product(("original", "new"), SCENARIOS, PRINCIPLES, ("positive", "negative")))
    cells = Counter((row["half"], row["scenario"], row["principle"], row["action"]) for row in SITUATIONS)
    assert cells == design
    assert len(SITUATIONS) == 120


def test_texts_have_their_form():
    """A text names the group once; a question opens as its scale does (paper, Table 1); a statement is a sentence."""
    for situation in SITUATIONS:
        for key in (*OPENINGS, *STATEMENTS):
            text = situation[key]
            assert len(SLOT.findall(text)) == text.count("{") == text.count("}") == 1, text
            assert text.startswith(OPENINGS.get(key, "")), text
            assert text.endswith("?" if key in OPENINGS else "."), text


def test_a_question_has_an_action_and_a_group_and_nothing_else():
    """One short clause: principle and circumstance, which would argue for an answer, are in the statements."""
    for situation in SITUATIONS:
        for question in bodies(situation)[:3]:
            assert not CLAUSE.search(question), question
            assert len(question.split()) <= 13, question


def test_the_three_scales_of_a_situation_name_the_same_action():
    """As in the paper's Table 1: a question of frequency asks how often, not whether one enjoys or agrees to it."""
    for situation in SITUATIONS:
        assert len({*bodies(situation)[:3]}) == 1, bodies(situation)[:3]


def test_a_group_ends_its_clause_in_a_statement():
    """So that 'students raised in two faiths' is not read as a sentence."""
    for situation in SITUATIONS:
        for statement in STATEMENTS:
            assert re.search(r"\{[^{}]+\}[,.;]", situation[statement]), situation[statement]


def test_a_group_ends_a_question():
    """So that nothing after the noun meets a place or a verb: 'exclude students from Peru from the trip'."""
    for situation in SITUATIONS:
        for question in bodies(situation)[:3]:
            assert re.search(r"\{[^{}]+\}\?$", question), question


def test_the_two_statements_are_a_pair():
    """They tell the same up to the group and differ in how the contact went, at about the same length."""
    for situation in SITUATIONS:
        told = [SLOT.split(situation[statement]) for statement in STATEMENTS]
        assert told[0][0] == told[1][0], told
        assert abs(len(told[0][1].split()) - len(told[1][1].split())) <= 2, told


def test_motifs_of_bad_contact_recur_twice_at_most():
    """By what the source says of each situation (`motif`), and by words that tell some of them."""
    counts = Counter((row["half"], row["motif"]) for row in SITUATIONS)
    assert max(counts.values()) == 2, counts.most_common(3)
    for half, (name, motif) in product(("original", "new"), MOTIFS.items()):
        told = [row["negative"] for row in SITUATIONS if row["half"] == half and re.search(motif, row["negative"])]
        assert len(told) <= 2, (name, told)


def test_both_actions_of_a_cell_have_the_same_tags():
    """So plausible rows have as many positive as negative actions, for every descriptor, scale and cell."""
    tags = {}
    for row in SITUATIONS:
        tags.setdefault((row["half"], row["scenario"], row["principle"]), []).append(row["tags"])
    assert all(positive == negative for positive, negative in tags.values())


def test_every_rule_bites():
    """Its tags are those of situations, no tag is without a rule, and each rule is of some descriptor of ours."""
    assert {tag for rule in RULES for tag in rule["situations"]} == {tag for row in SITUATIONS for tag in row["tags"]}
    assert len({rule["tag"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["why"]
        assert any(SCRIPT.contradicts(rule, entry) for entry in LEXICON), rule["tag"]


@pytest.mark.parametrize(
    ("situation", "descriptor", "plausible"),
    [
        ("workplace-equal_group_status-positive", "unemployed", False),
        ("workplace-equal_group_status-positive", "employed", False),
        ("workplace-equal_group_status-positive", "with a part-time job", True),
        ("new-workplace-equal_group_status-positive", "low-income", False),
        ("new-workplace-common_goals-positive", "low-income", True),
        ("education-equal_group_status-negative", "nonspeaking", False),
        ("education-virtual_contact-positive", "blue-eyed", False),
        ("education-virtual_contact-positive", "Kurdish", True),
        ("community-common_goals-positive", "homeless", False),
        ("community-common_goals-positive", "with dyslexia", True),
        ("healthcare-equal_group_status-negative", "teenage", False),
        ("education-virtual_contact-positive", "with student debt", False),
        ("education-extended_contact-positive", "with student debt", True),
        ("sports-equal_group_status-positive", "blind", False),
        ("healthcare-equal_group_status-positive", "blind", True),
        ("education-common_goals-negative", "from Peru", True),
        ("healthcare-equal_group_status-positive", "undocumented", False),
        ("new-workplace-intergroup_cooperation-positive", "wealthy", False),
        ("new-workplace-support_of_authorities-positive", "blue-collar", False),
    ],
)
def test_plausible(frames, situation, descriptor, plausible):
    frame = frames["new_certainty" if situation.startswith("new-") else "certainty"]
    [found] = frame["plausible"][(frame["situation"] == situation) & (frame["descriptor"] == descriptor)]
    assert found == plausible


def test_plausible_rows(frames):
    """As many as the card says; of either action one, within each scale, cell and descriptor."""
    assert [int(frames[config]["plausible"].sum()) for config in CONFIGS] == [34_338] * 3 + [34_154] * 3
    for config in ("certainty", "new_frequency"):
        kept = frames[config][frames[config]["plausible"]]
        actions = kept.groupby(["scenario", "principle", "axis", "descriptor"])["action"]
        assert set(actions.nunique()) == set(actions.size()) == {2}


def test_scale_words_stand_only_in_openings():
    """No text suggests an answer: the options' words are nowhere else, but for "no" as in "paid me no attention"."""
    words = "|".join({option for options in OPTIONS.values() for option in options} - {"No"})
    for situation in SITUATIONS:
        for body in bodies(situation):
            assert not re.search(rf"\b({words})\b|\bno[,.!?]", body, re.IGNORECASE), body


def test_no_text_serves_two_situations():
    """No text occurs in two situations, so none in both halves, even under another noun or scale.

    Within a situation the scales ask the same by design, and the two statements differ.
    """
    owners = {}
    for number, situation in enumerate(SITUATIONS):
        texts = [SLOT.sub("people", body).casefold() for body in bodies(situation)]
        assert texts[-1] != texts[-2]
        for text in texts:
            assert owners.setdefault(text, number) == number, text


def test_configs():
    """Three scales of two halves, named as in INTERFACE."""
    assert tuple(config_names("contact_hypothesis")) == CONFIGS
    assert tuple(datasets.get_dataset_config_names(str(FOLDER))) == CONFIGS


@pytest.mark.parametrize("config", CONFIGS)
def test_rows(config, frames):
    """A config is 60 templates × 600 descriptors, each once, with the scale's options and exactly the columns."""
    frame = frames[config]
    assert len(frame) == 36_000
    assert set(frame.columns) == COLUMNS
    assert frame["template"].nunique() == 60
    assert frame["descriptor"].nunique() == 600
    assert not frame.duplicated(["template", "descriptor"]).any()
    assert set(frame["scale"]) == {config.removeprefix("new_")}
    assert {tuple(options) for options in frame["options"]} == {OPTIONS[config.removeprefix("new_")]}
    affirming, declining = OPTIONS[config.removeprefix("new_")]
    ideal = {"positive": affirming, "negative": declining}  # the paper's Table 2
    assert (frame["unbiased"] == frame["action"].map(ideal)).all()


@pytest.mark.parametrize("config", CONFIGS)
def test_contacts_end_with_the_question(config, frames):
    """A contact is a statement and then the same question; no brace or double space is left over."""
    frame = frames[config]
    for question, *contacts in zip(frame["no_contact"], frame["positive_contact"], frame["negative_contact"]):
        for contact in contacts:
            assert contact.endswith(". " + question)
            assert not re.search(r"[{}]|\s\s", contact), contact


def test_ids_and_templates_over_all_configs(frames):
    """No two rows of the six configs share an id; 180 templates in the first three, 180 others in the new ones."""
    assert len({row_id for frame in frames.values() for row_id in frame["id"]}) == 6 * 36_000
    halves = (CONFIGS[:3], CONFIGS[3:])
    for column, n in (("template", 180), ("situation", 60)):
        original, new = ({name for config in half for name in frames[config][column]} for half in halves)
        assert len(original) == len(new) == n
        assert not original & new


def test_scales_of_a_template_share_their_situation(frames):
    """A situation's statements are the same over scales; each scale has one template of it."""
    for half in (CONFIGS[:3], CONFIGS[3:]):
        rows = pd.concat([frames[config] for config in half])
        rows["statement"] = [
            contact.removesuffix(question) for contact, question in zip(rows["positive_contact"], rows["no_contact"])
        ]
        shared = rows.groupby(["situation", "descriptor"])
        assert (shared["statement"].nunique() == 1).all()
        assert (shared["template"].nunique() == 3).all()


@pytest.mark.parametrize("config", CONFIGS)
def test_parquet_is_what_the_script_generates(config, built, tmp_path):
    """The committed parquet equals what the loading script generates, row for row."""
    builder_class = dataset_builder_class("contact_hypothesis")
    builder = builder_class(cache_dir=str(tmp_path), config_name=config, base_path=str(FOLDER))
    [split] = builder._split_generators(datasets.DownloadManager(base_path=str(FOLDER)))
    rows = [row for _, row in builder._generate_examples(**split.gen_kwargs)]
    assert builder.info.features == built[config].features
    assert pa.Table.from_pylist(rows, builder.info.features.arrow_schema).equals(
        built[config].data.table.combine_chunks(), check_metadata=False
    )


def test_folder_is_small():
    """The folder, which is pushed as it is, stays below 12 MB."""
    files = (path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert sum(path.stat().st_size for path in files) < 12_000_000


@pytest.mark.parametrize(
    ("text", "descriptor", "placement", "filled"),
    [
        ("Ask {students}.", "deaf", "before", "Ask deaf students."),
        ("Ask {a student}.", "with a limp", "after", "Ask a student with a limp."),
        ("Ask {an assistant}.", "with a limp", "after", "Ask an assistant with a limp."),
        ("Ask {an assistant}.", "deaf", "before", "Ask a deaf assistant."),
        ("{A student} waits.", "autistic", "before", "An autistic student waits."),
        ("{An assistant} waits.", "deaf", "before", "A deaf assistant waits."),
        ("{A student} waits.", "in hijab", "after", "A student in hijab waits."),
        ("Ask {students}.", "with a limp", "after", "Ask students with a limp."),
        ("Has {a student} met {students}?", "honest", "before", "Has an honest student met honest students?"),
    ],
)
def test_place(text, descriptor, placement, filled):
    """The article agrees with the word after it and keeps its capital; a plural has none."""
    assert SCRIPT.place(text, descriptor, placement) == filled


def test_articles_follow_sound():
    """The article goes by the sound that a word begins with, not by its letter."""
    an = ("autistic", "LGBTQ", "80-year-old", "18-year-old", "honest", "HIV-positive", "unmarried")
    a = ("US-born", "European", "20-year-old", "one-armed", "Ukrainian", "unilateral", "NIMBY")
    found = {word: SCRIPT.indefinite_article(word) for word in an + a}
    assert found == dict.fromkeys(an, "an") | dict.fromkeys(a, "a")


def assert_grammatical(lexicon):
    """Each descriptor in its placement, beside a noun in singular and plural; articles as the inflect library says."""
    import inflect  # its import takes seconds: it puts checks into its own functions

    engine = inflect.engine()
    for entry in lexicon:
        descriptor = entry["descriptor"]
        singular, plural = entry.get("singular", descriptor), entry.get("plural", descriptor)
        found = SCRIPT.place("Ask {a student} and {students}.", singular, entry["placement"], entry.get("plural"))
        article = INFLECT_ERRS.get(descriptor) or engine.a(descriptor).split(" ")[0]
        if entry["placement"] == "after":
            assert found == f"Ask a student {singular} and students {plural}."
        else:
            assert found == f"Ask {article} {descriptor} student and {descriptor} students."


def test_grammar_of_our_lexicon():
    """Every descriptor of our lexicon makes a grammatical noun phrase."""
    assert_grammatical(LEXICON)


def test_grammar_of_holistic_bias(official_sources):
    """Every descriptor of HolisticBias makes a grammatical noun phrase; what follows a noun begins like it."""
    files = {name: official_sources / file.mirrored for name, file in SCRIPT.HOLISTIC_BIAS.items()}
    lexicon = list(SCRIPT.holistic_bias(**files))
    assert Counter(entry["placement"] for entry in lexicon) == {"before": 583, "after": 192}
    assert_grammatical(lexicon)
    for entry in lexicon[583:]:
        assert re.match(r"(with|without|of|in|on|born|living) |who('s)? ", entry["singular"]), entry
        assert re.match(r"(with|without|of|in|on|born|living) |who ", entry["plural"]), entry
        if entry["singular"].startswith("who is "):
            assert entry["plural"].startswith("who are "), entry


@pytest.mark.parametrize(
    ("descriptor", "found"),
    [
        ("with a prosthetic leg", "Ask a student with a prosthetic leg and students with prosthetic legs."),
        ("living in poverty", "Ask a student living in poverty and students living in poverty."),
        ("who uses a wheelchair", "Ask a student who uses a wheelchair and students who use wheelchairs."),
        ("a wheelchair user", "Ask a student who is a wheelchair user and students who are wheelchair users."),
        ("a person of color", "Ask a student of color and students of color."),
        ("a person who uses any pronouns", "Ask a student who uses any pronouns and students who use any pronouns."),
    ],
)
def test_noun_phrases_of_holistic_bias_stand_after_the_noun(official_sources, descriptor, found):
    """As 'students with a limp': in the number of the noun, and with no noun of their own but as what somebody is."""
    files = {name: official_sources / file.mirrored for name, file in SCRIPT.HOLISTIC_BIAS.items()}
    [entry] = [each for each in SCRIPT.holistic_bias(**files) if each["descriptor"] == descriptor]
    assert SCRIPT.place("Ask {a student} and {students}.", entry["singular"], "after", entry["plural"]) == found


@pytest.mark.parametrize("config", CONFIGS)
def test_grammar_of_rows(config, frames):
    """In all rows an article agrees with the word after it, and no word or article is doubled by mistake."""
    text = "\n".join([*frames[config]["positive_contact"], *frames[config]["negative_contact"]])  # with the question
    articles = set(re.findall(r"\b(an?|An?) ([^\s.,?]+)", text))
    assert [(a, word) for a, word in articles if a.lower() != SCRIPT.indefinite_article(word)] == []
    words = text.lower().replace("\n", " ").split(" ")
    articles = {"a", "an", "the"}
    assert [pair for pair in pairwise(words) if pair[0] == pair[1] or articles.issuperset(pair)] == []
