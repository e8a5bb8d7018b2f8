"""The fields that draw a sample from a run and create a study of it, with a planner and a preview of what is masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import MAX_RATINGS_PER_ITEM, RATINGS_PER_ITEM, ItemKind, list_studies, neutral_titles
from annotation.label_store.study_creation import NewItem
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES, Scheme
from annotation.studies.accounts import Role, list_accounts
from annotation.studies.earlier_studies import items_of_studies
from annotation.studies.first_in_line import REASONS
from annotation.studies.head_to_head import (
    QUESTIONS_PER_COUPLE,
    HeadToHeadPlan,
    draw_head_to_head,
    draw_head_to_head_study,
    systems_in,
)
from annotation.studies.leakage import leakage_sentence
from annotation.studies.masking_preview import MASKED_TABLE, MaskingPreview
from annotation.studies.registration import MAX_STATEMENT, PRIMARY_FIGURES, Registration
from annotation.studies.sample_plan import (
    DESIGNS,
    MAX_STATEMENTS,
    MAX_STUDY_ITEMS,
    MOST_FIRST,
    SECOND_CRITERIA,
    Plan,
    SamplePlan,
    allocate_items,
    expected_precision,
    with_earlier,
)
from annotation.studies.sampling import DrawnSample, draw_study, preview_study, stratum_sizes
from annotation.studies.study_tables import SAMPLE_TABLES, strata_frame
from annotation.studies.verdict_store import sample_digest
from audit.store.runs import Run
from audit.vocabulary import LABELS, RATERS
from pages._blinded.access import now
from pages._blinded.frame import escaped
from pages._blinded.option_labels import distinct_labels
from pages._blinded.scripts import script_path
from pages._shared.loaders import load, loaded_runs
from pages._shared.pickers import requested_run
from pages._shared.study_figures import remember_study
from pages._shared.widgets import table

NEEDED = (
    "A study needs a loaded run and two annotators. Runs are loaded with `audit load PATH`; annotators are added on *People*."
)
ASKED = {PAIRS.name: "How two handbooks' answers relate", HEAD_TO_HEAD.name: "Which system's answer is better (head-to-head)"}
DRAWS: dict[Scheme, tuple[Callable[..., DrawnSample], Callable[..., DrawnSample]]] = {
    PAIRS: (preview_study, draw_study),
    HEAD_TO_HEAD: (lambda _, run, plan, study_id: draw_head_to_head(run, plan, study_id), draw_head_to_head_study),
}
SUCCESS, NAMES_READ = "success message for the next run of the page", "plan whose items with names were shown"
NAMES_LEFT = "Items hold a word that is in an institution's name too, and may be an ordinary one; with their number: "
READ_FIRST = (
    "Nothing was created yet. Where a word tells whose answer it is, list it under *Also mask these names*; where none does, "
    "choose *Draw sample and create study* again."
)
MASK_HELP = (
    "Names of the run's handbooks, centers and systems are masked anyway, and so are telephone numbers, addresses and source "
    "lines. The list is kept with the study and cannot be changed afterwards."
)
PHRASES_HELP = (
    "Openings, closings and phrases that answers to several questions have, all of one handbook, and names of bodies that all "
    "belong to. They are learned from the run; phrases with amounts or negations stay. The preview lists them."
)
STATEMENTS_HELP = (
    "Raters then read sentences in place of an answer: of those that bear on the question and the other answer, the ones that "
    "tell least whose they are. They give away less, and raters judge less than the judge read: the study is of statements."
)
RATERS_HELP = "Every figure that comes from their ratings says who rated. Unknown: the figures speak of raters."
RATINGS_HELP = (
    "How many annotators rate each item. The label of more than half of them is gold; without a majority, an adjudicator "
    "decides. With three, fewer items have to be decided."
)
REGISTER = (
    "Optional. It is sealed with the sample, so it cannot be changed afterwards unseen, and the package for a paper "
    "says what was registered and whether it was found."
)
AFTER_HELP = (
    "To make an earlier study larger: its pairs are not drawn again, and *Prevalence* can count the ratings of both together."
)
FIRST_HELP = (
    "At most this share of the items goes to pairs that there is a reason to doubt, each reason a stratum of its own, drawn in "
    f"full as far as the share goes: {'; '.join(reason.sentence for reason in REASONS)}."
)
LOOKS_ASKED = "Looks before the end, after this share of the items"
LOOKS = (0.25, 1 / 3, 0.5, 2 / 3, 0.75)
LOOKS_HELP = (
    "At these looks *Agreement* says whether the threshold is reached, by an interval that spends a part of the error of 5 % "
    "(O'Brien and Fleming: hardly any early). Without them it says so at the end only."
)
CONFIRMED = "If annotators confirm this share of the judge's labels, in %"


def rerun_with_message(message: str) -> None:
    """Rerun the page, so that it shows the new state, and show the message on it."""
    # A message that is drawn before a rerun disappears with it.
    st.session_state[SUCCESS] = message
    st.rerun()


def show_message() -> None:
    """Show the message of `rerun_with_message`, if there is one."""
    if message := st.session_state.pop(SUCCESS, None):
        st.success(escaped(message))
        st.toast("The result is at the top of the page.")  # the form that was sent may be far below


DESIGN_HELP = (
    "The items then go where the judge's errors change this figure most. Pairs that were called absent without asking the judge "
    "are a stratum of their own with a few items: a check that they are absent, as the figures take them to be."
)


def new_study(store: LabelStore) -> None:
    """The fields of a study of pairs or, where a run has answering systems, of a head-to-head study."""
    people = [account.username for account in list_accounts(store) if account.role is Role.ANNOTATOR]
    runs = loaded_runs()
    possible = {PAIRS: [run for run in runs if run.has_pairs], HEAD_TO_HEAD: [run for run in runs if run.has_systems]}
    names = [scheme.name for scheme, own in possible.items() if own]
    if not names or len(people) < 2:
        st.info(NEEDED)
        st.page_link(script_path("studies/people"), label="People", icon=":material/group_add:")
        return
    chosen = names[0]
    if len(names) > 1:
        chosen = st.selectbox("What annotators are asked", names, key="scheme", format_func=ASKED.__getitem__)
    scheme = SCHEMES[chosen]
    _study_fields(store, scheme, possible[scheme], people)


def _study_fields(store: LabelStore, scheme: Scheme, runs: Sequence[Run], people: Sequence[str]) -> None:
    by_key = {run.key: run for run in runs}
    if (shown := requested_run()) in by_key:
        st.session_state.setdefault("study_run", shown)
    key = st.selectbox("Run", list(by_key), format_func=lambda name: f"{by_key[name].title} ({name})", key="study_run")
    # Not a form: the planner follows every number as it is changed.
    left, right = st.columns(2)
    study_id = left.text_input("Id (letters, digits, . _ and -)", key="study_id", placeholder="validation-1", max_chars=64)
    title = right.text_input("Title", key="study_title", max_chars=120, placeholder="For PIs; annotators see a number instead")
    left, right = st.columns([3, 1])
    most = min(MAX_RATINGS_PER_ITEM, len(people))
    wanted = int(right.number_input("Ratings per item", RATINGS_PER_ITEM, most, key="ratings_per_item", help=RATINGS_HELP))
    chosen = left.multiselect(
        f"Annotators ({wanted} rate every item; more share the items)", people, people[:2], key="annotators"
    )
    raters = st.selectbox("Who the annotators are", RATERS[::-1], format_func=str.capitalize, key="raters", help=RATERS_HELP)
    plan: Plan = pair_fields(store, by_key[key], wanted) if scheme is PAIRS else head_to_head_fields(by_key[key])
    with st.container(horizontal=True):
        preview = st.button("Preview strata and masking", key="preview")
        create = st.button("Draw sample and create study", type="primary", key="create_study")
    draw, draw_and_create = DRAWS[scheme]
    if preview:
        _preview(draw(store, by_key[key], plan, study_id), scheme)
    if create and not _names_to_read(draw(store, by_key[key], plan, study_id), plan):
        draw_and_create(
            store,
            by_key[key],
            plan,
            study_id=study_id,
            title=title or study_id,
            annotators=chosen,
            now=now(),
            ratings_per_item=wanted,
            raters=raters,
        )
        remember_study(study_id)
        shown = neutral_titles(list_studies(store))[study_id]
        rerun_with_message(f"The study was created; its annotators can see it now, as {shown}.")


def _names_to_read(drawn: DrawnSample, plan: Plan) -> bool:
    """Show the items in which a word of an institution's name is left; False where none is, or this plan's were shown before."""
    if not drawn.names_left or st.session_state.get(NAMES_READ) == plan:
        return False
    st.session_state[NAMES_READ] = plan
    _items_with_names(drawn)
    st.info(READ_FIRST)
    return True


def _items_with_names(drawn: DrawnSample) -> None:
    if not drawn.names_left:
        st.caption(escaped(drawn.names_left_text()))
    else:
        found = Counter(word for words in drawn.names_left.values() for word in words).most_common()
        st.warning(escaped(NAMES_LEFT + ", ".join(f"{word} ({n})" for word, n in found)))
        with st.expander("Read these items"):
            for item in drawn.items:
                if words := drawn.names_left.get(item.item_id):
                    _item(item, f"{item.item_id}: {', '.join(words)}")


def pair_fields(store: LabelStore, run: Run, ratings_per_item: int) -> SamplePlan:
    """The sample plan of a study of pairs, as filled in, with the precision to expect beside it."""
    figure, total = _designed_for()
    per_label = {} if figure else _items_per_label()
    second, first, calibration, repeats, seed = st.columns(5)
    plan = SamplePlan(
        per_label=per_label,
        design_for=figure,
        items=total,
        second=second.selectbox("Also divided by", SECOND_CRITERIA, index=None, placeholder="None", key="second"),
        first_in_line=first.number_input("Doubtful pairs first, in %", 0, int(100 * MOST_FIRST), 0, 5, help=FIRST_HELP) / 100,
        **_common_fields(calibration, repeats, seed, SamplePlan),
        **_shown_fields(st.checkbox("Show annotators which handbook an answer is from", key="names_shown")),
        after=_earlier_studies(store, run),
        registration=_registration(),
    )
    _planner(store, run, plan, ratings_per_item)
    return plan


def _designed_for() -> tuple[str, int]:
    """The figure that the sample is designed for, and its items; "" and 0 where each label gets a number of its own."""
    left, right = st.columns([3, 1])
    figure = left.selectbox(
        "Primary figure, which the items are to show as precisely as possible", DESIGNS, index=None, key="design_for",
        placeholder="None: choose the items of each label", format_func=lambda name: DESIGNS[name].capitalize(), help=DESIGN_HELP,
    )  # fmt: skip
    if figure is None:
        return "", 0
    return figure, int(right.number_input("Items in all", 1, MAX_STUDY_ITEMS, 200, key="items_in_all"))


def _items_per_label() -> dict[str, int]:
    st.markdown("Items per label of the judge")
    columns = st.columns(len(LABELS))
    return {
        str(label): int(column.number_input(label.capitalize(), 0, MAX_STUDY_ITEMS, 40, key=f"items_{label}"))
        for label, column in zip(LABELS, columns, strict=True)
    }


def _earlier_studies(store: LabelStore, run: Run) -> tuple[str, ...]:
    studies = (study.study_id for study in list_studies(store) if study.scheme is PAIRS)
    own = [study_id for study_id in studies if sample_digest(store, study_id) == run.digest]
    if not own:
        return ()
    st.session_state["after"] = [study_id for study_id in st.session_state.get("after", []) if study_id in own]
    return tuple(st.multiselect("Leave out the pairs of", own, key="after", help=AFTER_HELP, placeholder="No study"))


def _registration() -> Registration | None:
    """What the PI lays down before the study opens; None where nothing."""
    with st.expander("Register before the study opens"):
        st.caption(REGISTER)
        left, right = st.columns([3, 1])
        primary = left.selectbox(
            "Primary figure", PRIMARY_FIGURES, index=None, placeholder="None", key="primary",
            format_func=lambda name: PRIMARY_FIGURES[name].capitalize(),
        )  # fmt: skip
        at_least = right.number_input("Expected to be at least", -1.0, 1.0, 0.6, 0.05, key="at_least")
        looks = st.multiselect(LOOKS_ASKED, LOOKS, key="looks", format_func="{:.0%}".format, help=LOOKS_HELP)
        statement = st.text_area("What is expected, and why", key="statement", height=80, max_chars=MAX_STATEMENT)
    return Registration(primary, at_least, statement, tuple(sorted(looks))) if primary else None


def _common_fields(calibration: Any, repeats: Any, seed: Any, defaults: type[Plan]) -> dict[str, Any]:
    return {
        "calibration": int(calibration.number_input("Calibration items", 0, 100, defaults.calibration, key="calibration")),
        "repeats": int(repeats.number_input("Silent repeats", 0, 100, defaults.repeats, key="repeats")),
        "seed": int(seed.number_input("Seed", 0, 2**31 - 1, 1, key="seed")),
    }


def _shown_fields(names_shown: bool = False) -> dict[str, Any]:
    """How answers are shown to raters, as filled in."""
    if names_shown:
        return {"names_shown": True}
    text = st.text_area("Also mask these names, one a line", key="masked_words", height=80, help=MASK_HELP)
    phrases, statements = st.columns(2)
    return {
        "masked_words": tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())),
        "phrases_masked": phrases.checkbox(
            "Also mask phrases that only one handbook has", key="phrases_masked", help=PHRASES_HELP
        ),
        "statements": int(
            statements.number_input(
                "Statements shown of each answer (0: whole answers)", 0, MAX_STATEMENTS, 0, key="statements", help=STATEMENTS_HELP
            )
        ),
    }


def _planner(store: LabelStore, run: Run, plan: SamplePlan, ratings_per_item: int) -> None:
    """What the sample is expected to give, together with earlier ones that it makes larger, and how much work it is."""
    with st.container(border=True):
        left, right = st.columns([1, 3])
        confirmed = left.number_input(CONFIRMED, 50, 100, 80, 5, key="confirmed") / 100
        divided = {"by_organ": plan.second == "organ", "screened": bool(plan.design_for), "first": plan.first_in_line > 0}
        sizes = load(stratum_sizes, run, **divided)
        strata = allocate_items(sizes, plan)
        own, calibration = (sum(getattr(stratum, name) for stratum in strata) for name in ("study", "calibration"))
        ratings = ratings_per_item * (own + min(plan.repeats, own) + calibration)
        expected = expected_precision(with_earlier(strata, items_of_studies(store, plan.after)), confirmed, plan.design_for)
        together = f"Together with {', '.join(plan.after)}: " if plan.after else ""
        work = f"With {ratings_per_item} ratings per item: {ratings:,} {'more' if plan.after else 'in all'}."
        right.caption(escaped(f"{together}{expected.sentence(confirmed)} {work}"))


def head_to_head_fields(run: Run) -> HeadToHeadPlan:
    """The sample plan of a head-to-head study, as filled in."""
    systems = systems_in(run)
    chosen = st.multiselect(
        "Systems (each two of them are compared)",
        list(systems),
        list(systems)[:2],
        key=f"systems_{run.key}",
        format_func=distinct_labels(systems, systems.__getitem__),
    )
    questions, calibration, repeats, seed = st.columns(4)
    return HeadToHeadPlan(
        systems=tuple(chosen),
        questions=int(questions.number_input("Questions for each two", 1, 1000, QUESTIONS_PER_COUPLE, key="questions")),
        **_common_fields(calibration, repeats, seed, HeadToHeadPlan),
        **_shown_fields(),
    )


def _preview(drawn: DrawnSample, scheme: Scheme) -> None:
    table(strata_frame(drawn.strata), "would_be", SAMPLE_TABLES[scheme].columns)
    kinds = [item.kind for item in drawn.items]
    st.caption(
        f"{kinds.count(ItemKind.STUDY)} study items, {kinds.count(ItemKind.REPEAT)} repeats, "
        f"{kinds.count(ItemKind.CALIBRATION)} calibration items. {drawn.not_drawn_text()} Nothing was created."
    )
    _items_with_names(drawn)
    if drawn.masking is not None:
        _preview_masking(drawn, drawn.masking)


def _preview_masking(drawn: DrawnSample, masking: MaskingPreview) -> None:
    """What is masked, what may be left, and an item as annotators will read it."""
    st.header("What is masked", anchor=False)
    st.markdown(escaped(masking.sentence()))
    if left := masking.organisations_sentence():
        st.warning(escaped(left))
    st.markdown(escaped(leakage_sentence(drawn)))
    table(masking.masked, "masked", MASKED_TABLE.columns, rows=8)
    example = next((item for item in drawn.items if "[" in item.answer_a + item.answer_b), drawn.items[0])
    _item(example, "An item as annotators will read it")


def _item(item: NewItem, caption: str) -> None:
    st.caption(escaped(caption))
    st.text(item.question)
    for column, text in zip(st.columns(2), (item.answer_a, item.answer_b), strict=True):
        with column.container(border=True):
            st.text(text)
