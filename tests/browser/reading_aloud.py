"""What a screen reader is told of a page: Chromium's own accessibility tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

NAMED = {
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton", "tab",
    "image", "figure", "progressbar",
}  # fmt: skip
PLOTLY_S_RULER = 'id="js-plotly-tester"'
"""Plotly measures letters in a picture of its own, far outside the page."""

Node = dict[str, Any]


def unnamed(page: Page) -> list[str]:
    """Controls and pictures without a name; what stands inside a picture or control that has one needs none."""
    session = page.context.new_cdp_session(page)
    found = [_html(session, node) for node in _walk(session, stop=NAMED) if _said(node, "role") in NAMED and not _name(node)]
    return [html for html in found if PLOTLY_S_RULER not in html]


def heading_ranks(page: Page) -> list[int]:
    """The ranks of the page's headings, from its top to its end."""
    nodes = _walk(page.context.new_cdp_session(page), stop=set())
    told = [node["properties"] for node in nodes if _said(node, "role") == "heading"]
    return [each["value"]["value"] for properties in told for each in properties if each["name"] == "level"]


def _walk(session: Any, stop: set[str]) -> Iterator[Node]:
    """Nodes in the order of reading; those of a role in `stop` that have a name are not entered."""
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    known, ahead = {node["nodeId"]: node for node in nodes}, [nodes[0]["nodeId"]]
    while ahead:
        node = known.get(ahead.pop())
        if node is None:
            continue
        if not node["ignored"]:
            yield node
        if not (_said(node, "role") in stop and _name(node)):
            ahead.extend(reversed(node.get("childIds", [])))


def _said(node: Node, what: str) -> str:
    return str(node.get(what, {}).get("value", ""))


def _name(node: Node) -> str:
    return _said(node, "name").strip()


def _html(session: Any, node: Node) -> str:
    found = session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})["object"]["objectId"]
    beginning = "function () { return this.outerHTML?.slice(0, 200) ?? '' }"
    asked = {"objectId": found, "functionDeclaration": beginning, "returnByValue": True}
    return str(session.send("Runtime.callFunctionOn", asked)["result"]["value"])
