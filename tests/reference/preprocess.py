#!/usr/bin/env python3
"""What the preprocessing families make, computed a second time: from the papers', TensorFlow's and
torchvision's definitions and from the draws that input/batches/BATCHES.md defines, in NumPy alone,
with dense matrices in float64. It shares no code with input/augment/.

usage: python3 tests/reference/preprocess.py > tests/input/augment/expected_pictures.txt

A line is a case and what the net sees of it:
  family mode rows columns channels out_rows out_columns out_channels seed epoch example boxes...
    | mean of each channel | index value ...
boxes are four numbers each (top, left, bottom, right); values are in the net's units.
"""
import math

import numpy as np

MEANS = np.array([123.68, 116.78, 103.94]) / 255
FILE_MEAN, FILE_DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
F = np.float32


def picture(rows, columns, channels):
    """The picture of the test of the same name."""
    y, x, c = np.ogrid[:rows, :columns, :channels]
    return ((3 * y + 5 * x * (c + 1) + x * y // 7 + 40 * c) % 256).astype(np.uint8)


class Draws:
    def __init__(self, seed, epoch, example):
        self.key, self.epoch, self.example, self.taken = seed, epoch, example, 0

    def word(self):
        block, position = divmod(self.taken, 4)
        self.taken += 1
        low = 2**32
        third = self.example // low * 2**16 + self.epoch // low * 2**8 + block
        counter, key = [self.example % low, self.epoch % low, third, 5], [self.key % low, self.key // low]
        for _ in range(10):
            a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
            counter = [b // low ^ counter[1] ^ key[0], b % low, a // low ^ counter[3] ^ key[1], a % low]
            key = [(key[0] + 0x9E3779B9) % low, (key[1] + 0xBB67AE85) % low]
        return counter[position]

    def below(self, n):
        return self.word() * n // 2**32

    def coin(self):
        return self.word() >= 2**31

    def uniform(self, low=0.0, high=1.0):
        part = F(self.word() // 256) * F(2.0**-24)
        return float(F(low) + (F(high) - F(low)) * part)


def to_bytes(x):
    return np.floor(np.clip(x, 0, 255) + 0.5).astype(np.uint8)


def cubic(distance):
    x = abs(distance)
    if x <= 1:
        return 1.25 * x**3 - 2.25 * x**2 + 1
    return -0.75 * x**3 + 3.75 * x**2 - 6 * x + 3 if x < 2 else 0.0


def matrix(method, source, target):
    """target x source: how much each source pixel is in each new one."""
    weights = np.zeros((target, source))
    step = source / target

    def add(x, i, weight):
        weights[x, min(max(i, 0), source - 1)] += weight

    for x in range(target):
        whole, rest = divmod(x * source, target)
        rest /= target
        if method == "nearest":
            add(x, whole, 1)
        elif method == "bilinear":
            add(x, whole, 1 - rest)
            add(x, whole + 1, rest)
        elif method == "bicubic":
            rest = np.rint(rest * 1024) / 1024
            for i in range(-1, 3):
                add(x, whole + i, cubic(rest - i))
        elif method == "area":
            for i in range(source):
                weights[x, i] = max(min((x + 1) * step, i + 1) - max(x * step, i), 0) / step
        else:  # triangle: torchvision's bilinear with antialias
            reach = max(step, 1)
            near = np.maximum(1 - abs(np.arange(source) + 0.5 - (x + 0.5) * step) / reach, 0)
            weights[x] = near / near.sum()
    return weights


def resize(pixels, rows, columns, method):
    down = np.einsum("ys,sxc->yxc", matrix(method, pixels.shape[0], rows), pixels)
    return to_bytes(np.einsum("xs,ysc->yxc", matrix(method, pixels.shape[1], columns), down))


def crop(pixels, top, left, rows, columns):
    return pixels[top : top + rows, left : left + columns]


def crop_or_pad(pixels, place, shape):
    """The window of `shape` whose place is place(number of places) on each axis; zeros around."""
    for axis in (0, 1):
        have, want = pixels.shape[axis], shape[axis]
        first = place(max(have - want, 0) + 1)
        pixels = pixels.take(range(first, first + min(have, want)), axis)
        before = max(want - have, 0) // 2
        padding = [(0, 0)] * 3
        padding[axis] = (before, max(want - have, 0) - before)
        pixels = np.pad(pixels, padding)
    return pixels


def middle(places):
    return (places - 1) // 2


def with_channels(pixels, channels):
    if pixels.shape[2] == channels:
        return pixels
    if channels == 3:
        return np.repeat(pixels, 3, 2)
    return to_bytes(pixels @ np.array([[0.299], [0.587], [0.114]]))


def flipped(pixels, flip):
    return pixels[:, ::-1] if flip else pixels


def mnist(pixels, shape, draws, boxes):
    return (crop_or_pad(pixels, middle, shape) / 255 - 0.5) * 2


def cifar(pixels, shape, draws, boxes):
    if draws:
        pixels = crop_or_pad(pixels, draws.below, shape)
        x = flipped(pixels, draws.coin()) / 255
        x = x + draws.uniform(-63 / 255, 63 / 255)
        mean = x.mean((0, 1))
        x = (x - mean) * draws.uniform(0.2, 1.8) + mean
    else:
        x = crop_or_pad(pixels, middle, shape) / 255
    return (x - x.mean()) / max(x.std(), 1 / math.sqrt(x.size))


def less_means(pixels):
    mean = MEANS if pixels.shape[2] == 3 else MEANS @ np.array([0.299, 0.587, 0.114])
    return pixels.astype(float) - 255 * mean


def crop_and_flip(pixels, shape, draws):
    if not draws:
        return crop_or_pad(pixels, middle, shape)
    pixels = crop_or_pad(pixels, draws.below, shape)
    return flipped(pixels, draws.coin())


def alexnet(pixels, shape, draws, boxes):
    return less_means(crop_and_flip(resize(pixels, 256, 256, "bilinear"), shape, draws))


def to_side(pixels, side, method):
    short = min(pixels.shape[:2])
    return resize(pixels, *((2 * n * side + short) // (2 * short) for n in pixels.shape[:2]), method)


def vgg(pixels, shape, draws, boxes):
    side = 256 + draws.below(257) if draws else 256
    return less_means(crop_and_flip(to_side(pixels, side, "bilinear"), shape, draws))


def distorted_box(rows, columns, boxes, draws):
    """tf.image.sample_distorted_bounding_box: top, left, rows, columns."""
    rectangles = [[int(F(part) * F(n)) for part, n in zip(box, (rows, columns) * 2)] for box in boxes]
    for _ in range(100):
        aspect = draws.uniform(0.75, 1.33)
        word = draws.word()
        least, most = 0.05 * rows * columns, rows * columns
        height, highest = int(np.rint(math.sqrt(least / aspect))), int(np.rint(math.sqrt(most / aspect)))
        if np.rint(highest * aspect) > columns:
            highest = int((columns + 0.5 - 1e-7) / aspect)
        highest = min(highest, rows)
        height = min(height, highest)
        if height < highest:
            height += word * (highest - height + 1) // 2**32
        width = int(np.rint(height * aspect))
        if width * height < least:
            height += 1
            width = int(np.rint(height * aspect))
        if width * height > most:
            height -= 1
            width = int(np.rint(height * aspect))
        met = least <= width * height <= most and 0 < width <= columns and 0 < height <= rows
        if not met:
            draws.word(), draws.word()
            continue
        top, left = draws.below(rows - height + 1), draws.below(columns - width + 1)
        for t, l, b, r in rectangles:
            shared = max(min(b, top + height) - max(t, top), 0) * max(min(r, left + width) - max(l, left), 0)
            if (b - t) * (r - l) >= 1 and shared >= 0.1 * (b - t) * (r - l):
                return top, left, height, width
    return 0, 0, rows, columns


def to_hsv(x):
    """Hue in turns, value, and the range from the least to the largest channel."""
    value, least = x.max(2), x.min(2)
    spread = value - least
    divisor = np.where(spread > 0, spread, 1)
    r, g, b = np.moveaxis(x, 2, 0)
    hue = np.where(value == r, (g - b) / divisor, np.where(value == g, 2 + (b - r) / divisor, 4 + (r - g) / divisor))
    return np.where(spread > 0, hue / 6 % 1, 0), np.where(value > 0, spread / np.where(value > 0, value, 1), 0), value


def from_hsv(hue, saturation, value):
    six = hue * 6
    corner = [abs(six - 3) - 1, 2 - abs(six - 2), 2 - abs(six - 4)]
    return np.stack([value * (1 - saturation * (1 - np.clip(k, 0, 1))) for k in corner], 2)


def saturation(x, factor):
    h, s, v = to_hsv(x)
    return from_hsv(h, np.clip(s * factor, 0, 1), v)


def hue(x, delta):
    h, s, v = to_hsv(x)
    return from_hsv((h + delta) % 1, s, v)


def contrast(x, factor):
    mean = x.mean((0, 1))
    return (x - mean) * factor + mean


def inception(pixels, shape, draws, boxes):
    rows, columns, channels = pixels.shape
    if not draws:
        y, x = rows // 16, columns // 16
        pixels = resize(crop(pixels, y, x, rows - 2 * y, columns - 2 * x), *shape[:2], "bilinear")
        return (pixels / 255 - 0.5) * 2
    method = ["bilinear", "nearest", "bicubic", "area"][draws.below(4)]
    flip, contrast_second = draws.coin(), draws.coin()
    by = draws.uniform(-32 / 255, 32 / 255)
    saturated, turned = draws.uniform(0.5, 1.5), draws.uniform(-0.2, 0.2)
    stretched = draws.uniform(0.5, 1.5)
    part = crop(pixels, *distorted_box(rows, columns, boxes or [[0, 0, 1, 1]], draws))
    x = flipped(resize(part, *shape[:2], method), flip) / 255 + by
    if contrast_second:
        x = contrast(x, stretched)
    if channels == 3:
        x = hue(saturation(x, saturated), turned)
    if not contrast_second:
        x = contrast(x, stretched)
    return (to_bytes(x * 255) / 255 - 0.5) * 2


def random_area(rows, columns, draws):
    """torchvision.transforms.RandomResizedCrop: top, left, rows, columns."""
    for _ in range(10):
        area = rows * columns * draws.uniform(0.08, 1)
        aspect = math.exp((2 * draws.uniform() - 1) * math.log(4 / 3))
        width, height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < width <= columns and 0 < height <= rows:
            return draws.below(rows - height + 1), draws.below(columns - width + 1), height, width
        draws.word(), draws.word()
    width, height = columns, rows
    if columns / rows < 3 / 4:
        height = round(columns / (3 / 4))
    elif columns / rows > 4 / 3:
        width = round(rows * (4 / 3))
    return (rows - height) // 2, (columns - width) // 2, height, width


def resize_crop(pixels, shape, draws, boxes):
    if draws:
        flip = draws.coin()
        pixels = flipped(resize(crop(pixels, *random_area(*pixels.shape[:2], draws)), *shape[:2], "triangle"), flip)
    else:
        side = (max(shape[:2]) * 8 + 3) // 7
        pixels = crop_or_pad(to_side(pixels, side, "triangle"), middle, shape)
    return (pixels / 255 - FILE_MEAN[: shape[2]]) / FILE_DEVIATION[: shape[2]]


def show(family, mode, source, shape, example, boxes=()):
    seed, epoch = 11, 2**32 + 3
    draws = Draws(seed, epoch, example) if mode == "train" else None
    seen = family(with_channels(picture(*source), shape[2]), shape, draws, list(boxes))
    assert seen.shape == shape, (family, seen.shape)
    flat = seen.reshape(-1)
    at = [(i * (flat.size - 1) // 15 + i % shape[2]) % flat.size for i in range(16)]
    print(
        family.__name__, mode, *source, *shape, seed, epoch, example, *[n for box in boxes for n in box],
        "|", *[f"{m:.7g}" for m in seen.mean((0, 1))], "|", *[f"{i} {flat[i]:.7g}" for i in at],
    )


def main():
    print("# by tests/reference/preprocess.py, which says what a line is")
    for example in range(4):
        show(cifar, "train", (32, 32, 3), (24, 24, 3), example + 2**40)
    show(cifar, "train", (20, 40, 1), (24, 24, 3), 4)
    show(mnist, "train", (28, 28, 1), (28, 28, 1), 0)
    show(mnist, "train", (21, 40, 1), (28, 28, 1), 0)
    for example in range(3):
        show(alexnet, "train", (100, 150, 3), (64, 48, 3), example)
        show(vgg, "train", (100, 75, 3), (64, 48, 3), example)
    show(vgg, "train", (3, 50, 3), (64, 48, 3), 3)
    for example in range(12):
        show(inception, "train", (90, 61, 3), (40, 32, 3), example)
    show(inception, "train", (90, 61, 3), (40, 32, 3), 12, [(0.1, 0.2, 0.3, 0.35), (0.5, 0.5, 0.5, 0.9)])
    show(inception, "train", (90, 61, 3), (40, 32, 1), 13)
    for source in ((1, 1, 3), (1, 5000, 3), (5000, 1, 3), (9, 14, 1)):
        show(inception, "train", source, (40, 32, 3), 14)
        show(resize_crop, "train", source, (40, 32, 3), 14)
    for example in range(4):
        show(resize_crop, "train", (90, 61, 3), (40, 32, 3), example)
    for family in (mnist, cifar, alexnet, vgg, inception, resize_crop):
        show(family, "evaluate", (90, 61, 3), (40, 32, 3), 0)
        show(family, "evaluate", (19, 33, 1), (24, 24, 1), 0)
        show(family, "evaluate", (1, 1, 3), (24, 24, 3), 0)


if __name__ == "__main__":
    main()
