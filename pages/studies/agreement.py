"""Agreement: how far annotators agree with each other and with the judge, live while the work goes on."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import HEADLINE, Report
from annotation.agreement.text import SPOKEN
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, StudyState, find_study
from annotation.ratings import JUDGE
from annotation.studies.accounts import Account, Role
from annotation.studies.adjudication import list_disputes
from annotation.studies.verdict_store import verdicts_by_item
from audit.errors import AuditError
from audit.number_format import fixed
from pages._blinded.access import label_store, require_role
from pages._blinded.frame import escaped, explain, study_page, synthetic_notice
from pages._shared.study_figures import current_report, floor, pick_study, seat_names, with_ends
from pages._shared.tables import clicked_row, table

LEAD = "How far annotators agree with each other and with the judge. Labels are ordered, so the headline is the weighted kappa."
NONE = "There is no study yet."
BLIND = (
    "An adjudicator decides without the judge: what it said is in none of these figures. Its part appears here when every "
    "difference is decided."
)
EVERY_S = 5
SCOPES = {SAMPLE: "These items", POPULATION: "Weighted to the whole run"}
FIGURES = {"figure": "Figure", "value": "Value", "interval": "95 % interval", "n": "Items", "word": "In words", "note": "Note"}
ERRORS = {"by": "Measured by", "right": "People say", "judged": "The judge says", "n": "Items"}
TIMES = {
    "annotator": "Annotator", "n": "Items", "median_s": "Median s", "fastest_tenth_s": "Fastest tenth s",
    "slowest_tenth_s": "Slowest tenth s", "first_quarter_s": "First quarter s", "last_quarter_s": "Last quarter s",
}  # fmt: skip
DRIFT = {"annotator": "Annotator", "against": "Against", "quarter": "Quarter of the work", "n": "Items", "value": "Same label"}
PREVALENCE = {"first": "Who", "label": "Label", "value": "Share", "n": "Items", "note": "Note"}
ONESELF = {"annotator": "Annotator", **FIGURES}
ABOUT = {"label": "Label", "significance": "Clinical significance, where all of them gave one"}
Pick = tuple[str, str, str]


def pick_comparison(report: Report, names: dict[str, str]) -> tuple[Pick, str]:
    """Who is compared with whom, and for what."""
    pairs = report.figures[report.figures["name"] != "prevalence"][["about", "first", "second"]].drop_duplicates()
    options: list[Pick] = [(str(about), str(first), str(second)) for about, first, second in pairs.to_numpy().tolist()]
    chosen = st.selectbox("Compare", options, format_func=lambda pick: spoken(pick, names), key="comparison")
    scopes = list(report.figures["scope"].unique())
    scope = st.segmented_control("For", scopes, key="scope", required=True, default=SAMPLE, format_func=lambda s: SCOPES[s])
    return chosen, scope or SAMPLE


def spoken(pick: Pick, names: dict[str, str]) -> str:
    """A comparison in words, as plain text."""
    about, first, second = pick
    one, other = names.get(first, first), names.get(second, second)
    who = f"{other}, measured by {one}" if second == JUDGE else f"{one} and {other}" if second else f"{one} together"
    return f"{ABOUT[about]}: {who}"


def of(frame: pd.DataFrame, pick: Pick, scope: str) -> pd.DataFrame:
    """The rows of one comparison in one scope."""
    about, first, second = pick
    wanted = (frame["about"] == about) & (frame["first"] == first) & (frame["second"] == second) & (frame["scope"] == scope)
    return frame[wanted]


def number(value: float) -> str:
    """Three digits; nothing where it is undefined."""
    return "" if math.isnan(value) else fixed(value, 3)


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Figures as text, an undefined one with its reason."""
    between = [
        f"{fixed(low, 3)} to {fixed(high, 3)}" if not math.isnan(low) else ""
        for low, high in zip(rows["low"], rows["high"], strict=True)
    ]
    named = [
        SPOKEN.get(name, name) + (f", {label}" if label else "") for name, label in zip(rows["name"], rows["label"], strict=True)
    ]
    shown = [number(value) or "undefined" for value in rows["value"]]
    return pd.DataFrame(
        {"figure": named, "value": shown, "interval": between, "n": rows["n"].tolist(), "word": rows["word"].tolist(),
         "note": rows["note"].tolist()}
    )  # fmt: skip


def headline(rows: pd.DataFrame) -> None:
    """The weighted kappa and the raw share, each with interval and count."""
    columns = st.columns(2)
    for column, name in zip(columns, (HEADLINE, "agreement"), strict=True):
        found = rows[(rows["name"] == name) & (rows["label"] == "")]
        for row in readable(found).to_dict("records"):
            column.metric(escaped(_begun(row["figure"])), row["value"])
            between = f"95 % interval {row['interval']}; " if row["interval"] else ""
            told = [f"{between}{row['n']} items", row["word"], row["note"]]
            column.caption(escaped(" ".join(f"{_begun(each)}." for each in told if each)))


def _begun(words: str) -> str:
    """Words that begin a sentence or stand over a figure."""
    return words[:1].upper() + words[1:]


def matrix(report: Report, pick: Pick, scope: str, names: dict[str, str]) -> None:
    """The confusion matrix: rows are the first seat's labels."""
    cells = of(report.confusion, pick, scope)
    if cells.empty:  # more than two together have no matrix
        return
    order = list(dict.fromkeys(cells["first_label"]))
    wide = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order].round(0).astype(int)
    unit = "items" if scope == SAMPLE else "estimated pairs of the run"
    first, second = names.get(pick[1], pick[1]), names.get(pick[2], pick[2])
    st.markdown(escaped(f"Rows: {first}. Columns: {second}. Cells: {unit}."))
    shown = wide.rename_axis(None).rename_axis(None, axis=1).rename(index=str.capitalize, columns=str.capitalize)
    st.dataframe(shown, key=f"matrix_{scope}", width="stretch")


def errors(report: Report, study: Study, names: dict[str, str]) -> None:
    """The judge's errors by kind; a click opens the items."""
    st.header("The judge's errors", anchor=False)
    found = report.errors
    if found.empty:
        st.markdown("None among the items that both annotators have labelled.")
        return
    named = found.assign(by=found["by"].map(lambda seat: names.get(seat, seat)))
    row = clicked_row(named, "errors", ERRORS, rows=8)
    st.caption("Click a row to read the items behind it.")
    if row is not None:
        behind(study, list(row["items"]))


def behind(study: Study, items: list[str]) -> None:
    """The items of one kind of error, one at a time."""
    place = st.pagination(len(items), key="error_item") if len(items) > 1 else 1
    item_id = items[min(place, len(items)) - 1]
    seats = [row for row in assignment_rows(label_store(), study.study_id) if row["item_id"] == item_id]
    verdict = verdicts_by_item(label_store(), study.study_id)[item_id]
    st.text(seats[0]["question"])
    for column, side in zip(st.columns(2), "ab", strict=True):
        with column.container(border=True):
            st.caption(escaped(seats[0][f"name_{side}"]))
            st.text(seats[0][f"answer_{side}"])
    said = "; ".join(f"{row['seat']}: {(row['label'] or 'not rated').lower()}" for row in seats)
    st.text(f"{said}; the judge: {verdict.label.lower()}. {verdict.reasoning or ''}")


def work(report: Report, names: dict[str, str]) -> None:
    """Time per item and drift over the order of work."""
    with st.expander("Time per item, and drift over the order of work"):
        table(report.times.assign(annotator=report.times["annotator"].map(names)), "times", TIMES)
        named = report.drift.assign(
            **{name: report.drift[name].map(lambda s: names.get(s, s)) for name in ("annotator", "against")}
        )
        table(named, "drift", DRIFT, shares=("value",))


def prevalence(report: Report, scope: str, names: dict[str, str]) -> None:
    """How often each gave each label: kappa falls when one label is frequent."""
    rows = report.figures[(report.figures["name"] == "prevalence") & (report.figures["scope"] == scope)]
    with st.expander("How often each label was given"):
        named = rows.assign(first=rows["first"].map(lambda seat: names.get(seat, seat)))
        table(with_ends(named), "prevalence", PREVALENCE, shares=("value",))


def oneself(report: Report) -> None:
    """Each annotator with oneself, on the silent repeats."""
    with st.expander("Each annotator with oneself, on the silent repeats"):
        if report.oneself.empty:
            st.markdown("No item has come back to an annotator yet.")
            return
        shown = readable(report.oneself.assign(label=""))
        table(shown.assign(annotator=report.oneself["annotator"].tolist()), "oneself", ONESELF)


def judge_is_shown(study: Study, account: Account) -> bool:
    """Whether the judge takes part: for an adjudicator not before everything is decided."""
    decided = study.state is StudyState.ADJUDICATION and not list_disputes(label_store(), study.study_id)
    return account.role is Role.PI or study.state is StudyState.CLOSED or decided


def figures(study_id: str) -> None:
    """Everything the report says, as it stands now."""
    try:
        account, study = require_role(Role.PI, Role.ADJUDICATOR), find_study(label_store(), study_id)
        judged = judge_is_shown(study, account)
        report, names = current_report(study_id, judged=judged), seat_names(study_id)
    except AuditError as error:
        explain(error)
        return
    counts = "; ".join(f"{names.get(name, name)}: {count}" for name, count in report.counts.items())
    st.caption(escaped(f"{counts}. State: {study.state}."))
    if not judged:
        st.info(BLIND)
    pick, scope = pick_comparison(report, names)
    rows = of(report.figures, pick, scope)
    if rows.empty:
        st.caption("Of all together there are figures for these items only.")
        rows = of(report.figures, pick, SAMPLE)
    headline(rows)
    table(readable(rows[rows["label"] == ""]), "figures", FIGURES, rows=14)
    if (rows["label"] != "").any():
        with st.expander("By label: precision, recall and F1"):
            table(readable(rows[rows["label"] != ""]), "by_label", FIGURES, rows=15)
    matrix(report, pick, scope, names)
    prevalence(report, scope, names)
    if judged:
        errors(report, study, names)
        floor(study.study_id, pick[1] if pick[2] == JUDGE and pick[0] == "label" else "", scope, names)
    oneself(report)
    work(report, names)


with study_page("Agreement", LEAD, Role.PI, Role.ADJUDICATOR):
    study = pick_study()
    if study is None:
        st.info(NONE)
    else:
        synthetic_notice(study)
        st.fragment(figures, run_every=None if study.state is StudyState.CLOSED else EVERY_S)(study.study_id)
