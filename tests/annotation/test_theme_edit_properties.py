"""For any edits of any taxonomy: no phrase is lost or duplicated, ids stay, replays are stable, an undo restores."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit
from annotation.theme_edits.replay import CuratedTaxonomy, apply_edits, check_change, check_undo
from audit.release.taxonomy import Taxonomy, Theme

NAMES = ("teeth", "Teeth", "sun", "lifting", "food", "travel")


@st.composite
def taxonomies(draw: st.DrawFn) -> Taxonomy:
    """Up to 12 phrases in up to 5 themes under up to 3 parents or none, some without a theme."""
    parents = [f"p{n}" for n in range(draw(st.integers(0, 3)))]
    themes = [f"t{n}" for n in range(draw(st.integers(1, 5)))]
    phrases = [f"phrase {n}" for n in range(draw(st.integers(1, 12)))]
    holder = {phrase: draw(st.sampled_from([*themes, None])) for phrase in phrases}
    leaves = [
        Theme(each, f"name of {each}", draw(st.sampled_from([*parents, None])), tuple(p for p in phrases if holder[p] == each))
        for each in themes
    ]
    above = [Theme(each, f"name of {each}", None, ()) for each in parents]
    return Taxonomy((*above, *leaves), tuple(phrase for phrase in phrases if holder[phrase] is None))


IDS = st.sampled_from(["p0", "p1", "p2", "t0", "t1", "t2", "t3", "t4", "c1", "c2"])
CHANGES = st.builds(
    ThemeChange,
    kind=st.sampled_from([kind for kind in EditKind if kind is not EditKind.UNDO]),
    theme=IDS, into=IDS, name=st.sampled_from(NAMES),
    phrases=st.lists(st.integers(0, 12).map(lambda n: f"phrase {n}"), max_size=4).map(tuple),
)  # fmt: skip
WISHES = st.lists(st.one_of(CHANGES, st.integers(1, 12).map(lambda seq: ThemeChange(EditKind.UNDO, undoes=seq))), max_size=12)


def done(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> list[ThemeEdit]:
    """The wishes that are allowed when their turn comes, as the ledger would take them."""
    acts: list[ThemeEdit] = []
    for wish in wishes:
        if not check_change(taxonomy, acts, wish):
            acts.append(ThemeEdit(len(acts) + 1, wish, "vera", "", "why"))
    return acts


def anyhow(wishes: list[ThemeChange]) -> list[ThemeEdit]:
    """The wishes as acts, whether they fit or not: as they may stand on a taxonomy that was built again."""
    return [ThemeEdit(seq, wish, "vera", "", "why") for seq, wish in enumerate(wishes, start=1)]


def phrases_of(taxonomy: Taxonomy) -> Counter[str]:
    return Counter([*taxonomy.no_theme, *(topic for theme in taxonomy.themes for topic in theme.topics)])


def whole(found: CuratedTaxonomy) -> tuple[object, ...]:
    themes = {t.theme_id: (t.name, t.parent_id, frozenset(t.topics)) for t in found.taxonomy.themes}
    return themes, frozenset(found.taxonomy.no_theme), found.set_aside


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_no_phrase_is_lost_or_duplicated_whether_the_edits_fit_or_not(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    for acts in (anyhow(wishes), done(taxonomy, wishes)):
        assert phrases_of(apply_edits(taxonomy, acts).taxonomy) == phrases_of(taxonomy)


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_an_edit_that_was_allowed_replays_without_a_conflict(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    acts = done(taxonomy, wishes)
    found = apply_edits(taxonomy, acts)
    assert found.conflicts == ()
    assert apply_edits(taxonomy, reversed(acts)) == found


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_undoing_the_last_edit_restores_the_state_before_it(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    acts = done(taxonomy, wishes)
    if acts:
        last = acts[-1].seq
        assert check_undo(taxonomy, acts, last) == ()
        after = [*acts, ThemeEdit(last + 1, ThemeChange(EditKind.UNDO, undoes=last), "vera", "", "why")]
        assert whole(apply_edits(taxonomy, after)) == whole(apply_edits(taxonomy, acts[:-1]))


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_no_allowed_undo_breaks_a_later_edit(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    acts = done(taxonomy, wishes)
    for act in acts:
        if not check_undo(taxonomy, acts, act.seq):
            after = [*acts, ThemeEdit(len(acts) + 1, ThemeChange(EditKind.UNDO, undoes=act.seq), "vera", "", "why")]
            assert apply_edits(taxonomy, after).conflicts == ()


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_ids_stay_and_so_do_names_that_nobody_changed(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    acts = anyhow(wishes)
    found = apply_edits(taxonomy, acts)
    before = {theme.theme_id: theme.name for theme in taxonomy.themes}
    after = {theme.theme_id: theme.name for theme in found.taxonomy.themes}
    touched = {act.change.theme for act in acts if act.change.kind is EditKind.RENAME} | {
        act.change.into for act in acts if act.change.kind is EditKind.SPLIT
    }
    assert {theme: name for theme, name in after.items() if theme not in touched}.items() <= before.items()
    gone = set(before) - set(after) - set(found.merged)
    parents = {theme.theme_id for theme in taxonomy.parents}
    assert gone <= parents  # besides merged ones, only parents go: those whose last theme was moved away


@given(taxonomies(), WISHES)
@settings(deadline=None)
def test_parents_exist_and_form_no_cycle(taxonomy: Taxonomy, wishes: list[ThemeChange]) -> None:
    parent = {theme.theme_id: theme.parent_id for theme in apply_edits(taxonomy, anyhow(wishes)).taxonomy.themes}
    for theme in parent:
        seen = set()
        above: str | None = theme
        while above is not None:
            assert above not in seen
            seen.add(above)
            above = parent[above]
