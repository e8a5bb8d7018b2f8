"""A small OpenID Connect provider on loopback: discovery, keys, authorization code with a signed id_token, and sign-out.

It asks no password: whoever it is told to be (`says`) is signed in. `calls` has the paths that were asked for, in order.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "handbook-audit", "a secret between the two"


@dataclass
class Identity:
    """The provider as a test sees it."""

    address: str
    says: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    codes: dict[str, str] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))

    def secrets_file(self, folder: Path) -> Path:
        """The settings that an operator writes: where the provider is, and who we are to it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "secrets.toml"
        path.write_text(
            "[auth]\n"
            'redirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
            f'cookie_secret = "{secrets.token_hex(32)}"\nclient_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{self.address}/.well-known/openid-configuration"\n',
            encoding="utf-8",
        )
        return path

    def id_token(self, nonce: str) -> str:
        # One person, however the address is spelled; whoever has not proved an address is somebody else
        person = str(self.says.get("email")).casefold() if self.says.get("email_verified") is True else "7"
        claims = {"iss": self.address, "aud": CLIENT, "sub": person, "iat": int(time.time()), "nonce": nonce, **self.says}
        return jwt.encode({"alg": "RS256", "kid": "one"}, {**claims, "exp": int(time.time()) + 300}, self.key)

    def discovery(self) -> dict[str, Any]:
        places = {
            "authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys", "end_session_endpoint": "leave",
        }  # fmt: skip
        return {
            "issuer": self.address, **{name: f"{self.address}/{place}" for name, place in places.items()},
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"], "code_challenge_methods_supported": ["S256"],
        }  # fmt: skip


def _handler(identity: Identity) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            identity.calls.append(url.path)
            if url.path == "/authorize":
                code = secrets.token_urlsafe(8)
                identity.codes[code] = asked["nonce"]
                self.send(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")
            elif url.path == "/leave":
                self.send(asked["post_logout_redirect_uri"])
            elif url.path == "/keys":
                self.tell({"keys": [identity.key.as_dict(private=False)]})
            else:
                self.tell(identity.discovery())

        def do_POST(self) -> None:
            identity.calls.append(self.path)
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            nonce = identity.codes.pop(form["code"][0])
            self.tell({"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": identity.id_token(nonce)})

        def send(self, where: str) -> None:
            self.send_response(302)
            self.send_header("Location", where)
            self.end_headers()

        def tell(self, what: dict[str, Any]) -> None:
            body = json.dumps(what).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing: the calls are kept."""

    return Handler


@contextmanager
def provider() -> Iterator[Identity]:
    """The provider on a free port."""
    identity = Identity("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(identity))
    identity.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield identity
    finally:
        server.shutdown()
        server.server_close()
