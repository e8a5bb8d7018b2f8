"""Loading a release's own themes. Every theme with an id and a name is loaded; unusable parts are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.formatting import UNPRINTABLE
from audit.release.layout import format_suffix
from audit.release.pair_kinds import THEME
from audit.release.record_kind import Record
from audit.release.report import NOTED, REPAIRED, WHOLE_FILE, FileCount
from audit.release.values import CONTROL_CHARACTER, DoubledKeys, Reject, phrases
from audit.store.connection import Connection, DuckDBError, append, rows
from audit.store.record_reader import RecordReader, append_records

# Divergence topics that a finding names; the others are only counted
MAX_NAMED = 3
SET_MAP_COORDINATES = """
update theme_topics set x = map.x, y = map.y
from (
    select regexp_replace(phrase, $unprintable, ' ', 'g') as phrase, any_value(x)::float as x, any_value(y)::float as y
    from read_parquet($file) group by all
) map
where map.phrase = topic
"""
COUNT_UNPRINTABLE = "select coalesce(sum(len(regexp_extract_all(phrase, $unprintable))), 0) from read_parquet($file)"
# DuckDB's regular expressions write characters beyond one byte in braces
UNPRINTABLE_IN_SQL = UNPRINTABLE.pattern.replace(r"\ufffe\uffff", r"\x{fffe}\x{ffff}")
COUNT_UNKNOWN_TOPICS = """
with topics as (select distinct divergence_topic as topic from pairs where trim(divergence_topic) <> '')
select count(*), count(*) filter (topic not in (select topic from theme_topics)) from topics
"""

ThemeEntry = tuple[FileCount, str, Record]
"""Line of the report, position in the file, validated theme."""


def load_themes(con: Connection, reader: RecordReader) -> None:
    """Fill `taxonomy`, `themes` and `theme_topics` from the release's themes, where it has any; after `pairs` are loaded.

    A theme without id or name, and the second of two with one id, are quarantined. A theme whose parent is missing, or is
    one of its descendants, is loaded without a parent. A divergence topic stays in the first theme that names it.
    """
    files = reader.layout.parts["theme"]
    maps = [path for path in files if format_suffix(path) == ".parquet" and any(_is_map_of(path, other) for other in files)]
    built: dict[str, Any] = {}
    themes: dict[str, ThemeEntry] = {}
    topics: dict[str, str | None] = {}
    for path in files:
        if path not in maps:
            _read_themes(path, reader, themes, topics, built)
    if not themes:
        return
    _resolve_parents(reader, themes)
    _resolve_topics(reader, themes, topics)
    append(con, "taxonomy", {"built": [json.dumps(built, default=str)]})
    append_records(con, THEME, (theme for _, _, theme in themes.values()))
    append(con, "theme_topics", {"topic": list(topics), "theme_id": list(topics.values())})
    for path in maps:
        _load_map(con, reader, path)
    _note_unknown_topics(con, reader, next(iter(themes.values()))[0])


def _is_map_of(path: Path, other: Path) -> bool:
    return (
        other != path
        and other.parent == path.parent
        and format_suffix(other) == ".json"
        and other.name.startswith(f"{path.stem}.")
    )


def _read_themes(
    path: Path, reader: RecordReader, themes: dict[str, ThemeEntry], topics: dict[str, str | None], built: dict[str, Any]
) -> None:
    line = reader.add_file(path, "theme")
    for position, raw in _theme_records(reader, path, line, topics, built):
        theme = reader.validated(line, position, raw, THEME.read)
        if theme is None:
            continue
        if theme["theme_id"] in themes:
            reader.requarantine(line, position, "duplicate_theme", THEME.same.format(**theme), raw)
        else:
            themes[theme["theme_id"]] = (line, position, theme)


def _theme_records(
    reader: RecordReader, path: Path, line: FileCount, topics: dict[str, str | None], built: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Every theme of a file: one record per theme, or the list under "themes" of a single object."""
    for position, raw in reader.rows(path, line):
        if not (isinstance(raw, dict) and isinstance(raw.get("themes"), list)):
            yield position, raw
            continue
        if isinstance(raw, DoubledKeys) and raw.own:
            reader.quarantine(
                line, position, "doubled_field", f"the key '{raw.own[0]}' occurs twice. None of its themes was loaded."
            )
            continue
        yield from ((f"record {number}", theme) for number, theme in enumerate(raw["themes"], 1))
        built |= raw["built"] if isinstance(raw.get("built"), dict) else {}
        try:
            topics |= dict.fromkeys(phrases(raw.get("no_theme"), "no_theme"))
        except Reject as reject:
            reader.note(line, WHOLE_FILE, REPAIRED, "field_dropped", f"{reject} The themes were loaded without it.")


def _resolve_parents(reader: RecordReader, themes: dict[str, ThemeEntry]) -> None:
    for line, position, theme in themes.values():
        parent = theme["parent_id"]
        if parent is None:
            continue
        fault = (
            "is not a theme of this release"
            if parent not in themes
            else "is one of its descendants"
            if _is_circular(theme, themes)
            else ""
        )
        if fault:
            message = f"parent_id '{parent}' of theme '{theme['theme_id']}' {fault}. The theme was loaded without a parent."
            reader.note(line, position, REPAIRED, "unusable_parent", message)
            theme["parent_id"] = None


def _is_circular(theme: Record, themes: dict[str, ThemeEntry]) -> bool:
    # `seen` ends the walk in a ring of ancestors that this theme is not part of
    above, seen = theme["parent_id"], {theme["theme_id"]}
    while above in themes and above not in seen:
        seen.add(above)
        above = themes[above][2]["parent_id"]
    return bool(above == theme["theme_id"])


def _resolve_topics(reader: RecordReader, themes: dict[str, ThemeEntry], topics: dict[str, str | None]) -> None:
    for line, position, theme in themes.values():
        own_topics = list(dict.fromkeys(theme["topics"]))
        # A topic counts in one theme only, or the themes of a run would add up to more than its pairs
        taken = [topic for topic in own_topics if topics.get(topic) is not None]
        topics |= {topic: theme["theme_id"] for topic in own_topics if topics.get(topic) is None}
        if taken:
            names = ", ".join(f"'{topic[:80]}'" for topic in taken[:MAX_NAMED]) + (", ..." if len(taken) > MAX_NAMED else "")
            first = f"{len(taken):,} of the topics of theme '{theme['theme_id']}' belong to an earlier theme and stay there"
            reader.note(line, position, REPAIRED, "topic_in_two_themes", f"{first}: {names}.")


def _load_map(con: Connection, reader: RecordReader, path: Path) -> None:
    line = reader.add_file(path, "theme")
    values = {"file": str(path), "unprintable": UNPRINTABLE_IN_SQL}
    try:
        con.execute(SET_MAP_COORDINATES, values)
        # Counted as in every other file: the phrases of the pairs and themes were cleaned in the same way
        ((times,),) = rows(con, COUNT_UNPRINTABLE, values)
        if times:
            reader.note(line, WHOLE_FILE, NOTED, "read_leniently", f"{CONTROL_CHARACTER} ({times:,} times).")
    except DuckDBError as error:
        message = f"this is not a map with phrase, x and y ({str(error).splitlines()[0]}). The themes were loaded without it."
        reader.note(line, WHOLE_FILE, NOTED, "map_unread", message)


def _note_unknown_topics(con: Connection, reader: RecordReader, line: FileCount) -> None:
    """Report how many divergence topics of the pairs are in no theme; they are counted as having none."""
    ((topics, unknown),) = rows(con, COUNT_UNKNOWN_TOPICS)
    if unknown:
        message = (
            f"{unknown:,} of the {topics:,} divergence topics of the pairs are neither in its themes nor listed as having none."
        )
        reader.note(line, WHOLE_FILE, NOTED, "topics_not_in_themes", message)
