"""A report as sentences of plain text: each figure with its count and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import ALL_ANNOTATORS, AgreementReport
from annotation.agreement.tables import MEASURE_NAMES, rater_name
from annotation.ratings.gold import MAJORITY
from annotation.ratings.table import GOLD, JUDGE
from audit.charts.style import coefficient, coefficient_interval, interval, percent
from audit.tables import Row

Named = Callable[[str], str]
KAPPAS = ("kappa_quadratic", "kappa", "kappa_disagrees")
INTERVALS_IN_WORDS = {
    True: "Until the study is closed with every planned rating, each 95 % interval is about 1.6 times as wide as usual, so that "
    "it holds however often somebody looks while ratings come in (a confidence sequence); after that it is the usual one, "
    "which is right for one look at a number of items fixed before.",
    False: "The study is closed with every planned rating, so each 95 % interval is the usual one, for one look at a number of "
    "items fixed before; those of a running study are wider, because they hold however often somebody looks.",
}
"""Whether ratings are still coming in -> which of the two intervals a reader sees, and why."""


def figure(report: AgreementReport, first: str, second: str, name: str, label: str = "", scope: str = SAMPLE) -> Row:
    """One figure on the label, or on one label; raises KeyError where the report has none of this name."""
    rows = report.figures
    wanted = {"about": "label", "first": first, "second": second, "name": name, "label": label, "scope": scope}
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        raise KeyError(f"no figure {wanted}")
    return dict(rows.iloc[0])


def undefined(row: Row) -> str:
    """Why a figure is undefined; "" where it is not."""
    return str(row["note"]).removeprefix("undefined: ") if math.isnan(row["value"]) else ""


def capitalised(words: str) -> str:
    """The words with a capital first letter; unlike `str.capitalize`, the other letters stay as they are."""
    return words[:1].upper() + words[1:]


def share_words(row: Row, interval_name: str = "95 % interval ") -> str:
    """`93 %, 95 % interval 87 to 96 %`; without an interval where every pair of the run was rated.

    interval_name  "" in the cell of a table below which it is said once that ranges are 95 % intervals
    """
    if row["low"] == row["high"]:
        return f"{percent(row['value'], 0)}, known exactly: all of them in the run were rated"
    return f"{percent(row['value'], 0)}, {interval_name}{interval(row['low'], row['high'], 0) or 'unknown'}"


def same_of(row: Row) -> str:
    """`182 of 200`, or `26 of 40, divided on 5`: the items behind a share."""
    note, comma, _ = str(row["note"]).partition(", which count in parts")
    return note if comma else f"{round(row['value'] * row['n']):,} of {row['n']:,}"


def item_noun(row: Row) -> str:
    """The noun for a figure's items: `item` where there is one."""
    return "item" if row["n"] == 1 else "items"


def coefficient_words(row: Row, digits: int = 2) -> str:
    """`0.92 (95 % interval 0.87 to 0.96)`."""
    return f"{coefficient(row['value'], digits)} (95 % interval {coefficient_interval(row['low'], row['high'], digits)})"


def people_sentence(report: AgreementReport, first: str, second: str, named: Named = rater_name) -> str:
    """How far two annotators agree with each other."""
    names = f"{capitalised(named(first))} and {named(second)}"
    raw = figure(report, first, second, "agreement")
    if reason := undefined(raw):
        return f"{names}: agreement is not known ({reason})."
    words = f"{names} gave the same label to {same_of(raw)} {item_noun(raw)} ({share_words(raw)})"
    return f"{words}{_beyond_chance(report, first, second)}."


def together_sentence(report: AgreementReport) -> str:
    """How far all annotators agree; "" where there are fewer than three, because two are compared as a pair."""
    if not (report.figures["first"] == ALL_ANNOTATORS).any():
        return ""
    raw, kappa = (figure(report, ALL_ANNOTATORS, "", name) for name in ("agreement", report.scheme.headline))
    if reason := undefined(raw):
        return f"All annotators together: agreement is not known ({reason})."
    # The headline's name in the tables is that of two raters
    beyond = "" if undefined(kappa) else f"; kappa of all annotators (Conger): {coefficient_words(kappa)}"
    return (
        f"Of two annotators of an item, the labels are the same with a share of {share_words(raw)} "
        f"({raw['n']:,} {item_noun(raw)}){beyond}."
    )


def judge_sentence(report: AgreementReport, by: str, named: Named = rater_name) -> str:
    """How far the judge agrees with a reference standard."""
    raw = figure(report, by, JUDGE, "accuracy")
    if reason := undefined(raw):
        return f"How often the judge gives {_label_of(by, named)} is not known ({reason})."
    words = f"The judge gave {_label_of(by, named)} to {same_of(raw)} {item_noun(raw)} ({share_words(raw)})"
    return f"{words}{_beyond_chance(report, by, JUDGE)}."


def _label_of(by: str, named: Named) -> str:
    return {GOLD: "the gold label", MAJORITY: "the majority's label"}.get(by) or f"the label of {named(by)}"


def _beyond_chance(report: AgreementReport, first: str, second: str) -> str:
    """The kappas, in a sentence of their own where they speak of the run and not of these items."""
    words = kappa_words(report, first, second)
    return words and (f"; {words}" if report.population else f". {capitalised(words)}")


def kappa_words(report: AgreementReport, first: str, second: str) -> str:
    """The kappas of two raters, in the same words everywhere; "" where they are undefined.

    Weighted to the run where that is known: a sample drawn label by label has another mixture of labels, and its kappa is that
    of the mixture. The headline comes first, then kappa without weights for distances, and that of *disagrees or not*.
    """
    for scope in (SAMPLE,) if report.population else (POPULATION, SAMPLE):
        named = [(name, _kappa(report, first, second, name, scope)) for name in KAPPAS]
        known = [f"{MEASURE_NAMES[name]} {coefficient_words(row)}" for name, row in named if row and not undefined(row)]
        if known:
            return f"{'' if scope == SAMPLE else 'weighted to the run: '}{', '.join(known)}"
    return ""


def _kappa(report: AgreementReport, first: str, second: str, name: str, scope: str) -> Row | None:
    try:
        return figure(report, first, second, name, scope=scope)
    except KeyError:  # labels without an order have no weighted one, and a comparison of systems has no disagreement
        return None


def weighted_sentence(report: AgreementReport, by: str, named: Named = rater_name) -> str:
    """The judge's agreement weighted to the run; "" where the report has no figures of the run, or not this one."""
    if report.population:
        return ""
    raw = figure(report, by, JUDGE, "accuracy", scope=POPULATION)
    return (
        ""
        if undefined(raw)
        else f"Weighted to all pairs of the run, the judge gives {_label_of(by, named)} to {share_words(raw)}."
    )
