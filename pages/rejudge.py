"""Re-judge: put some pairs to a judge anew, and see what that changes. For the PI."""

import streamlit as st

from audit.cli.judge_jobs import find_job
from audit.settings import Settings
from pages._shared.page import page
from pages._shared.pair_list import PARAMS
from pages._shared.rejudge_job import earlier, job_view
from pages._shared.rejudge_order import order_of_one, order_of_some
from pages._shared.rejudge_rights import only_for_the_owner

LEAD = "Put pairs to a judge anew: one that you doubt, or a choice of them. The old verdicts stay as they are."

with page("Re-judge", LEAD) as run:
    only_for_the_owner()
    name = st.query_params.get("job")
    if name:
        job_view(find_job(Settings(), name))
    elif all(param in st.query_params for param in PARAMS):
        order_of_one(run, *(st.query_params[param] for param in PARAMS))
        earlier(run)
    else:
        order_of_some(run)
        earlier(run)
