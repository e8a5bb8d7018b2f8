"""Settings that a PI changes while the server runs: who may browse runs, and which endpoints judge.

They are kept with the accounts, and each change is an entry of the access log. An environment variable takes precedence, so the
operator of the server decides. A key is never among them; it comes from the environment alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from annotation.label_store.access_log import Actor
from annotation.label_store.app_settings import StoredSetting, change_setting
from annotation.label_store.engine import LabelStore, StudyError
from audit.settings import BROWSING, Settings

BROWSING_SETTING, JUDGE_SETTING = "browsing", "judge"
MAX_ENDPOINTS, MAX_URL, MAX_MODEL = 16, 300, 120
BROWSING_WORDS = {"": "the default", "open": "anybody", "signed-in": "viewers and PIs who are signed in"}
"""Value of AUDIT_BROWSING -> who may browse runs, in words."""


def with_stored(settings: Settings, stored: Mapping[str, StoredSetting]) -> Settings:
    """The settings in force: those of the environment, and of the others what a PI has set."""
    browsing, judge = (stored[name].value if name in stored else "" for name in (BROWSING_SETTING, JUDGE_SETTING))
    settings = replace(settings, browsing=settings.browsing or browsing)
    if settings.judge_urls or not judge:
        return settings
    endpoints = json.loads(judge)
    return replace(settings, judge_urls=tuple(endpoints["urls"]), judge_model=settings.judge_model or endpoints["model"])


def change_browsing(store: LabelStore, value: str, actor: Actor, now: datetime) -> None:
    """Who may browse runs from now on: `open`, `signed-in`, or empty for the default. Raises StudyError for another value."""
    if value not in BROWSING:
        raise StudyError(f"Browsing '{value}' is unknown. Allowed: open, signed-in, or empty. Nothing was changed.")
    change_setting(store, BROWSING_SETTING, value, f"who may browse runs: {BROWSING_WORDS[value]}", actor, now)


def change_judge(store: LabelStore, urls: Sequence[str], model: str, actor: Actor, now: datetime) -> None:
    """Which endpoints judge from now on, and the model there; without an address no pair can be judged from the pages.

    urls   OpenAI-compatible endpoints such as http://127.0.0.1:8000/v1
    model  empty: the only one that the endpoints have

    Raises StudyError for an address that is not one, or that has a password or a key in it, and for too many or too long ones.
    """
    cleaned = list(dict.fromkeys(url.strip().rstrip("/") for url in urls if url.strip()))
    model = model.strip()
    if len(cleaned) > MAX_ENDPOINTS or len(model) > MAX_MODEL:
        raise StudyError(
            f"There are {len(cleaned)} addresses, and the model's name has {len(model)} characters. Allowed: {MAX_ENDPOINTS} "
            f"addresses and {MAX_MODEL} characters. Nothing was changed."
        )
    for number, url in enumerate(cleaned, start=1):
        _check_url(url, number)
    hosts = ", ".join(map(host_of, cleaned))
    value = json.dumps({"urls": cleaned, "model": model}) if cleaned else ""
    detail = f"judge: {model or 'the only model'} at {hosts}" if cleaned else "judge: none"
    change_setting(store, JUDGE_SETTING, value, detail, actor, now)


def host_of(url: str) -> str:
    """Host and port of an address, which may be shown: nothing else of it is."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _check_url(url: str, number: int) -> None:
    # The address itself is not repeated, because it may have a key in it.
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not set(url) & set(" \t,")
    except ValueError:
        valid = False
    if not valid or len(url) > MAX_URL:
        raise StudyError(
            f"Address {number} is not the address of an endpoint. Allowed: http or https, up to {MAX_URL} characters, such as "
            "http://127.0.0.1:8000/v1. Nothing was changed."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise StudyError(
            f"Address {number} has a name, a password or a question mark in it. A key belongs in AUDIT_JUDGE_KEY on the server. "
            "Nothing was changed."
        )
