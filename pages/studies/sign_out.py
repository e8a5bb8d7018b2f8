"""Sign out: ends the session everywhere and goes to the first page there is for nobody in particular."""

import streamlit as st

from pages._blinded.access import SIGN_IN_CHANGED, current_account, sign_out
from pages._shared.navigation import home

if current_account() is not None:
    sign_out()
    st.rerun()
st.session_state.pop(SIGN_IN_CHANGED, None)
st.switch_page(home(None))
