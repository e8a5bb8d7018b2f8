"""Access: who is signed in, and which pages exist for which role."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import streamlit as st

from annotation.label_store import account_rows
from annotation.label_store.access_log import Actor, Event, record_event
from annotation.label_store.app_settings import StoredSetting, stored_settings
from annotation.label_store.engine import LabelStore, open_label_store, store_exists
from annotation.studies import accounts, signing_in
from annotation.studies.accounts import Account, Role
from annotation.studies.app_settings import with_stored
from audit.errors import AuditError
from audit.settings import Settings
from pages._blinded.identity import ConnectionIdentity, ProviderSignIn, current_identity, provider_configured, provider_sign_in
from pages._blinded.session_cookie import cookie_token

SIGN_IN_NOTED = "the sign-in elsewhere is in the access log"
REFUSALS_NOTED = "the pages whose refusal is in the access log"
SESSION_ENDED = "Your session has ended. Sign in again."

NO_ACCOUNT_OF_ADDRESS = (
    "You have no account here. Ask an investigator to create one for the e-mail address of your institution's sign-in."
)

STUDY_PAGES = {  # script in pages/studies -> title
    "annotate": "Label",
    "my_items": "My items",
    "study": "Studies",
    "people": "People",
    "adjudicate": "Adjudicate",
    "agreement": "Agreement",
    "prevalence": "Prevalence",
    "alignment": "Alignment",
    "protocol": "Protocol",
    "backup": "Backup",
    "sign_in": "Sign in",
    "my_account": "My account",
    "sign_out": "Sign out",
}

# The study pages of each role; None: not signed in. Pages that are not listed do not exist for the role.
OWN_PAGES: dict[Role | None, tuple[str, ...]] = {
    None: ("sign_in",),
    Role.VIEWER: ("my_account", "sign_out"),
    Role.ANNOTATOR: ("annotate", "my_items", "protocol", "my_account", "sign_out"),
    Role.ADJUDICATOR: ("adjudicate", "agreement", "protocol", "my_account", "sign_out"),
    Role.PI: (
        "study",
        "people",
        "adjudicate",
        "agreement",
        "prevalence",
        "alignment",
        "protocol",
        "backup",
        "my_account",
        "sign_out",
    ),
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
    return store_exists(Settings().studies_url)


def account_of(identity: ConnectionIdentity) -> Account | None:
    """The account of an identity now; None when there is none, or when its session has ended. Needs no page."""
    if not database_exists():
        return None
    if identity.proxy_user:
        signed_in_at = identity.proxy_sign_in
        believed = now() < signed_in_at + accounts.SESSION_LENGTH
        if not believed:
            return None
        return signing_in.vouched_account(label_store(), identity.proxy_user, signed_in_at, renewed=True)
    account = accounts.account_of_token(label_store(), identity.token, now()) if identity.token else None
    return account or _provider_account(identity.provider)


def current_account() -> Account | None:
    """The account of this page's browser; None when not signed in, or when the session has ended."""
    identity = current_identity()
    account = account_of(identity)
    if account is not None and SIGN_IN_NOTED not in st.session_state:
        _note_sign_in_elsewhere(identity, account)
        st.session_state[SIGN_IN_NOTED] = True
    return account


def _note_sign_in_elsewhere(identity: ConnectionIdentity, account: Account) -> None:
    """Put a sign-in by the proxy or the identity provider into the access log; one by password is there already."""
    by, at, gap = "the proxy", identity.proxy_sign_in, accounts.SESSION_LENGTH
    if not identity.proxy_user:
        if identity.provider is None or _bound_username(identity.provider) != account.username:
            return
        by, at, gap = "the identity provider", identity.provider.signed_in_at, timedelta(0)
    signing_in.note_vouched_sign_in(label_store(), account.username, at, now(), by=by, address=visitor_address(), gap=gap)


def download_recorder(file_name: str) -> Callable[[], None]:
    """Puts a download of this page into the access log, from a thread without a page; nothing where nobody is signed in."""
    account, address = current_account(), visitor_address()

    def record() -> None:
        if account is not None:
            record_event(label_store(), Event.EXPORT, Actor(account.username, address), now(), file_name)

    return record


def session_check() -> Callable[[], None]:
    """A check for later and for threads without a page: raises AuditError unless this page's session still goes on."""
    identity = current_identity()
    account = account_of(identity)

    def check() -> None:
        if account_of(identity) != account or not (account or browsing_is_open()):
            raise AuditError(SESSION_ENDED)

    return check


def sign_in(username: str, password: str, code: str = "") -> tuple[Account, str]:
    """Begin a session: its account, and the token that the browser should keep in its cookie.

    Raises SignInError when the name or the password is wrong, or after too many wrong ones; PasswordChangeError when it is a
    one-time password; SecondFactorError without a code where the account needs one.
    """
    return _begun(signing_in.sign_in(label_store(), username, password, now(), address=visitor_address(), code=code))


def change_one_time_password(username: str, password: str, new_password: str) -> tuple[Account, str]:
    """The same with a one-time password, which is replaced.

    Raises SignInError like `sign_in`, and StudyError when the new password is not allowed.
    """
    store, address = label_store(), visitor_address()
    return _begun(signing_in.change_one_time_password(store, username, password, new_password, now(), address=address))


def first_account_offered() -> bool:
    """Whether whoever has the code of this server may make the first account here: not where people sign in elsewhere."""
    elsewhere = provider_configured() or bool(Settings().trusted_user_header)
    return signing_in.code_issued() and not elsewhere and not accounts_exist()


def create_first_account(username: str, name: str, password: str, code: str) -> tuple[Account, str]:
    """Make the first account, a PI, and begin its session. Raises AuditError where it is not offered or the code is wrong."""
    if not first_account_offered():
        raise AuditError(signing_in.TAKEN if accounts_exist() else signing_in.ELSEWHERE)
    store, address = label_store(), visitor_address()
    return _begun(signing_in.create_first_account(store, username, password, code, now(), name=name, address=address))


def _begun(token: str) -> tuple[Account, str]:
    account = accounts.account_of_token(label_store(), token, now())
    if account is None:
        raise AuditError("Your account was changed while you signed in. Sign in again.")
    return account, token


def sign_out() -> None:
    """End this browser's session everywhere and clear the page's state.

    If the identity provider signed the user in, this leaves the page through the provider.
    """
    token = cookie_token()
    if token:
        accounts.sign_out(label_store(), token, now(), visitor_address())
    st.session_state.clear()
    if (provider := provider_sign_in()) and _in_force(provider):
        account_rows.end_provider_sign_in(label_store(), provider.key, provider.expires_at, now())
        st.logout()
        st.stop()  # a rerun now would drop the redirect to the provider


def provider_refusal() -> str:
    """Why somebody authenticated by the identity provider cannot enter; empty where they can, or where nobody was."""
    provider = provider_sign_in()
    if provider is None or not _in_force(provider) or _provider_account(provider) is not None:
        return ""
    if not provider.user:
        return "The identity provider did not say who you are by issuer and subject, so you cannot be signed in."
    if not provider.email:
        return "The identity provider did not send your e-mail address, so we cannot find your account."
    if not provider.verified:
        return "The identity provider has not verified your e-mail address, so it cannot be used to sign in."
    if signing_in.is_of_another(label_store(), provider.user, provider.email):
        return signing_in.OF_ANOTHER_PERSON
    return signing_in.vouched_refusal(label_store(), provider.email, provider.signed_in_at) or NO_ACCOUNT_OF_ADDRESS


def _in_force(provider: ProviderSignIn) -> bool:
    """Whether a sign-in is younger than the length of a session and was not ended here."""
    return now() < provider.expires_at and not account_rows.provider_sign_in_has_ended(label_store(), provider.key)


def _provider_account(provider: ProviderSignIn | None) -> Account | None:
    """The account of the person whom the identity provider has signed in, if there is one."""
    if provider is None or not provider.user or not _in_force(provider):
        return None
    username = _bound_username(provider)
    return signing_in.vouched_account(label_store(), username, provider.signed_in_at) if username else None


def _bound_username(provider: ProviderSignIn) -> str:
    address = visitor_address()
    return signing_in.bound_username(
        label_store(), provider.user, provider.email, now(), verified=provider.verified, address=address
    )


def current_settings() -> Settings:
    """The settings in force now: those of the environment, and of the others what a PI has set."""
    return with_stored(Settings(), settings_of_pis())


def settings_of_pis() -> dict[str, StoredSetting]:
    """What PIs have set, by name, also where the environment is stronger."""
    return stored_settings(label_store()) if database_exists() else {}


def browsing_is_open() -> bool:
    """Whether runs may be browsed without signing in.

    AUDIT_BROWSING decides where it is set, else what a PI has set. Otherwise: on loopback, and wherever no account exists.
    """
    # What the environment says needs no database.
    settings = Settings()
    setting = settings.browsing or with_stored(settings, settings_of_pis()).browsing
    return setting == "open" or (setting == "" and (on_loopback() or not accounts_exist()))


def on_loopback() -> bool:
    """Whether only this machine reaches the server, so that whoever does owns it."""
    host = str(st.get_option("server.address") or "")
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:  # a host name, or empty: Streamlit then listens on every address
        return False


def may_browse(account: Account | None) -> bool:
    """Whether the pages about runs exist for this account (None: not signed in)."""
    return browsing_is_open() if account is None else account.role in BROWSERS


def may_read_findings(account: Account | None) -> bool:
    """Whether the pages show what the loader says of single records, with excerpts of files that it could not read.

    A file that is no release may have been loaded by mistake, so a visitor who has not signed in sees only which and how many.
    """
    return account.role in BROWSERS if account else on_loopback() and not accounts_exist()


def may_rejudge(account: Account | None) -> bool:
    """Whether this account may start a judge, which costs model calls: a PI, or any visitor where there are no accounts yet."""
    if account is None:
        # Without accounts an installation on loopback belongs to its owner; on a network anybody could spend the money.
        return on_loopback() and browsing_is_open() and not accounts_exist()
    return account.role is Role.PI


def own_pages(account: Account | None) -> tuple[str, ...]:
    """The scripts of `pages/studies` that exist for this account (None: not signed in)."""
    if account is not None:
        return OWN_PAGES[account.role]
    entry = accounts_exist() or provider_configured() or first_account_offered() or not browsing_is_open()
    return OWN_PAGES[None] if entry else ()


def require_role(*roles: Role) -> Account:
    """The account of this session. Raises AuditError where the page does not exist for its role."""
    account = current_account()
    if account is None or account.role not in roles:
        note_refused_page(account, f"a part for {', '.join(roles)}")
        raise AuditError("Your session has ended, or your role cannot open this page. Sign in again.")
    return account


def note_refused_page(account: Account | None, page: str) -> None:
    """Put a page that an account asked for and may not open into the access log, once for each tab."""
    noted = st.session_state.setdefault(REFUSALS_NOTED, set())
    if account is not None and page not in noted:
        noted.add(page)
        record_event(label_store(), Event.PAGE_REFUSED, Actor(account.username, visitor_address()), now(), page)
