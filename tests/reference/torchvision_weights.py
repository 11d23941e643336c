#!/usr/bin/env python3
"""torchvision's resnet50 and inception_v3 with random weights, by its own names, with images and the
logits that it gives for them. tests/nets/zoo/torchvision_test.cc compares.

usage: python3 tests/reference/torchvision_weights.py FOLDER       (needs PyTorch and torchvision)
       STERNA_TORCHVISION=FOLDER ctest --test-dir build/release -R Torchvision

FOLDER/NET.safetensors and FOLDER/NET_logits.safetensors are written, NET being a name of ours; the
latter holds "images" {N, rows, columns, channels} and "logits". Statistics are those of a batch, as
training would leave them, betas and gammas drawn around 0 and 1: nothing is at what hides it.
"""
import json
import pathlib
import struct
import sys

import torch
import torchvision

TYPES = {torch.float32: "F32", torch.int64: "I64"}


def write_safetensors(path, tensors):
    """nets/weights/weights_file.h says where the format comes from."""
    header, data = {}, b""
    for name, values in tensors.items():
        some = values.numpy().tobytes()
        header[name] = {"dtype": TYPES[values.dtype], "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(some)]}
        data += some
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


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


def write(folder, name, model, size):
    images = torch.randn(4, 3, size, size)
    model = with_statistics(model, torch.randn(8, 3, size, size))
    with torch.no_grad():
        logits = model(images)
    print(f"{name}: logits up to {logits.abs().max():.4g}")
    write_safetensors(folder / f"{name}.safetensors", model.state_dict())
    write_safetensors(folder / f"{name}_logits.safetensors",
                      {"images": images.permute(0, 2, 3, 1).contiguous(), "logits": logits})


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    write(folder, "resnet_50", torchvision.models.resnet50(weights=None), 224)
    inception = torchvision.models.inception_v3(weights=None, init_weights=True)
    assert not inception.transform_input
    write(folder, "inception_v3", inception, 299)


main()
