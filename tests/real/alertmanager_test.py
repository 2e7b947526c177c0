"""Debian's Alertmanager receives, groups and resolves what Stoker tells of incidents."""
import http.server
import json
import shutil
import subprocess
import threading

from harness import STOKER, fetch_json, free_port, program, scratch, skip, stoker_up, wait_for

CONFIG = """
route: {{receiver: us, group_by: [node], group_wait: 1s, group_interval: 1s, repeat_interval: 1h}}
receivers: [{{name: us, webhook_configs: [{{url: "http://127.0.0.1:{port}/", send_resolved: true}}]}}]
"""


class Receiver:
    """What Alertmanager sends on, a list of groups."""

    def __init__(self):
        self.groups = groups = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                groups.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def alert(self, **labels):
        """The last that was told of an alert with these labels."""
        for group in reversed(self.groups):
            for alert in group["alerts"]:
                if all(alert["labels"].get(name) == value for name, value in labels.items()):
                    return alert
        return None


def stoker(*arguments):
    return subprocess.run([STOKER, *arguments], capture_output=True, text=True)


def main():
    if not shutil.which("prometheus-alertmanager"):
        skip("prometheus-alertmanager is not installed: ./dev test --real does it")
    receiver = Receiver()
    with scratch() as folder:
        (folder / "am.yml").write_text(CONFIG.format(port=receiver.server.server_port))
        address = f"127.0.0.1:{free_port()}"
        url = f"http://{address}"
        config = folder / "stoker.yaml"
        config.write_text(f"notify: {{alertmanager: '{url}'}}\n")
        nobody = stoker("notify", "--config", config)
        assert nobody.returncode == 1 and "connect" in nobody.stdout, nobody.stdout + nobody.stderr
        argv = ["prometheus-alertmanager", f"--config.file={folder}/am.yml", f"--storage.path={folder}/am",
                f"--web.listen-address={address}", "--cluster.listen-address="]
        with program(argv, folder / "am.log"), stoker_up(folder, "hgx-h100", "--config", config) as (agent, data):
            wait_for("Alertmanager", lambda: fetch_json(url + "/api/v2/status"))
            tried = stoker("notify", "--config", config)
            assert tried.returncode == 0 and "took it" in tried.stdout, tried.stdout + tried.stderr
            for fault in (["xid", "79", "--gpu", "3"], ["xid", "31", "--gpu", "1"]):
                assert stoker("sim", "inject", "--data", data, *fault).returncode == 0
            lost = wait_for("the alert", lambda: receiver.alert(cause="gpu-off-bus"))
            assert lost["labels"]["severity"] == "critical" and lost["status"] == "firing", lost
            assert "Xid 79" in lost["annotations"]["summary"] and lost["annotations"]["action"] == "reboot", lost
            incidents = fetch_json(agent + "/api/v1/incidents")["incidents"]
            told = {alert["labels"]["incident"] for alert in fetch_json(url + "/api/v2/alerts")
                    if alert["labels"]["cause"] != "trial"}
            assert told == {str(one["id"]) for one in incidents}, (told, incidents)

            assert stoker("sim", "inject", "--data", data, "xid", "94", "--gpu", "6").returncode == 0
            memory = wait_for("the second card's alert", lambda: receiver.alert(cause="memory-contained"))
            grouped = [group for group in receiver.groups if len(group["alerts"]) > 1]
            assert grouped, f"nothing was grouped: {receiver.groups}"
            number = memory["labels"]["incident"]
            hushed = stoker("incident", number, "--suppress", "1h", "--data", data)
            assert hushed.returncode == 0, hushed.stderr
            wait_for("its end", lambda: receiver.alert(cause="memory-contained")["status"] == "resolved")
            assert receiver.alert(cause="gpu-off-bus")["status"] == "firing"
    print("Alertmanager received, grouped and resolved")


main()
