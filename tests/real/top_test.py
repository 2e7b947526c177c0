"""`stoker top` in a real terminal (tmux): what it shows, its keys, its resizing, and what it leaves behind.

The screens are kept as docs/screens/top.txt and top-lost.txt with every digit as 9, so that readings may move;
top_test.py --write writes them anew, and draws the README's picture of the second.
"""
import re
import shutil
import subprocess
import sys

import harness
from harness import SOURCE_DIR, STOKER, scratch, skip, wait_for

SCREENS = SOURCE_DIR / "docs/screens"


class Terminal:
    def __init__(self, folder, command):
        self.base = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        # A UTF-8 locale that Debian always has; the shell stays, so that what top leaves behind can be seen.
        self.run("-u", "new-session", "-d", "-x", "80", "-y", "24", f"LC_ALL=C.UTF-8 {command}; echo left with $?; sleep 60")

    def run(self, *arguments):
        return subprocess.run([*self.base, *arguments], check=True, capture_output=True, text=True).stdout

    def screen(self):
        return self.run("capture-pane", "-p")

    def keys(self, *names):
        self.run("send-keys", *names)

    def wait(self, what, *parts):
        def there():
            shown = self.screen()
            return shown if all(part in shown for part in parts) else None
        try:
            return wait_for(what, there)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen:\n{self.screen()}") from None

    def close(self):
        subprocess.run([*self.base, "kill-server"], check=False, capture_output=True)


def masked(screen):
    """Digits as 9, numbers of any width alike; bars and curves as one mark."""
    lines = []
    for line in screen.rstrip("\n").split("\n"):
        line = re.sub(r"┤.*", "┤", line)
        line = re.sub(r"[▁▂▃▄▅▆▇█░]+(?: +[▁▂▃▄▅▆▇█░]+)*", "█", line)
        line = re.sub(r"\d+(\.\d+)?", "9", line)
        lines.append(re.sub(r" +", " ", line).rstrip())
    return "\n".join(lines) + "\n"


def compare(name, screen):
    path = SCREENS / name
    if "--write" in sys.argv:
        path.write_text(screen)
        return
    kept = path.read_text()
    assert masked(screen) == masked(kept), f"{path} is no longer what is shown; now:\n{screen}"


def main():
    if shutil.which("tmux") is None:
        skip("tmux is not installed: ./dev setup real")
    with scratch() as folder, harness.stoker_up(folder) as (url, data):
        harness.wait_for("rates", lambda: harness.fetch(f"{url}/metrics").count("DCGM_FI_PROF_DRAM_ACTIVE{") == 8)
        terminal = Terminal(folder, f"{STOKER} top --interval 300ms --agent {url}")
        try:
            # a curve needs some readings
            terminal.wait("a curve", "power (watts)", "GPU 0: min", "nothing is wrong")
            wait_for("a curve of some seconds", lambda: re.search("┤.{10}", terminal.screen()))
            compare("top.txt", terminal.wait("processes and their owners", ">  0", "job 4711.0 pretrain"))
            terminal.keys("j", "j")
            terminal.wait("the third GPU", ">  2", "GPU 2: min")
            terminal.keys("g")
            terminal.wait("another graph", "utilization (percent)")
            terminal.keys("o", "o", "s")
            terminal.wait("other orders", "order:power", "sort:memory")
            terminal.keys("o", "o", "o", "k", "k", "/", "n", "o", "n", "e", "Enter")
            terminal.wait("a filter without a match", "no process has that in it", "filter:non")
            terminal.keys("/", "Escape", "?")
            terminal.wait("the help", "choose a GPU")
            terminal.keys("?", "G")
            terminal.wait("the list again", ">  0", "power (watts)")

            subprocess.run([STOKER, "sim", "inject", "--data", data, "vanish", "--gpu", "3"], check=True, capture_output=True)
            lost = terminal.wait("a lost GPU", "lost", "critical")
            compare("top-lost.txt", terminal.wait("what is wrong", "GPU 3") or lost)
            terminal.run("resize-window", "-x", "42", "-y", "12")
            terminal.wait("a small screen", ">  0")
            terminal.run("resize-window", "-x", "30", "-y", "5")
            terminal.wait("a tiny screen", "at least 40 x 10")
            terminal.run("resize-window", "-x", "80", "-y", "24")
            terminal.wait("the old size", "q quit")
            terminal.keys("q")
            terminal.wait("a clean end", "left with 0")
        finally:
            terminal.close()
    if "--write" in sys.argv:
        subprocess.run([sys.executable, SOURCE_DIR / "tools/picture.py"], check=True)
    print("top: two screens as kept, every key, three sizes, a clean end")


if __name__ == "__main__":
    main()
