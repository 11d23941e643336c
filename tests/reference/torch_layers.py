"""What torch_nets.py is made of: convolutions, normalizations and pools as TensorFlow and PyTorch
have them, over parameters with the names and the layouts of our files.
"""
import torch
import torch.nn.functional as F

SAME, VALID = "same", "valid"


class Layers:
    """What a net is made of; `parameter(name, shape)` gives a tensor, the same one at each call.
    `observe(name, x)` sees what each batch norm normalizes in training."""

    def __init__(self, parameter, classes, training, divisor=1, observe=None):
        self.parameter, self.classes, self.training = parameter, classes, training
        self.divisor, self.observe = divisor, observe

    def channels(self, original):
        return max(1, original // self.divisor)

    def conv(self, x, name, outputs, kernel, stride=1, pad=SAME, bias=True):
        kernel = pair(kernel)
        outputs = self.channels(outputs)
        weights = self.parameter(name + "/weights", (outputs, x.shape[1], *kernel))
        biases = self.parameter(name + "/biases", (outputs,)) if bias else None
        top, bottom, left, right = padding(x, kernel, stride, pad)
        if (top, left) != (bottom, right):
            x, top, left = F.pad(x, (left, right, top, bottom)), 0, 0
        return F.conv2d(x, weights, biases, stride, (top, left))

    def batch_norm(self, x, name, epsilon, scale):
        size = (x.shape[1],)
        beta = self.parameter(name + "/beta", size)
        gamma = self.parameter(name + "/gamma", size) if scale else None
        mean, variance = (self.parameter(f"{name}/{what}", size) for what in ("mean", "variance"))
        if self.training and self.observe:
            self.observe(name, x)
        if gamma is None and x.is_cuda:  # where PyTorch wants both or none
            gamma = torch.ones_like(beta)
        return F.batch_norm(x, mean, variance, gamma, beta, self.training, 0.0, epsilon)

    def normed(self, x, name, outputs, kernel, stride=1, pad=SAME, epsilon=1e-3, scale=False):
        x = self.conv(x, name, outputs, kernel, stride, pad, bias=False)
        return self.batch_norm(x, name, epsilon, scale)

    def active(self, *layer, **options):
        return relu(self.normed(*layer, **options))

    def dense(self, x, name, units):
        weights = self.parameter(name + "/weights", (units, x.shape[1]))
        return F.linear(x, weights, self.parameter(name + "/biases", (units,)))

    def wide(self, x, name, units):
        return relu(self.dense(x, name, self.channels(units)))

    def logits(self, x, name="logits"):
        return self.dense(x, name, self.classes)


def pair(kernel):
    return kernel if isinstance(kernel, tuple) else (kernel, kernel)


def padding(x, kernel, stride, pad):
    """Rows above and below, columns left and right; `same` is TensorFlow's rule."""
    if pad == VALID:
        return 0, 0, 0, 0
    if pad != SAME:
        return pad, pad, pad, pad
    around = []
    for size, k in zip(x.shape[2:], kernel):
        total = max((-(-size // stride) - 1) * stride + k - size, 0)
        around += [total // 2, total - total // 2]
    return tuple(around)


def max_pool(x, kernel, stride, pad=SAME):
    top, bottom, left, right = padding(x, pair(kernel), stride, pad)
    if (top, left) == (bottom, right):
        return F.max_pool2d(x, kernel, stride, (top, left))
    if (top, left) == (0, 0):  # windows may reach over the end, where there is nothing
        return F.max_pool2d(x, kernel, stride, ceil_mode=True)
    return F.max_pool2d(F.pad(x, (left, right, top, bottom), value=-torch.inf), kernel, stride)


def relu(x):
    return F.relu(x, inplace=True)


def lrn(x, radius, bias, alpha, beta):
    """TensorFlow's: x / (bias + alpha * sum of squares) ** beta. PyTorch's divides the sum by the
    size of the window."""
    size = 2 * radius + 1
    return F.local_response_norm(x, size, alpha * size, beta, bias)


def global_average(x):
    return x.mean((2, 3))


def channels_last(x):
    """Flat as TensorFlow flattens: row, column, channel."""
    return x.permute(0, 2, 3, 1).flatten(1)
