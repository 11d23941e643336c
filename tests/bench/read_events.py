#!/usr/bin/env python3
"""Reads what runs write for TensorBoard by TensorBoard's own loader, and prints what holds.

usage: read_events.py STERNA FOLDER [KILLS]
(needs PyPI's tensorboard and numpy; FOLDER gets the runs; KILLS: 20. Exit code 1: something fails.)

LeNet on drawn digits or MNIST, 60 steps, histograms every 20. Compared are: every tag and its count;
each step's loss of one worker with two ranks and of two workers, bit for bit; the histograms of
weights with the checkpoint of their step, by NumPy; and runs that are killed at random moments, whose
files may be torn in their last record alone, and that go on without a step twice.
"""
import glob
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

STEPS, EVERY = 60, 20
failures = 0


def say(what, holds, figure=""):
    global failures
    failures += not holds
    print(f"{'ok   ' if holds else 'FAILS'} {what}{': ' if figure != '' else ''}{figure}", flush=True)


def command(sterna, folder, workers, more=()):
    job = f"""format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
count = {workers}
ranks = {2 // workers}
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = {STEPS}
[evaluator]
every = 20
examples = 200
[checkpoint]
every_steps = {EVERY}
keep = 9
resume = true
[summary]
tensorboard = true
every = {EVERY}
"""
    os.makedirs(folder, exist_ok=True)
    path = folder + ".toml"
    with open(path, "w") as file:
        file.write(job)
    return [sterna, "run", path, "--run-dir", folder, *more]


def events(run):
    for path in sorted(glob.glob(run + "/events.out.tfevents.*")):
        yield from LegacyEventFileLoader(path).Load()


def values(run):
    """Of each tag: (step, value)."""
    found = {}
    for event in events(run):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value))
    return found


def tensors(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    return {name: np.frombuffer(data[slice(*about["data_offsets"])], "<f4")
            for name, about in header.items() if name != "__metadata__" and about["dtype"] == "F32"}


def buckets_of(x):
    """By the definition: sign, exponent and 3 bits of mantissa, zeros of both signs together."""
    bits = x.view("<u4") >> 20
    number = np.where(bits & 0x800, -(bits & 0x7FF).astype(int), bits.astype(int))
    numbers, counts = np.unique(number, return_counts=True)
    ends = lambda n: np.array([abs(n) << 20, (abs(n) + 1) << 20], "<u4").view("<f4").astype(float)
    limits = {}
    for n, count in zip(numbers, counts):
        low, high = ends(int(n))
        limits[-low if n < 0 else high] = int(count)
    return limits


def compare_histogram(histogram, x):
    counted = {limit: int(count)
               for limit, count in zip(histogram.bucket_limit, histogram.bucket) if count}
    x64 = x.astype(np.float64)
    return (counted == buckets_of(x) and histogram.num == x.size and histogram.min == x.min() and
            histogram.max == x.max() and
            abs(histogram.sum - x64.sum()) <= 1e-9 * np.abs(x64).sum())


def weights(sterna, run):
    found = values(run)
    compared = wrong = 0
    for step in range(EVERY, STEPS, EVERY):
        into = f"{run}-{step}.safetensors"
        subprocess.run([sterna, "export", f"{run}/checkpoints/step-{step:09}", "--to", "safetensors",
                        "--into", into], check=True, stdout=subprocess.DEVNULL)
        for name, x in tensors(into).items():
            told = [value.histo for at, value in found[name] if at == step]
            compared += 1
            wrong += len(told) != 1 or not compare_histogram(told[0], x)
    say("weights' histograms equal the checkpoints' by NumPy", compared > 0 and wrong == 0,
        f"{compared} tensors, {wrong} differ")


def tags(run):
    found = values(run)
    count = {tag: len(all_) for tag, all_ in found.items()}
    histograms = {tag: n for tag, n in count.items() if found[tag][0][1].HasField("histo")}
    say("loss, avg_total_loss and avg_reg_loss of every step",
        all(count.get(tag) == STEPS for tag in ("loss", "avg_total_loss", "avg_reg_loss")),
        count.get("loss"))
    say(f"each histogram {STEPS // EVERY} times",
        len(histograms) > 0 and set(histograms.values()) == {STEPS // EVERY},
        f"{len(histograms)} histograms")
    for tag in ("learning_rate", "examples_per_second", "bits_up", "bits_down", "Accuracy @ 1",
                "Accuracy @ 5", "evaluated_loss", "resolved.toml"):
        say(f"tag {tag}", tag in count, count.get(tag, 0))


    pictures = [[value.image for _, value in found.get(f"images/{n}", [])] for n in range(3)]
    say("three pictures as often, PNGs of 28 x 28 pixels",
        all(len(own) == STEPS // EVERY and all(
            one.encoded_image_string.startswith(b"\x89PNG") and (one.height, one.width) == (28, 28)
            for one in own) for own in pictures), [len(own) for own in pictures])


def losses(run):
    return {step: struct.pack("<f", value.simple_value) for step, value in values(run)["loss"]}


def records(path):
    """The whole records of a file, and what is behind them."""
    data = open(path, "rb").read()
    at = count = 0
    while at + 16 <= len(data):
        length = struct.unpack("<Q", data[at:at + 8])[0]
        if at + 16 + length > len(data):
            break
        at += 16 + length
        count += 1
    return count, len(data) - at


def killed(sterna, folder, kills):
    random.seed(1)
    torn = twice = unread = 0
    for n in range(kills):
        run = f"{folder}/killed-{n}"
        started = subprocess.Popen(command(sterna, run, 2), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(random.uniform(0.3, 2.0))
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        for path in glob.glob(run + "/events.out.tfevents.*"):
            whole, rest = records(path)
            read = sum(1 for _ in LegacyEventFileLoader(path).Load())
            torn += rest > 0
            unread += read != whole
        subprocess.run(command(sterna, run, 2), stdout=subprocess.DEVNULL, check=True)
        seen = EventAccumulator(run)
        seen.Reload()
        steps = [scalar.step for scalar in seen.Scalars("loss")]
        twice += len(steps) != len(set(steps)) or max(steps) != STEPS
    say(f"{kills} killed runs: every record but the last is read", unread == 0,
        f"{torn} files torn at their end")
    say(f"{kills} killed runs go on without a step twice", twice == 0)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sterna, folder = sys.argv[1:3]
    for workers in (1, 2):
        subprocess.run(command(sterna, f"{folder}/workers-{workers}", workers), check=True,
                       stdout=subprocess.DEVNULL)
    tags(f"{folder}/workers-2")
    one, two = (losses(f"{folder}/workers-{workers}") for workers in (1, 2))
    say("loss at each step bit-equal for 1 and 2 workers", len(one) == STEPS and one == two, len(one))
    weights(sterna, f"{folder}/workers-2")
    killed(sterna, folder, int(sys.argv[3]) if len(sys.argv) > 3 else 20)
    sys.exit(failures > 0)


main()
