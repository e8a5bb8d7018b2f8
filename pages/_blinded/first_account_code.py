"""The code with which the first account is made in the browser: printed where the server was started, and logged."""

from __future__ import annotations

import logging

from annotation.label_store.engine import open_label_store, sqlite_path
from annotation.studies import signing_in
from annotation.studies.accounts import list_accounts
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.identity import provider_configured

MESSAGE = (
    "There are no accounts yet. To make the first one, open the page Sign in and enter this code: {code} (it expires with the "
    "first account, and when the server stops)."
)
log = logging.getLogger("audit.serve")


def offer_first_account() -> None:
    """Issue and print a code when this server starts, unless there is an account or people sign in elsewhere."""
    settings = Settings()
    if settings.trusted_user_header or provider_configured() or _has_accounts(settings.studies_url):
        return
    message = MESSAGE.format(code=signing_in.issue_code())
    if settings.log_format == "text":  # otherwise a program reads what this process prints
        print(message, flush=True)
    log.warning(message)


def _has_accounts(url: str) -> bool:
    path = sqlite_path(url)
    if path is not None and not path.is_file():  # opening a store creates its file
        return False
    try:
        store = open_label_store(url)
    except AuditError:  # the pages explain a store that cannot be opened; meanwhile nobody makes accounts
        return True
    try:
        return bool(list_accounts(store))
    finally:
        store.close()
