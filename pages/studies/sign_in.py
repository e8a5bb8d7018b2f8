"""Sign in: by name and password, or through the identity provider where one is configured."""

import streamlit as st

from audit.errors import AuditError
from pages._blinded.access import (
    accounts_exist,
    provider_configured,
    provider_refusal,
    proxy_refusal,
    sign_in,
)
from pages._blinded.frame import STYLE, escaped, explain
from pages._blinded.session_cookie import keep_token
from pages._shared.navigation import address_exists

NO_ACCOUNT = "There are no accounts yet. Create the first one in a terminal, then reload this page."
COMMAND = "audit account add NAME --role pi"


def password_form() -> None:
    """Ask for name and password; the error message does not reveal which of them was wrong."""
    # `autocomplete` lets password managers fill in the form.
    with st.form("sign_in", width=420):
        name = st.text_input("Name", autocomplete="username", max_chars=64)
        password = st.text_input("Password", type="password", autocomplete="current-password", max_chars=256)
        if not st.form_submit_button("Sign in", type="primary"):
            return
    try:
        account, token = sign_in(name, password)
    except AuditError as error:
        explain(error)
        return
    keep_token(token, address_exists=address_exists(account))
    st.stop()


def provider_button() -> None:
    """Offer the identity provider; explain when it has authenticated somebody who has no account."""
    if reason := provider_refusal():
        st.warning(reason)
        st.button("Sign out of the identity provider", on_click=st.logout)
    else:
        st.button("Sign in with your institution", on_click=st.login, icon=":material/login:")


st.html(STYLE)
st.title("Sign in", anchor=False)
if reason := proxy_refusal():
    st.warning(escaped(reason))
if accounts_exist():
    password_form()
else:
    st.info(NO_ACCOUNT)
    st.code(COMMAND, language="bash")
if provider_configured():
    provider_button()
