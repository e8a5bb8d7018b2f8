"""Sign out: ends the session everywhere and opens the start page for visitors."""

import streamlit as st

from pages._blinded.access import sign_out
from pages._blinded.identity import proxy_user
from pages._blinded.session_cookie import forget_token

if proxy_user():
    st.info("Your institution signed you in, so sign out there. Closing this tab ends your session here.")
    st.stop()
sign_out()
forget_token()
