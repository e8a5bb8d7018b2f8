"""Access: who is signed in, and which pages exist for which role."""

from __future__ import annotations

from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import streamlit as st

from annotation.label_store.engine import LabelStore, open_label_store
from annotation.studies import accounts, signing_in
from annotation.studies.accounts import Account, Role
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.session_cookie import cookie_token, forget_token, keep_token
from pages._blinded.trusted_proxy import proxy_user

TOKEN = "session token"  # noqa: S105 - the key in the session state, not a token
SIGN_IN_CHANGED = "the user has just signed in or out"
SQLITE = "sqlite:///"

STUDY_PAGES = {  # script in pages/studies -> title
    "annotate": "Annotate",
    "study": "Studies",
    "adjudicate": "Adjudicate",
    "agreement": "Agreement",
    "prevalence": "Prevalence",
    "protocol": "Protocol",
    "sign_in": "Sign in",
    "sign_out": "Sign out",
}
# The study pages of each role; None: not signed in. Pages that are not listed do not exist for the role.
OWN_PAGES: dict[Role | None, tuple[str, ...]] = {
    None: ("sign_in",),
    Role.VIEWER: ("sign_out",),
    Role.ANNOTATOR: ("annotate", "protocol", "sign_out"),
    Role.ADJUDICATOR: ("adjudicate", "agreement", "protocol", "sign_out"),
    Role.PI: ("study", "adjudicate", "agreement", "prevalence", "protocol", "sign_out"),
}
# Browsing would unblind annotators, and adjudicators decide without the judge.
BROWSERS = (Role.VIEWER, Role.PI)


def now() -> datetime:
    """The server's clock."""
    return datetime.now(UTC)


def label_store() -> LabelStore:
    """The studies, ratings and accounts. Raises AuditError when the database cannot be opened."""
    return _open_store(Settings().studies_url)


@st.cache_resource(show_spinner=False)
def _open_store(url: str) -> LabelStore:
    return open_label_store(url)


def visitor_address() -> str:
    """The address of the browser, as the server or its trusted proxy sees it; empty in a test without a browser."""
    address = st.context.ip_address
    return address if isinstance(address, str) else ""


def accounts_exist() -> bool:
    """Whether any account exists."""
    # Opening a store creates its file, which a mere visit must not do.
    return database_exists() and bool(accounts.list_accounts(label_store()))


def database_exists() -> bool:
    """Whether the label store is there; a database on a server counts as there."""
    url = Settings().studies_url
    return not url.startswith(SQLITE) or Path(url.removeprefix(SQLITE)).is_file()


def current_account() -> Account | None:
    """The account of this session; None when not signed in, or when the session has ended."""
    if not database_exists():
        return None
    if user := proxy_user():  # an older cookie in a shared browser must not make this person somebody else
        return accounts.find_account(label_store(), user)
    # The cookie is the one that was sent when the page was opened, so a sign-in since then is known from the session only.
    token = st.session_state.get(TOKEN) or cookie_token()
    account = accounts.account_of_token(label_store(), token, now()) if token else None
    return account or _provider_account()


def sign_in(username: str, password: str) -> None:
    """Begin a session. Raises SignInError when the name or the password is wrong, or after too many wrong ones."""
    token = signing_in.sign_in(label_store(), username, password, now(), address=visitor_address())
    st.session_state[TOKEN] = token
    st.session_state[SIGN_IN_CHANGED] = True
    keep_token(token)


def sign_out() -> None:
    """End this browser's session everywhere and clear its state; an identity provider is left through its own page."""
    token = st.session_state.get(TOKEN) or cookie_token()
    if token:
        accounts.sign_out(label_store(), token, now(), visitor_address())
    st.session_state.clear()
    st.session_state[SIGN_IN_CHANGED] = True
    forget_token()
    if _provider_signed_in():
        _ended_provider_sessions().add(_provider_session())
        st.logout()
        st.stop()  # a rerun now would drop the redirect to the provider


def provider_configured() -> bool:
    """Whether secrets.toml has an identity provider for `st.login`."""
    # Streamlit raises when it looks into secrets that do not exist, so whether they do is asked first.
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def provider_refusal() -> str:
    """Why somebody authenticated by the identity provider cannot enter; empty where they can, or where nobody was."""
    if not _provider_signed_in() or _provider_account() is not None:
        return ""
    if not st.user.get("email"):
        return "The identity provider did not send your e-mail address, so we cannot find your account."
    if not _verified():
        return "The identity provider has not verified your e-mail address, so it cannot be used to sign in."
    return "You have no account here. Ask an investigator to create one for the e-mail address of your institution's sign-in."


def proxy_refusal() -> str:
    """Why somebody whom the trusted proxy has signed in cannot enter; empty where they can, or where it named nobody."""
    user = proxy_user()
    if not user or current_account() is not None:
        return ""
    return f"You are signed in as {user}, but there is no account of that name here. Ask an investigator to create one."


def _provider_account() -> Account | None:
    """The account of the verified e-mail address that the identity provider has signed in, if there is one."""
    email = st.user.get("email") if _provider_signed_in() else None
    return accounts.find_account(label_store(), str(email)) if email and _verified() else None


def _provider_signed_in() -> bool:
    """Whether the identity provider has signed somebody in within the length of a session, and they have not signed out."""
    if not provider_configured() or not st.user.get("is_logged_in"):
        return False
    # Streamlit itself trusts its cookie for 30 days, and an open tab for ever.
    issued_at = datetime.fromtimestamp(float(str(st.user.get("iat") or 0)), UTC)
    return now() < issued_at + accounts.SESSION_LENGTH and _provider_session() not in _ended_provider_sessions()


def _verified() -> bool:
    # Some providers omit the claim, some send it as text.
    return str(st.user.get("email_verified", True)).casefold() == "true"


def _provider_session() -> tuple[str, str]:
    return str(st.user.get("sub")), str(st.user.get("iat"))


@st.cache_resource(show_spinner=False)
def _ended_provider_sessions() -> set[tuple[str, str]]:
    """Sign-ins through the provider that were ended here: (subject, issued at)."""
    return set()


def browsing_is_open() -> bool:
    """Whether runs may be browsed without signing in.

    AUDIT_BROWSING decides where it is set. Otherwise: on loopback, and wherever no account exists.
    """
    setting = Settings().browsing
    return setting == "open" or (setting == "" and (_on_loopback() or not accounts_exist()))


def _on_loopback() -> bool:
    host = str(st.get_option("server.address") or "")
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a host name, or empty: Streamlit then listens on every address
        return False


def may_browse(account: Account | None) -> bool:
    """Whether the pages about runs exist for this account (None: not signed in)."""
    return browsing_is_open() if account is None else account.role in BROWSERS


def may_rejudge(account: Account | None) -> bool:
    """Whether this account may start a judge, which costs model calls: a PI, or any visitor where there are no accounts yet."""
    if account is None:
        # Without accounts an installation on loopback belongs to its owner; on a network anybody could spend the money.
        return _on_loopback() and browsing_is_open() and not accounts_exist()
    return account.role is Role.PI


def own_pages(account: Account | None) -> tuple[str, ...]:
    """The scripts of `pages/studies` that exist for this account (None: not signed in)."""
    if account is not None:
        return OWN_PAGES[account.role]
    return OWN_PAGES[None] if accounts_exist() or provider_configured() or not browsing_is_open() else ()


def require_role(*roles: Role) -> Account:
    """The account of this session. Raises AuditError where the page does not exist for its role."""
    account = current_account()
    if account is None or account.role not in roles:
        raise AuditError("Your session has ended, or your role cannot open this page. Sign in again.")
    return account
