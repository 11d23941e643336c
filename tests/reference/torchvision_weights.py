#!/usr/bin/env python3
"""torchvision's resnet50 and inception_v3 with random weights, as files of ours: weights, images
and the logits that torchvision gives for them. tests/nets/zoo/torchvision_test.cc compares.

usage: python3 tests/reference/torchvision_weights.py FOLDER       (needs PyTorch and torchvision)
       STERNA_TORCHVISION=FOLDER ctest --test-dir build/release -R Torchvision

FOLDER/NET.safetensors and FOLDER/NET_logits.safetensors are written, NET being a name of ours; the
latter holds "images" {N, rows, columns, channels} and "logits". Statistics are those of a batch, as
training would leave them, betas and gammas drawn around 0 and 1: nothing is at what hides it.

One thing is changed in torchvision's inception_v3: its 3 x 3 average pools count the padding, which
TensorFlow's, and so the original's and ours, do not. Both are evaluated, and how far apart they are
is printed.
"""
import json
import pathlib
import struct
import sys
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

RESNET_50 = {"conv1": "conv1", "bn1": "conv1", "fc": "logits"}
for stage, blocks in enumerate((3, 4, 6, 3), 1):
    for block in range(blocks):
        theirs, ours = f"layer{stage}.{block}", f"block{stage}_{block + 1}"
        for i in (1, 2, 3):
            RESNET_50[f"{theirs}.conv{i}"] = RESNET_50[f"{theirs}.bn{i}"] = f"{ours}/conv{i}"
        for i in (0, 1):
            RESNET_50[f"{theirs}.downsample.{i}"] = f"{ours}/shortcut"

AT_35 = {"branch1x1": "b0", "branch5x5_1": "b1a", "branch5x5_2": "b1b", "branch3x3dbl_1": "b2a",
         "branch3x3dbl_2": "b2b", "branch3x3dbl_3": "b2c", "branch_pool": "b3"}
TO_17 = {"branch3x3": "b0", "branch3x3dbl_1": "b1a", "branch3x3dbl_2": "b1b",
         "branch3x3dbl_3": "b1c"}
AT_17 = {"branch1x1": "b0", "branch7x7_1": "b1a", "branch7x7_2": "b1b", "branch7x7_3": "b1c",
         "branch7x7dbl_1": "b2a", "branch7x7dbl_2": "b2b", "branch7x7dbl_3": "b2c",
         "branch7x7dbl_4": "b2d", "branch7x7dbl_5": "b2e", "branch_pool": "b3"}
TO_8 = {"branch3x3_1": "b0a", "branch3x3_2": "b0b", "branch7x7x3_1": "b1a", "branch7x7x3_2": "b1b",
        "branch7x7x3_3": "b1c", "branch7x7x3_4": "b1d"}
AT_8 = {"branch1x1": "b0", "branch3x3_1": "b1a", "branch3x3_2a": "b1b_1x3",
        "branch3x3_2b": "b1b_3x1", "branch3x3dbl_1": "b2a", "branch3x3dbl_2": "b2b",
        "branch3x3dbl_3a": "b2c_1x3", "branch3x3dbl_3b": "b2c_3x1", "branch_pool": "b3"}
MODULES = {"5b": ("256a", AT_35), "5c": ("288a", AT_35), "5d": ("288b", AT_35),
           "6a": ("768a", TO_17), "6b": ("768b", AT_17), "6c": ("768c", AT_17),
           "6d": ("768d", AT_17), "6e": ("768e", AT_17), "7a": ("1280a", TO_8),
           "7b": ("2048a", AT_8), "7c": ("2048b", AT_8)}
INCEPTION_V3 = {"fc": "logits", "AuxLogits.fc": "aux/logits"}
for theirs, ours in {"Conv2d_1a_3x3": "conv0", "Conv2d_2a_3x3": "conv1", "Conv2d_2b_3x3": "conv2",
                     "Conv2d_3b_1x1": "conv3", "Conv2d_4a_3x3": "conv4",
                     "AuxLogits.conv0": "aux/proj", "AuxLogits.conv1": "aux/conv",
                     **{f"Mixed_{module}.{branch}": f"mixed_{name}/{ours}"
                        for module, (name, branches) in MODULES.items()
                        for branch, ours in branches.items()}}.items():
    INCEPTION_V3[theirs + ".conv"] = INCEPTION_V3[theirs + ".bn"] = ours

KINDS = {"running_mean": "mean", "running_var": "variance"}
DENSE_KINDS = {"weight": "weights", "bias": "biases"}
NORM_KINDS = {"weight": "gamma", "bias": "beta", **KINDS}


def write_safetensors(path, tensors):
    """Of little-endian float32; nets/weights/weights_file.h says where the format comes from."""
    header, data = {}, b""
    for name, values in tensors.items():
        values = values.astype("<f4")
        header[name] = {"dtype": "F32", "shape": values.shape,
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def converted(model, names):
    """A state by the names of ours; layouts are the same, {out, in} and OIHW."""
    modules = dict(model.named_modules())
    state = {}
    for key, values in model.state_dict().items():
        module, kind = key.rsplit(".", 1)
        if kind == "num_batches_tracked":
            continue
        norm = isinstance(modules[module], torch.nn.BatchNorm2d)
        state[f"{names[module]}/{(NORM_KINDS if norm else DENSE_KINDS)[kind]}"] = values.numpy()
    return state


def with_statistics(model, images):
    """As training leaves a model: moving statistics are a batch's own."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in norms:
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        torch.nn.init.normal_(norm.bias, std=0.2)
        norm.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(images)
    return model.eval()


def logits(model, images):
    with torch.no_grad():
        return model(images).numpy()


def write(folder, name, model, names, size):
    images = torch.randn(4, 3, size, size)
    model = with_statistics(model, torch.randn(8, 3, size, size))
    expected = logits(model, images)
    average = F.avg_pool2d

    def unpadded(x, kernel_size, stride=None, padding=0):
        return average(x, kernel_size, stride, padding, count_include_pad=False)

    with mock.patch.object(F, "avg_pool2d", unpadded):
        changed = logits(model, images)
    apart = np.abs(changed - expected).max() / np.abs(changed).max()
    print(f"{name}: logits up to {np.abs(changed).max():.4g}; counting no padding moves them by "
          f"{apart:.2g} of that")
    write_safetensors(folder / f"{name}.safetensors", converted(model, names))
    write_safetensors(folder / f"{name}_logits.safetensors",
                      {"images": images.permute(0, 2, 3, 1).numpy(), "logits": changed})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    write(folder, "resnet_50", torchvision.models.resnet50(weights=None), RESNET_50, 224)
    inception = torchvision.models.inception_v3(weights=None, init_weights=True)
    assert not inception.transform_input
    write(folder, "inception_v3", inception, INCEPTION_V3, 299)


main()
