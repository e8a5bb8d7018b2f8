"""What the sources disagree about, where the run has themes: as they were built, and as people curated them."""

from __future__ import annotations

from audit.charts.treemap import SEVERITY, theme_treemap
from audit.exports.contents.columns import RESAMPLED, counted, share, title_of
from audit.exports.contents.two_runs import whom
from audit.exports.context import Material
from audit.exports.table_model import Column, Picture, Table
from audit.queries.theme_pairs import tops
from audit.themes.taxonomy import Taxonomy

DEFINITIONS = (
    "A theme groups divergence topics: the judge's few words on what two answers differ about. Disagreements whose topic belongs "
    "to no theme, or was not stated, have rows of their own.",
    "Rank by burden: 1, 2 or 3 for each disagreeing pair by its clinical significance, 1 where it was not stated. "
    "Severity: burden per pair.",
)
SAME_DRAWS = (
    "In brackets: 95 % intervals; {questions} and {handbooks} are resampled together, the same in both runs (pigeonhole "
    "bootstrap, Owen 2007). A dash: not known."
)
AREAS = "Themes{as_what}: area is the number of pairs, colour the severity per pair"
BUILT, CURATED = ", as they were built", ", as people curated them"
ASIDE = "yes"


def themes(material: Material) -> Table:
    """Every theme as it was built, the gravest first, with what belongs to none."""
    told = f"Taxonomy: {_identity(material.themes)}."
    if material.curation is not None:
        told += " People have changed these themes since: the table themes_curated has them as they are now."
    return _table(material, "themes", BUILT if material.curation else "", (told,))


def curated_themes(material: Material) -> Table:
    """The same of the themes as people made them."""
    part = material.curated
    notes = [
        f"Taxonomy: as curated (SHA-256 {part.taxonomy.sha256}); from the one as built (SHA-256 {material.themes.sha256}) by "
        f"{_acts(material)}: the table themes_acts."
    ]
    if part.aside:
        notes.append("Set aside: a curator found the theme not clinically meaningful; it is ranked with the others all the same.")
    return _table(material, "themes_curated", CURATED, tuple(notes), curated=True)


def _table(material: Material, name: str, as_what: str, notes: tuple[str, ...], *, curated: bool = False) -> Table:
    frame = material.frame("themes", curated=curated)
    taxonomy, aside = (material.curated.taxonomy, material.curated.aside) if curated else (material.themes, frozenset[str]())
    return Table(
        name, material.say("What {handbooks} disagree about, the gravest first") + as_what,
        frame.assign(aside=frame["theme_id"].map(lambda theme: ASIDE if theme in aside else "")),
        (
            counted("rank", "Rank"), Column("name", "Theme"), Column("parent", "Part of"), counted("topics", "Topics"),
            counted("questions", title_of(material, "questions")), counted("pairs", "Pairs"),
            counted("disagreeing", "Disagreeing", "pairs"), share("share", "Share", "of disagreement"),
            share("r_div", "Disagreement", "of its pairs"), share("severity", "Severity", "per pair"), *_set_aside(aside),
        ), (*DEFINITIONS, *notes, material.say(RESAMPLED)), f"{len(taxonomy.leaves):,} themes",
    )  # fmt: skip


def _set_aside(aside: frozenset[str]) -> tuple[Column, ...]:
    return (Column("aside", "Set aside"),) if aside else ()


def _identity(taxonomy: Taxonomy) -> str:
    return f"as it was built, without curation (SHA-256 {taxonomy.sha256})" if taxonomy.sha256 else "that of the release"


def acts(material: Material) -> Table:
    """Every act of curation: what was changed, when, why, and whether it counts."""
    part = material.curated
    return Table(
        "themes_acts", "What people changed about the themes, act by act",
        part.acts.assign(day=part.acts["made_at"].str[:10]),
        (
            counted("act", "Act"), Column("day", "Day", "UTC"), Column("what", "What"), Column("reason", "Why"),
            Column("standing", "Standing"),
        ),
        (
            "Each act is applied, first to last, to the themes as they were built. Neither an act that was undone nor the "
            "undoing changes them now.",
            "With authors, times and phrases, as they can be replayed: "
            f"audit themes history --run {material.run.key} --out acts.jsonl (SHA-256 {part.facts['acts_sha256']}).",
        ), _acts(material),
    )  # fmt: skip


def themes_moved(material: Material) -> Table:
    """What each theme takes of the disagreement in two runs, and whether it rises or falls."""
    frame = material.frame("themes_moved")
    pairs = [int(frame[side].sum()) for side in ("first", "second")]
    return Table(
        "themes_moved", "Which themes rise and which fall from the first run to the second", frame,
        (
            Column("name", "Theme"), counted("questions", title_of(material, "questions")),
            counted("first", "Disagreeing", "first"), counted("second", "Disagreeing", "second"),
            share("share_first", "Share", "of the first's"), share("share_second", "Share", "of the second's"),
            share("change", "Change"), Column("moves", "It"),
        ),
        (
            *whom(material), "Only pairs that both runs have, by the themes of the first as they were built. Share: of the "
            "disagreeing pairs of the run among these.",
            "A theme rises or falls where the interval of its change leaves out 0. Too few questions: fewer than five.",
            DEFINITIONS[0], material.say(SAME_DRAWS),
        ), f"{pairs[0]:,} and {pairs[1]:,} disagreeing pairs among those that both runs have",
    )  # fmt: skip


def _acts(material: Material) -> str:
    facts = material.curated.facts
    many = "1 act" if facts["acts"] == 1 else f"{facts['acts']:,} acts"
    return f"{many}, of which {facts['counting']:,} change{'s' if facts['counting'] == 1 else ''} the themes now"


def areas(material: Material) -> list[Picture]:
    """Themes as they were built, as areas."""
    title = AREAS.format(as_what=BUILT if material.curation else "")
    return [_areas(material, "themes", title, material.themes)]


def curated_areas(material: Material) -> list[Picture]:
    """Themes as people made them, as areas."""
    return [_areas(material, "themes_curated", AREAS.format(as_what=CURATED), material.curated.taxonomy, curated=True)]


def _areas(material: Material, name: str, title: str, taxonomy: Taxonomy, *, curated: bool = False) -> Picture:
    frame, groups = material.frame("themes", curated=curated), material.frame("themes", curated=curated, level="parent")
    inside = frame.assign(top=frame["theme_id"].map(tops(taxonomy)).fillna(frame["theme_id"]))
    return Picture(name, title, theme_treemap(inside, groups, SEVERITY))
