"""Start: who says what on the most disputed questions, and figures that a reader can check by hand on the tiny run."""

from __future__ import annotations

import json
import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from audit.release.write import write_jsonl
from audit.stats.measured_errors import ASSUMED, RATED, REPEATS, SECOND
from audit.store.runs import Run
from pages._blinded.scripts import script_path
from pages._shared.disputed_share import FROM
from tests.metrics.test_within_handbook import CHEESE, COUNTS, FEVER
from tests.pages.conftest import component, words_on
from tests.store.test_load_ratings import ITEM, with_ratings
from tests.support.directions import without_directions
from tests.support.loading import BASE, load
from tests.support.systems import systems_release
from tests.support.tiny import release_from


def html_on(at: AppTest) -> str:
    return without_directions("\n".join(str(element.proto.body) for element in at.get("html")))


def links_on(at: AppTest) -> list[tuple[str, str]]:
    return [(element.proto.label, element.proto.query_string) for element in at.get("page_link")]


def test_figures_name_their_denominators_and_the_disputed_share_is_corrected(run, open_page):
    words = words_on(open_page("start"))
    # a and b are about the kidney, c and d about the lung: q1 is for ab alone, q2 for all, q3 for cd, of which d was not asked.
    # Both answer in ab of q1, and ab and bc of q2; the first two disagree.
    assert "two handbooks that should answer it and do: in **66.7 %** of such pairs, the advice differs, as this judge" in words
    assert "no ratings show how far it errs." in words
    assert "Of 3 pairs." in words
    assert re.search(r"on about \*\*\d+ %\*\* of questions \(.+\), at least two take different positions", words)
    assert "the judge's errors taken into account; as the judge labels, on 67 %." in words
    assert "Of 3 questions; in brackets the 95 % interval, for other questions put to these handbooks." in words
    assert "Assumed: it sees a disagreement in 5 % of the pairs that agree, and misses 15 % of the disagreements." in words
    # 1 + 6 pairs; in q2 d is absent three times, and ac is judged absent.
    assert "In **57.1 %** of pairs where both handbooks should answer, at least one does not address the question." in words
    assert "Of 7 pairs;" in words
    assert "Nobody has labelled pairs of this run yet" in words


def test_the_gravest_question_comes_first_with_its_positions_and_a_link(run, open_page):
    at = open_page("start")
    questions = [query for _, query in links_on(at) if "question=" in query]
    assert [re.search("question=(q.)", query)[1] for query in questions] == ["q1", "q2"]  # high, then low significance
    first = html_on(at).split('class="dispute"')[1]
    assert "different advice (divergent), high clinical significance · as the judge labels, 1 pair of 2 handbooks" in first
    assert re.findall(r"<em>(.*?)</em>", first)


def test_what_people_say_of_the_judge_is_beside_its_figure(release: Path, data_dir: Path, open_page):
    second = ITEM | {
        "item_id": "i2",
        "handbook_a": "c",
        "handbook_b": "a",
        "stratum": "COMPLEMENTARY",
        "annotator_a": "COMPLEMENTARY",
    }
    load(with_ratings(release, [ITEM, second | {"gold": "COMPLEMENTARY", "design_weight": "2"}]), data_dir)
    words = words_on(open_page("start"))
    assert re.search(r"two handbooks that answer it: in \*\*42.9 %\*\* of such pairs \(.+\), the advice differs", words)
    assert "the judge's errors taken into account; as the judge labels, in 42.9 %." in words
    assert "Corrected by the labels of raters (who they are is not stated) of 2 pairs over all pairs of the run" in words
    assert "no ratings show how far it errs" not in words
    assert re.search(r"In 1 of 1 pair that the judge calls [a-z ()]+, raters agree that the advice differs", words)


def test_texts_of_a_release_are_never_html(release, data_dir, open_page):
    held = {"question_id": "q1", "statement": "<b>q1", "holders": [{"handbook_id": "a", "quote": "Handbook a on q1."}]}
    (release / "positions.jsonl").write_text(json.dumps(held), encoding="utf-8")
    load(release, data_dir)
    html = html_on(open_page("start"))
    assert "<b>q1" not in html
    assert "&lt;b&gt;q1" in html


def test_ones_own_handbook_is_chosen_once_and_is_in_the_address_of_every_page(tmp_path, data_dir, open_page):
    folder = release_from(tmp_path / "releases", BASE)
    write_jsonl(folder / "within_handbook.jsonl", [FEVER, CHEESE])
    write_jsonl(folder / "within_handbook_counts.jsonl", COUNTS)
    run = load(folder, data_dir).run
    at = open_page("start")
    assert "Choose yours: what it leaves out, where it stands alone, where it contradicts itself." in words_on(at)
    at.selectbox(key="mine").select("b").run()
    assert at.query_params["mine"] in ("b", ["b"])
    words = words_on(at)
    assert "It leaves out no question that most comparable handbooks answer." in words
    assert "On no question does it disagree with most of the others that answer." in words
    assert "Its passages contradict each other on **2** subjects, of 3 pairs of passages compared." in words
    assert any("handbook=b" in query and f"run={run.key}".replace("@", "%40") in query for _, query in links_on(at))
    del at.query_params["mine"]  # a link to another page without it, in the same visit
    at.switch_page(script_path("start")).run()
    assert at.query_params["mine"] in ("b", ["b"])
    assert "Its passages contradict each other" in words_on(at)


def test_every_question_on_which_ones_own_handbook_stands_alone_is_a_link(tmp_path, data_dir, open_page):
    asked = "\n".join(f"q{n} kidney ab=divergent ac=divergent bc=consistent" for n in (1, 2, 3))
    load(release_from(tmp_path / "releases", asked), data_dir)
    at = open_page("start", mine="a")
    assert "On **3** questions it disagrees with most of the others that answer." in words_on(at)
    assert [expander.label for expander in at.expander if "more" in expander.label] == ["1 more"]
    inside = [element for expander in at.expander for element in expander.get("page_link")]
    assert ["question=q3" in element.proto.query_string for element in inside] == [True]


def test_a_handbook_of_ones_own_without_a_pair_compared_is_not_checked(tmp_path, data_dir, open_page):
    folder = release_from(tmp_path / "releases", BASE)
    write_jsonl(folder / "within_handbook_counts.jsonl", COUNTS)
    load(folder, data_dir)
    words = words_on(open_page("start", mine="c"))  # 0 pairs compared, 1 without a verdict
    assert "Not checked: no model has compared passages of this handbook with each other" in words
    assert "was found to differ" not in words


def test_a_run_of_answering_systems_alone_leads_to_their_pages(data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    at = open_page("start")
    assert "How the systems compare" in [label for label, _ in links_on(at)]
    kinds = json.loads(component(at, "search")["index"])["kinds"]
    assert [(kind["heading"], kind["page"]) for kind in kinds] == [("Questions", "system_answers")]


def test_a_run_without_disagreement_says_so(load_run, open_page):
    load_run("q1 kidney ab=CONSISTENT")
    assert "The judge calls no two answers different advice." in words_on(open_page("start"))


def test_the_newest_real_run_opens_before_synthetic_ones_and_the_bar_lists_it_first(load_run, open_page):
    real: Run = load_run(run_id="real")
    load_run(run_id="newer", synthetic=True)
    at = open_page("start")
    assert at.query_params["run"] in (real.key, [real.key])
    bar = component(at, "top_bar")
    assert bar["runs"][0]["key"] == real.key
    assert (bar["run"], bar["synthetic"]) == (real.key, False)


def test_the_page_says_where_the_judge_s_error_rates_are_from(tmp_path, data_dir, open_page):
    folder = release_from(tmp_path, "q1 kidney ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT")
    verdicts = [
        {"question_id": "q1", "handbook_a": a, "handbook_b": b, "kind": "second", "label": "CONSISTENT", "judge": "other"}
        for a, b in ("ab", "ac", "bc")
    ]
    (folder / "further_verdicts.jsonl").write_text("\n".join(map(json.dumps, verdicts)) + "\n", "utf-8")
    load(folder, data_dir)
    words = words_on(open_page("start"))
    assert "(from 3 pairs that a second judge read too, if the two err independently), and misses 15 %" in words
    assert set(FROM) == {RATED, SECOND, REPEATS, ASSUMED}
