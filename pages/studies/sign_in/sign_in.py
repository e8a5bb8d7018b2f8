"""Sign in: by name and password, or through the identity provider where one is configured."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from annotation.studies import signing_in
from annotation.studies.accounts import PASSWORD_LENGTH, Account
from annotation.studies.signing_in import PasswordChangeError, SecondFactorError
from audit.errors import AuditError
from pages._blinded.access import (
    account_of,
    accounts_exist,
    change_one_time_password,
    create_first_account,
    database_exists,
    first_account_offered,
    label_store,
    now,
    provider_refusal,
    sign_in,
    visitor_address,
)
from pages._blinded.frame import STYLE, escaped, explain
from pages._blinded.identity import current_identity, provider_configured
from pages._blinded.session_cookie import keep_token
from pages._shared.navigation import address_exists

NO_ACCOUNT = "There are no accounts yet. Create the first one in a terminal, then reload this page."
FIRST_ACCOUNT = (
    "There are no accounts yet. The first one is an investigator (PI), who adds all others. The code is in the terminal in which "
    "the server was started, and in its log."
)
PASSWORD_HELP = f"At least {PASSWORD_LENGTH[0]} characters. Four random words make a good one."
COMMAND = "audit account add NAME --role pi"
CODE_ASKED = "why a code is asked for"
CHANGE_PASSWORD = "why the password has to be changed"  # noqa: S105 - the key in the session state


def password_form() -> None:
    """Ask for name and password; the error message does not reveal which of them was wrong."""
    # `autocomplete` lets password managers fill in the form.
    with st.form("sign_in", width=420):
        name = st.text_input("Name", autocomplete="username", max_chars=64)
        password = st.text_input("Password", type="password", autocomplete="current-password", max_chars=256)
        submitted = st.form_submit_button("Sign in", type="primary")
    if submitted:
        st.session_state.pop(CHANGE_PASSWORD, None)
        st.session_state.pop(CODE_ASKED, None)
        begin(lambda: sign_in(name, password))
    if CODE_ASKED in st.session_state:
        code_form(name, password)
    if CHANGE_PASSWORD in st.session_state:
        new_password_form(name, password)


def code_form(name: str, password: str) -> None:
    """Ask for the code of the second factor of an account whose password was right."""
    with st.form("code", width=420):
        st.markdown(st.session_state[CODE_ASKED])
        code = st.text_input("Code", autocomplete="one-time-code", max_chars=16)
        if not st.form_submit_button("Sign in with the code"):
            return
    begin(lambda: sign_in(name, password, code))


def new_password_form(name: str, password: str) -> None:
    """Ask for a password in place of the one-time password with which somebody has just signed in."""
    with st.form("new_password", width=420):
        st.markdown(st.session_state[CHANGE_PASSWORD])
        st.caption(PASSWORD_HELP)
        new = st.text_input("New password", type="password", autocomplete="new-password", max_chars=256)
        again = st.text_input("Repeat the new password", type="password", autocomplete="new-password", max_chars=256)
        if not st.form_submit_button("Change password and sign in", type="primary"):
            return
    if new != again:
        st.error("The two new passwords differ. Nothing was changed.")
        return
    begin(lambda: change_one_time_password(name, password, new))


def first_account_form() -> None:
    """Ask the owner of a new server for a name, a password and the code that the server printed."""
    st.markdown(FIRST_ACCOUNT)
    with st.form("first_account", width=420):
        username = st.text_input("Account name", autocomplete="username", max_chars=64, help="Or your e-mail address.")
        name = st.text_input("Your name", autocomplete="name", max_chars=120)
        password = st.text_input("Password", type="password", autocomplete="new-password", max_chars=256, help=PASSWORD_HELP)
        again = st.text_input("Repeat the password", type="password", autocomplete="new-password", max_chars=256)
        code = st.text_input("Code", autocomplete="off", max_chars=64, help="The server printed it when it started.")
        if not st.form_submit_button("Create the first account", type="primary"):
            return
    if password != again:
        st.error("The two passwords differ. Nothing was created.")
        return
    begin(lambda: create_first_account(username, name, password, code))


def begin(session: Callable[[], tuple[Account, str]]) -> None:
    """Begin a session and load the page again as its account; explain where it does not begin."""
    try:
        account, token = session()
    except PasswordChangeError as error:
        st.session_state[CHANGE_PASSWORD] = str(error)
    except SecondFactorError as error:
        st.session_state[CODE_ASKED] = str(error)
    except AuditError as error:
        explain(error)
    else:
        keep_token(token, address_exists=address_exists(account))
        st.stop()


def provider_button() -> None:
    """Offer the identity provider; explain when it has authenticated somebody who has no account."""
    if reason := provider_refusal():
        st.warning(reason)
        st.button("Sign out of the identity provider", on_click=st.logout)
    else:
        st.button("Sign in with your institution", on_click=st.login, icon=":material/login:")


# -- What the sign-in page says to somebody whom the trusted proxy has named and who cannot enter ------------


def proxy_refusal() -> str:
    """Why somebody whom the trusted proxy has signed in cannot enter; empty where they can, or where it named nobody."""
    identity = current_identity()
    user = identity.proxy_user
    if not user or account_of(identity) is not None:
        return ""
    at = identity.proxy_sign_in
    refusal = signing_in.vouched_refusal(label_store(), user, at, renewed=True) if database_exists() else ""
    return refusal or f"You are signed in as {user}, but no account of that name can be used here. Ask an investigator for one."


def proxy_user_to_continue() -> str:
    """The user whom the proxy names and whose sessions were ended, where a button may let them in again; else empty."""
    identity = current_identity()
    user, at = identity.proxy_user, identity.proxy_sign_in
    if not user or not database_exists():
        return ""
    refusal = signing_in.vouched_refusal(label_store(), user, at, renewed=True)
    return user if refusal == signing_in.SESSIONS_ENDED_HERE else ""


def continue_by_proxy() -> None:
    """Let the user whom the proxy names in again after their sessions were ended."""
    identity = current_identity()
    signing_in.continue_vouched(label_store(), identity.proxy_user, identity.proxy_sign_in, now(), address=visitor_address())


st.html(STYLE)
st.title("Sign in", anchor=False)
if reason := proxy_refusal():
    st.warning(escaped(reason))
if user := proxy_user_to_continue():
    st.button(escaped(f"Continue as {user}"), on_click=continue_by_proxy, type="primary")
if accounts_exist():
    password_form()
elif first_account_offered():
    first_account_form()
else:
    st.info(NO_ACCOUNT)
    st.code(COMMAND, language="bash")
if provider_configured():
    provider_button()
