#!/usr/bin/env python3
"""Draws the README's pictures, terminals, from docs/screens; tests/real/ holds those against the program.

picture.py          writes docs/picture.svg (picture_test.py has its screens) and docs/top.svg (top_test.py)
picture.py --check  fails if one of them is not what would be written
"""
import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "docs/screens"
# Picture: the commands and what each of them shows.
PICTURES = {
    "docs/picture.svg": [("stoker status", "status.txt"), ("stoker gpus", "gpus.txt")],
    "docs/top.svg": [("stoker top", "top-lost.txt")],
}
CHAR, LINE, MARGIN, SIZE = 7.8, 17, 18, 13
TEXT, COMMAND, GROUND, TITLE, DIM, CHOSEN = "#d8dee9", "#9ece6a", "#1b1f2a", "#ffffff", "#8a93a6", "#3b4a6b"
COLOURS = {"DEGRADED": "#f5a742", "CRITICAL": "#ff6b6b", "critical": "#ff6b6b", "UNKNOWN": "#f5a742", "SIMULATED": "#6bd5ff",
           "hung": "#ff6b6b", "lost": "#ff6b6b", "PWR-CAP": "#f5a742"}
# What stands for whole lines of `stoker top`: column titles, the keys.
LINES = [(re.compile(r"^ GPU +(NAME|PID)|^power \("), TITLE), (re.compile(r"^ q quit|^ and \d+ more|^GPU \d+: min"), DIM)]


def lines(screens):
    for command, name in screens:
        yield f"$ {command}", True
        for line in (SCREENS / name).read_text().rstrip("\n").split("\n"):
            yield line, False
        yield "", False


def painted(line):
    """The line's text; words that stand for a state, bars and curves in their colours."""
    text = html.escape(line)
    for word, paint in COLOURS.items():
        text = re.sub(rf"\b{word}\b", f'<tspan fill="{paint}">{word}</tspan>', text)
    return re.sub(r"[▁▂▃▄▅▆▇█]+", lambda bar: f'<tspan fill="{COMMAND}">{bar.group()}</tspan>', text)


def text_element(line, y, is_command):
    colour = COMMAND if is_command else next((paint for what, paint in LINES if what.search(line)), TEXT)
    return f'<text x="{MARGIN}" y="{y}" fill="{colour}" xml:space="preserve">{painted(line)}</text>'


def row_element(line, y, is_command, width):
    chosen = f'<rect x="{MARGIN}" y="{y - LINE + 4}" width="{width - 2 * MARGIN}" height="{LINE}" fill="{CHOSEN}"/>\n'
    return (chosen if line.startswith(">") else "") + text_element(line, y, is_command)


def draw(screens):
    rows = list(lines(screens))[:-1]
    width = int(2 * MARGIN + CHAR * max(len(line) for line, _ in rows))
    height = 2 * MARGIN + LINE * len(rows)
    body = [row_element(line, MARGIN + LINE * (n + 1) - 4, command, width) for n, (line, command) in enumerate(rows) if line]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>\n'
            f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}">\n' + "\n".join(body) +
            "\n</g>\n</svg>\n")


def main():
    for name, screens in PICTURES.items():
        picture = ROOT / name
        if "--check" not in sys.argv:
            picture.write_text(draw(screens))
        elif not picture.exists() or picture.read_text() != draw(screens):
            sys.exit(f"{name} is not what docs/screens shows: run tools/picture.py and look at it")


if __name__ == "__main__":
    main()
