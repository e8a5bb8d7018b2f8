"""How different two colours look, also to those who see fewer of them, and how well letters stand out from their ground."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Colour = NDArray[np.float64]

XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = XYZ.sum(axis=1)
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
"""What is left of linear red, green and blue: Machado, Oliveira and Fernandes (2009), severity 1."""


def linear(colour: str) -> Colour:
    """`#rrggbb` as linear light, 0 to 1."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: str = "full") -> Colour:
    """CIELAB under D65, as seen."""
    ratio = XYZ @ np.clip(SIGHT[sight] @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one: Colour, other: Colour) -> float:
    """CIEDE2000 between two colours in CIELAB; about 2 is just seen, 10 is plain at a glance."""
    mean_c = (math.hypot(*one[1:]) + math.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * math.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    (c1, h1), (c2, h2) = (_polar(stretch * colour[1], colour[2]) for colour in (one, other))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dl, dc, dh = other[0] - one[0], c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, chroma, hue = (one[0] + other[0]) / 2, (c1 + c2) / 2, _middle(h1, h2, c1 * c2 == 0)
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * _uneven(hue)
    twist = math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    rotation = -2 * math.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * twist
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rotation * (dc / sc) * (dh / sh))


def _polar(a: float, b: float) -> tuple[float, float]:
    return math.hypot(a, b), math.degrees(math.atan2(b, a)) % 360


def _middle(h1: float, h2: float, grey: bool) -> float:
    if grey:
        return h1 + h2
    return (h1 + h2) / 2 if abs(h1 - h2) <= 180 else ((h1 + h2 + 360) / 2) % 360


def _uneven(hue: float) -> float:
    waves = ((1, -30, -0.17), (2, 0, 0.24), (3, 6, 0.32), (4, -63, -0.20))
    return 1 + sum(weight * math.cos(math.radians(times * hue + shift)) for times, shift, weight in waves)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, 1 to 21; letters need 4.5."""
    dark, light = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)
