"""The README's pictures show what the command line says today: `stoker status` and `stoker gpus` while GPU 3 hangs.
The screen of `stoker top` is held against the program by top_test.py; that its picture shows this screen is checked here.

Compares with docs/screens/*.txt, numbers masked; with --write it takes new screens, and tools/picture.py draws them.
"""
import re
import subprocess
import sys

import harness
from harness import SOURCE_DIR, scratch, stoker_up, wait_for

SCREENS = SOURCE_DIR / "docs/screens"


def screen(url, verb):
    return subprocess.run([harness.STOKER, verb, "--agent", url], capture_output=True, text=True).stdout


def masked(text):
    """Numbers and the widths that they make don't count; nor does the host's name."""
    text = re.sub(r"^(node\s+)[^,]+", r"\1HOST", text, flags=re.M)
    return re.sub(r"[ ]+", " ", re.sub(r"\d+(\.\d+)?", "#", text)).strip()


def main():
    with scratch() as folder, stoker_up(folder, "hgx-h100") as (url, data):
        subprocess.run([harness.STOKER, "sim", "inject", "--data", data, "hang", "--gpu", "3"], check=True, capture_output=True)
        wait_for("GPU 3 to be told as hung", lambda: "hung" in screen(url, "gpus"))
        wait_for("the owners of the others", lambda: screen(url, "gpus").count(" job ") == 4)
        for verb in ("status", "gpus"):
            shown, file = screen(url, verb), SCREENS / f"{verb}.txt"
            if "--write" in sys.argv:
                SCREENS.mkdir(exist_ok=True)
                file.write_text(re.sub(r"^(node\s+)[^,]+", r"\1gpu-node-17", shown, flags=re.M))
            assert masked(shown) == masked(file.read_text()), f"stoker {verb} now says:\n{shown}\nbut docs/screens has:\n{file.read_text()}"
    subprocess.run([sys.executable, SOURCE_DIR / "tools/picture.py", *([] if "--write" in sys.argv else ["--check"])], check=True)
    print("the README's pictures are current")


if __name__ == "__main__":
    main()
