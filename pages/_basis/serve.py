"""Starts Streamlit on app.py: `python pages/_basis/serve.py run app.py [--server.port ...]`, which is what `audit serve` does.

Streamlit takes a folder called `pages` beside the script for its older kind of multi-page app until `st.navigation` is
called for the first time. The first visitor after a start, when a link brings him to one of our pages, would be told that
there is no such page; so the older kind is switched off before the first visit.
"""

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    main()
