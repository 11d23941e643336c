"""A headless Chromium over WebDriver (w3.org/TR/webdriver2), by the standard library alone."""

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import time


def find():
    """chromium and its driver; None where one of them is not installed."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (chromium, driver) if chromium and driver else None


def eventually(condition, patience, what):
    """The first true value of condition(); fails after so many seconds."""
    until = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"{what}: not within {patience} s")
        time.sleep(0.05)


class Browser:
    def __init__(self, chromium, driver, folder):
        self.log = open(os.path.join(folder, "chromedriver.log"), "w+")
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=self.log,
                                       stderr=subprocess.STDOUT, cwd=folder)
        try:
            self.port = int(eventually(self._port, 60, "chromedriver says its port"))
            arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage",
                         "--no-first-run", "--disable-background-networking",
                         "--no-sandbox",  # nothing but our page is shown, and root has none
                         f"--user-data-dir={folder}/profile", "--window-size=1280,1000"]
            options = {"binary": chromium, "args": arguments}
            capabilities = {"goog:chromeOptions": options,
                            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = f"/session/{made['sessionId']}"
            self.open("about:blank")
            self.network()  # of the browser's own first page
        except BaseException:
            self.driver.kill()
            self.driver.wait()
            raise

    def _port(self):
        self.log.seek(0)
        found = re.search(r"started successfully on port (\d+)", self.log.read())
        return found and found.group(1)

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        value = answer["value"]
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{path}: {value['error']}: {value['message']}")
        return value

    def close(self):
        try:
            self._ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()

    def open(self, url):
        self._ask("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """What the body of a function, run in the page, returns."""
        return self._ask("POST", self.session + "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def keys(self, text):
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._ask("POST", self.session + "/actions",
                  {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def protocol(self, command, parameters):
        return self._ask("POST", self.session + "/goog/cdp/execute",
                         {"cmd": command, "params": parameters})

    def width(self, pixels, height=1000):
        self.protocol("Emulation.setDeviceMetricsOverride",
                      {"width": pixels, "height": height, "deviceScaleFactor": 1,
                       "mobile": pixels < 500})

    def scheme(self, name):
        self.protocol("Emulation.setEmulatedMedia",
                      {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def console(self):
        """What was written to the console since the last call, network errors included."""
        return self._ask("POST", self.session + "/se/log", {"type": "browser"})

    def network(self):
        """Events of the network since the last call, oldest first: (method, parameters)."""
        messages = self._ask("POST", self.session + "/se/log", {"type": "performance"})
        events = [json.loads(message["message"])["message"] for message in messages]
        return [(event["method"], event["params"]) for event in events]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", self.session + "/screenshot")))
