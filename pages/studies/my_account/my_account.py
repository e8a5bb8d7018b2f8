"""My account: one's own password, sessions and second factor. For everybody who signed in."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from annotation.studies import own_account
from annotation.studies.accounts import PASSWORD_LENGTH, Account, Role
from annotation.studies.people_tables import readable_time
from audit.errors import AuditError
from pages._blinded.access import label_store, now, visitor_address
from pages._blinded.frame import escaped, explain, study_page
from pages._blinded.session_cookie import cookie_token

LEAD = "Your password, your sessions and a second factor."
ELSEWHERE = "Your institution signs you in, so your password, second factor and sessions are kept there."
PASSWORD_HELP = f"At least {PASSWORD_LENGTH[0]} characters, and none that are among the first to be guessed."
SECRET = "the secret of a second factor that is not in force yet"  # noqa: S105 - the key in the session state


def change(action: Callable[[], None], done: str) -> None:
    """Do what a form asks for, and load the page again with one sentence."""
    try:
        action()
    except AuditError as error:
        explain(error)
    else:
        st.toast(done)
        st.session_state.pop(SECRET, None)
        st.rerun()


def password_form(name: str) -> None:
    """Another password; it needs the one in force."""
    with st.form("own_password", width=420):
        old = st.text_input("Current password", type="password", autocomplete="current-password", max_chars=256)
        new = st.text_input("New password", type="password", autocomplete="new-password", max_chars=256, help=PASSWORD_HELP)
        again = st.text_input("Repeat the new password", type="password", autocomplete="new-password", max_chars=256)
        if not st.form_submit_button("Change password", help="Every session of yours ends, this one too."):
            return
    if new != again:
        st.error("The two new passwords differ. Nothing was changed.")
        return
    store, address = label_store(), visitor_address()
    change(lambda: own_account.change_own_password(store, name, old, new, now(), address=address), "Your password was changed.")


def sessions(name: str) -> None:
    """The sessions that go on, each with a button that ends it."""
    store, address, here = label_store(), visitor_address(), own_account.session_key(cookie_token() or "")
    for session in own_account.own_sessions(store, name, now()):
        used = readable_time(session.used_at or session.created_at, "minutes")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Begun {readable_time(session.created_at, 'minutes')}, last used {used} (UTC)", width="content")
            if session.key == here:
                st.caption("this one", width="content")
            elif st.button("End", key=f"end {session.key}"):
                own_account.end_own_session(store, name, session.key, now(), address=address)
                st.rerun()


def second_factor(name: str) -> None:
    """Add a second factor by a code of it, or remove it by one."""
    store, address = label_store(), visitor_address()
    added = own_account.has_second_factor(store, name)
    if not added:
        secret = st.session_state.setdefault(SECRET, own_account.new_secret())
        st.markdown("Type this secret into an authenticator app on your phone, then type the code that the app shows here.")
        st.code(secret, language=None)
        with st.popover("As a link for the app"):
            st.code(own_account.secret_address(name, secret), language=None)
    with st.form("second_factor", width=420):
        code = st.text_input("Code", autocomplete="one-time-code", max_chars=16)
        if not st.form_submit_button("Remove the second factor" if added else "Add the second factor"):
            return
    if added:
        change(
            lambda: own_account.remove_second_factor(store, name, code, now(), address=address), "The second factor was removed."
        )
    else:
        change(
            lambda: own_account.add_second_factor(store, name, secret, code, now(), address=address),
            "A code of the app is asked for at each sign-in from now on.",
        )


def draw(account: Account) -> None:
    """The page of an account."""
    st.markdown(f"{escaped(account.name)} · `{account.username}` · {account.role}")
    if not own_account.has_password(label_store(), account.username):
        st.info(ELSEWHERE)
        return
    st.header("Password", anchor=False)
    password_form(account.username)
    st.header("Sessions", anchor=False)
    sessions(account.username)
    st.header("Second factor", anchor=False)
    second_factor(account.username)


with study_page("My account", LEAD, *Role) as account:
    draw(account)
