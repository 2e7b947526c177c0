#!/usr/bin/env python3
"""./dev up, as a login with nothing in its environment types it: it builds, says that the cards are simulated, and serves."""
import signal
import sys

import harness

BARE = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def main():
    if harness.BINARY_DIR != harness.SOURCE_DIR / "build/release":
        harness.skip("./dev up runs build/release, which is not what is tested here")
    url = f"http://127.0.0.1:{harness.free_port()}"
    with harness.scratch() as folder:
        log = folder / "log"
        argv = [harness.SOURCE_DIR / "dev", "up", "--listen", url.removeprefix("http://"), "--data", folder / "data"]
        with harness.program(argv, log, env=BARE) as up:
            harness.wait_for("the node", lambda: up.poll() is not None or f"ready {url}" in log.read_text(), 600)
            said = log.read_text()
            assert up.poll() is None, said
            assert "SIMULATED cards" in said, said
            assert harness.fetch(f"{url}/metrics").count("DCGM_FI_DEV_GPU_TEMP{") == 8, said
            up.send_signal(signal.SIGINT)
            assert up.wait(20) == 0, log.read_text()
    return 0


if __name__ == "__main__":
    sys.exit(main())
