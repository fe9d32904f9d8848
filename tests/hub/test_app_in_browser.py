"""The page as a visitor has it: in headless Chromium, at desktop and at phone width."""

import os
import shutil
import socket
import subprocess
import sys
import time
from urllib.request import urlopen

import pytest

pytest.importorskip("gradio", reason="the page needs gradio, of the extra app")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright steers the browser")
CHROMIUM = os.environ.get("EVENHAND_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
if not CHROMIUM:
    pytest.skip("no chromium is installed (EVENHAND_CHROMIUM names one)", allow_module_level=True)

pytestmark = pytest.mark.slow
EVIL = "prediction,scale\nYes,<img src=x onerror=document.title='owned'>"


@pytest.fixture(scope="module")
def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from evenhand.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "app", "contact_bias", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as serving:
        yield _when_it_answers(f"http://127.0.0.1:{port}/", serving)
        serving.terminate()


def _when_it_answers(url, serving):
    for _ in range(240):
        assert serving.poll() is None
        try:
            with urlopen(url):
                return url
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"{url} never answered")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_visitor_sees_scores_and_errors(browser, address, width):
    page = browser.new_context(viewport={"width": width, "height": 844}).new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.get_by_role("button", name="Load the example").click()
    page.locator(".headline:visible").wait_for()
    shown = page.locator(".result:visible").first.inner_text()
    assert "95 % interval" in shown
    assert "only 12 clusters" in shown
    page.get_by_text("All other figures").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("textarea:visible").first.fill(EVIL)
    page.get_by_role("button", name="Score", exact=True).locator("visible=true").click()
    page.locator(".refused:visible").wait_for()
    assert "no column contact, action" in page.locator(".refused:visible").inner_text()
    assert page.title() == "Contact Bias"
    page.get_by_text("Which columns a table has").click()
    page.get_by_text("needed").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
