#!/usr/bin/env python3
"""letters.py FONT.ttf prints the body of src/figure/letters.txt: the outlines that figures are lettered with where no font is at hand (PNG).

Needs python3-fonttools; run once, the result is committed. One line per letter, in units of 1/2048 of its size, y upwards:
code point in hex, advance, then M x y, L x y, Q cx cy x y for each contour, which closes by itself."""
import sys

from fontTools.pens.basePen import decomposeQuadraticSegment
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont

CODES = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x391, 0x3CA), *map(ord, "–—‘’“”•…−≤≥≈√∞→")]

font = TTFont(sys.argv[1])
glyphs, names = font.getGlyphSet(), font.getBestCmap()
for code in CODES:
    if code not in names:
        continue
    pen = DecomposingRecordingPen(glyphs)
    glyphs[names[code]].draw(pen)
    words = []
    for kind, points in pen.value:
        if kind in ("moveTo", "lineTo"):
            words += ["M" if kind == "moveTo" else "L", *points[0]]
        elif kind == "qCurveTo" and points[-1] is None:
            # A contour of curves only begins half-way between its first and last control points.
            start = tuple((a + b) / 2 for a, b in zip(points[0], points[-2]))
            words += ["M", *start]
            for control, end in decomposeQuadraticSegment([*points[:-1], start]):
                words += ["Q", *control, *end]
        elif kind == "qCurveTo":
            for control, end in decomposeQuadraticSegment(points):
                words += ["Q", *control, *end]
    print(f"{code:04X}", glyphs[names[code]].width, *(round(word) if isinstance(word, float) else word for word in words))
