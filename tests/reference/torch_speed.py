#!/usr/bin/env python3
"""How fast PyTorch trains nets of torch_nets.py: forward and backward passes in one thread, images
and weights channels last, without an optimizer's step.

usage: OMP_NUM_THREADS=1 python3 tests/reference/torch_speed.py NET[,NET...] BATCH PRECISION[,PRECISION...] [SECONDS]
       python3 tests/reference/torch_speed.py NET[,NET...] BATCH PRECISION[,PRECISION...] [SECONDS] --cuda

A precision is fp32, bf16, or with --cuda tf32. bf16 is autocast's: parameters stay float32. There is no dropout. Prints a
line of JSON for each net in each precision, with the images_per_second of the median round after a few to warm up, and
those of the round that took the least time of the processor, as `sterna bench net` counts; images are as large as the
original's. With --cuda a step is a CUDA graph on a GPU, by the clock, its images there already.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

from torch_layers import Layers
from torch_nets import NETS

SIZES = {"lenet": (28, 1, 10), "mlp": (28, 1, 10), "cifarnet": (24, 3, 10),
         "resnet_20": (32, 3, 10), "inception_v3": (299, 3, 1000)}
WARM_UP, LEAST_ROUNDS = 3, 5


class Parameters:
    def __init__(self):
        self.made = {}

    def __call__(self, name, shape):
        if name not in self.made:
            self.made[name] = self.make(name, shape)
        return self.made[name]

    @staticmethod
    def make(name, shape):
        if name.endswith("/mean"):
            return torch.zeros(shape)
        if name.endswith("/variance"):
            return torch.ones(shape)
        values = torch.ones(shape)
        if not name.endswith("/gamma"):
            torch.nn.init.normal_(values, std=0.05)
        if len(shape) == 4:
            values = values.to(memory_format=torch.channels_last)
        return values.requires_grad_()


def captured(step):
    """The step as a CUDA graph, and the wait for its end."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay():
        graph.replay()
        torch.cuda.synchronize()
    return replay


def measured(name, batch, precision, seconds, device):
    cuda = device == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.manual_seed(1)
    size, channels, classes = SIZES.get(name, (224, 3, 1000))
    images = torch.randn(batch, channels, size, size).to(memory_format=torch.channels_last)
    labels = torch.randint(classes, (batch,))
    parameters = Parameters()
    layers = Layers(parameters, classes, training=True)

    def step():
        for values in parameters.made.values():
            values.grad = None
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
            made = NETS[name](layers, images)
        heads = made if isinstance(made, tuple) else (made,)
        sum(weight * F.cross_entropy(logits.float(), labels)
            for weight, logits in zip((1, 0.4), heads)).backward()

    if cuda:
        step = captured(step)
    for _ in range(WARM_UP):
        step()
    rounds, computed, end = [], [], time.perf_counter() + seconds
    while len(rounds) < LEAST_ROUNDS or time.perf_counter() < end:
        start, computing = time.perf_counter(), time.process_time()
        step()
        rounds.append(time.perf_counter() - start)
        computed.append(time.process_time() - computing)
    return {"net": name, "batch": batch, "precision": precision, "threads": 1,
            "torch": torch.__version__,
            "isa": torch.cuda.get_device_name() if cuda else torch.backends.cpu.get_cpu_capability(),
            "rounds": len(rounds),
            "images_per_second": round(batch / statistics.median(rounds), 2),
            "images_per_second_least": round(batch / min(computed), 2)}


def main():
    cuda = "--cuda" in sys.argv
    names, batch, precisions, *seconds = [word for word in sys.argv[1:] if word != "--cuda"]
    names, precisions, there = names.split(","), precisions.split(","), set(NETS)
    for precision in precisions:
        if precision not in (("fp32", "tf32", "bf16") if cuda else ("fp32", "bf16")):
            sys.exit(f"precision {precision}; there are fp32 and bf16, and with --cuda tf32")
    if not there.issuperset(names):
        sys.exit(f"nets {','.join(names)}; there are {', '.join(sorted(there))}")
    device = "cuda" if cuda else "cpu"
    torch.set_default_device(device)
    torch.set_num_threads(1)
    for name in names:
        for precision in precisions:
            print(json.dumps(measured(name, int(batch), precision,
                                      float(seconds[0]) if seconds else 20, device)), flush=True)


main()
