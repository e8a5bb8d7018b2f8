"""What a screen reader gets from a page, by Chromium's own accessibility tree and by the rules of axe-core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.util import find_spec
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
    return unnamed_and_levels(page)[0]


def unnamed_and_levels(page: Page) -> tuple[list[str], list[int]]:
    """(the HTML of controls and pictures without a name, the levels of the headings in reading order)"""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    nodes = [node for node in _nodes(tree, stop=NAMED_ROLES) if _text(node, "role") in NAMED_ROLES and not _name(node)]
    unnamed = [html for html in (_outer_html(session, node) for node in nodes) if PLOTLY_RULER not in html]
    headings = [node for node in _nodes(tree, stop=set()) if _text(node, "role") == "heading"]
    properties = [item for heading in headings for item in heading["properties"]]
    session.detach()
    return unnamed, [item["value"]["value"] for item in properties if item["name"] == "level"]


def _nodes(nodes: Sequence[Node], stop: set[str]) -> Iterator[Node]:
    """Nodes in reading order, without the descendants of a named node whose role is in `stop`."""
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


# -- axe-core ----------------------------------------------------------------------------------------------------------

AXE_IS_INSTALLED = find_spec("axe_playwright_python") is not None
WITHOUT_AXE = "axe-playwright-python is not installed (it is in the group `test`)"
# Contrast is measured by low_contrast.js, in light and in dark mode, and takes axe four times as long as everything else.
AXE_RUN = """async grave => {
  const options = { resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } }
  const { violations } = await axe.run(document, options)
  return violations.filter(({ impact }) => grave.includes(impact)).flatMap(
    ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}"""
GRAVE = ["serious", "critical"]


def axe_violations(page: Page) -> list[str]:
    """What axe-core finds that is serious or critical: the rule, and the HTML that breaks it; empty without axe."""
    if not AXE_IS_INSTALLED:
        return []
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(AXE_RUN, GRAVE)
    return found
