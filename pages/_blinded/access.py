"""Who is signed in, and which pages there are for whom."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import streamlit as st

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies import accounts
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.session_cookie import cookie_token, forget_token, keep_token

TOKEN = "session token"  # noqa: S105 - the name under which it is kept, not a token
SIGN_IN_CHANGED = "somebody has just signed in or out"
SQLITE = "sqlite:///"

STUDY_PAGES = {
    "annotate": "Annotate",
    "study": "Studies",
    "adjudicate": "Adjudicate",
    "agreement": "Agreement",
    "prevalence": "Prevalence",
    "protocol": "Protocol",
    "sign_in": "Sign in",
    "sign_out": "Sign out",
}
"""Script in pages/studies -> title."""
OWN_PAGES: dict[Role | None, tuple[str, ...]] = {
    None: ("sign_in",),
    Role.VIEWER: ("sign_out",),
    Role.ANNOTATOR: ("annotate", "protocol", "sign_out"),
    Role.ADJUDICATOR: ("adjudicate", "agreement", "protocol", "sign_out"),
    Role.PI: ("study", "adjudicate", "agreement", "prevalence", "protocol", "sign_out"),
}
"""What there is for each role besides browsing; None: nobody is signed in. Nothing else exists for it."""
BROWSERS = (Role.VIEWER, Role.PI)
"""An annotator who browses is not blind any more, and an adjudicator decides without the judge."""


def now() -> datetime:
    """The server's clock."""
    return datetime.now(UTC)


def label_store() -> LabelStore:
    """The studies, ratings and accounts. Raises AuditError when the database cannot be opened."""
    return _opened(Settings().studies_url)


@st.cache_resource(show_spinner=False)
def _opened(url: str) -> LabelStore:
    return open_label_store(url)


def accounts_exist() -> bool:
    """Whether any account exists. Looking makes no database."""
    return _database_exists() and bool(accounts.list_accounts(label_store()))


def _database_exists() -> bool:
    url = Settings().studies_url
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()


def current_account() -> Account | None:
    """The account of this session; None when nobody is signed in or the session has ended."""
    if not _database_exists():
        return None
    token = st.session_state.get(TOKEN) or cookie_token()
    known = accounts.account_of_token(label_store(), token, now()) if token else None
    return known or _vouched_for()


def sign_in(username: str, password: str) -> None:
    """Begin a session. Raises SignInError when the name or the password is wrong, or too many were."""
    token = accounts.sign_in(label_store(), username, password, now())
    st.session_state[TOKEN] = token
    st.session_state[SIGN_IN_CHANGED] = True
    keep_token(token)


def sign_out() -> None:
    """End this browser's session everywhere, and forget what it held.

    Whom the identity provider signed in leaves the page here, through the provider.
    """
    token = st.session_state.get(TOKEN) or cookie_token()
    if token:
        accounts.sign_out(label_store(), token)
    st.session_state.clear()
    st.session_state[SIGN_IN_CHANGED] = True
    forget_token()
    if _provider_says():
        _ended().add(_sign_in_of_provider())
        st.logout()
        st.stop()  # a rerun now would drop what sends the browser away


def provider_configured() -> bool:
    """Whether secrets.toml has an identity provider for `st.login`."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def provider_refusal() -> str:
    """Why the identity provider has signed somebody in who is nobody here; empty where it has signed in nobody, or an account."""
    if not _provider_says() or _vouched_for() is not None:
        return ""
    if not st.user.get("email"):
        return "The identity provider gave no e-mail address of yours, so it is not known who you are here."
    if not _verified():
        return "The identity provider has not verified your e-mail address, so it counts for nothing here."
    return "The identity provider knows you, but you have no account here. Ask an investigator for one in your e-mail's name."


def _vouched_for() -> Account | None:
    """The account of whom the identity provider has signed in, where its verified e-mail address has one here."""
    email = st.user.get("email") if _provider_says() else None
    return accounts.find_account(label_store(), str(email)) if email and _verified() else None


def _provider_says() -> bool:
    """Whether the identity provider has signed somebody in, not longer ago than a session lasts, who has not signed out.

    Streamlit believes its cookie for 30 days, and a tab that is open for good.
    """
    if not provider_configured() or not st.user.get("is_logged_in"):
        return False
    said = datetime.fromtimestamp(float(str(st.user.get("iat") or 0)), UTC)
    return now() < said + accounts.SESSION_LENGTH and _sign_in_of_provider() not in _ended()


def _verified() -> bool:
    """Some providers say nothing of it, some say it in words."""
    return str(st.user.get("email_verified", True)).casefold() == "true"


def _sign_in_of_provider() -> tuple[str, str]:
    return str(st.user.get("sub")), str(st.user.get("iat"))


@st.cache_resource(show_spinner=False)
def _ended() -> set[tuple[str, str]]:
    """Sign-ins of the provider that were ended here: (whose, when)."""
    return set()


def browsing_is_open() -> bool:
    """Whether runs may be browsed without signing in.

    By AUDIT_BROWSING where it is set. Else: on loopback, and wherever no account exists.
    """
    said = Settings().browsing
    return said == "open" or (said == "" and (_on_loopback() or not accounts_exist()))


def _on_loopback() -> bool:
    host = str(st.get_option("server.address") or "")
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def may_browse(account: Account | None) -> bool:
    """Whether the pages on runs exist for somebody."""
    return browsing_is_open() if account is None else account.role in BROWSERS


def may_rejudge(account: Account | None) -> bool:
    """Whether somebody may set a judge to work, which costs calls: a PI, or whoever browses where there is no account yet.

    Without accounts, an installation on loopback is its owner's; one that others reach has no owner, so nobody may.
    """
    if account is None:
        return _on_loopback() and browsing_is_open() and not accounts_exist()
    return account.role is Role.PI


def own_pages(account: Account | None) -> tuple[str, ...]:
    """The scripts of `pages/studies` that exist for somebody."""
    if account is not None:
        return OWN_PAGES[account.role]
    return OWN_PAGES[None] if accounts_exist() or provider_configured() or not browsing_is_open() else ()


def require_role(*roles: Role) -> Account:
    """The account of this session. Raises AuditError where the page does not exist for it: the menu has it for no other."""
    account = current_account()
    if account is None or account.role not in roles:
        raise AuditError("Your session has ended, or this page is not for your role. Sign in again.")
    return account
