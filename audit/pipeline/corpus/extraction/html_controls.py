"""Controls that open a part of a page (accordions, tabs, details): each becomes the heading of its panel.

A panel may be closed in the file: it counts as visible, because a reader who follows the control sees it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from audit.pipeline.corpus.extraction.html_styles import PageStyles, style_of
from audit.pipeline.corpus.extraction.html_text import text_of

HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
TOGGLES = {"collapse", "tab", "pill", "list"}
CONTAINERS = {"div", "section", "article", "ul", "ol", "dl", "dd"}
# A wrapper around a panel would take these out of their table or page
NO_PANEL = {"body", "html", "main", "tr", "td", "th", "tbody", "thead", "table", "option"}
NO_CONTROL = {"input", "select", "textarea", "form", "summary", *NO_PANEL}
NAMED_IN_SCRIPT = re.compile(r"[\"']#?([\w-]+)[\"']")
MAX_TITLE, MAX_WRAPPERS = 200, 5


class Panels:
    """The panels of a page, the controls that open each, and the control that is the heading of each."""

    def __init__(self, body: Any, styles: PageStyles) -> None:
        self.styles = styles
        # Read once: a search for each control would take minutes on a hostile page
        self.by_id = {element.get("id"): element for element in reversed(list(body.iter())) if element.get("id")}
        self.by_label: dict[str, list[Any]] = defaultdict(list)
        for panel in body.xpath(".//*[@role='tabpanel'][@aria-labelledby]"):
            for name in panel.get("aria-labelledby").split():
                self.by_label[name].append(panel)
        self._alternating: dict[Any, bool] = {}
        self.controls: dict[Any, list[Any]] = defaultdict(list)
        several: set[Any] = set()
        for control in [element for element in body.iter() if self._is_control(element)]:
            panels = [
                panel for panel in self._panels_of(control) if all(panel is not around for around in control.iterancestors())
            ]
            for panel in panels:
                self.controls[panel].append(control)
            several |= {control} if len(panels) > 1 else set()
        chosen = ((panel, _title_of(panel, controls)) for panel, controls in self.controls.items())
        self.titles = {panel: control for panel, control in chosen if control is not None and control not in several}

    def _is_control(self, element: Any) -> bool:
        if element.tag in NO_CONTROL:
            return False
        if element.tag == "label":  # of a check box that opens a part of the page without a script
            box = self.by_id.get(element.get("for"))
            return box is not None and box.get("type") in ("checkbox", "radio")
        if element.tag == "button" or element.get("role") in ("button", "tab") or "aria-expanded" in element.attrib:
            return True
        href = element.get("href") or ""
        return _toggle(element) in TOGGLES or "onclick" in element.attrib or href.startswith("javascript:") or href == "#"

    def _panels_of(self, control: Any) -> list[Any]:
        names = (control.get("aria-controls") or "").split()
        if not names and (
            _toggle(control) in TOGGLES or control.get("role") in ("tab", "button") or "aria-expanded" in control.attrib
        ):
            targets = [control.get(name) or "" for name in ("data-target", "data-bs-target", "href")]
            names = [target[1:] for target in targets if target.startswith("#") and len(target) > 1][:1]
        # toggle('answer1')
        names = names or [name for name in NAMED_IN_SCRIPT.findall(control.get("onclick") or "") if name in self.by_id]
        panels = [self.by_id[name] for name in names if name in self.by_id]
        panels = panels or self.by_label.get(control.get("id") or "", [])
        named = [panel for panel in panels if panel.tag not in NO_PANEL]
        # A link to another page whose clicks a script counts opens nothing here
        panel = None if named or leads_away(control) else self._next_panel(control)
        return named or ([panel] if panel is not None else [])

    def _next_panel(self, control: Any) -> Any:
        """The element behind a control, or behind what holds nothing else, where it is what the control opens."""
        node = control
        for _ in range(MAX_WRAPPERS):
            if node.getnext() is not None or (node.tail or "").strip():
                break
            parent = node.getparent()
            if parent is None or parent.tag in NO_PANEL or letters(parent) != letters(control):
                return None
            node = parent
        sibling = node.getnext()
        if sibling is None or (node.tail or "").strip() or sibling.tag in NO_PANEL or not letters(sibling):
            return None
        if "aria-expanded" in control.attrib or self.is_closed(sibling):
            return sibling
        is_button = control.tag == "button" or control.get("role") == "button"
        is_sent = control.get("type") in ("submit", "reset")
        return sibling if is_button and not is_sent and self._alternates(node.getparent()) else None

    def is_closed(self, element: Any) -> bool:
        """Whether the element itself is hidden by its styles."""
        style = style_of(element, self.styles.declared(element), self.styles.first)
        return style.removed or not style.visible

    def _alternates(self, parent: Any) -> bool:
        if parent not in self._alternating:
            self._alternating[parent] = _alternates(parent)
        return self._alternating[parent]


def move_titles(panels: Panels, is_gone: Any, make: Any) -> None:
    """Put each control into its panel as the panel's heading. `make` makes an element of a tag."""
    for panel, control in panels.titles.items():
        if is_gone(panel) or is_gone(control) or not text_of(control):
            continue
        heading = _heading_around(control)
        around = set(panel.iterancestors())
        # Controls that were moved before may hold a panel now
        if panel.getparent() is None or control in around or heading in around or panel in set(control.iterancestors()):
            continue
        wrapper = make("details")
        wrapper.tail, panel.tail = panel.tail, None
        panel.getparent().replace(panel, wrapper)
        if heading is None:
            heading = make("summary")
            _take_out(control)
            heading.append(control)
        else:
            _take_out(heading)
        control.tag = "span"
        wrapper.append(heading)
        wrapper.append(panel)


def _take_out(element: Any) -> None:
    remove(element)
    element.tail = None


def remove(element: Any) -> None:
    """Take an element out of its page, but not the text behind it."""
    parent, tail = element.getparent(), element.tail
    if parent is None:
        return
    if tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
    parent.remove(element)


def _heading_around(control: Any) -> Any:
    """The heading that holds the control and no other words."""
    heading = next(control.iterancestors(*HEADING_TAGS), None)
    return heading if heading is not None and letters(heading) == letters(control) else None


def _toggle(element: Any) -> str:
    return element.get("data-toggle") or element.get("data-bs-toggle") or ""


def _title_of(panel: Any, controls: list[Any]) -> Any:
    """The control that names a panel; None where several do, as the arrows of pictures that change."""
    names = (panel.get("aria-labelledby") or "").split()
    for chosen in (
        [control for control in controls if control.get("id") in names],
        controls,
        [control for control in controls if "aria-expanded" in control.attrib or control.get("role") == "tab"],
    ):
        if len(chosen) == 1:
            return chosen[0] if len(text_of(chosen[0])) <= MAX_TITLE else None
    return None


def _alternates(parent: Any) -> bool:
    """Whether an element holds buttons and panels in turn, perhaps below a heading, and nothing else."""
    children = [child for child in parent if child.tag not in ("br", "hr")]
    children = children[1:] if len(children) % 2 and children[0].tag in HEADING_TAGS else children
    if (parent.text or "").strip() or any((child.tail or "").strip() for child in children) or len(children) % 2:
        return False
    return all(map(_holds_button, children[::2])) and all(child.tag in CONTAINERS for child in children[1::2])


def _holds_button(element: Any) -> bool:
    buttons = [child for child in element.iter() if child.tag == "button" or child.get("role") == "button"]
    return len(buttons) == 1 and letters(buttons[0]) == letters(element)


def leads_away(element: Any) -> bool:
    """Whether an element is a link to another page."""
    href = element.get("href") or "#"
    return element.tag == "a" and not href.startswith(("#", "javascript:"))


def letters(element: Any) -> int:
    """How many letters and digits are in an element."""
    return sum(character.isalnum() for text in element.itertext() for character in text)
