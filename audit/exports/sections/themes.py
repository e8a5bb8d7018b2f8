"""Themes of disagreement, as they were built and as people curated them."""

from __future__ import annotations

from dataclasses import replace

from audit.charts.themes import theme_treemap
from audit.exports.context import ExportContext
from audit.exports.table_model import Picture, Table, table_of
from audit.queries.themes import tops
from audit.release.taxonomy import Taxonomy
from audit.tables import Column, TableSpec

EDITS = TableSpec(
    "People's edits of the themes",
    (
        Column.count("act", "Edit"),
        Column.text("day", "Day", "UTC"),
        Column.text("what", "What"),
        Column.text("reason", "Why"),
        Column.text("standing", "Status"),
    ),
    (
        "Edits are applied, first to last, to the themes as they were built. Neither an undone edit nor the undo "
        "changes them now.",
    ),
)
SET_ASIDE = Column.text("aside", "Set aside")


def themes(context: ExportContext) -> Table:
    """Every theme as it was built, the gravest first, then the pairs without a theme."""
    note = f"Taxonomy: {_identity(context.themes)}."
    if context.curation is None:
        return _theme_table(context, "themes", "", (note,))
    note += " People have changed these themes since: the table themes_curated has them as they are now."
    return _theme_table(context, "themes", ", as they were built", (note,))


def curated_themes(context: ExportContext) -> Table:
    """The themes as people curated them."""
    part = context.curated
    notes = [
        f"Taxonomy: as curated (SHA-256 {part.taxonomy.sha256}); from the one as built (SHA-256 {context.themes.sha256}) by "
        f"{_edit_count(context)}: the table themes_acts."
    ]
    if part.aside:
        notes.append("Set aside: a curator found the theme not meaningful; it is still ranked with the others.")
    return _theme_table(context, "themes_curated", ", as people curated them", tuple(notes), curated=True)


def _theme_table(context: ExportContext, stem: str, variant: str, notes: tuple[str, ...], *, curated: bool = False) -> Table:
    taxonomy, aside = (context.curated.taxonomy, context.curated.aside) if curated else (context.themes, frozenset[str]())
    table = context.table("themes", f"{len(taxonomy.leaves):,} themes", stem=stem, curated=curated).noted(*notes)
    frame = table.frame.assign(aside=["yes" if theme in aside else "" for theme in table.frame["theme_id"]])
    columns = (*table.columns, SET_ASIDE) if aside else table.columns
    return replace(table, title=table.title + variant, frame=frame, columns=columns, printed_rows=None)


def _identity(taxonomy: Taxonomy) -> str:
    return f"as it was built, without curation (SHA-256 {taxonomy.sha256})" if taxonomy.sha256 else "that of the release"


def theme_edits(context: ExportContext) -> Table:
    """Every edit by a curator: what was changed, when, why, and whether it is in effect."""
    part = context.curated
    frame = part.edits.assign(day=part.edits["made_at"].str[:10])
    replay = (
        "With authors, times and phrases, so that they can be replayed: "
        f"audit themes history --run {context.run.key} --out acts.jsonl (SHA-256 {part.facts['acts_sha256']})."
    )
    return table_of("themes_acts", EDITS, frame, context.run, _edit_count(context)).noted(replay)


def _edit_count(context: ExportContext) -> str:
    facts = context.curated.facts
    edits = "1 edit" if facts["acts"] == 1 else f"{facts['acts']:,} edits"
    return f"{edits}, {facts['counting']:,} of them in effect"


def theme_areas(context: ExportContext) -> list[Picture]:
    """Themes as they were built, as areas."""
    return [_theme_areas(context, "themes", ", as they were built" if context.curation else "", context.themes)]


def curated_theme_areas(context: ExportContext) -> list[Picture]:
    """Themes as people curated them, as areas."""
    return [_theme_areas(context, "themes_curated", ", as people curated them", context.curated.taxonomy, curated=True)]


def _theme_areas(context: ExportContext, name: str, variant: str, taxonomy: Taxonomy, *, curated: bool = False) -> Picture:
    frame, groups = context.frame("themes", curated=curated), context.frame("themes", curated=curated, level="parent")
    above = tops(taxonomy)
    with_top = frame.assign(top=[above.get(theme_id, theme_id) for theme_id in frame["theme_id"]])
    title = f"Themes{variant}: area is the number of pairs, colour the severity per pair"
    return Picture(name, title, theme_treemap(with_top, groups))
