"""The dashboard: page configuration and menu. Start it with `audit serve` or `streamlit run app.py`."""

import streamlit as st

from pages._shared.navigation import menu

st.set_page_config(page_title="Handbook audit", layout="wide", initial_sidebar_state=230)
st.navigation(menu()).run()
