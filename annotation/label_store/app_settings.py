"""Settings as rows of the database. What they may be is in `annotation.studies.app_settings`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select

from annotation.label_store.access_log import Actor, Event, log_event
from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import app_settings
from annotation.label_store.stored_values import record_of, to_timestamp


@dataclass(frozen=True)
class StoredSetting:
    """A setting that a PI has made. changed_at: UTC, ISO 8601."""

    name: str
    value: str
    changed_by: str
    changed_at: str


def stored_settings(store: LabelStore) -> dict[str, StoredSetting]:
    """Name -> setting; those that have their default are not among them."""
    with store.read() as con:
        return {row["name"]: record_of(StoredSetting, row) for row in con.execute(select(app_settings)).mappings()}


def change_setting(store: LabelStore, name: str, value: str, detail: str, actor: Actor, now: datetime) -> None:
    """Store a setting (an empty value: remove it, so the default is back), and log it with `detail`."""
    with store.begin() as tx:
        tx.execute(delete(app_settings).where(app_settings.c.name == name))
        if value:
            row = {"name": name, "value": value, "changed_by": actor.username, "changed_at": to_timestamp(now)}
            tx.execute(insert(app_settings).values(**row))
        log_event(tx, Event.SETTING_CHANGED, actor, now, detail)
