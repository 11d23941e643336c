"""The pictures of docs/page.md: a run of LeNet beside two that are over, as a headless Chromium shows it.

usage: pictures.py STERNA CONFIGS FOLDER   (some two minutes)
"""

import os
import subprocess
import sys
import tempfile
import time

import browser
from browser import eventually
from page_test import Sterna


def main():
    sterna, configs, pictures = (os.path.abspath(argument) for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        environment = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))
        lenet = [sterna, "run", f"{configs}/lenet_mnist.toml", "--set", "evaluator.every=100",
                 "--run-dir"]
        for name, codec in (("fp32", "none"), ("ternary", "ternary")):
            subprocess.run([*lenet, f"runs/{name}", "--set", f"gradient.codec={codec}",
                            "--set", "job.steps=500"], cwd=folder, env=environment, check=True)
        run = Sterna([*lenet, "runs/averages", "--page", "--set", "gradient.down=average",
                      "--set", "gradient.scaler=shared"], folder,
                     environment)
        page = browser.Browser(*browser.find(), folder)
        try:
            page.open(run.url)
            step = "return Number(document.querySelector('#summary').textContent.match(/step ([\\d,]+)/)?.[1].replace(',', ''))"
            eventually(lambda: (page.run(step) or 0) > 1200, 300, "it has done 1,200 steps")
            for box in range(2):
                page.run(f"document.querySelectorAll('#runs input:not([disabled])')[{box}]?.click()")
            for name, width, height, scheme in (("light", 1280, 1840, "light"),
                                                ("dark", 1280, 1840, "dark"),
                                                ("narrow", 390, 2460, "light")):
                page.width(width, height)
                page.scheme(scheme)
                time.sleep(1)
                page.screenshot(os.path.join(pictures, f"page-{name}.png"))
        finally:
            page.close()
            run.end()


if __name__ == "__main__":
    main()
