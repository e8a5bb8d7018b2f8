"""Sign out: ends the session everywhere and opens the start page for visitors."""

import streamlit as st

from pages._blinded.access import SIGN_IN_CHANGED, current_account, sign_out
from pages._blinded.trusted_proxy import proxy_user
from pages._shared.navigation import home

if proxy_user():
    st.info("Your institution signed you in, so sign out there. Closing this tab ends your session here.")
    st.stop()
if current_account() is not None:
    sign_out()
    st.rerun()  # the menu was drawn for the account that has just left
st.session_state.pop(SIGN_IN_CHANGED, None)
st.switch_page(home(None))
