"""Further tables of a study: the judge's errors by kind and group, disagreement of parts of the run, shared annotator errors."""

from __future__ import annotations

from annotation.agreement.clustered_agreement import CLUSTERED_TABLE, clustered_agreement
from annotation.agreement.subgroups import FAILURE_MODES_TABLE, SUBGROUPS_TABLE, failure_modes, subgroups
from annotation.agreement.tables import rater_name
from annotation.prevalence.by_group import GROUPS_TABLE
from annotation.prevalence.shared_errors import SHARED_ERRORS_TABLE, shared_errors
from annotation.studies.validation_tables import ValidationData
from audit.exports.table_model import Table


def failure_modes_table(data: ValidationData) -> Table:
    """The judge's errors by kind, with their shares and subtotals, by the reference standard."""
    return data.table("study_failure_modes", FAILURE_MODES_TABLE, failure_modes(data.ratings)).noted(_by_reference(data))


def subgroups_table(data: ValidationData) -> Table:
    """Agreement of the judge with the reference standard, by group of items."""
    return data.table("study_subgroups", SUBGROUPS_TABLE, subgroups(data.ratings, data.groups)).noted(_by_reference(data))


def _by_reference(data: ValidationData) -> str:
    return f"By people: {rater_name(data.reference)}."


def corrected_table(data: ValidationData) -> Table:
    """R_div by organ, topic and center, corrected for the judge's errors."""
    return data.table("study_corrected_groups", GROUPS_TABLE, data.corrected)


def clustered_table(data: ValidationData) -> Table:
    """Agreement with intervals for other items of this run, and for other questions and handbooks."""
    frame = clustered_agreement(data.ratings, data.rows.drop_duplicates("item_id"))
    return data.table("study_clustered_agreement", CLUSTERED_TABLE, frame)


def shared_errors_table(data: ValidationData) -> Table:
    """The share of disagreeing pairs if annotators are wrong together on some of the items."""
    return data.table("study_shared_errors", SHARED_ERRORS_TABLE, shared_errors(data.ratings)).noted("Of pairs that disagree.")


GROUP_TABLES = (failure_modes_table, subgroups_table, clustered_table, corrected_table, shared_errors_table)
