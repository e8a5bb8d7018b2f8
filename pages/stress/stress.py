"""Stress: how systems perform when evidence is missing, noisy or wrong, by the share of signal; and every instance to read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from audit.charts.stress import selective_curves
from audit.exports.published.stress import DETAILED_MODELS, STRESS_MODELS, curves_behind
from audit.exports.sections.stress import CONTEXTS, CURVES, PAIRED, SELECTIVE, along, curves_of
from audit.metrics.stress import MEASURE_TITLES
from audit.queries.stress import StressItemView, stress_item, stress_item_list, stress_scope, tested_systems
from audit.store.runs import Run
from audit.terms import fill
from audit.vocabulary import STRESS_TESTS, StressTest
from pages._shared import sections
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose, named_by, pick_many, pick_one
from pages._shared.widgets import chart, counts, figure_frame, linked_rows, say, server_commands, title_of
from pages.stress.item import documents_html, question_html, replies_html

LEAD = "What does a system do when the documents it is given are missing, irrelevant or wrong?"
CSS = Path(__file__).with_name("item.css")
NO_STRESS = (
    "This run has no stress tests, so there is nothing to show here (not measured, which is not the same as zero). Commands "
    "build tests and put them to a model, or to one of the readers whose results are known."
)
COMMANDS = """\
audit stress build --help
audit stress run --help"""
VIEWS = {
    "all": "Curves", "selective": "Answers and refusals", "differences": "Differences", "contexts": "Documents shown",
    "instances": "Instances", "one": "One instance",
}  # fmt: skip
PUBLISHED = "Grey: the figures that MedRGB prints for the same set of questions, with other documents and other prompts."
UNREADABLE_ONE = "1 reply, document or sub-question could not be read; it is not counted in any share."
UNREADABLE = "{n} replies, documents or sub-questions could not be read; they are not counted in any share."
TEST_WORDS: dict[str, str] = {
    StressTest.STANDARD: "Standard", StressTest.SUFFICIENCY: "Sufficiency", StressTest.INTEGRATION: "Integration",
    StressTest.ROBUSTNESS: "Robustness",
}  # fmt: skip
MEANINGS = {
    StressTest.STANDARD: "All documents belong to the {question}. The system chooses an option.",
    StressTest.SUFFICIENCY: (
        "Signal documents belong to the {question}, and noise belongs to other {questions}. The system says which is which, and "
        "chooses an option or says that the documents do not suffice."
    ),
    StressTest.INTEGRATION: (
        "Signal documents belong to the {question}, and noise belongs to other {questions}. The system answers a sub-question on "
        "each signal document, and then chooses an option."
    ),
    StressTest.ROBUSTNESS: (
        "All documents belong to the {question}, and some were altered so that they are wrong. The system says which these are, "
        "answers the sub-questions, and chooses an option."
    ),
}
ITEM_COLUMNS = {
    "size": "Size", "signal_share": "Signal, %", "right_ones": "Right", "wrong_ones": "Wrong",
    "insufficient": "Insufficient", "unread": "Unreadable",
}  # fmt: skip
MAX_LISTED = 500
ALL_SETS = "all sets"


@dataclass(frozen=True)
class ChosenTest:
    """A test, the requested size of its contexts (None: all sizes, which are then on the axis), and the questions.

    dataset, scope  a set of questions (None: all), and what is known of its instances
    """

    test: str
    size: int | None
    dataset: str | None
    scope: pd.DataFrame

    @property
    def options(self) -> dict[str, str | int | None]:
        """As arguments of a metric."""
        return {"test": self.test, "size": self.size, "dataset": self.dataset}

    @property
    def across(self) -> str:
        """The title of that axis."""
        return along(self.test)[1]


def pick_test(run: Run, scope: pd.DataFrame) -> ChosenTest:
    """The test, the number of documents and the set of questions in the address."""
    tests = [test for test in STRESS_TESTS if test in set(scope["test"])]
    default_first = sorted(tests, key=lambda test: test == StressTest.STANDARD)
    left, right = st.columns([3, 2])
    with left:
        test = choose("Test", default_first, "test", named_by(TEST_WORDS))
    sizes = [str(size) for size in sorted(scope.loc[scope["test"] == test, "size"].unique())]
    with right:
        several = len(sizes) > 1 and test != StressTest.STANDARD
        size = choose("Documents", sizes, "size") if several else None
    scope = scope[scope["test"] == test]
    datasets = sorted(set(scope["dataset"]) - {""})
    chosen = choose("Questions of", (ALL_SETS, *datasets), "dataset") if len(datasets) > 1 else ALL_SETS
    dataset = None if chosen == ALL_SETS else chosen
    counts(run, MEANINGS[StressTest(test)])
    only = None if test == StressTest.STANDARD else int(sizes[0])
    scope = scope if dataset is None else scope[scope["dataset"] == dataset]
    return ChosenTest(test, int(size) if size is not None else only, dataset, scope)


def curves(run: Run, chosen: ChosenTest) -> None:
    """One measure of every system, with published figures behind it where the questions are the same."""
    frame = load(CURVES.metric, run, **chosen.options)
    if frame.empty:
        counts(run, "No system has taken this test.")
        return
    measures = list(dict.fromkeys(frame["measure"]))
    titles = {str(name): title for name, title in MEASURE_TITLES.items()}
    measure = pick_one("Measure", measures, "measure", default=measures[0], format_func=named_by(titles)) or measures[0]
    shown = frame[frame["measure"] == measure]
    figure, has_published = curves_of(shown, chosen.test, measure, chosen.scope, pick_published(chosen, measure, shown))
    alt = f"{titles[measure]} of each system, with 95 % intervals, by {chosen.across.lower()}."
    chart_tab, table_tab = figure_frame(run, "curves", frame, f"stress-{chosen.test}", CURVES.metric.name)
    if chart_tab.open:
        with chart_tab:
            chart(figure, "curves", alt)
            if has_published:
                counts(run, PUBLISHED)
    if table_tab.open:
        with table_tab:
            sections.rows(run, CURVES, shown)
    unread = int(shown["unread"].sum())
    unreadable = UNREADABLE_ONE if unread == 1 else UNREADABLE
    counts(run, unreadable if unread else "Everything that was asked for could be read.", n=f"{unread:,}")
    with st.expander("How each measure is counted"):
        for note in CURVES.metric.table.notes_for(run):
            counts(run, "{note}", note=note)


def pick_published(chosen: ChosenTest, measure: str, shown: pd.DataFrame) -> list[str]:
    """The published models in the address, where there are figures of more than are drawn by themselves."""
    known = curves_behind(chosen.scope, chosen.test, measure, shown["size"].unique(), STRESS_MODELS)
    if known["model"].nunique() <= len(DETAILED_MODELS) * known["retrieval"].nunique():
        return []
    return pick_many(
        "Published figures of", list(STRESS_MODELS), "published", named_by(STRESS_MODELS), "The models in most tables"
    )


def selective(run: Run, chosen: ChosenTest) -> None:
    """Accuracy among the answered instances, against coverage."""
    frame = load(SELECTIVE.metric, run, **chosen.options)
    if frame.empty or frame["coverage"].min() == 1:
        counts(run, "In this test no system said that the documents do not suffice: each answered every {question}.")
        return
    sections.heading(run, SELECTIVE)
    alt = "Accuracy of what each system answers, against the share of questions that it answers, with 95 % intervals."
    chart_tab, table_tab = figure_frame(run, "selective", frame, f"stress-selective-{chosen.test}", SELECTIVE.metric.name)
    if chart_tab.open:
        with chart_tab:
            chart(selective_curves(frame, chosen.across), "selective", alt)
    if table_tab.open:
        with table_tab:
            sections.rows(run, SELECTIVE, frame)
    sections.explained(run, SELECTIVE, frame)
    counts(
        run,
        "Next to each mark: {across}. A system that knows when to decline stays high while it moves to the left; one that "
        "answers nothing has no accuracy and no mark.",
        across=chosen.across[0].lower() + chosen.across[1:],
    )


def differences(run: Run, chosen: ChosenTest) -> None:
    """Differences between systems on the same instances."""
    tested = load(tested_systems, run)
    names = dict(zip(tested["system_id"], tested["name"], strict=True))
    if len(names) < 2:
        counts(run, "Fewer than two systems have taken stress tests, so there is nothing to compare.")
        return
    baseline = pick_one("Compare with", list(names), "baseline", default=next(iter(names)), format_func=named_by(names))
    frame = load(PAIRED.metric, run, baseline=baseline, **chosen.options)
    sections.listing(run, PAIRED, frame, file=f"stress-paired-{chosen.test}")


def contexts(run: Run, chosen: ChosenTest) -> None:
    """The documents as they were shown, next to those that were asked for."""
    sections.heading(run, CONTEXTS)
    shown = load(CONTEXTS.metric, run, **chosen.options)
    sections.listing(run, CONTEXTS, shown, file=f"stress-contexts-{chosen.test}")


def instances(run: Run, chosen: ChosenTest) -> None:
    """The instances, those on which systems differ first; a click opens one."""
    st.header("Instances to read", anchor=False)
    frame = load(stress_item_list, run, **chosen.options, limit=MAX_LISTED)
    cut = " The first {n} are listed." if len(frame) == MAX_LISTED else ""
    listed = "Those on which systems differ come first; the columns count systems." + cut + " Click one to open it."
    counts(run, listed, n=MAX_LISTED)
    columns = {"question_text": title_of(run, "question"), **ITEM_COLUMNS}
    key = f"instances_{chosen.test}_{chosen.size}"
    linked_rows(run, frame, key, columns, "stress", lambda row: {"view": "one", "instance": str(row["instance_id"])}, rows=10)


def one_instance(run: Run, scope: pd.DataFrame) -> None:
    """One instance: the question, each system's reply, and the documents with the truth about them."""
    item = load(stress_item, run, instance_id=pick_instance(run, scope))
    st.html(question_html(item))
    counts(run, _facts(item), **_values(item))
    st.header("What each system replied", anchor=False)
    st.html(replies_html(item))
    st.header("The documents", anchor=False)
    st.html(documents_html(item))


def pick_instance(run: Run, scope: pd.DataFrame) -> str:
    """The instance in the address, else the one on which systems differ most; the others of the same test can be picked."""
    asked = st.query_params.get("instance")
    test = load(stress_item, run, instance_id=asked).test if asked else str(scope["test"].iloc[-1])
    frame = load(stress_item_list, run, test=test, limit=MAX_LISTED)
    words = {
        row["instance_id"]: f"{row['signal_share']} % of {row['size']}: {row['question_text']}"
        for row in frame.to_dict("records")
    }
    options = list(words) if asked in words or not asked else [asked, *words]
    label = fill(run, "Instance (type to search; share, documents, {question})")
    return pick_one(label, options, "instance", default=options[0], format_func=named_by(words)) or options[0]


def _facts(item: StressItemView) -> str:
    share = "{asked} % {of_what} asked for" if item.signal_share is not None else "share of signal not stated"
    data = " Questions of {dataset}." if item.dataset else ""
    return "{test}; " + share + ", {sound} of {documents} documents here." + data


def _values(item: StressItemView) -> dict[str, object]:
    robust = item.test == StressTest.ROBUSTNESS
    sound = sum(document.is_factual if robust else document.is_signal for document in item.documents)
    return {
        "test": TEST_WORDS[StressTest(item.test)], "asked": item.signal_share, "of_what": "correct" if robust else "signal",
        "sound": sound, "documents": len(item.documents), "dataset": item.dataset,
    }  # fmt: skip


DRAWN = {"all": curves, "selective": selective, "differences": differences, "contexts": contexts, "instances": instances}
"""What each view of a test draws."""

with page("Stress", LEAD, without_pairs=LEAD) as run:
    if not run.has_stress:
        st.info(say(run, NO_STRESS))
        server_commands(COMMANDS)
        st.stop()
    st.html(CSS)
    scope = load(stress_scope, run)
    view = choose("Show", tuple(VIEWS), "view", named_by(VIEWS), show_label=False)
    if view == "one":
        one_instance(run, scope)
    else:
        DRAWN[view](run, pick_test(run, scope))
