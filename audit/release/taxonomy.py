"""The stored taxonomy: themes.json, and next to it the map as parquet. Written once, checked whenever it is read.

Its topics are compared as plain phrases: without boilerplate words.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.atomic_io import sha256_of, write_atomic
from audit.errors import ThemesError
from audit.release.pair_kinds import THEME
from audit.release.values import Objects, clean_json, doubled_inside
from audit.text.tokens import content_words

if TYPE_CHECKING:
    import pandas as pd

LEXICAL = "words"
"""The model of a taxonomy that was built without one, from the words that phrases share."""
AVERAGE, HDBSCAN = "average", "hdbscan"
"""The methods of clustering: linkage on the cosine, and UMAP with HDBSCAN."""
HDBSCAN_LIBRARIES = ("umap", "faiss", "hdbscan")
MAX_EXEMPLARS = 8
# Share of the words of either of two names that both have
NEAR_DUPLICATE = 0.75

# -- plain phrases ------------------------------------------------------------------------------------------------------

DIFFERING = r"(?:differ(?:ent|ing)|diverg(?:ent|ing)|conflicting|contradict(?:ory|ing)|inconsistent|varying|opposing|opposite)"
ADVICE = r"(?:advice|guidance|recommendation|instruction|information|guideline|polic(?:y|ie)|position|statement|rule|view)s?"
ABOUT = r"(?:on|about|for|regarding|concerning|over|as to|in|of|around)"
CLASH = r"(?:difference|disagreement|divergence|discrepanc(?:y|ie)|conflict|contradiction|variation|inconsistenc(?:y|ie))s?"
# How a judge begins whatever the subject: "different advice on", "disagreement about". Unrelated phrases would look alike.
FRAMES = re.compile(
    rf"^(?:(?:the )?(?:{DIFFERING} )?{ADVICE} {ABOUT} |{CLASH} {ABOUT} |{DIFFERING} "
    rf"|whether (?:the )?\w+ (?:dis)?agree {ABOUT} )(?:the )?(?=\w)",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|half)\b", re.IGNORECASE)
CONTRAST = re.compile(r"\b(?:vs|versus|against|or|than|and)\b|[/;]", re.IGNORECASE)
TAIL = re.compile(r"(?::\s|,\s|;\s|\s\()(?P<tail>(?:\d,\d|[^:,;()])*)\)?\s*$")


def shown_phrase(phrase: str) -> str:
    """The phrase without the frame that only states that sources differ, and without the two values at its end.

    "Different advice on lifting limit: 5 kg vs. 10 kg" becomes "lifting limit". A phrase that would become empty is kept.
    """
    text = " ".join(unicodedata.normalize("NFKC", phrase).split()).strip(" .\"'") or phrase
    while (shorter := _shorter(text)) != text:  # "disagreement about different advice on ..."
        text = shorter
    return text


def _shorter(text: str) -> str:
    text = FRAMES.sub("", text)
    tail = TAIL.search(text)
    if tail and tail.start() and NUMBER.search(tail["tail"]) and CONTRAST.search(tail["tail"]):
        return text[: tail.start()]
    return text


def plain_phrase(phrase: str) -> str:
    """The shown phrase in lower case: what is embedded. Phrases with the same one are the same."""
    return shown_phrase(phrase).casefold()


def by_plain_phrase(phrases: Iterable[str]) -> dict[str, list[str]]:
    """Plain phrase -> the distinct phrases written so, both in alphabetical order: what is embedded once."""
    written: dict[str, list[str]] = {}
    for phrase in sorted(set(phrases)):
        written.setdefault(plain_phrase(phrase), []).append(phrase)
    return dict(sorted(written.items()))


# -- the taxonomy and its file ------------------------------------------------------------------------------------------

FORMAT = "themes 1"
MAP_COLUMNS = ("phrase", "theme_id", "x", "y", "count")
FIX = "Nothing was used. Correct the file, or build one with: audit themes build"


@dataclass(frozen=True)
class Theme:
    """A theme, or a parent of themes: a theme that others name as their parent, usually without phrases of its own.

    theme_id   stays with the theme when it is built again; names and edits depend on it
    topics     the phrases as the release has them, each in one theme only
    terms      the words that distinguish it, most distinctive first
    medoid     the phrase nearest to the theme's mean, plain
    exemplars  up to eight plain phrases that span the theme, the medoid first; new phrases are compared with them
    named_by   terms, namer (a model), or given (not recorded in the file)
    """

    theme_id: str
    name: str
    parent_id: str | None
    topics: tuple[str, ...]
    terms: tuple[str, ...] = ()
    medoid: str = ""
    exemplars: tuple[str, ...] = ()
    named_by: str = "given"


@dataclass(frozen=True)
class Taxonomy:
    """Every theme, the phrases without one, and how it was built.

    themes    parents first
    no_theme  distinct phrases that belong to no theme
    built     method, parameters, model, seed, threads, versions, input digest, reach; empty in a file that others wrote
    counts    phrases (occurrences), topics (distinct), themes, parents, without a theme, share of near-duplicate names
    map       sha256 of the parquet next to it (the same name, but .parquet); empty if there is none
    sha256    of the file's content; empty until it is written
    """

    themes: tuple[Theme, ...]
    no_theme: tuple[str, ...] = ()
    built: dict[str, Any] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    map: dict[str, str] = field(default_factory=dict)
    sha256: str = ""

    @property
    def parents(self) -> tuple[Theme, ...]:
        """The themes that others name as their parent."""
        named = {theme.parent_id for theme in self.themes}
        return tuple(theme for theme in self.themes if theme.theme_id in named)

    @property
    def leaves(self) -> tuple[Theme, ...]:
        """The themes that are not parents: those that phrases are put into."""
        parents = {theme.theme_id for theme in self.parents}
        return tuple(theme for theme in self.themes if theme.theme_id not in parents)

    def theme_of(self) -> dict[str, str | None]:
        """Phrase -> theme_id, or None for a phrase known to have no theme."""
        theme_ids: dict[str, str | None] = dict.fromkeys(self.no_theme)
        return theme_ids | {topic: theme.theme_id for theme in self.themes for topic in theme.topics}


def write_taxonomy(taxonomy: Taxonomy, points: pd.DataFrame, path: Path) -> Taxonomy:
    """Write `path` and, next to it, the map under the same name as .parquet; return the taxonomy as it was written.

    points  one row per distinct phrase: phrase, theme_id (None: no theme), x, y (float32), count (occurrences)

    The same taxonomy gives the same bytes. The .json is written last, so a .json that exists is complete.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    map_path = path.with_suffix(".parquet")
    # The map first: a themes.json that exists is complete, and it contains the digest of the map.
    points[list(MAP_COLUMNS)].to_parquet(map_path, index=False)
    content = {"format": FORMAT, **asdict(taxonomy), "map": {"sha256": sha256_of(map_path)}}
    content["sha256"] = _digest(content)
    write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return read_taxonomy(path)


def _digest(content: dict[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_taxonomy(path: Path) -> Taxonomy:
    """The taxonomy in `path`: one of ours, or themes.json as any release may bring it ({"themes": [...]}).

    Raises ThemesError, saying which theme is at fault, when the file cannot be read, was changed after it was built, or
    contains a theme without id or name, an id twice, an unknown parent, parents in a circle, or a phrase in two themes.
    """
    content = _read_json(path)
    # Files that others wrote have no digest and are taken as they are.
    if "sha256" in content and content["sha256"] != _digest(content):
        raise ThemesError(f"{path} was changed after it was built: its sha256 does not match. {FIX}")
    records = content.get("themes")
    if not isinstance(records, list):
        raise ThemesError(
            f'{path} has no list "themes". Allowed: {{"themes": [{{"theme_id", "name", "parent_id", "topics"}}]}}. {FIX}'
        )
    themes = tuple(_theme(record, f"{path}, theme {number}") for number, record in enumerate(records, start=1))
    no_theme = _texts(content.get("no_theme"), f"{path}, no_theme")
    _check_themes(themes, no_theme, path)
    built, counts, map_record = (content.get(key) or {} for key in ("built", "counts", "map"))
    return Taxonomy(themes, no_theme, built, counts, map_record, str(content.get("sha256", "")))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(clean_json(path.read_text(encoding="utf-8-sig"))[0], object_pairs_hook=Objects())
    except (OSError, ValueError, RecursionError) as error:
        raise ThemesError(f"{path} cannot be read as JSON ({type(error).__name__}: {error}). {FIX}") from error
    if doubled := doubled_inside(content):
        raise ThemesError(f"{path}: the key '{doubled[0]}' occurs twice in one object, so its value is unknown. {FIX}")
    if isinstance(content, list):
        return {"themes": content}
    if not isinstance(content, dict):
        raise ThemesError(f"{path} contains a {type(content).__name__} where themes are expected. {FIX}")
    return content


def _theme(record: Any, where: str) -> Theme:
    if not isinstance(record, dict):
        raise ThemesError(f"{where} is a {type(record).__name__}, not an object. {FIX}")
    if ambiguous := THEME.ambiguity(record):
        raise ThemesError(f"{where}: {ambiguous} {FIX}")
    known = THEME.canonical(record)
    return Theme(
        theme_id=_text(known, "theme_id", where),
        name=_text(known, "name", where),
        parent_id=None if known.get("parent_id") in (None, "") else _text(known, "parent_id", where),
        topics=_texts(known.get("topics"), f"{where}, topics"),
        terms=_texts(known.get("terms"), f"{where}, terms"),
        medoid=str(known.get("medoid") or ""),
        exemplars=_texts(known.get("exemplars"), f"{where}, exemplars"),
        named_by=str(record.get("named_by", "given")),
    )


def _text(record: dict[str, Any], name: str, where: str) -> str:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ThemesError(f"{where}: {name} is {value!r}; a text is needed. {FIX}")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ThemesError(f"{where}: a list of texts is needed. {FIX}")
    return tuple(value)


def _check_themes(themes: Sequence[Theme], no_theme: Iterable[str], path: Path) -> None:
    parent = {theme.theme_id: theme.parent_id for theme in themes}
    if len(parent) < len(themes):
        twice = next(
            theme.theme_id for number, theme in enumerate(themes) if theme.theme_id in {t.theme_id for t in themes[:number]}
        )
        raise ThemesError(f"{path}: two themes have the id '{twice}'. {FIX}")
    for theme in themes:
        if theme.parent_id is not None and theme.parent_id not in parent:
            raise ThemesError(f"{path}: theme '{theme.theme_id}' has the parent '{theme.parent_id}', which does not exist. {FIX}")
    _check_cycles(parent, path)
    # A phrase counts once, so the counts of all themes reconcile.
    holder: dict[str, str] = dict.fromkeys(no_theme, "no theme")
    for theme in themes:
        for topic in theme.topics:
            if holder.setdefault(topic, theme.theme_id) != theme.theme_id:
                raise ThemesError(f"{path}: '{topic}' is in '{holder[topic]}' and in '{theme.theme_id}'. {FIX}")


def _check_cycles(parent: dict[str, str | None], path: Path) -> None:
    settled: set[str] = set()
    for start in parent:
        way: list[str] = []
        above: str | None = start
        while above is not None and above not in settled:
            if above in way:
                raise ThemesError(f"{path}: theme '{above}' is its own ancestor. {FIX}")
            way.append(above)
            above = parent[above]
        settled.update(way)


def read_map(taxonomy: Taxonomy, path: Path) -> pd.DataFrame | None:
    """The map of the taxonomy that was read from `path`: phrase, theme_id, x, y, count; None where the file has none.

    Raises ThemesError when the map is missing or was changed after it was built.
    """
    if not taxonomy.map:
        return None
    map_path = path.with_suffix(".parquet")
    if not map_path.is_file() or sha256_of(map_path) != taxonomy.map["sha256"]:
        fault = "was changed after it was built" if map_path.is_file() else "is missing"
        raise ThemesError(f"{map_path}, the map that belongs to {path.name}, {fault}. The themes can be used without it.")
    import pandas as pd  # most who need a name of this module need no table

    return pd.read_parquet(map_path)


def near_duplicates(names: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of names that share at least three quarters of their words (of all the words in either)."""
    stems = [frozenset(word.stem for word in content_words(name)) or frozenset(name.split()) for name in names]
    holding: defaultdict[str, list[int]] = defaultdict(list)
    shared: Counter[tuple[int, int]] = Counter()
    for number, own in enumerate(stems):
        # By word instead of by pair: 1,000 names have half a million pairs, of which few share a word.
        for word in own:
            shared.update((other, number) for other in holding[word])
            holding[word].append(number)
    return sorted(pair for pair, count in shared.items() if count >= NEAR_DUPLICATE * len(stems[pair[0]] | stems[pair[1]]))
