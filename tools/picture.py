#!/usr/bin/env python3
"""Draws the README's picture, a terminal, from docs/screens; tests/real/picture_test.py holds those against the program.

picture.py          writes docs/picture.svg
picture.py --check  fails if docs/picture.svg is not what would be written
"""
import html
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/picture.svg"
SCREENS = [("stoker status", "docs/screens/status.txt"), ("stoker gpus", "docs/screens/gpus.txt")]
CHAR, LINE, MARGIN, SIZE = 7.8, 17, 18, 13
COLOURS = {"DEGRADED": "#f5a742", "CRITICAL": "#ff6b6b", "UNKNOWN": "#f5a742", "SIMULATED": "#6bd5ff", "hung": "#ff6b6b"}


def lines():
    for command, path in SCREENS:
        yield f"$ {command}", True
        for line in (ROOT / path).read_text().rstrip("\n").split("\n"):
            yield line, False
        yield "", False


def text_element(line, y, is_command):
    colour = "#9ece6a" if is_command else "#d8dee9"
    escaped = html.escape(line)
    for word, paint in COLOURS.items():
        escaped = escaped.replace(word, f'<tspan fill="{paint}">{word}</tspan>')
    return f'<text x="{MARGIN}" y="{y}" fill="{colour}" xml:space="preserve">{escaped}</text>'


def draw():
    rows = list(lines())[:-1]
    width = int(2 * MARGIN + CHAR * max(len(line) for line, _ in rows))
    height = 2 * MARGIN + LINE * len(rows)
    body = [text_element(line, MARGIN + LINE * (n + 1) - 4, command) for n, (line, command) in enumerate(rows) if line]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<rect width="100%" height="100%" rx="8" fill="#1b1f2a"/>\n'
            f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}">\n' + "\n".join(body) +
            "\n</g>\n</svg>\n")


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not PICTURE.exists() or PICTURE.read_text() != draw():
            sys.exit("docs/picture.svg is not what docs/screens shows: run tools/picture.py and look at it")
    else:
        PICTURE.write_text(draw())
