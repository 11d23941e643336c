#!/usr/bin/env python3
"""Logits and losses of the nets of torch_nets.py, and gradients and batch statistics of the small
ones, in float64, for parameters and images that tests/nets/zoo/reference_test.cc computes by the
same rule.

usage: python3 tests/reference/net_values.py > tests/nets/zoo/expected_nets.txt    (needs PyTorch)

Element i of what is called NAME is (z >> 11) / 2**52 - 1, from -1 to 1, times a scale: z is number
i of SplitMix64 with the FNV-1a of DRAW/NAME as its seed. Image n is labelled n modulo the classes.
  decay DECAY                                       of the weights that decay
  net NAME rows columns classes batch divisor DRAW  of all channels; images have 3
  logits ...                                        of evaluation, image by image
  loss CROSS_ENTROPY REGULARIZATION                 of a step without dropout
  values NAME shape | norm projection               of a gradient, or of a batch's mean or variance
A projection is the sum of the elements times those that are called "projection", of DRAW 0.

A gradient jumps where a ReLU's input passes 0 or another pixel becomes a window's maximum, which
rounding to float32 does somewhere among a million. So of many draws a case has the one that stays
farthest from all such points. In the large nets, a few small images' batch norms make of rounding
alone an error of 1e-4 and more, in PyTorch's float32, too: their gradients are not here.
"""
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F

from torch_layers import Layers
from torch_nets import NETS

DECAY = 0.001
U = np.uint64
DRAWS = 64
# As wide as the original where that costs little; pictures of odd and of unlike sides, so that no
# padding and no axis hides another.
SMALL = [("lenet", 28, 26, 10, 3, 1), ("mlp", 9, 7, 10, 3, 1), ("cifarnet", 24, 21, 10, 3, 1),
         ("resnet_20", 17, 14, 10, 4, 1), ("alexnet", 79, 96, 7, 3, 8),
         ("alexnet_v2", 67, 99, 7, 3, 8), ("vgg_a", 33, 48, 7, 4, 8), ("vgg_16", 48, 33, 7, 4, 8)]
LARGE = [("googlenet", 64, 79, 7, 4, 8), ("inception_v3", 139, 155, 7, 4, 8),
         ("resnet_50", 64, 79, 7, 4, 8)]
UNDECAYED = {"cifarnet": ("conv1", "conv2", "logits")}


def elements(draw, name, shape, scale=1.0):
    seed = 0xCBF29CE484222325
    for byte in f"{draw}/{name}".encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        z = U(seed) + np.arange(1, np.prod(shape) + 1, dtype=U) * U(0x9E3779B97F4A7C15)
        z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    unit = ((z ^ (z >> U(31))) >> U(11)).astype(np.float64) * 2.0**-52 - 1
    return (unit * scale).astype(np.float32).astype(np.float64).reshape(shape)


def parameter_values(draw, name, shape):
    """Weights by He's rule, and nothing else at what would hide it."""
    role = name.rsplit("/", 1)[1]
    if role == "weights":
        return elements(draw, name, shape, np.sqrt(6 * shape[0] / np.prod(shape)))
    scale, center = {"biases": (0.125, 0), "beta": (0.5, 0), "gamma": (0.5, 1), "mean": (0.25, 0),
                     "variance": (0.5, 1)}[role]
    return (elements(draw, name, shape, scale) + center).astype(np.float32).astype(np.float64)


def is_statistic(name):
    return name.endswith(("/mean", "/variance"))


def numbers(values):
    return " ".join(f"{x:.7g}" for x in values)


def print_values(name, values):
    flat = values.detach().numpy().ravel()
    projected = flat @ elements(0, "projection", flat.shape)
    print("values", name, "x".join(map(str, values.shape)), "|",
          numbers((np.linalg.norm(flat), projected)))


class Step:
    """Of evaluation, or of training up to the loss."""

    def __init__(self, name, rows, columns, classes, batch, divisor, draw):
        self.net, self.draw = NETS[name], draw
        self.undecayed = UNDECAYED.get(name, ())
        self.images = torch.tensor(elements(draw, "images", (batch, rows, columns, 3)))
        self.labels = torch.arange(batch) % classes
        self.classes, self.divisor = classes, divisor
        self.parameters, self.statistics = {}, {}

    def parameter(self, name, shape):
        if name not in self.parameters:
            values = torch.tensor(parameter_values(self.draw, name, shape))
            self.parameters[name] = values.requires_grad_(not is_statistic(name))
        return self.parameters[name]

    def observe(self, layer, x):
        self.statistics[layer + "/mean"] = x.mean((0, 2, 3))
        self.statistics[layer + "/variance"] = x.var((0, 2, 3), unbiased=False)

    def outputs(self, training):
        layers = Layers(self.parameter, self.classes, training, self.divisor, self.observe)
        return self.net(layers, self.images.permute(0, 3, 1, 2))

    def losses(self):
        made = self.outputs(True)
        if isinstance(made, tuple):  # Inception v3's two heads; it smooths labels, too
            loss = sum(weight * F.cross_entropy(logits, self.labels, label_smoothing=0.1)
                       for weight, logits in zip((1, 0.4), made))
        else:
            loss = F.cross_entropy(made, self.labels)
        weights = [values for key, values in self.parameters.items()
                   if key.endswith("/weights") and key.split("/")[0] not in self.undecayed]
        return loss, DECAY / 2 * sum((w**2).sum() for w in weights)


class Kinks:
    """How near a pass comes to where gradients jump, over the values' root mean square."""

    def __init__(self):
        self.distance = np.inf
        self.relu, self.max_pool = F.relu, F.max_pool2d

    def near(self, x, distances):
        size = x[x.isfinite()].square().mean().sqrt()
        self.distance = min(self.distance, (distances.min() / size).item())

    def seen_relu(self, x, inplace=False):
        self.near(x.detach(), x.detach().abs())
        return self.relu(x)

    def seen_max_pool(self, x, kernel, stride, padding=(0, 0), ceil_mode=False):
        (down, across), more = padding, stride if ceil_mode else 0
        wide = F.pad(x.detach(), (across, across + more, down, down + more), value=-torch.inf)
        windows = wide.unfold(2, kernel, stride).unfold(3, kernel, stride).flatten(4)
        first, second = windows.topk(2).values.unbind(-1)
        self.near(x.detach(), torch.where(first > 0, first - second, torch.inf))
        return self.max_pool(x, kernel, stride, padding, ceil_mode=ceil_mode)


def distance_from_kinks(step):
    kinks = Kinks()
    with mock.patch.object(F, "relu", kinks.seen_relu), \
         mock.patch.object(F, "max_pool2d", kinks.seen_max_pool), torch.no_grad():
        step.outputs(True)
    return kinks.distance


def print_net(case, draw):
    step = Step(*case, draw)
    print("net", *case, draw)
    print("logits", numbers(step.outputs(False).detach().numpy().ravel()))
    losses = step.losses()
    print("loss", numbers(loss.item() for loss in losses))
    sum(losses).backward()
    return step


def main():
    torch.set_num_threads(1)
    print("decay", DECAY)
    for case in SMALL:
        draw = max(range(DRAWS), key=lambda draw: distance_from_kinks(Step(*case, draw)))
        step = print_net(case, draw)
        for name, values in step.parameters.items():
            print_values(name, step.statistics[name] if is_statistic(name) else values.grad)
    for case in LARGE:
        print_net(case, 0)


main()
