"""Loading the themes that a release brings: every theme it names is kept, and what cannot be so is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.release import validate
from audit.release.layout import ending
from audit.release.report import NOTED, REPAIRED, WHOLE_FILE, FileCount
from audit.release.values import Reject
from audit.store.connection import Connection, DuckDBError, append, rows
from audit.store.record_reader import RecordReader

COLUMNS = ("theme_id", "name", "parent_id", "terms", "medoid", "exemplars", "named_by")
NAMED = 3
"""Divergence topics that a finding names; it counts the others."""
PLACES = """
update theme_topics set x = map.x, y = map.y
from (select phrase, any_value(x)::float as x, any_value(y)::float as y from read_parquet($file) group by phrase) map
where map.phrase = topic
"""
UNKNOWN = """
with told as (select distinct divergence_topic as topic from pairs where trim(divergence_topic) <> '')
select count(*), count(*) filter (topic not in (select topic from theme_topics)) from told
"""

Entry = tuple[FileCount, str, dict[str, Any]]
"""Line of the report, position in the file, validated theme."""


def load_themes(con: Connection, reader: RecordReader) -> None:
    """Fill `taxonomy`, `themes` and `theme_topics` from the release's themes, where it brings any; after `pairs` are loaded.

    A theme without id or name, and the second of two with one id, are quarantined. A theme whose parent is not there, or is
    below it, is loaded without a parent. A divergence topic stays in the first theme that names it.
    """
    files = reader.layout.parts["theme"]
    maps = [path for path in files if ending(path) == ".parquet" and any(_beside(path, other) for other in files)]
    built: dict[str, Any] = {}
    kept: dict[str, Entry] = {}
    topics: dict[str, str | None] = {}
    for path in files:
        if path not in maps:
            _read(path, reader, kept, topics, built)
    if not kept:
        return
    _settle_parents(reader, kept)
    _settle_topics(reader, kept, topics)
    append(con, "taxonomy", {"built": [json.dumps(built, default=str)]})
    append(con, "themes", {name: [theme[name] for _, _, theme in kept.values()] for name in COLUMNS})
    append(con, "theme_topics", {"topic": list(topics), "theme_id": list(topics.values())})
    for path in maps:
        _place(con, reader, path)
    _compare(con, reader, next(iter(kept.values()))[0])


def _beside(path: Path, other: Path) -> bool:
    return other != path and other.parent == path.parent and ending(other) == ".json" and other.name.startswith(f"{path.stem}.")


def _read(path: Path, reader: RecordReader, kept: dict[str, Entry], topics: dict[str, str | None], built: dict[str, Any]) -> None:
    line = reader.add_file(path, "theme")
    for position, raw in _records(reader, path, line, topics, built):
        theme = reader.validated(line, position, raw, validate.theme)
        if theme is None:
            continue
        if theme["theme_id"] in kept:
            told = f"theme_id '{theme['theme_id']}' stands already further up; the first was kept."
            reader.requarantine(line, position, "duplicate_theme", told, raw)
        else:
            kept[theme["theme_id"]] = (line, position, theme)


def _records(
    reader: RecordReader, path: Path, line: FileCount, topics: dict[str, str | None], built: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Every theme of a file: records as in any other table, or those below "themes" of one object that says more."""
    for position, raw in reader.rows(path, line):
        if not (isinstance(raw, dict) and isinstance(raw.get("themes"), list)):
            yield position, raw
            continue
        yield from ((f"record {number}", theme) for number, theme in enumerate(raw["themes"], 1))
        built |= raw["built"] if isinstance(raw.get("built"), dict) else {}
        try:
            topics |= dict.fromkeys(validate.phrases(raw.get("no_theme"), "no_theme"))
        except Reject as reject:
            reader.note(line, WHOLE_FILE, REPAIRED, "field_dropped", f"{reject} The themes were loaded without it.")


def _settle_parents(reader: RecordReader, kept: dict[str, Entry]) -> None:
    for line, position, theme in kept.values():
        parent = theme["parent_id"]
        if parent is None:
            continue
        fault = "is no theme of this release" if parent not in kept else "stands below it" if _circular(theme, kept) else ""
        if fault:
            told = f"parent_id '{parent}' of theme '{theme['theme_id']}' {fault}. The theme was loaded without a parent."
            reader.note(line, position, REPAIRED, "unusable_parent", told)
            theme["parent_id"] = None


def _circular(theme: dict[str, Any], kept: dict[str, Entry]) -> bool:
    above, seen = theme["parent_id"], {theme["theme_id"]}
    while above in kept and above not in seen:
        seen.add(above)
        above = kept[above][2]["parent_id"]
    return bool(above == theme["theme_id"])


def _settle_topics(reader: RecordReader, kept: dict[str, Entry], topics: dict[str, str | None]) -> None:
    for line, position, theme in kept.values():
        mine = list(dict.fromkeys(theme["topics"]))
        taken = [topic for topic in mine if topics.get(topic) is not None]
        topics |= {topic: theme["theme_id"] for topic in mine if topics.get(topic) is None}
        if taken:
            told = ", ".join(f"'{topic[:80]}'" for topic in taken[:NAMED]) + (", ..." if len(taken) > NAMED else "")
            first = f"{len(taken):,} of the topics of theme '{theme['theme_id']}' stand in a theme further up and stay there"
            reader.note(line, position, REPAIRED, "topic_in_two_themes", f"{first}: {told}.")


def _place(con: Connection, reader: RecordReader, path: Path) -> None:
    line = reader.add_file(path, "theme")
    try:
        con.execute(PLACES, {"file": str(path)})
    except DuckDBError as error:
        told = f"this is no map with phrase, x and y ({str(error).splitlines()[0]}). The themes were loaded without it."
        reader.note(line, WHOLE_FILE, NOTED, "map_unread", told)


def _compare(con: Connection, reader: RecordReader, line: FileCount) -> None:
    """Say how many divergence topics of the pairs the themes do not know; they are counted as having none."""
    ((told, unknown),) = rows(con, UNKNOWN)
    if unknown:
        message = f"{unknown:,} of the {told:,} divergence topics of the pairs stand in none of its themes, nor as having none."
        reader.note(line, WHOLE_FILE, NOTED, "topics_not_in_themes", message)
