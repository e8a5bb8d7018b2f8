"""Sign out: ends the session everywhere and goes to the first page there is for nobody in particular."""

import streamlit as st

from pages._blinded.people import TURNING, sign_out, who
from pages._shared.navigation import home

if who() is not None:
    sign_out()
    st.rerun()
st.session_state.pop(TURNING, None)
st.switch_page(home(None))
