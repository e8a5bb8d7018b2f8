"""Downloads: every table and figure of a run and a report to send, in the same archive that `audit export` writes."""

from __future__ import annotations

import streamlit as st

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.studies.accounts import Role
from annotation.studies.validation import study_part
from annotation.studies.verdict_store import find_origin
from annotation.theme_edits.record import curation_part
from audit.exports.context import CurationPart
from audit.exports.package_files import CONTENTS
from audit.exports.package_request import CONTENTS_WORDS, EVERYTHING, VALIDATION, ExportRequest, archive_name, command_of, today
from audit.store.runs import Run
from pages._blinded import file_widgets
from pages._blinded.access import current_account, label_store
from pages._shared.loaders import built_taxonomy, loaded_runs
from pages._shared.page import page
from pages._shared.pickers import pick_one, run_label
from pages._shared.study_figures import study_heads
from pages._shared.themes import current_curation
from pages._shared.widgets import counts
from pages.downloads.package_cache import ZIP_TYPE, PackageKey, package_cache, show_progress

LEAD = "Every table and figure of this dashboard as files, for a paper, a spreadsheet or a colleague."
PUBLISHED = "Add published figures for comparison"


def studies_of_run(run: Run, store: LabelStore) -> list[Study]:
    """The studies whose items are pairs of the run, closed studies first."""
    studies = []
    for study in list_studies(store):
        try:
            if find_origin(store, study.study_id).digest == run.digest:
                studies.append(study)
        except StudyError:  # the study was sampled from a run that is not loaded here
            continue
    return sorted(studies, key=lambda study: study.state is not StudyState.CLOSED)


def pick_study(run: Run) -> str | None:
    """For a PI: the study whose validation tables are included; None for everybody else."""
    account = current_account()
    if account is None or account.role is not Role.PI:
        return None
    names = {study.study_id: study.title for study in studies_of_run(run, label_store())}
    if not names:
        counts(run, "No study was sampled from this run, so there are no validation tables.")
        return None
    return pick_one(
        "Include the validation tables of a study", list(names), "with_study", default=next(iter(names)),
        format_func=lambda study_id: f"{names[study_id]} ({study_id})",
    )  # fmt: skip


def pick_other_run(run: Run) -> Run | None:
    """The run to compare with, if any."""
    others = {other.key: other for other in loaded_runs() if other.key != run.key and other.has_pairs and run.has_pairs}
    if not others:
        return None
    key = pick_one(
        "Compare with another run", list(others), "against", format_func=lambda key: run_label(others[key]), placeholder="None",
    )  # fmt: skip
    return others[key] if key else None


def pick_contents(study_id: str | None) -> str:
    """How much of the package: the validation alone only where there is a study."""
    choices = [choice for choice in CONTENTS_WORDS if study_id or choice != VALIDATION]
    chosen = st.segmented_control(
        "Contents of the file", choices, default=EVERYTHING, required=True, format_func=CONTENTS_WORDS.__getitem__, key="contents"
    )
    return chosen or EVERYTHING


def curated_themes(run: Run) -> CurationPart | None:
    """The run's themes as currently curated; None for a run without themes."""
    built = built_taxonomy(run)
    return curation_part(*current_curation(run, built)) if built else None


def download_button(
    run: Run, other: Run | None, study_id: str | None, curation: CurationPart | None, *, paper: bool, contents: str
) -> PackageKey:
    """The download button. Streamlit builds the file on the click, in a thread without access to this page's state."""
    taxonomy, store = built_taxonomy(run), label_store() if study_id else None
    against = built_taxonomy(other) if other else None
    ledgers = study_heads(study_id) if study_id else ()
    themes = [hash((themes.themes, themes.no_theme)) if themes else None for themes in (taxonomy, against)]
    edits = curation.facts["acts_sha256"] if curation else None
    compared = (other.digest, other.loaded_at) if other else None
    # Everything that the file depends on: with an omission here, an outdated package could be offered.
    key = (run.digest, run.loaded_at, compared, study_id, ledgers, paper, contents, *themes, edits, today())

    def order() -> ExportRequest:
        part = study_part(store, study_id, [run]) if store is not None and study_id else None
        return ExportRequest(run, today(), other, part, paper, taxonomy, curation, against, contents)

    name, cache = archive_name(run), package_cache()
    # Only a package that is still to be built has progress to show; a run of the page could drop the address of a finished one.
    click = {"on_click": cache.request, "args": (key,)} if cache.size(key) is None else {}
    file_widgets.download_button(
        f"Download {CONTENTS_WORDS[contents].lower()} (ZIP)",
        data=lambda: cache.fetch(key, order, name), file_name=name, mime=ZIP_TYPE,
        key="package", icon=":material/folder_zip:", type="primary", **click,
    )  # fmt: skip
    return key


with page("Downloads", LEAD, without_pairs=LEAD) as run:
    with st.container(horizontal=True):  # columns would leave a gap where there is only one picker
        study_id = pick_study(run)
        other = pick_other_run(run)
    paper = st.checkbox(PUBLISHED, key="paper")
    contents = pick_contents(study_id)
    curation = curated_themes(run)
    key = download_button(run, other, study_id, curation, paper=paper, contents=contents)
    if package_cache().current_step(key):
        show_progress(key)
    elif size := package_cache().size(key):
        counts(run, "Ready: {size} MB. The file stays the same as long as nothing changes.", size=f"{size / 1e6:.1f}")
    else:
        counts(run, "The archive is built when you click: about ten seconds with images, about a minute for a large release.")
    st.header("Contents", anchor=False)
    st.markdown("\n".join(f"- `{path}`: {description}" for path, description in CONTENTS.items()))
    st.header("From a terminal", anchor=False)
    command = command_of(run, other, study_id, paper=paper, contents=contents)
    st.code(command, language="bash", wrap_lines=True)
    if other:
        counts(run, "The comparison goes from this run to the other one, as on the page *Compare* in that direction.")
    counts(run, "The same data gives the same file, byte for byte, except for the date in manifest.json.")
