#!/usr/bin/env python3
"""Reads a run's metrics as OpenMetrics by the parser of PyPI's prometheus-client, and prints what holds.

usage: read_metrics.py STERNA CLUSTER_FILE [KEY=VALUE...]     (needs PyPI's prometheus-client)

The run is asked while it trains, and interrupted then. Every family has help and a type; what is counted ends in
_total; what has a unit in its name says it, and the other way around; and the plain format has the same families.
Exit code 1: something fails.
"""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain

PATIENCE = 120  # seconds until the run trains
UNITS = ("seconds", "bytes", "ratio")
failures = 0


def say(what, holds, figure=""):
    global failures
    failures += not holds
    print(f"{'ok   ' if holds else 'FAILS'} {what}{': ' if figure != '' else ''}{figure}", flush=True)


def fetch(port, accept):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(run, port):
    """Both formats, of the run once it trains."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and run.poll() is None:
        try:
            answer = fetch(port, "application/openmetrics-text; version=1.0.0")
            if re.search(r"^sterna_loss ", answer[1], re.M):
                return answer, fetch(port, "text/plain")
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"the run answered no metrics of its training within {PATIENCE} s")


def main():
    if len(sys.argv) < 3:
        print(__doc__.strip().splitlines()[2], file=sys.stderr)
        return 2
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.argv[1], "run", sys.argv[2], "--run-dir", os.path.join(folder, "run"),
                   "--set", f"metrics.prometheus=127.0.0.1:{port}"]
        for key in sys.argv[3:]:
            command += ["--set", key]
        run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            (kind, text), (_, old_text) = ask(run, port)
        finally:
            run.send_signal(signal.SIGINT)
            run.wait(PATIENCE)
    families = list(open_metrics(text))
    say("the answer says that it is OpenMetrics", kind.startswith("application/openmetrics-text"), kind)
    say("families that the parser reads", len(families) > 20, len(families))
    say("samples", True, sum(len(family.samples) for family in families))
    say("without help", all(family.documentation for family in families),
        [family.name for family in families if not family.documentation])
    say("without a type", all(family.type in ("gauge", "counter") for family in families),
        [family.name for family in families if family.type not in ("gauge", "counter")])
    strange = [family.name for family in families
               if family.unit != next((unit for unit in UNITS if family.name.endswith("_" + unit)), "")]
    say("whose unit is not that of their name", not strange, strange)
    old = {family.name for family in plain(old_text)}
    new = {family.name for family in families}
    say("of one format alone", old == new, sorted(old ^ new))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
