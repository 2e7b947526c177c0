"""A RAS port of NCCL that answers what a captured one did (tests/fixtures/captures/h200x2-hang): the JSON of two ranks, of which
each is written again for the ranks that a test has.
"""
import contextlib
import json
import socketserver
import threading

from harness import SOURCE_DIR

CAPTURED = SOURCE_DIR / "tests/fixtures/captures/h200x2-hang/nccl-ras-hang.txt"


def captured():
    text = CAPTURED.read_text()
    begin = text.index("\n{") + 1
    return json.loads(text[begin:text.index("\n}\n", begin) + 2])


def answer_for(pids, missing):
    """Rank N is the process pids[N]; those of `missing` have called one all-reduce less, as the captured rank 1 had."""
    answer = captured()
    comm = answer["communicators"][0]
    waits, sleeps = comm["ranks"]
    comm["ranks"] = [dict(sleeps if rank in missing else waits, rank=rank, pid=pid, cuda_dev=rank, nvml_dev=rank)
                     for rank, pid in enumerate(pids)]
    comm["size"] = comm["ranks_count"] = len(pids)
    return json.dumps(answer, indent=2)


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            word = line.decode().strip()
            if word.startswith("CLIENT PROTOCOL"):
                self.wfile.write(b"SERVER PROTOCOL 2\n")
            elif word.startswith("SET FORMAT"):
                self.wfile.write(b"OK\n")
            elif word == "VERBOSE STATUS":
                self.server.asked += 1
                self.wfile.write(self.server.answer.encode() + b"\n")
                return


@contextlib.contextmanager
def fake_ras(answer):
    """Yields the server: .server_address, and .asked, how often it told its state."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Conversation) as server:
        server.daemon_threads = True
        server.answer = answer
        server.asked = 0
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
