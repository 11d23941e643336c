"""sterna run --page and sterna page, seen by a headless Chromium.

usage: page_test.py STERNA CONFIGS   (77: there is no Chromium here)
"""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import browser
from browser import eventually

HOSTILE = "<img src=x onerror=window.hostile=1>"
MOST_BYTES = 200_000  # of the first load, on the wire
SOON = 60  # seconds, on a busy machine


class Sterna:
    """A sterna that says the address of a page."""

    def __init__(self, command, folder, environment):
        self.output = open(os.path.join(folder, f"{command[1]}.out"), "w+")
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=self.output,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.url = eventually(self._url, SOON, "sterna says the page's address")

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def _url(self):
        if self.process.poll() is not None:
            raise AssertionError(f"sterna has ended:\n{self.said()}")
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", self.said())
        return found and found.group(0)

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            try:
                self.process.wait(SOON)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


def answer(url, path, headers):
    port = urllib.parse.urlsplit(url).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def check_access(url):
    port = urllib.parse.urlsplit(url).port
    token = url.split("=")[1]
    own = {"Host": f"127.0.0.1:{port}"}
    traded = answer(url, f"/?token={token}", own)
    assert traded.status == 303, traded.status
    cookie = {"Cookie": traded.getheader("Set-Cookie").split(";")[0]}
    assert answer(url, "/facts", own | cookie).status == 200
    for path in ("/", "/facts", "/page.js", "/dygraph.min.js", "/shelf?name=runs", "/events"):
        for name, headers in {"without token": own,
                              "foreign host": {"Host": "evil.example"} | cookie,
                              "foreign origin": own | cookie | {"Origin": "http://evil.example"},
                              }.items():
            status = answer(url, path, headers).status
            assert status == 403, f"{path}, {name}: {status}"
    assert answer(url, f"/?token={token}0", own).status == 403
    policy = traded.getheader("Content-Security-Policy")
    assert "script-src 'self';" in policy and "unsafe" not in policy, policy


def check_network(events):
    """Requests go to this machine alone; the bytes of what has been loaded."""
    total = 0
    for method, parameters in events:
        if method == "Network.requestWillBeSent":
            address = urllib.parse.urlsplit(parameters["request"]["url"])
            assert address.scheme == "data" or address.hostname == "127.0.0.1", address
        if method == "Network.loadingFinished":
            total += parameters["encodedDataLength"]
    return total


def check_console(page):
    messages = page.console()
    assert messages == [], json.dumps(messages, indent=1)


def points(page):
    return page.run("return document.querySelectorAll('#training tbody tr').length")


def at_step(page):
    found = re.search(r"at ([\d,]+) steps", page.text("#training .legend"))
    return int(found.group(1).replace(",", "")) if found else -1


def picture(page):
    return page.run("return document.querySelector('#training canvas')?.toDataURL() ?? ''")


def check_running(page, run, folder):
    page.open(run.url)
    eventually(lambda: page.text("#name") == "lenet_mnist", SOON, "the page names the run")
    size = check_network(page.network())
    print(f"first load: {size} bytes")
    assert 20_000 < size <= MOST_BYTES, size
    assert "token" not in page.run("return location.href"), "the token stays in the address"

    page.run("document.querySelector('#training details').open = true")
    eventually(lambda: at_step(page) > 0, SOON, "the first losses")
    before, shown = at_step(page), picture(page)
    eventually(lambda: at_step(page) > before and picture(page) != shown, SOON, "curves move")
    eventually(lambda: "at" in page.text("#accuracy .legend"), SOON, "an evaluation is drawn")
    assert points(page) > 1
    eventually(lambda: "times less" in page.text("#bytes"), SOON, "bytes before and after")
    for name in ("server0", "worker0", "worker1", "reader0", "evaluator0"):
        assert name in page.text("#actors"), name


def check_hostile(page, folder):
    with open(os.path.join(folder, "runs/own/logs/worker0.log"), "a") as log:
        log.write(HOSTILE + " says a line\n")
    eventually(lambda: HOSTILE in page.text("#log"), SOON, "the hostile line is text")
    eventually(lambda: HOSTILE in page.text("#runs"), SOON, "the hostile run is text")
    assert page.run("return document.images.length") == 0
    assert page.run("return window.hostile ?? null") is None
    page.run("document.querySelector('#log-filter').value = arguments[0];"
             "document.querySelector('#log-filter').dispatchEvent(new Event('input'))",
             "SAYS A LINE")
    eventually(lambda: page.run("return document.querySelectorAll('#log > div').length") == 1, SOON,
               "the filter leaves one line")
    # Compared with the hostile run, whose name stands in the legend then.
    page.run("[...document.querySelectorAll('#runs tr')].find(row => "
             "row.textContent.includes(arguments[0])).querySelector('input').click()", HOSTILE)
    eventually(lambda: HOSTILE in page.text("#training .legend"), SOON, "two runs are compared")
    assert page.run("return document.images.length") == 0


def check_keys(page):
    page.run("document.activeElement.blur()")
    page.keys("x")
    assert page.run("return document.querySelector('#x').value") == "seconds"
    page.keys("xx")
    page.keys("tt")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    page.keys("t")
    page.keys("/")
    assert page.run("return document.activeElement.id") == "log-filter"
    page.run("document.activeElement.blur()")
    page.run("document.querySelector('#training .plot').focus()")
    page.keys("\ue012")  # arrow left
    page.keys("\ue00c")  # escape


def check_narrow(page):
    page.width(390)
    eventually(lambda: page.run("return document.documentElement.scrollWidth") <= 390, SOON,
               "390 px are wide enough")
    page.width(1280)


def kill(page, actor):
    pid = page.run("return [...document.querySelectorAll('#actors tr')].find(row => "
                   "row.firstChild.textContent === arguments[0]).children[3].textContent", actor)
    os.kill(int(pid), signal.SIGKILL)
    began = time.monotonic()
    eventually(lambda: actor in page.text("#cause") and "SIGKILL" in page.text("#cause"), 2,
               "the cause of a killed actor")
    print(f"{actor}'s cause shows after {time.monotonic() - began:.2f} s")


def check_restart(page):
    kill(page, "reader0")
    eventually(lambda: page.run("return [...document.querySelectorAll('#actors tr')].some(row => "
                                "row.firstChild.textContent === 'reader0#2' && "
                                "row.textContent.includes('running'))"), SOON, "it runs again")


def check_death(page):
    kill(page, "worker0")
    eventually(lambda: "SIGKILL" in page.text("#actors"), SOON, "it stands beside the actor, too")


def check_past(page, folder, sterna, environment):
    past = Sterna([sterna, "page", "runs/own"], folder, environment)
    try:
        page.open(past.url)
        eventually(lambda: "worker0" in page.text("#cause"), SOON, "the past run's cause")
        eventually(lambda: at_step(page) > 0, SOON, "the past run's losses")
        assert "evaluator0" in page.text("#actors")
        check_network(page.network())
        check_console(page)
    finally:
        assert past.end() == 0, past.said()


def check_resumed(page, folder, sterna, environment):
    """A run that went on from step 1,000 counts its seconds from there: one a step."""
    path = os.path.join(folder, "runs", "resumed")
    os.makedirs(path)
    lines = [{"format": 1, "kind": "run", "run": path, "time": 1}]
    for step in range(1001, 1021):
        lines.append({"kind": "loss", "step": step, "loss": 3, "decay_loss": 0})
        if step % 10 == 0:
            lines.append({"kind": "step", "step": step, "seconds": step - 1000, "bytes_up": 7, "bytes_down": 7})
    with open(os.path.join(path, "metrics.jsonl"), "w") as metrics:
        metrics.writelines(json.dumps(line) + "\n" for line in lines)
    page.open("about:blank")
    page.console()  # the page of before has lost its sterna
    past = Sterna([sterna, "page", "runs/resumed"], folder, environment)
    try:
        page.open(past.url)
        page.run("document.querySelector('#training details').open = true")
        eventually(lambda: points(page) > 1, SOON, "its losses")
        page.run("const x = document.querySelector('#x'); x.value = 'seconds';"
                 "x.dispatchEvent(new Event('change'))")
        ends = ("const rows = [...document.querySelectorAll('#training tbody tr')];"
                "return [rows[0], rows.at(-1)].map(row => row.firstChild.textContent)")
        eventually(lambda: sorted(page.run(ends)) == ["1 s", "20 s"], SOON, "its first and last second")
        check_console(page)
    finally:
        assert past.end() == 0, past.said()


def make_hostile_run(folder):
    path = os.path.join(folder, "runs", HOSTILE)
    os.makedirs(path)
    with open(os.path.join(path, "metrics.jsonl"), "w") as metrics:
        metrics.write('{"format":1,"kind":"run"}\n')
        for step in range(1, 20):
            metrics.write(json.dumps({"kind": "loss", "step": step, "loss": 3, "decay_loss": 0}))
            metrics.write("\n")
    with open(os.path.join(path, "result.json"), "w") as result:
        json.dump({"exit": 1, "cause": HOSTILE, "steps": 19}, result)


def main():
    sterna, configs = (os.path.abspath(argument) for argument in sys.argv[1:3])
    found = browser.find()
    if found is None:
        print("SKIPPED: chromium and chromium-driver are not installed")
        return 1 if os.environ.get("CI") else 77  # whoever checks everything has them
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"), HOME=folder)
        make_hostile_run(folder)
        run = Sterna([sterna, "run", f"{configs}/lenet_mnist.toml", "--page",
                      "--run-dir", "runs/own", "--set", "job.steps=1000000",
                      "--set", "data.name=digits", "--set", "evaluator.every=20",
                      "--set", "actor.worker.restart=0"],
                     folder, environment)
        page = None
        try:
            page = browser.Browser(*found, folder)
            check_access(run.url)
            check_running(page, run, folder)
            check_hostile(page, folder)
            check_keys(page)
            check_narrow(page)
            check_console(page)
            check_restart(page)
            check_death(page)
            assert run.process.wait(SOON) == 1, run.said()
            check_network(page.network())
            check_console(page)
            check_past(page, folder, sterna, environment)
            check_resumed(page, folder, sterna, environment)
        finally:
            if page is not None:
                page.close()
            run.end()
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
