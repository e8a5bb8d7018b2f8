"""The settings that matter to a PI, as they are now: who may browse, how people sign in, which judge is asked."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.settings import Settings
from pages._blinded.access import browsing_is_open
from pages._blinded.identity import provider_configured
from pages._shared.rejudge_request import model_text
from pages._shared.widgets import table

COLUMNS = {"setting": "Setting", "now": "Now", "change": "Changed by"}
NOTE = (
    "The person who runs the server changes these before it starts; passwords and keys are never shown. Before a real study, "
    "browsing should be for signed-in people only, because annotators could look up verdicts."
)


def settings_section() -> None:
    """The settings as a table, and what to check before a study."""
    table(settings_frame(Settings()), "settings", COLUMNS)
    st.caption(NOTE)


def settings_frame(settings: Settings) -> pd.DataFrame:
    """One row per setting: setting, now, change. No address of a database or an endpoint is shown beyond its host."""
    browsing = "Anybody, without signing in" if browsing_is_open() else "Viewers and PIs who are signed in"
    ways = ["name and password"]
    ways += ["your institution"] if provider_configured() else []
    ways += ["a reverse proxy"] if settings.trusted_user_header else []
    database = settings.studies_url.partition(":")[0].partition("+")[0]
    rows = [
        ("Who may browse runs", browsing, "AUDIT_BROWSING"),
        ("How people sign in", ", ".join(ways).capitalize(), "AUDIT_TRUSTED_USER_HEADER, secrets.toml"),
        ("Judge", model_text(settings) if settings.judge_urls else "None: pairs can be judged by rules only", "AUDIT_JUDGE_URL"),
        ("Key of the judge", "Set" if settings.judge_key else "Not set", "AUDIT_JUDGE_KEY"),
        ("Open calls to the judge", f"At most {settings.judge_concurrency}", "AUDIT_JUDGE_CONCURRENCY"),
        (
            "Database of studies",
            {"sqlite": "SQLite, a file", "postgresql": "PostgreSQL"}.get(database, database),
            "AUDIT_STUDIES_URL",
        ),
        ("Access log is kept", f"{settings.access_log_days} days", "AUDIT_ACCESS_LOG_DAYS"),
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))
