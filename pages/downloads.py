"""Downloads: every table and figure of a run, and a report to mail, in one archive: the one that the command makes."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.studies.accounts import Role
from annotation.studies.verdict_store import find_origin
from annotation.theme_edits.history import curation_part
from annotation.validation.part import study_part
from audit.exports.context import CurationPart
from audit.exports.package import Order, archive_name, command_of, today
from audit.exports.readme import CONTENTS
from audit.store.runs import Run
from pages._blinded.access import current_account, label_store
from pages._shared.loaders import built_taxonomy, loaded_runs
from pages._shared.package_cache import ZIP, Key, progress, shelf
from pages._shared.page import page
from pages._shared.pickers import pick_one
from pages._shared.study_figures import stand
from pages._shared.theme_edits import curation_now
from pages._shared.widgets import counts

LEAD = "Everything this dashboard counts, as files for a paper, a spreadsheet or a colleague."
PUBLISHED = "Set the published figures of arXiv:2605.29084 beside"


def drawn_from(run: Run, store: LabelStore) -> list[Study]:
    """The studies whose items are pairs of the run, the finished ones first."""
    found = []
    for study in list_studies(store):
        try:
            if find_origin(store, study.study_id).digest == run.digest:
                found.append(study)
        except StudyError:  # a study that was drawn from no run here belongs to none
            continue
    return sorted(found, key=lambda study: study.state is not StudyState.CLOSED)


def pick_study(run: Run) -> str | None:
    """For a PI: the study whose validation tables come along. For nobody else is there any."""
    account = current_account()
    if account is None or account.role is not Role.PI:
        return None
    names = {study.study_id: study.title for study in drawn_from(run, label_store())}
    if not names:
        counts(run, "No study was drawn from this run, so there are no validation tables.")
        return None
    return pick_one(
        "Validation tables of a study", list(names), "with_study", default=next(iter(names)),
        format_func=lambda name: f"{names[name]} ({name})",
    )  # fmt: skip


def pick_other(run: Run) -> Run | None:
    """The run to compare with, if any."""
    others = {other.key: other for other in loaded_runs() if other.key != run.key}
    if not others:
        return None
    key = pick_one(
        "Compare with another run", list(others), "against", format_func=lambda name: f"{others[name].title} ({name})",
        placeholder="None",
    )  # fmt: skip
    return others[key] if key else None


def curated(run: Run) -> CurationPart | None:
    """What people made of the run's themes as they stand now."""
    built = built_taxonomy(run)
    return curation_part(*curation_now(run, built)) if built else None


def button(run: Run, other: Run | None, study_id: str | None, curation: CurationPart | None, *, paper: bool) -> Key:
    """The one button; what it fetches is built on the click, in a thread that knows nothing of this page."""
    taxonomy, store = built_taxonomy(run), label_store() if study_id else None
    against = built_taxonomy(other) if other else None
    seen = stand(study_id) if study_id else ()
    themes = [hash((each.themes, each.no_theme)) if each else None for each in (taxonomy, against)]
    acts = curation.facts["acts_sha256"] if curation else None
    beside = (other.digest, other.loaded_at) if other else None
    key = (run.digest, run.loaded_at, beside, study_id, seen, paper, *themes, acts, today())

    def order() -> Order:
        part = study_part(store, study_id) if store is not None and study_id else None
        return Order(run, today(), other, part, paper, taxonomy, curation, against)

    name = archive_name(run)
    st.download_button(
        "Download everything (ZIP)", data=lambda: shelf().take(key, order, name), file_name=name, mime=ZIP, key="package",
        on_click=shelf().ask, args=(key,), icon=":material/folder_zip:", type="primary",
    )  # fmt: skip
    return key


with page("Downloads", LEAD) as run:
    with st.container(horizontal=True):  # whoever has one choice only has no gap for the other
        study_id = pick_study(run)
        other = pick_other(run)
    paper = st.checkbox(PUBLISHED, key="paper")
    curation = curated(run)
    key = button(run, other, study_id, curation, paper=paper)
    if shelf().step(key):
        progress(key)
    elif size := shelf().size(key):
        counts(run, "Built: {size} MB. As long as nothing changes, it is the same file.", size=f"{size / 1e6:.1f}")
    else:
        counts(run, "It is built on the click; with pictures that takes some ten seconds, at the published scale a minute.")
    st.header("What is in it", anchor=False)
    st.markdown("\n".join(f"- `{place}`: {words}" for place, words in CONTENTS.items()))
    st.header("The same from a terminal", anchor=False)
    command = command_of(run, other, study_id, paper=paper)
    st.code(command, language="bash", wrap_lines=True)
    if other:
        counts(run, "The comparison reads from this run to the other one, as *Compare* does when it is turned that way.")
    counts(run, "The same data gives the same file, byte for byte, but for the date in manifest.json.")
