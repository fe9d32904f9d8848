"""The report: one file, everything others said escaped, the same bytes for the same run."""

import re
from html.parser import HTMLParser

import pytest

from evenhand.benchmarks import get_benchmark
from evenhand.flow.configuration import run_config
from evenhand.flow.evaluation import evaluate
from evenhand.report.findings import LONGEST_SHOWN, cut
from evenhand.report.pages import write_report
from tests.scripted_models import Scripted

pytestmark = pytest.mark.drawn

ATTACK = "</p><script>alert('yes')</script><img src=x onerror=alert(1)>{{ 7*7 }} & \"quoted\""


class Tags(HTMLParser):
    """Every tag and attribute of a page, and whether the tags close as they opened."""

    VOID = frozenset({"meta", "img", "br", "path", "use", "rect", "link", "input"})

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.open = set(), [], []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        self.links += [name for name, _ in attributes if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    config = run_config("contact_hypothesis", f"stub {ATTACK}", limit=30, protocol="generate")
    model = Scripted(lambda request: ATTACK, name=f"<b>model</b>{ATTACK}@1")
    return evaluate(config, tmp_path_factory.mktemp("runs") / "run", model=model)


def test_what_a_model_says_is_escaped(hostile):
    page = hostile.report.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    assert "49 &amp;" not in page  # no template was run
    assert page.count("&lt;script&gt;alert(&#39;yes&#39;)&lt;/script&gt;") > 3


def test_the_page_is_well_formed_and_needs_nothing_else(hostile):
    page = hostile.report.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert {"svg", "table", "figure", "details"} <= tags.tags
    assert not tags.tags & {"script", "link", "iframe", "object"}
    saved = ("data:text/csv;charset=utf-8;base64,", "data:image/svg+xml;base64,")
    assert all(link.startswith(("#", "data:image/png;base64,", *saved)) for link in tags.links)
    assert not re.search(r"url\((?!#)", page)


def test_a_report_written_again_is_the_same(hostile):
    before = hostile.report.read_bytes()
    write_report(hostile)
    assert hostile.report.read_bytes() == before


def test_the_report_says_n_interval_unread_and_chance(run):
    page = (run("stub:random").folder / "report.html").read_text(encoding="utf-8")
    for words in ("180 of 180", "unread", "situation", "random answers: 50", "95 % confidence interval"):
        assert words in page
    assert "By scenario" in page
    assert page.count("<svg") == 2
    for axis in ("ability", "socioeconomic class"):
        assert axis in page
    assert "socioeconomic_class" not in page


def test_the_report_says_of_how_many_situations_anything_was_read(tmp_path):
    """180 prompts about 60 situations; eight of these get no answer that can be read, after any contact."""
    asked = run_config("contact_hypothesis", "stub", limit=60, configs=("certainty",), protocol="generate")
    situations = {}

    def reply(request):
        situation = situations.setdefault(request.name.split("/")[0], len(situations))
        return "perhaps" if situation < 8 else "Yes"

    folder = evaluate(asked, tmp_path / "run", Scripted(reply))
    row = folder.read_results().figures.row("biased")
    assert (row.n, row.n_read, row.n_clusters, row.n_clusters_asked) == (180, 156, 52, 60)
    assert "156 of 180 answers were read, from 52 clusters" in folder.report.read_text(encoding="utf-8")


def test_long_answers_are_cut_in_the_report_and_whole_in_the_predictions(tmp_path):
    answer = "Yes, " + "on and on " * 1_000
    config = run_config("contact_hypothesis", "stub", limit=3, protocol="generate")
    folder = evaluate(config, tmp_path / "run", Scripted(lambda request: answer, name="long@1"))
    page = folder.report.read_text(encoding="utf-8")
    assert f"… ({len(answer) - LONGEST_SHOWN:,} more characters)" in page
    assert answer not in page
    assert set(folder.read_predictions()["text"]) == {answer}


def test_texts_are_cut():
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "abc… (1 more characters)"


@pytest.mark.parametrize("benchmark", ["contact_hypothesis", "implicit_bias", "mllm_stereotypes"])
def test_where_nothing_was_read_the_sentence_says_so(benchmark, tmp_path):
    more = {"configs": ("occupation_gender",), "faces": "rehearsal"} if benchmark == "mllm_stereotypes" else {}
    config = run_config(benchmark, "stub:random:hm|mh", limit=1, protocol="generate", **more)
    results = (folder := evaluate(config, tmp_path / "run")).read_results()
    of = get_benchmark(benchmark)
    sentences = of.findings(of.prepare(folder.read_predictions()), results).sentences
    assert any("could be read" in each for each in sentences)
    assert results.warned("nothing_read")
    for sentence in (*sentences, *(each.text for each in results.warnings)):
        assert not re.search(r"no data|percent of 0|: ?\.|\b1 [a-z]+s\b", sentence), sentence
