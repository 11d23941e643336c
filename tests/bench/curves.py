#!/usr/bin/env python3
"""Precision@1 of runs, against steps and against the gigabytes that workers sent, as a PNG.

    tests/bench/curves.py OUT.png LABEL=RUN_DIRECTORY ...

Reads each run's metrics.jsonl; needs matplotlib.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def curve(folder):
    """Steps, gigabytes up so far, and precision@1 in percent, of each evaluation."""
    sent, points = {}, []
    with open(f"{folder}/metrics.jsonl") as lines:
        for line in map(json.loads, lines):
            if line.get("kind") == "step":
                sent[line["step"]] = line["bytes_up"]
            elif line.get("kind") == "evaluation":
                points.append((line["step"], line["precision_at_1"], line["examples"]))
    steps = sorted(sent)

    def bytes_at(step):
        known = [s for s in steps if s <= step]
        return sent[known[-1]] / 1e9 if known else 0

    return ([p[0] for p in points], [bytes_at(p[0]) for p in points], [100 * p[1] for p in points])


def main():
    if len(sys.argv) < 3 or any("=" not in one for one in sys.argv[2:]):
        sys.exit(__doc__)
    figure, (by_step, by_bytes) = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for one in sys.argv[2:]:
        label, folder = one.split("=", 1)
        steps, gigabytes, precision = curve(folder)
        label = f"{label}: {precision[-1]:.2f} %"
        by_step.plot(steps, precision, marker=".", label=label)
        by_bytes.plot(gigabytes, precision, marker=".", label=label)
    by_step.set_xlabel("steps")
    by_bytes.set_xlabel("gigabytes sent by the workers")
    by_bytes.set_xscale("log")
    by_step.set_ylabel("precision@1, % (the last point: all test pictures)")
    by_step.legend(loc="lower right")
    for axes in (by_step, by_bytes):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
