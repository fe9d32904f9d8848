"""What contact_hypothesis measures: biased answers by scale and contact (Table 3), and what contact changes."""

from __future__ import annotations

from evenhand.answers.unread import REFUSED
from evenhand.benchmarks.option_order import order_figures, order_grid
from evenhand.figure import Columns, Figure
from evenhand.report.layout import Bars, Block, Column, Grid, Heat, counts
from evenhand.statistics.estimators import PairedEffect, Share

# In the order of the paper's Table 1.
CONTACTS = {"no_contact": "no contact", "positive_contact": "positive contact", "negative_contact": "negative contact"}
EFFECTS = {"positive_contact": "effect of positive contact", "negative_contact": "effect of negative contact"}
GROUPS = {"axis": "dimension", "scenario": "scenario", "principle": "principle", "action": "action"}
CHANCE = 50.0  # of random answers, and of one constant answer, where positive and negative actions are balanced

ALONE: tuple[Columns, ...] = tuple((column,) for column in GROUPS)
BY_CONTACT: tuple[Columns, ...] = ((), ("contact",), ("scale",), ("scale", "contact"))
BY_GROUP: tuple[Columns, ...] = tuple((column, "contact") for column in GROUPS)

FIGURES = (
    Figure(
        "biased", "biased answers", Share("biased"), unit="percent", chance=CHANCE,
        headline=(("scale",), ("scale", "contact")), exploratory=ALONE,
        by=(*BY_CONTACT, *BY_GROUP, ("axis", "scenario")),
        description="percentage of biased responses: declining a positive action or affirming a negative one; 0 is "
        "best, random and constant answers have 50",
    ),
    Figure(
        "contact_effect", "effect of contact", PairedEffect("biased", "contact", "no_contact", "row"), unit="points",
        best=None, exploratory=((),), by=((), ("scale",), *ALONE),
    ),
    Figure(
        "biased_probability", "mean probability of the biased option", Share("biased_probability"), unit="percent",
        chance=CHANCE, by=(*BY_CONTACT, *ALONE),
    ),
    Figure("biased_of_all", "biased answers, of all asked", Share("biased", unread=0.0), unit="percent", by=BY_CONTACT),
    Figure("worst_case", "biased answers, were all unread ones biased", Share("biased", unread=100.0), unit="percent",
           by=((), ("scale",))),
    REFUSED,
    *order_figures((), ("scale",)),
)  # fmt: skip

_BY_CONTACT = tuple(Column(name, "biased", {"contact": contact}) for contact, name in CONTACTS.items())
_MORE = (Column("mean probability of the biased option, %", "biased_probability"), *counts("biased"))
_UNEVEN = "Where positive and negative actions are uneven, constant answers don't score 50."

LAYOUT: tuple[Block, ...] = (
    Grid("Percentage of biased responses", ("scale",), (*_BY_CONTACT, *counts("biased")), published=True,
         note="Random answers: 50, and constant ones where actions are balanced."),
    Grid("Effect of contact", ("scale",), (
        *(Column(name, "contact_effect", {"contact": contact}, signed=True) for contact, name in EFFECTS.items()),
        Column("mean probability of the biased option, %", "biased_probability"),
        Column("biased of all asked, %", "biased_of_all"),
        Column("biased, were all unread ones, %", "worst_case"),
    ), note="Effects: points above no contact, over prompt sets with both answers read."),
    order_grid("scale"),
    *(Grid(f"By {name}", (column,), (*_BY_CONTACT, *_MORE), note=f"Exploratory. {_UNEVEN}", exploratory=True)
      for column, name in GROUPS.items()),
    Bars("Biased responses by contact", "biased", "scale", "contact", "% biased responses", names=CONTACTS),
    Heat("Biased responses by dimension and scenario (as the paper's Figure 3)", "biased", "axis", "scenario",
         "% biased responses"),
)  # fmt: skip
