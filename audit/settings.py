"""The settings: one environment variable each, read when `Settings` is created and never at import."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from audit.errors import AuditError

MAX_PORT = 65_535
MAX_LOG_DAYS = 36_500
MAX_THINKING = 100_000
Network = IPv4Network | IPv6Network


def _integer(name: str, default: int, minimum: int = 1, maximum: int = 1_000_000_000) -> int:
    text = os.environ.get(name, "").strip()
    try:
        number = int(text or default)
    except ValueError:
        # Out of range, so text is refused with the same message as a number that is too small.
        number = minimum - 1
    if not minimum <= number <= maximum:
        raise AuditError(
            f"Setting {name} is '{text}', but must be an integer from {minimum:,} to {maximum:,}. Nothing was done. "
            f"Unset it, or set it to a number such as {default}."
        )
    return number


def _comma_separated(name: str) -> tuple[str, ...]:
    return tuple(part.strip().rstrip("/") for part in os.environ.get(name, "").split(",") if part.strip())


# Empty is the default, which depends on the address and on whether accounts exist.
BROWSING = ("", "open", "signed-in")
LOG_FORMATS = ("text", "json")
LOG_LEVELS = ("debug", "info", "warning", "error")
HOST_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*|[0-9a-f:]*:[0-9a-f:.]*")
HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")


def _one_of(name: str, allowed: tuple[str, ...], default: str = "") -> str:
    value = os.environ.get(name, "").strip().casefold() or default
    if value not in allowed:
        raise AuditError(
            f"Setting {name} is '{value}'. Allowed: {', '.join(filter(None, allowed))}. Nothing was done. "
            "Unset it for the default."
        )
    return value


def _networks(name: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(text) for text in _comma_separated(name))
    except ValueError as error:
        raise AuditError(
            f"Setting {name} cannot be read: {error}. Nothing was done. Allowed are IP addresses and networks with commas "
            "between them, such as 127.0.0.1 or 10.0.3.0/28."
        ) from None


def _public_hosts() -> tuple[str, ...]:
    names = tuple(name.casefold() for name in _comma_separated("AUDIT_PUBLIC_HOSTS"))
    if wrong := [name for name in names if not HOST_NAME.fullmatch(name)]:
        raise AuditError(
            f"Setting AUDIT_PUBLIC_HOSTS has '{wrong[0]}', which is not the name or address of a host. Nothing was done. Allowed "
            "are names and IP addresses with commas between them, without https:// and without a port, such as audit.example.org."
        )
    return names


def _trusted_user_header() -> str:
    name = os.environ.get("AUDIT_TRUSTED_USER_HEADER", "").strip()
    if name and not HEADER_NAME.fullmatch(name):
        raise AuditError(
            f"Setting AUDIT_TRUSTED_USER_HEADER is '{name}', which is not the name of a header. Nothing was done. "
            "Allowed: letters, digits and hyphens, such as X-Remote-User."
        )
    if name and not os.environ.get("AUDIT_TRUSTED_PROXY", "").strip():
        raise AuditError(
            "Setting AUDIT_TRUSTED_USER_HEADER needs AUDIT_TRUSTED_PROXY, the address of the proxy that sets the header: "
            "without it, anybody could send the header and be anybody. Nothing was done."
        )
    return name


@dataclass(frozen=True)
class Settings:
    """Where files are kept and how the server is reached.

    AUDIT_DATA_DIR          folder of everything written at run time (default: ./data)
    AUDIT_SOURCES           folder of the handbooks' PDF files, whose pages are shown where an answer cites them; only a file that
                            has the sha256 in the release is opened (default: sources in the data folder)
    AUDIT_STUDIES_URL       database of studies, ratings and accounts (default: sqlite, studies.db in the data folder);
                            postgresql://user:password@host/database needs the extra `postgres`
    AUDIT_HOST, AUDIT_PORT  address of the dashboard (default: 127.0.0.1:8501; loopback only)
    AUDIT_BROWSING          open: runs are browsed without signing in; signed-in: by viewers and PIs only (default: what a PI
                            has set on *People*, else open on loopback and wherever no account exists)
    AUDIT_PUBLIC_HOSTS      names under which people open the dashboard, several separated by commas, such as audit.example.org;
                            requests under other names are refused (default: this machine and the address it listens on)
    AUDIT_TRUSTED_PROXY     address or network of the reverse proxy, several separated by commas; only from there are
                            X-Forwarded-For and the header below believed (default: none)
    AUDIT_TRUSTED_ISSUERS      issuers (`iss`) whose e-mail addresses count as verified where they do not say so (default: none)
    AUDIT_TRUSTED_USER_HEADER  header in which that proxy names who has signed in, such as X-Remote-User (default: none)
    AUDIT_LOG               text or json: the form of the server's log on standard error (default: text)
    AUDIT_LOG_LEVEL         debug, info, warning or error: the least severe lines that are logged (default: info)
    AUDIT_ACCESS_LOG_DAYS   `audit account log --prune` removes entries of the access log that are older (default: 365)
    AUDIT_JUDGE_URL         OpenAI-compatible endpoint of the judge, such as http://127.0.0.1:8000/v1; several separated by commas
    AUDIT_JUDGE_MODEL       the model's name there (default: the only one that the endpoint lists)
    AUDIT_JUDGE_KEY         its key, where it needs one; never printed
    AUDIT_JUDGE_CONCURRENCY maximum number of open calls, over all endpoints (default: 64)
    AUDIT_JUDGE_THINKING    tokens in which a model may think before each reply; 0: it is asked not to think (default: 0)
    AUDIT_MAX_ARCHIVE_MB    an archive that unpacks to more is refused (default: 20000)
    AUDIT_MAX_OBJECT_MB     a single JSON object larger than this is quarantined (default: 512)
    """

    data_dir: Path = field(default_factory=lambda: Path(os.environ.get("AUDIT_DATA_DIR") or "data"))
    # Not in the repr, because the URL may contain a password.
    studies: str = field(default_factory=lambda: os.environ.get("AUDIT_STUDIES_URL", ""), repr=False)
    sources: str = field(default_factory=lambda: os.environ.get("AUDIT_SOURCES", "").strip())
    host: str = field(default_factory=lambda: os.environ.get("AUDIT_HOST") or "127.0.0.1")
    port: int = field(default_factory=lambda: _integer("AUDIT_PORT", 8501, 1, MAX_PORT))
    browsing: str = field(default_factory=lambda: _one_of("AUDIT_BROWSING", BROWSING))
    public_hosts: tuple[str, ...] = field(default_factory=_public_hosts)
    trusted_proxies: tuple[Network, ...] = field(default_factory=lambda: _networks("AUDIT_TRUSTED_PROXY"))
    trusted_user_header: str = field(default_factory=_trusted_user_header)
    trusted_issuers: tuple[str, ...] = field(default_factory=lambda: _comma_separated("AUDIT_TRUSTED_ISSUERS"))
    log_format: str = field(default_factory=lambda: _one_of("AUDIT_LOG", LOG_FORMATS, "text"))
    log_level: str = field(default_factory=lambda: _one_of("AUDIT_LOG_LEVEL", LOG_LEVELS, "info"))
    access_log_days: int = field(default_factory=lambda: _integer("AUDIT_ACCESS_LOG_DAYS", 365, 1, MAX_LOG_DAYS))
    judge_urls: tuple[str, ...] = field(default_factory=lambda: _comma_separated("AUDIT_JUDGE_URL"))
    judge_model: str = field(default_factory=lambda: os.environ.get("AUDIT_JUDGE_MODEL", "").strip())
    judge_key: str = field(default_factory=lambda: os.environ.get("AUDIT_JUDGE_KEY", "").strip(), repr=False)
    judge_concurrency: int = field(default_factory=lambda: _integer("AUDIT_JUDGE_CONCURRENCY", 64))
    judge_thinking: int = field(default_factory=lambda: _integer("AUDIT_JUDGE_THINKING", 0, 0, MAX_THINKING))
    max_archive_bytes: int = field(default_factory=lambda: _integer("AUDIT_MAX_ARCHIVE_MB", 20_000) * 2**20)
    max_object_bytes: int = field(default_factory=lambda: _integer("AUDIT_MAX_OBJECT_MB", 512) * 2**20)

    @property
    def releases_dir(self) -> Path:
        """Where the demo and other producers write release folders."""
        return self.data_dir / "releases"

    @property
    def store_dir(self) -> Path:
        """Where loaded runs are, one DuckDB file each; disposable, rebuilt from releases."""
        return self.data_dir / "store"

    @property
    def themes_dir(self) -> Path:
        """Where taxonomies of themes are, with the vectors they were made from."""
        return self.data_dir / "themes"

    @property
    def sources_dir(self) -> Path:
        """Where local copies of handbooks are."""
        return Path(self.sources) if self.sources else self.data_dir / "sources"

    @property
    def studies_url(self) -> str:
        """Where human work is kept; never below the store, which is disposable."""
        return self.studies or f"sqlite:///{self.data_dir / 'studies.db'}"
