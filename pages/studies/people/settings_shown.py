"""The settings that matter to a PI: their current values, and the two that a PI can change while the server runs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.agreement.sentences import capitalised
from annotation.label_store.access_log import Actor
from annotation.studies.app_settings import (
    BROWSING_SETTING,
    BROWSING_WORDS,
    JUDGE_SETTING,
    MAX_MODEL,
    change_browsing,
    change_judge,
)
from audit.settings import BROWSING, Settings
from pages._blinded.access import browsing_is_open, current_settings, label_store, now, settings_of_pis
from pages._blinded.frame import escaped
from pages._blinded.identity import provider_configured
from pages._shared.rejudge_request import model_text
from pages._shared.widgets import table

COLUMNS = {"setting": "Setting", "now": "Now", "change": "Changed by"}
NOTE = (
    "Settings that are changed by a variable belong to the person who runs the server, who sets them before it starts. "
    "Passwords and keys are never shown. Before a real study, browsing should be for signed-in people only, because annotators "
    "could look up verdicts."
)
BY_SERVER = "{variable} is set on the server, in its environment or its secrets file. It takes precedence over what is set here."
KEY_NOTE = (
    "One address a line. What is judged is sent there: both answers and the question. The key is not entered here: it is "
    "AUDIT_JUDGE_KEY on the server ({key}), and is sent to these addresses."
)
DEFAULT = "Default: anybody where the server is reached from its own machine only, else viewers and PIs"
CHANGED = "message about a setting for the next run of the page"


def settings_section(actor: Actor) -> None:
    """The settings in force, and the forms of those that a PI changes."""
    if message := st.session_state.pop(CHANGED, ""):
        st.success(message)
    _browsing_form(actor)
    _judge_form(actor)
    st.header("All settings", anchor=False)
    table(settings_frame(current_settings()), "settings", COLUMNS)
    st.caption(NOTE)


def settings_frame(settings: Settings) -> pd.DataFrame:
    """One row per setting: setting, now, change. No address of a database or an endpoint is shown beyond its host."""
    browsing = "Anybody, without signing in" if browsing_is_open() else "Viewers and PIs who are signed in"
    ways = ["name and password"]
    ways += ["your institution"] if provider_configured() else []
    ways += ["a reverse proxy"] if settings.trusted_user_header else []
    database = settings.studies_url.partition(":")[0].partition("+")[0]
    rows = [
        ("Who may browse runs", browsing, _changed_by(BROWSING_SETTING, "AUDIT_BROWSING", Settings().browsing)),
        ("How people sign in", ", ".join(ways).capitalize(), "AUDIT_TRUSTED_USER_HEADER, secrets.toml"),
        (
            "Judge",
            model_text(settings) if settings.judge_urls else "None: no pair can be judged from here",
            _changed_by(JUDGE_SETTING, "AUDIT_JUDGE_URL", Settings().judge_urls),
        ),
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


def _changed_by(name: str, variable: str, in_environment: object) -> str:
    if in_environment:
        return variable
    stored = settings_of_pis().get(name)
    return f"{stored.changed_by}, {stored.changed_at[:16].replace('T', ' ')} UTC" if stored else f"A PI, here, or {variable}"


def _browsing_form(actor: Actor) -> None:
    st.header("Who may browse runs", anchor=False)
    stored = settings_of_pis().get(BROWSING_SETTING)
    value = Settings().browsing or (stored.value if stored else "")
    with st.form("browsing", border=False):
        chosen = st.radio(
            "Who may browse runs", BROWSING, BROWSING.index(value), key="browsing_choice", label_visibility="collapsed",
            format_func=lambda word: capitalised(BROWSING_WORDS[word]) if word else DEFAULT, disabled=bool(Settings().browsing),
        )  # fmt: skip
        if _saved("Save browsing", "AUDIT_BROWSING", Settings().browsing):
            change_browsing(label_store(), chosen, actor, now())
            _rerun_with(f"From now on, runs can be browsed by: {BROWSING_WORDS[chosen]}.")


def _judge_form(actor: Actor) -> None:
    st.header("Judge", anchor=False)
    by_server, in_force = bool(Settings().judge_urls), current_settings()
    with st.form("judge", border=False):
        # Addresses from the server's environment may have a password in them, so only their hosts are shown, in the table.
        urls = st.text_area(
            "Addresses of OpenAI-compatible endpoints", "" if by_server else "\n".join(in_force.judge_urls), key="judge_urls",
            height=80, placeholder="http://127.0.0.1:8000/v1", disabled=by_server,
        )  # fmt: skip
        model = st.text_input(
            "Model", "" if by_server else in_force.judge_model, key="judge_model", max_chars=MAX_MODEL,
            placeholder="The only one that the endpoints have", disabled=by_server or bool(Settings().judge_model), width=420,
        )  # fmt: skip
        st.caption(KEY_NOTE.format(key="set" if in_force.judge_key else "not set"))
        if _saved("Save judge", "AUDIT_JUDGE_URL", by_server):
            change_judge(label_store(), urls.splitlines(), model, actor, now())
            _rerun_with("The judge was changed. Jobs that are running go on with the one they began with.")


def _saved(label: str, variable: str, by_server: object) -> bool:
    """The button of a form; disabled, with the reason, where the server's own setting takes precedence."""
    if by_server:
        st.caption(escaped(BY_SERVER.format(variable=variable)))
    return st.form_submit_button(label, disabled=bool(by_server))


def _rerun_with(message: str) -> None:
    st.session_state[CHANGED] = message
    st.rerun()
