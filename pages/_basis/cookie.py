"""The browser keeps the token of the session in a cookie, so that a reload or a restart of the server asks for no password.

Streamlit sets no cookie for an app, so a line of JavaScript does. It is sent to this server alone (SameSite=Strict), never
stands in an address, and means nothing once the session has ended: the store holds only its hash.
"""

from __future__ import annotations

import streamlit as st

from annotation.accounts import SESSION

NAME = "handbook_session"
TO_WRITE = "what the browser shall keep"
SCRIPT = f"""
export default function (component) {{
  const token = component.data, secure = location.protocol === "https:" ? "; Secure" : ""
  const age = token ? {int(SESSION.total_seconds())} : 0
  document.cookie = "{NAME}=" + token + "; Max-Age=" + age + "; Path=/; SameSite=Strict" + secure
}}
"""

_jar = st.components.v2.component("session_cookie", js=SCRIPT)


def cookie_token() -> str | None:
    """The token that the browser sent when this page was opened."""
    token = st.context.cookies.get(NAME)
    return token if isinstance(token, str) else None  # a session without a browser, as in tests, has no cookies


def keep_token(token: str) -> None:
    """Have the browser keep the token until the session ends."""
    st.session_state[TO_WRITE] = token


def forget_token() -> None:
    """Have the browser forget it."""
    st.session_state[TO_WRITE] = ""


def write_cookie() -> None:
    """Draw what sets the cookie, where this session has changed it. A later run draws it again: the first may be cut short."""
    if TO_WRITE in st.session_state:
        with st.sidebar:
            _jar(key="session_cookie", data=st.session_state[TO_WRITE], height=1)
