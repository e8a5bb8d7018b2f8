"""From phrases to a taxonomy."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from audit.errors import ThemesError
from audit.pipeline.embedding.encoders import Encoder, cached_encoder, words_encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, no_progress
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.release.taxonomy import write_taxonomy
from tests.pipeline.themes.vectors import compass

DEGREES = {"dental work": 0, "dental visits": 5, "fever": 90, "fever threshold": 96, "calling about fever": 93, "alcohol": 180}
COUNTS = {"Dental work": 3, "different advice on dental work": 1, "dental visits": 2, "fever": 5, "fever threshold": 1,
          "calling about fever": 1, "alcohol": 1}  # fmt: skip
PLAIN = ThemeBuildOptions(layout="principal")


def spied() -> tuple[Encoder, list[str]]:
    """The compass, and the phrases it is asked for."""
    encoder, asked = compass(DEGREES), list[str]()

    def encode(phrases: Sequence[str], progress: Progress) -> Vectors:
        asked.extend(phrases)
        return encoder.encode(phrases, progress)

    return replace(encoder, encode=encode), asked


def test_phrases_that_mean_the_like_make_a_theme_and_the_rest_is_counted() -> None:
    taxonomy, points = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    assert {theme.topics for theme in taxonomy.leaves} == {
        ("Dental work", "dental visits", "different advice on dental work"),
        ("calling about fever", "fever", "fever threshold"),
    }
    assert taxonomy.no_theme == ("alcohol",)
    assert taxonomy.counts == {
        "phrases": 14, "topics": 7, "themes": 2, "parents": 0, "no_theme_phrases": 1, "no_theme_topics": 1,
        "near_duplicate_names": 0, "coarse_themes": 0,
    }  # fmt: skip
    assert points["count"].sum() == 14
    assert points[points.phrase.str.contains("work")][["x", "y"]].drop_duplicates().shape == (1, 2), "one place a plain phrase"


def test_a_theme_is_called_by_the_phrase_that_most_of_its_pairs_have_in_its_own_case() -> None:
    taxonomy, _ = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    assert {theme.name for theme in taxonomy.leaves} == {"Dental work", "fever"}, "4 of 6 pairs, and 5 of 7"


def test_every_distinct_plain_phrase_is_embedded_once() -> None:
    spy, asked = spied()
    build_taxonomy(COUNTS, spy, PLAIN)
    assert sorted(asked) == sorted(DEGREES)


def test_a_cache_gives_back_the_same_bits_and_asks_for_new_phrases_only(tmp_path: Path) -> None:
    spy, asked = spied()
    first = cached_encoder(spy, tmp_path).encode(["fever", "alcohol"], no_progress)
    again = cached_encoder(spy, tmp_path).encode(["alcohol", "dental work", "fever"], no_progress)
    assert asked == ["fever", "alcohol", "dental work"]
    assert (again[[2, 0]] == first).all()


def test_the_artefact_says_how_it_came_about() -> None:
    taxonomy, _ = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    built = taxonomy.built
    assert (built["method"], built["cut"], built["seed"], built["threads"]) == ("average", 0.4, 1, 1)
    assert (built["model"], built["model_sha256"]) == ("compass", "c" * 64)
    assert set(built["versions"]) >= {"audit", "numpy", "scipy"}
    assert len(built["input_sha256"]) == 64


def test_ids_and_names_do_not_depend_on_the_order_of_the_phrases() -> None:
    one, _ = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    other, _ = build_taxonomy(dict(reversed(COUNTS.items())), compass(DEGREES), PLAIN)
    assert one == other


def test_a_theme_keeps_its_id_when_it_is_built_again_on_an_earlier_taxonomy() -> None:
    earlier, _ = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    ids = {theme.name: theme.theme_id for theme in earlier.leaves}
    grown = DEGREES | {f"fever {number}": 90 + number / 10 for number in range(40)}
    later, _ = build_taxonomy(COUNTS | dict.fromkeys(grown, 1), compass(grown), PLAIN, earlier=earlier)
    (fever,) = (theme for theme in later.leaves if "fever" in theme.topics)
    assert fever.theme_id == ids["fever"]
    assert {theme.parent_id for theme in later.leaves} == {theme.parent_id for theme in earlier.leaves}


FOOD, TRIPS = (
    ("fluids", "salt", "sugar", "fish", "coffee", "cheese"),
    ("visas", "vaccines", "luggage", "cruises", "maps", "tents"),
)
MANY = {f"{noun} {word}": 1 for noun in (*FOOD, *TRIPS) for word in ("limit", "again")}


def test_many_themes_are_grouped_by_the_topics_of_their_questions() -> None:
    topic_of = {phrase: "nutrition" if phrase.split()[0] in FOOD else "travel" for phrase in MANY}
    taxonomy, _ = build_taxonomy(MANY, words_encoder(list(MANY)), PLAIN, groups=topic_of)
    names = {parent.theme_id: parent.name for parent in taxonomy.parents}
    assert sorted(names.values()) == ["nutrition", "travel"]
    assert {(topic_of[theme.topics[0]], names[str(theme.parent_id)]) for theme in taxonomy.leaves} == {
        ("nutrition", "nutrition"), ("travel", "travel"),
    }  # fmt: skip


def test_a_topic_of_nearly_all_themes_is_no_group() -> None:
    """Themes are then grouped by their phrases, and a group is called after one of them and not by a list of words."""
    taxonomy, _ = build_taxonomy(MANY, words_encoder(list(MANY)), PLAIN, groups=dict.fromkeys(MANY, "information"))
    leaves = {theme.name for theme in taxonomy.leaves}
    assert taxonomy.parents
    assert {parent.name.partition(", and ")[0] for parent in taxonomy.parents} <= leaves


def test_a_target_steers_how_fine_themes_are() -> None:
    fine, _ = build_taxonomy(COUNTS, compass(DEGREES), ThemeBuildOptions(layout="principal", target=1))
    assert fine.counts["themes"] == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_handful_of_phrases_is_no_error(count: int) -> None:
    phrases = list(DEGREES)[:count]
    taxonomy, points = build_taxonomy(dict.fromkeys(phrases, 1), compass(DEGREES))
    assert len(points) == count
    assert taxonomy.counts["themes"] == (count >= 2)


def test_no_phrase_at_all_is_said() -> None:
    with pytest.raises(ThemesError, match="There are no phrases to group into themes"):
        build_taxonomy({}, compass(DEGREES))


BUILD = """
import sys
from pathlib import Path
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.embedding.encoders import words_encoder
from audit.release.taxonomy import by_plain_phrase, write_taxonomy
from benchmarks.theme_phrases import draw_phrases
phrases = draw_phrases(600, 60, seed=2).phrases
taxonomy, points = build_taxonomy(dict.fromkeys(phrases, 1), words_encoder(list(by_plain_phrase(phrases))))
print(taxonomy.built["layout"], write_taxonomy(taxonomy, points, Path(sys.argv[1])).sha256)
"""
AT_WORK = """
import numba; numba.set_num_threads(1)
from tests.pipeline.themes.test_build import print_groups_of_hdbscan
print_groups_of_hdbscan()
"""


def print_groups_of_hdbscan() -> None:
    """Build themes of three far groups of phrases, and print the method and the first letters of each theme's phrases."""
    starts = {"a": 0, "b": 120, "c": 240}
    degrees = {f"{name} {number}": start + number / 20 for name, start in starts.items() for number in range(30)}
    options = ThemeBuildOptions(method="hdbscan", layout="principal")
    taxonomy, _ = build_taxonomy(dict.fromkeys(degrees, 1), compass(degrees), options)
    letters = [sorted({topic[0] for topic in theme.topics}) for theme in taxonomy.leaves]
    print(json.dumps([taxonomy.built["method"], letters]))


@dataclass(frozen=True)
class Build:
    folder: Path
    printed: list[str]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Build]:
    """The same themes built by two processes; the second has clustered with hdbscan before.

    One after the other: on a new machine the first compiles numba's functions for half a minute, and keeps them for the second.
    """
    root, folders = Path(__file__).resolve().parents[3], [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    printed = [
        subprocess.check_output([sys.executable, "-c", before + BUILD, folder / "themes.json"], cwd=root, text=True, timeout=600)
        for folder, before in zip(folders, ("", AT_WORK), strict=True)
    ]
    return Build(folders[0], printed[0].splitlines()), Build(folders[1], printed[1].splitlines())


def test_hdbscan_can_be_chosen(builds: tuple[Build, Build]) -> None:
    method, letters = json.loads(builds[1].printed[0])
    assert method == "hdbscan"
    assert all(len(own) == 1 for own in letters), "no theme mixes two"
    assert set().union(*letters) == {"a", "b", "c"}


def test_another_process_gives_the_same_bytes_even_where_numba_works_with_other_threads(builds: tuple[Build, Build]) -> None:
    """As in `audit run`: looking up by words has imported numba before themes are built."""
    one, two = builds
    assert one.printed[-1].startswith("umap ")
    assert one.printed[-1] == two.printed[-1]
    for name in ("themes.json", "themes.parquet"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()


HEAVY = ("torch", "transformers", "sentence_transformers", "umap", "numba", "faiss", "sklearn")


def test_reading_a_taxonomy_and_starting_the_commands_import_nothing_heavy(tmp_path: Path) -> None:
    taxonomy, points = build_taxonomy(COUNTS, compass(DEGREES), PLAIN)
    write_taxonomy(taxonomy, points, tmp_path / "themes.json")
    code = (
        "import sys, json; from pathlib import Path; import audit.cli.main; audit.cli.main.parser(complete=True)\n"
        "from audit.release.taxonomy import read_taxonomy, read_map\n"
        "path = Path(sys.argv[1]); read_map(read_taxonomy(path), path)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "themes.json")]
    done = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(done.stdout) == []
