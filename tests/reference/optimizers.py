#!/usr/bin/env python3
"""Where optimizers, schedules and moving averages lead, computed a second time: from TensorFlow's
definitions (adamw: PyTorch's) in float64, one element after the other. It shares no code with kernels/optimizer/.

usage: python3 tests/reference/optimizers.py > tests/kernels/expected_optimizers.txt

Lines are of two kinds, KEY VALUE being the keys that are not as nobody sets them:
  step NAME rate DECAY [KEY VALUE ...] | w after 1, 2, 10 and 60 steps | their averages after 60
  rate NAME lr0 STEPS STEPS_PER_EPOCH WARM_UP [KEY VALUE ...] | step rate ...
Step t, from 0 on, has the gradient g[i] = (i + 1) / 4 * sin(0.7 t + 1.3 i), and w[i] starts at
i / 10 - 0.2. The averages decay by min(0.99, (1 + t) / (10 + t)).
"""
import math

ELEMENTS = 5
SHOWN = (1, 2, 10, 60)


def gradient(t, i):
    return (i + 1) / 4 * math.sin(0.7 * t + 1.3 * i)


class Gd:
    def step(self, w, g, lr, t):
        return w - lr * g


class Momentum:
    def __init__(self, momentum=0.9, nesterov=False):
        self.momentum, self.nesterov, self.accumulator = momentum, nesterov, 0

    def step(self, w, g, lr, t):
        self.accumulator = self.accumulator * self.momentum + g
        if self.nesterov:
            return w - (g * lr + self.accumulator * self.momentum * lr)
        return w - self.accumulator * lr


class Adam:
    def __init__(self, decoupled=0, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.decoupled, self.betas, self.epsilon = decoupled, (beta1, beta2), epsilon
        self.m = self.v = 0

    def step(self, w, g, lr, t):
        beta1, beta2 = self.betas
        self.m = beta1 * self.m + (1 - beta1) * g
        self.v = beta2 * self.v + (1 - beta2) * g**2
        rate = lr * math.sqrt(1 - beta2 ** (t + 1)) / (1 - beta1 ** (t + 1))
        return w * (1 - lr * self.decoupled) - rate * self.m / (math.sqrt(self.v) + self.epsilon)


class RmsProp:
    def __init__(self, rms_decay=0.9, momentum=0.9, rms_epsilon=1.0):
        self.rho, self.momentum, self.epsilon = rms_decay, momentum, rms_epsilon
        self.ms, self.mom = 1, 0

    def step(self, w, g, lr, t):
        self.ms = self.rho * self.ms + (1 - self.rho) * g**2
        self.mom = self.momentum * self.mom + lr * g / math.sqrt(self.ms + self.epsilon)
        return w - self.mom


class Adagrad:
    def __init__(self):
        self.accumulator = 0.1

    def step(self, w, g, lr, t):
        self.accumulator = self.accumulator + g**2
        return w - lr * g * self.accumulator**-0.5


def print_steps(name, make, lr, decay, keys=()):
    shown = {t: [] for t in SHOWN}
    averages = []
    for i in range(ELEMENTS):
        rule = make()
        w = average = i / 10 - 0.2
        for t in range(max(SHOWN)):
            decoupled = name == "adamw"
            w = rule.step(w, gradient(t, i) + (0 if decoupled else decay * w), lr, t)
            d = min(0.99, (1 + t) / (10 + t))
            average = d * average + (1 - d) * w
            if t + 1 in shown:
                shown[t + 1].append(w)
        averages.append(average)
    print("step", name, lr, decay, *keys, "|",
          *(f"{x:.9g}" for t in SHOWN for x in shown[t]), "|", *(f"{x:.9g}" for x in averages))


def schedule(name, lr, steps, per_epoch, warm_up, keys, step):
    done = min(step, steps) / steps
    end = keys.get("end_learning_rate", 0)
    if name == "fixed":
        rate = lr
    elif name == "exponential":
        rate = lr * keys["decay_factor"] ** (step // int(per_epoch * keys["epochs_per_decay"]))
    elif name == "polynomial":
        rate = (lr - end) * (1 - done) ** keys.get("power", 0.5) + end
    else:
        rate = end + (lr - end) * 0.5 * (1 + math.cos(math.pi * done))
    return rate * min(1, (step + 1) / warm_up) if warm_up else rate


def print_rates(name, lr, steps, per_epoch=1, warm_up=0, **keys):
    flat = [word for pair in keys.items() for word in pair]
    at = sorted({0, 1, 2, 7, steps // 7, steps // 4, steps // 3, steps // 2, steps * 2 // 3,
                 steps * 3 // 4, steps - 1, steps, 2 * steps})
    rates = [(step, schedule(name, lr, steps, per_epoch, warm_up, keys, step)) for step in at]
    print("rate", name, lr, steps, per_epoch, warm_up, *flat, "|",
          *(f"{step} {rate:.16g}" for step, rate in rates))


def main():
    print_steps("gd", Gd, 0.05, 0.01)
    print_steps("momentum", Momentum, 0.05, 0.01)
    print_steps("nesterov", lambda: Momentum(nesterov=True), 0.05, 0)
    print_steps("nesterov", lambda: Momentum(0.5, nesterov=True), 0.05, 0.01, ("momentum", 0.5))
    print_steps("adam", Adam, 0.01, 0.01)
    print_steps("adamw", lambda: Adam(0.5), 0.01, 0.5)
    print_steps("adamw", lambda: Adam(0.5, beta1=0.5, epsilon=0.1), 0.01, 0.5,
                ("beta1", 0.5, "epsilon", 0.1))
    print_steps("rmsprop", RmsProp, 0.05, 0)
    print_steps("rmsprop", lambda: RmsProp(0.5, 0.25, 0.01), 0.05, 0.01,
                ("rms_decay", 0.5, "momentum", 0.25, "rms_epsilon", 0.01))
    print_steps("adagrad", Adagrad, 0.1, 0.01)
    print_rates("fixed", 0.1, 100, warm_up=8)
    print_rates("exponential", 0.1, 1000, 12.5, decay_factor=0.16, epochs_per_decay=8)
    print_rates("exponential", 0.1, 1000, 12.5, 300, decay_factor=0.94, epochs_per_decay=2)
    print_rates("polynomial", 0.01, 2000)
    print_rates("polynomial", 0.02, 1000, power=1, end_learning_rate=0.0001)
    print_rates("polynomial", 0.02, 997, warm_up=5, power=2.3, end_learning_rate=0.001)
    print_rates("cosine", 0.1, 1000)
    print_rates("cosine", 0.3, 12345, warm_up=500, end_learning_rate=0.003)


main()
