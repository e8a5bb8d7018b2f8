"""A figure beside the published one: what agrees, what differs, what cannot be said."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from audit.exports.context import open_context
from audit.exports.published.comparison import (
    AGREES,
    DIFFERS,
    UNKNOWN,
    PublishedFigure,
    RunFigure,
    RunFigures,
    published_figures,
    verdict,
)
from audit.exports.published.tables import pair_comparison, run_figures
from tests.support.loading import load
from tests.support.tiny import handbook, release_from


def parts_of_the_source_paper() -> set[str]:
    text = (Path(__file__).resolve().parents[1] / "published/source_paper.toml").read_text("utf-8")
    return set(tomllib.loads(text)["sections"])


def printed(value: str, below: bool = False) -> PublishedFigure:
    return PublishedFigure("name", "title", value, "section 1", below)


@pytest.mark.parametrize(
    ("value", "found", "said"),
    [
        ("0.14", RunFigure(0.1449), (AGREES, "2 printed digits")),
        ("0.14", RunFigure(0.1451), (DIFFERS, "2 printed digits")),
        ("0.14", RunFigure(0.20, 0.13, 0.30), (AGREES, "95 % interval")),
        ("0.14", RunFigure(0.20, 0.15, 0.30), (DIFFERS, "95 % interval")),
        ("0.730", RunFigure(0.7304), (AGREES, "3 printed digits")),
        ("23.6", RunFigure(5.536), (DIFFERS, "1 printed digit")),
        ("102", RunFigure(102.0), (AGREES, "equal counts")),
        ("102", RunFigure(101.0), (DIFFERS, "equal counts")),
    ],
)
def test_a_figure_agrees_in_the_digits_that_are_printed_or_inside_its_interval(value, found, said):
    assert verdict(printed(value), found) == said


def test_a_figure_printed_as_under_a_value_must_be_under_it():
    assert verdict(printed("0.001", below=True), RunFigure(0.0004))[0] == AGREES
    assert verdict(printed("0.001", below=True), RunFigure(0.004))[0] == DIFFERS


def test_what_a_release_does_not_hold_cannot_be_computed_and_says_why():
    frame = pair_comparison({"absence.mean": "The release came without answers."}).frame.set_index("title")
    told = frame.loc["Absence, mean over handbooks"]
    assert (told["verdict"], told["how"]) == (UNKNOWN, "The release came without answers.")
    assert "No study" in frame.loc["Cohen's kappa of the annotators", "how"]
    assert (frame["verdict"] == UNKNOWN).all()


def test_absence_is_of_all_questions_and_absent_pairs_are_among_the_handbooks_of_an_organ(tmp_path: Path) -> None:
    books = [handbook("a"), handbook("b"), handbook("c", "liver"), handbook("d", "liver")]
    # a answers q1 and q3, and was not asked q2: it leaves out 1 of 3 questions; c was asked q2 and q3, and answers neither
    table = """
        q1 kidney   ab=DIVERGENT/high c=notasked d=notasked
        q2 liver    a=notasked b=notasked c=absent d=present
        q3 general  ab=CONSISTENT c=absent d=absent
    """
    run = load(release_from(tmp_path, table, books, asked="organ"), tmp_path / "data").run
    with open_context(run) as context:
        figures = run_figures(context)
    least, mean, most = (figures[f"absence.{name}"] for name in ("least", "mean", "most"))
    assert (least.value, mean.value, most.value) == pytest.approx((1 / 3, (1 / 3 + 1 / 3 + 1 + 2 / 3) / 4, 1))
    assert least.population == "of all questions, asked or not"
    # kidney 0 of 1 pair, liver 1 of 1; of the general question's pairs 5 of 6 are absent
    assert (figures["r_abs.least"].value, figures["r_abs.most"].value) == (0, 1)


def two_runs(tmp_path: Path, protocol: str) -> RunFigures:
    table = "q1 kidney ab=DIVERGENT/high ac=CONSISTENT bc=DIVERGENT/low\nq2 liver ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT"
    first = load(release_from(tmp_path, table), tmp_path / "data").run
    other = load(
        release_from(tmp_path, table.replace("/low", "/high"), run_id="other", judge_settings={"protocol": protocol}),
        tmp_path / "data",
    ).run
    with open_context(first, other) as context:
        return run_figures(context)


def test_a_change_between_pipelines_is_compared_only_where_both_judges_were_asked_alike(tmp_path: Path) -> None:
    figures = two_runs(tmp_path, "structured")
    assert isinstance(figures["runs.r_div"], RunFigure)
    assert "other protocol" in str(figures["ablation.kappa"])


def test_the_ablation_is_compared_only_with_a_run_that_was_asked_for_the_label_first(tmp_path: Path) -> None:
    figures = two_runs(tmp_path, "label_only")
    assert (figures["ablation.kappa"].value, figures["ablation.divergent_kept"].value) == (1, 1)
    assert "judged by different protocols" in str(figures["runs.r_div"])


def test_every_published_figure_has_a_name_of_its_own_and_a_place_in_the_source():
    figures = published_figures("pairs")
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.where and float(figure.value) >= 0 for figure in figures if not figure.name.startswith("runs."))


def test_a_range_and_a_figure_printed_as_over_a_value():
    rate = PublishedFigure("name", "title", "5", "section 1", most="6")
    assert (rate.text, verdict(rate, RunFigure(5.4)), verdict(rate, RunFigure(6.2))[0]) == (
        "5 to 6", (AGREES, "from 5 to 6"), DIFFERS,
    )  # fmt: skip
    over = PublishedFigure("name", "title", "0.99", "section 1", above=True)
    assert (over.text, verdict(over, RunFigure(0.999))[0], verdict(over, RunFigure(0.97, 0.9, 0.98))[0]) == (
        "> 0.99", AGREES, DIFFERS,
    )  # fmt: skip


def test_without_an_earlier_run_its_figures_say_so():
    frame = pair_comparison({}).frame.set_index("title")
    assert frame.loc["Change of disagreement from the earlier pipeline, mean over organs", "how"].startswith("No earlier run")


def test_the_published_label_shares_leave_a_gap_that_is_not_papered_over():
    judged = [float(figure.value) for figure in published_figures("pairs") if figure.name.startswith("judged.")]
    assert sum(judged) == pytest.approx(0.955)


def test_every_citation_of_the_source_paper_names_a_part_of_it_that_the_published_figures_list():
    root = Path(__file__).resolve().parents[2]
    known = parts_of_the_source_paper()
    texts = {
        path: path.read_text("utf-8") for folder in ("audit", "annotation", "pages") for path in (root / folder).rglob("*.py")
    }
    cited = {
        (path.name, match["part"])
        for path, text in texts.items()
        # A citation of the paper as a whole is followed by no comma
        for match in re.finditer(r"arXiv:2605\.29084(?:,\s+(?:#\s+)?(?P<part>(?:section|appendix)\s+[\dA-Z.]*[\dA-Z]))?", text)
    }
    assert len(cited) >= 15
    assert {part for _, part in cited if part} <= known
    assert {name for name, part in cited if part is None} <= {
        "departures.py",
        "export.py",
        "presets.py",
        "retrieve.py",
        "run.py",
        "tables.py",
    }, "these name the paper, not a claim of it"


def test_the_figures_of_the_source_paper_name_a_part_of_it():
    assert {figure.where.partition(";")[0] for figure in published_figures("pairs")} <= parts_of_the_source_paper()
