"""What a screen reader gets from a page: Chromium's own accessibility tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

NAMED_ROLES = {
    "button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton", "tab",
    "image", "figure", "progressbar",
}  # fmt: skip
# Plotly measures letters in a hidden picture outside the page.
PLOTLY_RULER = 'id="js-plotly-tester"'

Node = dict[str, Any]


def unnamed_controls(page: Page) -> list[str]:
    """The HTML of controls and pictures without a name. Those inside a named picture or control need no name."""
    session = page.context.new_cdp_session(page)
    nodes = [node for node in _nodes(session, stop=NAMED_ROLES) if _text(node, "role") in NAMED_ROLES and not _name(node)]
    return [html for html in (_outer_html(session, node) for node in nodes) if PLOTLY_RULER not in html]


def heading_levels(page: Page) -> list[int]:
    """The levels of the page's headings in reading order."""
    headings = [node for node in _nodes(page.context.new_cdp_session(page), stop=set()) if _text(node, "role") == "heading"]
    properties = [item for heading in headings for item in heading["properties"]]
    return [item["value"]["value"] for item in properties if item["name"] == "level"]


def _nodes(session: Any, stop: set[str]) -> Iterator[Node]:
    """Nodes in reading order, without the descendants of a named node whose role is in `stop`."""
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    by_id, pending = {node["nodeId"]: node for node in nodes}, [nodes[0]["nodeId"]]
    while pending:
        node = by_id.get(pending.pop())
        if node is None:
            continue
        if not node["ignored"]:
            yield node
        if not (_text(node, "role") in stop and _name(node)):
            pending.extend(reversed(node.get("childIds", [])))


def _text(node: Node, key: str) -> str:
    return str(node.get(key, {}).get("value", ""))


def _name(node: Node) -> str:
    return _text(node, "name").strip()


def _outer_html(session: Any, node: Node) -> str:
    object_id = session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})["object"]["objectId"]
    function = "function () { return this.outerHTML?.slice(0, 200) ?? '' }"
    call = {"objectId": object_id, "functionDeclaration": function, "returnByValue": True}
    return str(session.send("Runtime.callFunctionOn", call)["result"]["value"])
