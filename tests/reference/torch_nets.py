"""The nets of nets/zoo a second time, in PyTorch: from the papers and from what the originals
(TernGrad, TF-slim, torchvision) make of them. It shares no code with nets/; parameters have the
names and the layouts of our files, so that values can be carried over by name.

A net is a function of `Layers` and of images {N, C, H, W}. It gives the logits, or in
training those of the main and of the auxiliary head where there is one. net_values.py and
torch_speed.py say what for.
"""
import torch
import torch.nn.functional as F

from torch_layers import SAME, VALID, channels_last, global_average, lrn, max_pool, relu


def lenet(n, x):
    x = max_pool(relu(n.conv(x, "conv1", 20, 5)), 2, 2)
    x = max_pool(relu(n.conv(x, "conv2", 50, 5)), 2, 2)
    return n.logits(n.wide(x.flatten(1), "fc3", 500))


def mlp(n, x, hidden=(300, 100)):
    x = channels_last(x)
    for i, units in enumerate(hidden):
        x = relu(n.dense(x, f"fc{i + 1}", units))
    return n.logits(x)


def cifarnet(n, x):
    def normed(x):
        return lrn(x, 4, 1.0, 0.001 / 9, 0.75)

    x = normed(max_pool(relu(n.conv(x, "conv1", 64, 5)), 3, 2))
    x = max_pool(normed(relu(n.conv(x, "conv2", 64, 5))), 3, 2)
    return n.logits(n.wide(n.wide(channels_last(x), "fc3", 384), "fc4", 192))


def alexnet(n, x):
    def pooled(x):
        return max_pool(lrn(x, 2, 2.0, 1e-4, 0.75), 3, 2, VALID)

    def tower(x, i):
        x = pooled(n.active(x, f"conv1_{i}", 48, 11, 4))
        return pooled(n.active(x, f"conv2_{i}", 128, 5))

    def after(x, i):
        for name, outputs in (("conv3", 192), ("conv4", 192), ("conv5", 128)):
            x = n.active(x, f"{name}_{i}", outputs, 3)
        return max_pool(x, 3, 2, VALID)

    x = torch.cat([tower(x, 1), tower(x, 2)], 1)
    x = torch.cat([after(x, 1), after(x, 2)], 1)
    return n.logits(n.wide(n.wide(channels_last(x), "fc6", 4096), "fc7", 4096))


def alexnet_v2(n, x):
    def conv(x, name, outputs, kernel, stride=1, pad=SAME):
        return relu(n.conv(x, name, outputs, kernel, stride, pad))

    x = max_pool(conv(x, "conv1", 64, 11, 4, VALID), 3, 2, VALID)
    x = max_pool(conv(x, "conv2", 192, 5), 3, 2, VALID)
    x = conv(conv(x, "conv3", 384, 3), "conv4", 384, 3)
    x = max_pool(conv(x, "conv5", 256, 3), 3, 2, VALID)
    # The original's fc layers are convolutions over all that is left, HWIO in TensorFlow.
    x = n.wide(n.wide(channels_last(x), "fc6", 4096), "fc7", 4096)
    return n.logits(x, "fc8")


def vgg(stages):
    def net(n, x):
        number = 0
        for stage in stages:
            for outputs in stage:
                number += 1
                x = n.active(x, f"conv{number}", outputs, 3)
            x = max_pool(x, 2, 2)
        x = channels_last(x)
        for i in (1, 2):
            x = n.wide(x, f"fc{number + i}", 4096)
        return n.logits(x, f"fc{number + 3}")

    return net


vgg_a = vgg([[64], [128], [256] * 2, [512] * 2, [512] * 2])
vgg_16 = vgg([[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3])

MIXED = {  # 1 x 1 | 1 x 1, 3 x 3 | 1 x 1, 3 x 3 | pool, 1 x 1
    "3b": (64, 96, 128, 16, 32, 32), "3c": (128, 128, 192, 32, 96, 64),
    "4b": (192, 96, 208, 16, 48, 64), "4c": (160, 112, 224, 24, 64, 64),
    "4d": (128, 128, 256, 24, 64, 64), "4e": (112, 144, 288, 32, 64, 64),
    "4f": (256, 160, 320, 32, 128, 128), "5b": (256, 160, 320, 32, 128, 128),
    "5c": (384, 192, 384, 48, 128, 128)}


def googlenet(n, x):
    def mixed(x, name):
        one, before, three, before_second, second, pooled = MIXED[name]
        return torch.cat([
            n.active(x, name + "/b0", one, 1),
            n.active(n.active(x, name + "/b1a", before, 1), name + "/b1b", three, 3),
            n.active(n.active(x, name + "/b2a", before_second, 1), name + "/b2b", second, 3),
            n.active(max_pool(x, 3, 1), name + "/b3", pooled, 1)], 1)

    x = max_pool(n.active(x, "conv1", 64, 7, 2), 3, 2)
    x = n.active(n.active(x, "conv2a", 64, 1), "conv2b", 192, 3)
    pools = {"3b": 3, "4b": 3, "5b": 2}
    for name in MIXED:
        if name in pools:
            x = max_pool(x, pools[name], 2)
        x = mixed(x, name)
    return n.logits(global_average(x))


class InceptionV3:
    def __init__(self, n):
        self.n = n

    def chain(self, x, name, *layers):
        """Convolutions after each other: (suffix, outputs, kernel), and a stride if unpadded."""
        for suffix, outputs, kernel, *stride in layers:
            window = (*stride, VALID) if stride else ()
            x = self.n.active(x, f"{name}/{suffix}", outputs, kernel, *window)
        return x

    def averaged(self, x):
        return F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)

    def at_35(self, x, name, pooled):
        return torch.cat([
            self.chain(x, name, ("b0", 64, 1)),
            self.chain(x, name, ("b1a", 48, 1), ("b1b", 64, 5)),
            self.chain(x, name, ("b2a", 64, 1), ("b2b", 96, 3), ("b2c", 96, 3)),
            self.chain(self.averaged(x), name, ("b3", pooled, 1))], 1)

    def at_17(self, x, name, inner):
        wide, high = (1, 7), (7, 1)
        return torch.cat([
            self.chain(x, name, ("b0", 192, 1)),
            self.chain(x, name, ("b1a", inner, 1), ("b1b", inner, wide), ("b1c", 192, high)),
            self.chain(x, name, ("b2a", inner, 1), ("b2b", inner, high), ("b2c", inner, wide),
                       ("b2d", inner, high), ("b2e", 192, wide)),
            self.chain(self.averaged(x), name, ("b3", 192, 1))], 1)

    def crossed(self, x, name):
        return torch.cat([self.n.active(x, name + "_1x3", 384, (1, 3)),
                          self.n.active(x, name + "_3x1", 384, (3, 1))], 1)

    def at_8(self, x, name):
        return torch.cat([
            self.chain(x, name, ("b0", 320, 1)),
            self.crossed(self.chain(x, name, ("b1a", 384, 1)), name + "/b1b"),
            self.crossed(self.chain(x, name, ("b2a", 448, 1), ("b2b", 384, 3)), name + "/b2c"),
            self.chain(self.averaged(x), name, ("b3", 192, 1))], 1)

    def head(self, x):
        x = self.n.active(F.avg_pool2d(x, 5, 3), "aux/proj", 128, 1)
        x = self.n.active(x, "aux/conv", 768, tuple(x.shape[2:]), pad=VALID)
        return self.n.logits(x.flatten(1), "aux/logits")

    def __call__(self, x):
        n = self.n
        x = n.active(x, "conv0", 32, 3, 2, VALID)
        x = n.active(n.active(x, "conv1", 32, 3, 1, VALID), "conv2", 64, 3)
        x = n.active(max_pool(x, 3, 2, VALID), "conv3", 80, 1)
        x = max_pool(n.active(x, "conv4", 192, 3, 1, VALID), 3, 2, VALID)
        for name, pooled in (("mixed_256a", 32), ("mixed_288a", 64), ("mixed_288b", 64)):
            x = self.at_35(x, name, pooled)
        x = torch.cat([
            self.chain(x, "mixed_768a", ("b0", 384, 3, 2)),
            self.chain(x, "mixed_768a", ("b1a", 64, 1), ("b1b", 96, 3), ("b1c", 96, 3, 2)),
            max_pool(x, 3, 2, VALID)], 1)
        for letter, inner in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
            x = self.at_17(x, "mixed_768" + letter, inner)
        head = self.head(x) if n.training else None
        x = torch.cat([
            self.chain(x, "mixed_1280a", ("b0a", 192, 1), ("b0b", 320, 3, 2)),
            self.chain(x, "mixed_1280a", ("b1a", 192, 1), ("b1b", 192, (1, 7)),
                       ("b1c", 192, (7, 1)), ("b1d", 192, 3, 2)),
            max_pool(x, 3, 2, VALID)], 1)
        x = self.at_8(self.at_8(x, "mixed_2048a"), "mixed_2048b")
        logits = n.logits(global_average(x))
        return (logits, head) if n.training else logits


def inception_v3(n, x):
    return InceptionV3(n)(x)


RESIDUAL = {"epsilon": 1e-5, "scale": True}


def resnet_20(n, x):
    x = n.active(x, "conv1", 16, 3, 1, 1, **RESIDUAL)
    for stage, channels in enumerate((16, 32, 64)):
        for block in range(3):
            stride = 2 if stage > 0 and block == 0 else 1
            name = f"block{stage + 1}_{block + 1}"
            y = n.active(x, name + "/conv1", channels, 3, stride, 1, **RESIDUAL)
            y = n.normed(y, name + "/conv2", channels, 3, 1, 1, **RESIDUAL)
            if stride > 1:  # option A
                x = F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, 0, y.shape[1] - x.shape[1]))
            x = relu(x + y)
    return n.logits(global_average(x))


def resnet_50(n, x):
    x = max_pool(n.active(x, "conv1", 64, 7, 2, 3, **RESIDUAL), 3, 2, 1)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        channels = 64 * 2**stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            name = f"block{stage + 1}_{block + 1}"
            y = n.active(x, name + "/conv1", channels, 1, **RESIDUAL)
            y = n.active(y, name + "/conv2", channels, 3, stride, 1, **RESIDUAL)
            y = n.normed(y, name + "/conv3", 4 * channels, 1, **RESIDUAL)
            if block == 0:
                x = n.normed(x, name + "/shortcut", 4 * channels, 1, stride, 0, **RESIDUAL)
            x = relu(x + y)
    return n.logits(global_average(x))


NETS = {net.__name__: net for net in (lenet, mlp, cifarnet, alexnet, alexnet_v2, googlenet,
                                      inception_v3, resnet_20, resnet_50)}
NETS |= {"vgg_a": vgg_a, "vgg_16": vgg_16}
