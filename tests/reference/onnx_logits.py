#!/usr/bin/env python3
"""Every net with random weights, exported by `sterna export` and opened by others: ONNX Runtime's
logits are compared with those of `sterna predict`, and NumPy's and safetensors' tensors with what
was written.

usage: python3 tests/reference/onnx_logits.py PROGRAM FOLDER [NET...]
       (needs NumPy, Pillow, onnxruntime and safetensors; without NETs all are tried, VGG's among
       them, whose files take 500 MB each)

One line a net: its largest logit, and how far the logits are apart, as a part of that. The status
is 1 where some are further apart than 1e-4.
"""
import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime
import safetensors.numpy
from PIL import Image

CLOSE = 1e-4
TORCHVISIONS = {"net.bn_scale": "true", "net.pool_padding": "true"}


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def values(random, tensor):
    """Near what training leaves: nothing is at 0 or 1, where it would hide a mistake."""
    shape, role = tensor["shape"], tensor["role"]
    if role == "weight":
        deviation = np.float32(math.sqrt(2 / np.prod(shape[1:])))
        return deviation * random.standard_normal(shape, dtype=np.float32)
    if role == "gamma" or tensor["name"].endswith("/variance"):
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    return np.float32(0.1) * random.standard_normal(shape, dtype=np.float32)


def net_table(program, name, chosen):
    """With factors in its batch norms where they are chosen, which `net show` does not know of."""
    net = json.loads(run(program, "net", "show", name, "--json"))
    names = {tensor["name"] for tensor in net["tensors"]}
    for tensor in list(net["tensors"]):
        gamma = tensor["name"].replace("/beta", "/gamma")
        if chosen.get("net.bn_scale") == "true" and tensor["role"] == "beta" and gamma not in names:
            net["tensors"].append(dict(tensor, name=gamma, role="gamma"))
    return net


def compare(program, folder, name, chosen):
    """How far apart the logits are, and the largest of them."""
    random = np.random.default_rng(1)
    net = net_table(program, name, chosen)
    tensors = {tensor["name"]: values(random, tensor) for tensor in net["tensors"]}
    hidden = [300, 100] if name == "mlp" else []
    note = {"format": "2", "job.net": f'"{name}"', "job.hidden": str(hidden),
            "data.preprocess": '"mnist"', **chosen,
            **{key: str(net[key]) for key in ("rows", "columns", "channels", "classes")}}
    weights, picture = str(folder / "random.safetensors"), str(folder / "random.png")
    safetensors.numpy.save_file(tensors, weights, note)
    shape = (net["rows"], net["columns"], net["channels"])
    pixels = random.integers(0, 256, shape, dtype=np.uint8)
    Image.fromarray(pixels.squeeze()).save(picture)

    for form in ("onnx", "npz", "safetensors"):
        run(program, "export", weights, "--to", form, "--into", str(folder / f"out.{form}"))
    zipped = np.load(folder / "out.npz")
    again = safetensors.numpy.load_file(folder / "out.safetensors")
    for tensor, expected in tensors.items():
        assert np.array_equal(zipped[tensor], expected), tensor
        assert np.array_equal(again[tensor], expected), tensor
    assert json.loads(zipped["metadata.json"])["job.net"] == note["job.net"]

    told = json.loads(run(program, "predict", "--weights", weights, "--all", "--json", picture))
    ours = np.empty(net["classes"], np.float32)
    for one in told["pictures"][0]["top"]:
        ours[one["label"]] = one["logit"]
    session = onnxruntime.InferenceSession(folder / "out.onnx", providers=["CPUExecutionProvider"])
    properties = session.get_modelmeta().custom_metadata_map
    assert properties["data.preprocess"] == note["data.preprocess"]
    image = ((pixels.astype(np.float32) / 255 - 0.5) * 2).transpose(2, 0, 1)
    theirs = session.run(["logits"], {"images": np.stack([image, image])})[0]
    assert theirs.shape == (2, net["classes"])
    largest = np.abs(ours).max()
    return np.abs(theirs - ours).max() / largest, largest


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    known = [net["name"] for net in json.loads(run(program, "net", "list", "--json"))["nets"]]
    tried = [(name, {}) for name in sys.argv[3:] or known]
    tried += [(name, TORCHVISIONS) for name, _ in tried if name == "inception_v3"]
    worst = 0
    for name, chosen in tried:
        apart, largest = compare(program, folder, name, chosen)
        worst = max(worst, apart)
        shown = name + (" as torchvision's" if chosen else "")
        print(f"{shown:30} logits up to {largest:.4g}, {apart:.2g} of that apart", flush=True)
    sys.exit(int(worst > CLOSE))


main()
