"""Organs: label shares and rates per question organ."""

from pages._shared.page import page

with page("{Organs}", "Label shares and rates per {organ}."):
    pass
