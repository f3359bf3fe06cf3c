"""Firefox for tests of pages, by WebDriver BiDi; skips where it or websockets is missing.

It draws WebGL on a display alone: on a virtual one where Xvfb is installed. Without, it runs headless, and
pages get a WebGL that draws nothing.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from browser import PATIENCE, until

PREFERENCES: dict[str, Any] = {
    "webgl.force-enabled": True,
    "gfx.webrender.software": True,
    "browser.startup.page": 0,
    "browser.newtabpage.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.tabs.warnOnClose": False,
    "app.update.disabledForTesting": True,
    "app.normandy.enabled": False,
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.server": "data:,",
    "extensions.update.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.hardware-video-decoding.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "ui.systemUsesDarkTheme": 0,
    "intl.accept_languages": "en-US,en",
}
KEYS = {"Space": " ", "Enter": "\ue006", "ArrowUp": "\ue013", "ArrowDown": "\ue015"}
"""Keys as WebDriver names them, by their codes; others are what they type."""
LAPTOP = {"width": 1280, "height": 720}
GONE = re.compile("no such (node|element)|stale element|is not displayed")
"""How it refuses to act on what went away meanwhile, or is not drawn yet."""
NOTHING_DRAWN = """() => {
  const real = HTMLCanvasElement.prototype.getContext, names = WebGL2RenderingContext;
  const box = [0, 0, 0, 0];
  const parameters = { [names.VERSION]: "WebGL 2.0", [names.VIEWPORT]: box, [names.SCISSOR_BOX]: box };
  const answers = {
    getParameter: (name) => parameters[name] ?? 16,
    getProgramParameter: (_, name) => (name === names.LINK_STATUS ? true : 0),
    getShaderParameter: () => true,
    getShaderPrecisionFormat: () => ({ rangeMin: 127, rangeMax: 127, precision: 23 }),
    getContextAttributes: () => ({}),
    getProgramInfoLog: () => "",
    getShaderInfoLog: () => "",
    isContextLost: () => false,
  };
  const create = () => ({}), other = () => null;
  const get = (_, name) => names[name] ?? answers[name] ?? (/^create/.test(name) ? create : other);
  HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return kind === "webgl2" ? new Proxy({}, { get }) : real.call(this, kind, ...more);
  };
}"""


class RefusedError(AssertionError):
    """What the browser does not do."""


class Page:
    """A tab with storage of its own.

    Attributes:
        complaints: Errors on the console, and those that nobody caught.
    """

    def __init__(self, browser: Firefox) -> None:
        """Open it empty, in front of others."""
        self._browser = browser
        self._of_user = browser.send("browser.createUserContext")["userContext"]
        self.id = browser.send("browsingContext.create", type="tab", userContext=self._of_user)["context"]
        self.complaints = browser.complaints.setdefault(self.id, [])
        self.send("browsingContext.setViewport", viewport=LAPTOP)
        if not browser.draws:
            self.before_scripts(NOTHING_DRAWN)

    def send(self, method: str, **parameters: Any) -> Any:
        """The answer to a command about the tab."""
        return self._browser.send(method, context=self.id, **parameters)

    def before_scripts(self, function: str) -> None:
        """Let what is loaded from now on begin with a function of JavaScript."""
        self._browser.send("script.addPreloadScript", functionDeclaration=function, contexts=[self.id])

    def goto(self, url: str) -> None:
        self.send("browsingContext.navigate", url=url, wait="complete")

    def reload(self) -> None:
        self.send("browsingContext.reload", wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Value of an expression of JavaScript, awaited, as JSON has it."""
        told = self._browser.send(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            awaitPromise=True,
            target={"context": self.id},
        )
        if told["type"] == "exception":
            raise RefusedError(told["exceptionDetails"]["text"])
        return json.loads(told["result"].get("value", "null"))

    def wait(self, expression: str) -> None:
        """Wait until an expression of JavaScript holds."""
        until(lambda: self.evaluate(f"Boolean({expression})"))

    def text(self, selector: str) -> str | None:
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def box(self, selector: str) -> tuple[int, int, int, int]:
        """Where an element is in the viewport: `x`, `y`, width and height [px]."""
        element = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        x, y, width, height = self.evaluate(
            f"(({{ x, y, width, height }}) => [x, y, width, height])({element})"
        )
        return round(x), round(y), round(width), round(height)

    def nodes(self, role: str, name: str) -> list[dict[str, str]]:
        """All that are seen as this by who cannot see the page: a button, tab, field, by its name."""
        locator = {"type": "accessibility", "value": {"role": role, "name": name}}
        found = self.send("browsingContext.locateNodes", locator=locator)["nodes"]
        return [{"sharedId": node["sharedId"]} for node in found]

    def click(self, role: str, name: str) -> None:
        """Click on the only one, once it is there."""
        until(lambda: self._has_clicked(role, name))

    def _has_clicked(self, role: str, name: str) -> bool:
        nodes = self.nodes(role, name)
        if len(nodes) != 1:
            return False
        move = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": nodes[0]}}
        try:
            self.point(move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
        except RefusedError as refused:
            if not GONE.search(str(refused)):
                raise
            self.send("input.releaseActions")
            return False
        return True

    def point(self, *actions: dict[str, Any], kind: str = "mouse") -> None:
        """Move, press and lift a mouse, or a finger: a touch."""
        source = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}
        self.send("input.performActions", actions=[source])

    def key(self, code: str, *changes: str) -> None:
        """Press a key, or only push it down or let it up: `keyDown`, `keyUp`."""
        value = KEYS.get(code, code.removeprefix("Key").lower())
        actions = [{"type": change, "value": value} for change in changes or ("keyDown", "keyUp")]
        self.send("input.performActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def write(self, text: str) -> None:
        """Type into what has the focus."""
        actions = [{"type": kind, "value": each} for each in text for kind in ("keyDown", "keyUp")]
        self.send("input.performActions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def screenshot(self, **clip: float) -> bytes:
        """PNG of a box of the viewport: `x`, `y`, `width`, `height` [px]."""
        shot = self.send("browsingContext.captureScreenshot", clip={"type": "box", **clip})
        return base64.b64decode(shot["data"])

    @contextmanager
    def behind(self, kind: str) -> Iterator[None]:
        """Another tab or window is opened in front of it, and closed."""
        other = self._browser.send("browsingContext.create", type=kind)["context"]
        try:
            yield
        finally:
            self._browser.send("browsingContext.close", context=other)
            self.send("browsingContext.activate")

    def close(self) -> None:
        """Close the tab; its storage goes."""
        self._browser.send("browser.removeUserContext", userContext=self._of_user)


class Firefox:
    """A browser that runs.

    Attributes:
        draws: Whether WebGL does.
        complaints: Of each tab, by its id.
    """

    def __init__(self, socket: Any, draws: bool) -> None:
        """Begin a session on a socket."""
        self._socket, self.draws, self._number = socket, draws, 0
        self.complaints: dict[str, list[str]] = {}
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])

    def send(self, method: str, **parameters: Any) -> Any:
        """The answer to a command; what happened before it came is noted."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self._socket.recv(timeout=PATIENCE))
            if told.get("method") == "log.entryAdded":
                self._note(told["params"])
            elif told.get("id") == self._number:
                if told["type"] == "error":
                    raise RefusedError(f"{method}: {told['error']}: {told['message']}")
                return told["result"]

    def _note(self, entry: dict[str, Any]) -> None:
        if entry["level"] == "error":
            self.complaints.setdefault(entry["source"].get("context"), []).append(entry["text"])


@contextmanager
def _display() -> Iterator[str | None]:
    """Name of a virtual display, or None."""
    executable = shutil.which("Xvfb")
    if executable is None:
        yield None
        return
    command = [executable, "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            number = process.stdout.readline().strip()
            yield f":{number}" if number else None
        finally:
            process.terminate()


@contextmanager
def firefox(**preferences: Any) -> Iterator[Firefox]:
    """A browser with a profile of its own; $FIREFOX names one that is not on the path."""
    client = pytest.importorskip("websockets.sync.client", reason="needs websockets: pip install websockets")
    executable = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if executable is None:
        pytest.skip("needs Firefox: apt install firefox-esr xvfb, or $FIREFOX with its path")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _display() as display:
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in (PREFERENCES | preferences).items()
        ]
        Path(folder, "user.js").write_text("".join(lines), encoding="utf-8")
        command = [executable, "--remote-debugging-port", "0", "--profile", folder, "--no-remote"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = dict(os.environ, MOZ_CRASHREPORTER_DISABLE="1")
        if display is None:
            command.append("--headless")
        else:
            environment |= {"DISPLAY": display, "GDK_BACKEND": "x11"}
        with subprocess.Popen(command, env=environment, **quiet) as process:
            try:
                with client.connect(_address(Path(folder), process), max_size=None) as socket:
                    browser = Firefox(socket, draws=display is not None)
                    yield browser
                    with suppress(Exception):
                        browser.send("browser.close")
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
            finally:
                process.kill()


def _address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the browser listens, once it says so."""
    file, told = profile / "WebDriverBiDiServer.json", {}

    def listens() -> bool:
        assert process.poll() is None, "Firefox has ended"
        with suppress(OSError, ValueError):
            told.update(json.loads(file.read_text(encoding="utf-8")))
        return bool(told)

    until(listens)
    return f"ws://{told['ws_host']}:{told['ws_port']}/session"
