"""The stress test of the judge as tables: sensitivity and specificity by kind of change, labels before and after, the items."""

from __future__ import annotations

from audit.errors import NotInRunError
from audit.exports.context import ExportContext
from audit.exports.table_model import Table
from audit.metrics.planted import BY_VARIANT


def planted_changes(context: ExportContext) -> Table:
    """By kind of change, how often the label is right."""
    return _planted(context, "planted_changes")


def planted_variants(context: ExportContext) -> Table:
    """The table by variant of the change, such as the wording of an instruction."""
    return _planted(context, "planted_changes", stem="planted_variants", by=BY_VARIANT)


def planted_labels(context: ExportContext) -> Table:
    """The judge's labels before and after a change."""
    return _planted(context, "planted_labels")


def planted_items(context: ExportContext) -> Table:
    """The planted changes, one by one."""
    return _planted(context, "planted_items")


def _planted(context: ExportContext, metric: str, stem: str = "", **options: str) -> Table:
    items = len(context.frame("planted_items"))
    if not items:
        raise NotInRunError(
            f"Run {context.run.key} has no planted changes: how its judge reacts to them is unknown. A release has them in "
            "planted.jsonl; `audit stress judge` writes it."
        )
    return context.table(metric, f"{items:,} planted changes", stem=stem, spec=None, notes=(), **options)


PLANTED_TABLES = (planted_changes, planted_variants, planted_labels, planted_items)
