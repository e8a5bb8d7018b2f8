"""Re-judge: ask a judge about some pairs again, and see what changes. For the PI."""

import streamlit as st

from audit.jobs.processes import find_job
from audit.settings import Settings
from audit.vocabulary import composed
from pages._shared.page import page
from pages._shared.pair_list import PARAMS
from pages._shared.rejudge_request import only_for_the_owner, request_pair, request_selection
from pages.rejudge.job import earlier_jobs, job_view

LEAD = "Judge pairs again: one that you doubt, or a selection. Existing verdicts do not change."

FIRST_TIME = "No model has compared these {handbooks} yet. Choose pairs, see what judging them would cost, and have them judged."

with page("Re-judge", LEAD, without_pairs=FIRST_TIME) as run:
    only_for_the_owner()  # the menu hides the page from others, but this session may have ended since it was drawn
    name = st.query_params.get("job")
    if name:
        job_view(find_job(Settings(), name))
    elif all(param in st.query_params for param in PARAMS):
        request_pair(run, *(composed(st.query_params[param]) for param in PARAMS))
        earlier_jobs(run)
    else:
        request_selection(run)
        earlier_jobs(run)
