#!/usr/bin/env python3
"""How fast GRACE (ICDCS 2021) ternarizes a gradient on a GPU in PyTorch: the operations of its TernGrad, on
25.6 M elements drawn from a normal distribution, the result int8 as there. Prints one line of JSON: the median
milliseconds of 15 rounds between two events, the buffers so many that none is in the GPU's cache.

usage: python3 tests/bench/grace_on_gpu.py [ELEMENTS]
"""
import json
import statistics
import sys

import torch

ROUNDS = 15
BYTES = 512 << 20  # of all buffers


def ternarized(gradient):
    """Signs at random, with the probability of |g| over the largest; clipped at 2.5 deviations."""
    spread = (gradient - gradient.mean()).square().mean().sqrt()
    clipped = gradient.clamp(-2.5 * spread, 2.5 * spread)
    magnitude = clipped.abs()
    scaler = magnitude.max()
    draw = torch.empty_like(clipped).uniform_(0, scaler.item())
    signs = clipped.sign() * scaler
    signs[draw >= magnitude] = 0
    return signs.sign().to(torch.int8), scaler


def main():
    elements = int(sys.argv[1]) if len(sys.argv) > 1 else 25_600_000
    torch.set_default_device("cuda")
    buffers = [0.01 * torch.randn(elements) for _ in range(max(2, BYTES // (4 * elements)))]
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(ROUNDS + 1):
        begin.record()
        for gradient in buffers:
            ternarized(gradient)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / len(buffers))
    print(json.dumps({"grace_ms": statistics.median(times[1:]), "elements": elements,
                      "torch": torch.__version__, "device": torch.cuda.get_device_name()}))


main()
