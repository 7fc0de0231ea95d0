# SPDX-License-Identifier: LGPL-2.1-or-later
"""Controls Chromium without a window through the DevTools protocol: JSON texts that end with a
zero byte, on the file descriptors 3 and 4."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

TIMEOUT = 60


class Chromium:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        to_read, self.output = os.pipe()
        self.input, to_write = os.pipe()

        def move():
            read, write = os.dup(to_read), os.dup(to_write)  # to_read and to_write may be 3 or 4
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self.folder}/profile", "about:blank"],
            preexec_fn=move, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.count, self.events = b"", 0, []

    def read(self):
        while b"\0" not in self.rest:
            data = os.read(self.input, 1 << 16)
            if not data:
                raise EOFError("Chromium has ended")
            self.rest += data
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != self.count:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def close(self):
        self.call("Browser.close")
        self.process.wait(TIMEOUT)
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)


class Page:
    def __init__(self, browser, url, width=1200, height=800):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        # canvases are read back, which is slow with a hardware canvas
        self.call("Page.addScriptToEvaluateOnNewDocument", source="""
            const getContext = HTMLCanvasElement.prototype.getContext;
            HTMLCanvasElement.prototype.getContext = function (kind) {
              return getContext.call(this, kind, { willReadFrequently: true });
            };""")
        self.go(url)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script):
        """Returns the value of an expression, or of its promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait(self, condition, timeout=TIMEOUT):
        end = time.monotonic() + timeout
        while not self.run(condition):
            if time.monotonic() > end:
                text = self.run("document.body.innerText")
                raise AssertionError(f"not true: {condition}; the page says: {text}")
            time.sleep(0.02)

    def shoot(self, path):
        """Writes a picture of the whole page."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def complaints(self):
        """Returns what the browser reports: exceptions, policy violations, console messages."""
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in (
                    "Log.entryAdded", "Runtime.exceptionThrown",
                    "Runtime.consoleAPICalled")]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
