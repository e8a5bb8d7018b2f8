"""People: the accounts, what a PI can change about them, and the access log. For PIs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pandas as pd
import streamlit as st

from annotation.agreement.sentences import capitalised
from annotation.label_store.access_log import Actor, Event, list_log
from annotation.label_store.engine import LabelStore
from annotation.studies.accounts import (
    ONE_TIME_PASSWORD_LENGTH,
    ROLES,
    Account,
    AccountState,
    Role,
    add_account,
    change_role,
    disable_account,
    enable_account,
    list_account_states,
    list_accounts,
    reset_password,
    sign_out_everywhere,
)
from annotation.studies.app_settings import (
    BROWSING_SETTING,
    BROWSING_WORDS,
    JUDGE_SETTING,
    MAX_MODEL,
    change_browsing,
    change_judge,
)
from annotation.studies.people_tables import ACCOUNTS_TABLE, EVENT_WORDS, LOG_TABLE, accounts_frame, log_frame
from audit.exports.text_writers import csv_bytes
from audit.settings import BROWSING, Settings
from pages._blinded.access import browsing_is_open, current_settings, label_store, now, settings_of_pis, visitor_address
from pages._blinded.file_widgets import download_button
from pages._blinded.frame import escaped, guarded, study_page
from pages._blinded.identity import provider_configured
from pages._shared.rejudge_request import model_text
from pages._shared.widgets import table

LEAD = "Who can sign in, and what they may do. Every change is an entry in the access log."
SUCCESS = "message about an account for the next run of the page"
OWN_ACCOUNT = "Your own role, password and state are changed by another PI, or with `audit account` in a terminal."
BY_INSTITUTION = "This account has no password: its person signs in through your institution."
ROLE_EFFECTS = (
    "Open pages have the new role from their next step on. Somebody who has seen the judge's labels, as viewers and PIs do, "
    "should not rate afterwards: their ratings would not be blind."
)
RESET = "{name} gets a one-time password in place of the present one, and every session of {name} ends at once."
DISABLE = "{name} can no longer sign in, and every session of {name} ends at once. Ratings and edits stay."
SIGN_OUT = (
    "Every session of {name} ends at once. Whoever knows the password, or is signed in at your institution, can sign in again. "
    "To keep them out, disable the account."
)
ONE_TIME = (
    f"This password is shown only now. Give it to the person directly or by telephone. It can be used for "
    f"{ONE_TIME_PASSWORD_LENGTH.days} days, and has to be replaced at the first sign-in."
)
PERIODS = {"7 days": 7, "30 days": 30, "A year": 365, "All that is kept": 0}
"""What is chosen -> days; 0: without a limit."""
RETENTION = "The administrator removes old entries with `audit account log --prune`, which is itself an entry."
MAX_ROWS = 500
Change = Callable[[LabelStore, str, datetime, Actor], object]


def confirmed(label: str, effect: str, confirmation: str, *, icon: str) -> bool:
    """A button that opens what it would do, with a second button that does it."""
    with st.popover(label, icon=icon):
        st.markdown(effect)
        return st.button(confirmation, key=f"do_{label}", type="primary")


def rerun_with_message(message: str, one_time_password: str = "") -> None:
    """Run the page again, so that it shows the new state, and show the message on it."""
    st.session_state[SUCCESS] = message, one_time_password
    st.rerun()


def last_change() -> None:
    """What was changed in the run before; a one-time password is shown in this run only, and kept nowhere."""
    message, password = st.session_state.pop(SUCCESS, ("", ""))
    if message:
        st.success(escaped(message))
    if password:
        st.markdown("One-time password:")
        st.code(password, language=None)
        st.caption(ONE_TIME)


def apply(change: Change, name: str, actor: Actor, message: str) -> None:
    """Change an account, and run the page again with the message."""
    change(label_store(), name, now(), actor)
    rerun_with_message(message)


def role_button(account: Account, actor: Actor) -> None:
    """Another role for an account."""
    with st.popover("Change role", icon=":material/badge:"):
        role = st.selectbox("New role", [role for role in ROLES if role is not account.role], key=f"role_{account.username}")
        st.markdown(ROLE_EFFECTS)
        if st.button("Change the role", key="do_role", type="primary"):
            change_role(label_store(), account.username, role, now(), actor)
            rerun_with_message(f"{account.username} now has the role {role}.")


def account_actions(state: AccountState, actor: Actor) -> None:
    """What can be done with one account. Of their own, a PI can only end the sessions: anything else could lock them out."""
    name, shown = state.account.username, escaped(state.account.username)
    with st.container(horizontal=True):
        if name != actor.username:
            role_button(state.account, actor)
            password_button(name, actor)
            state_button(state, actor)
        if confirmed("Sign out everywhere", SIGN_OUT.format(name=shown), "Sign out", icon=":material/logout:"):
            apply(sign_out_everywhere, name, actor, f"{name} is signed out everywhere.")
    if not state.by_password:
        st.caption(BY_INSTITUTION)
    if name == actor.username:
        st.caption(OWN_ACCOUNT)


def password_button(name: str, actor: Actor) -> None:
    """A one-time password for an account."""
    if confirmed("Reset password", RESET.format(name=escaped(name)), "Reset the password", icon=":material/key:"):
        rerun_with_message(f"{name} has a one-time password.", reset_password(label_store(), name, now(), actor))


def state_button(state: AccountState, actor: Actor) -> None:
    """Disable an account, or enable it again."""
    name = state.account.username
    if state.disabled:
        if confirmed("Enable", f"{escaped(name)} can sign in again.", "Enable the account", icon=":material/lock_open:"):
            apply(enable_account, name, actor, f"{name} can sign in again.")
    elif confirmed("Disable", DISABLE.format(name=escaped(name)), "Disable the account", icon=":material/block:"):
        apply(disable_account, name, actor, f"{name} is disabled.")


def accounts_section(store: LabelStore, actor: Actor) -> None:
    """Every account, and one of them to be changed."""
    states = {state.account.username: state for state in list_account_states(store, now())}
    table(accounts_frame(list(states.values())), "accounts", ACCOUNTS_TABLE.columns)
    last_change()
    st.header("Change an account", anchor=False)
    name = st.selectbox(
        "Account", list(states), index=None, placeholder="Choose an account", key="account",
        format_func=lambda name: f"{name} · {states[name].account.name}",
    )  # fmt: skip
    if name:
        guarded(account_actions, states[name], actor)
    with st.expander("Add an account"):
        guarded(new_account, store, actor)


def new_account(store: LabelStore, actor: Actor) -> None:
    """The form for another account; it begins with a one-time password, or without one."""
    with st.form("new_account", border=False, clear_on_submit=True):
        left, middle, right = st.columns(3)
        username = left.text_input(
            "Account name", key="new_username", max_chars=64, help="Or the e-mail address at your institution."
        )
        name = middle.text_input("Person's name", key="new_name", max_chars=120)
        role = right.selectbox("Role", ROLES, index=ROLES.index(Role.ANNOTATOR), key="new_role")
        by_password = st.checkbox("Signs in by password", value=True, key="by_password")
        if not st.form_submit_button("Add account"):
            return
    account = add_account(store, username, role, None, now(), name=name, actor=actor)
    password = reset_password(store, account.username, now(), actor) if by_password else ""
    rerun_with_message(f"Account {account.username} was added with the role {account.role}.", password)


def log_section(store: LabelStore) -> None:
    """The access log, filtered, and a file of what is shown."""
    first, second, third = st.columns([2, 3, 2])
    names = [account.username for account in list_accounts(store)]
    account = first.selectbox("By or about", names, index=None, placeholder="Everybody", key="log_account")
    events = second.multiselect("Events", list(Event), format_func=EVENT_WORDS.__getitem__, placeholder="All", key="log_events")
    days = PERIODS[third.selectbox("Period", list(PERIODS), index=1, key="log_days")]
    since = now() - timedelta(days=days) if days else None
    entries = list_log(store, since=since, events=events, account=account or "")
    table(log_frame(entries[:MAX_ROWS]), "log", LOG_TABLE.columns)
    cut = f" The table shows the first {MAX_ROWS}; the file has all." if len(entries) > MAX_ROWS else ""
    st.caption(f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}, newest first.{cut} {RETENTION}")
    download_button(
        "Download CSV", lambda: csv_bytes(log_frame(entries)), "access_log.csv", "text/csv", "log_csv", icon=":material/download:"
    )


# -- The settings that matter to a PI ------------------------------------------------------------------------


COLUMNS = {"setting": "Setting", "now": "Now", "change": "Changed by"}
NOTE = (
    "Settings that are changed by a variable belong to the person who runs the server, who sets them before it starts. "
    "Passwords and keys are never shown. Before a real study, browsing should be for signed-in people only, because annotators "
    "could look up verdicts. Whether the server has its data and answers is told at its address followed by /ready."
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


with study_page("People", LEAD, Role.PI) as signed_in:
    accounts_tab, log_tab, settings_tab = st.tabs(["Accounts", "Access log", "Settings"])
    with accounts_tab:
        guarded(accounts_section, label_store(), Actor(signed_in.username, visitor_address()))
    with log_tab:
        guarded(log_section, label_store())
    with settings_tab:
        guarded(settings_section, Actor(signed_in.username, visitor_address()))
