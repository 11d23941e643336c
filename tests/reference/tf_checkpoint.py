#!/usr/bin/env python3
"""Converts a checkpoint of TensorFlow into a safetensors file for init.from.

usage: python3 tests/reference/tf_checkpoint.py PREFIX --list
       python3 tests/reference/tf_checkpoint.py PREFIX NET OUT.safetensors [--averages]

PREFIX is what tf.train.Saver was given: PREFIX.index and PREFIX.data-00000-of-0000N lie there. NET is a
net of ours: lenet and cifarnet as TernGrad trains them, googlenet as TF-slim's Inception v1. --averages
takes the moving averages that TernGrad keeps beside the variables. What has no counterpart (slots, the
global step) is left out; a variable that is missing is an error. TF-slim's ResNet v1 is not ours: its
strides lie elsewhere.

Needs nothing but Python. The format, "V2": the index is a table as LevelDB's (its doc/table_format.md),
from names to BundleEntryProto (tensorflow/core/protobuf/tensor_bundle.proto); the data are the tensors'
bytes, little-endian, one after the other. Every checksum is checked. Convolutions' weights lie there as
HWIO, ours as OIHW; a dense layer after pictures reads there rows, columns, channels, here channels first.
"""
import array
import json
import pathlib
import struct
import sys

TABLE_MAGIC = 0xDB4775248B80FB57
FOOTER = 48
TRAILER = 5  # of a block: how it is compressed, and a checksum
AVERAGE = "/ExponentialMovingAverage"
TYPES = {1: ("f", "DT_FLOAT"), 2: ("d", "DT_DOUBLE"), 3: ("i", "DT_INT32"), 9: ("q", "DT_INT64")}


class Refused(Exception):
    pass


# ---- checksums ----

def crc_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        yield value


CRC = list(crc_table())


def masked_crc32c(data):
    """CRC-32C, masked as LevelDB does, so that a checksum of checksums is one."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# ---- the index: a sorted table ----

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7


def block(data, handle):
    offset, at = varint(handle, 0)
    size, _ = varint(handle, at)
    content, trailer = data[offset:offset + size], data[offset + size:offset + size + TRAILER]
    if len(trailer) != TRAILER:
        raise Refused("the index ends too early")
    if struct.unpack("<I", trailer[1:])[0] != masked_crc32c(content + trailer[:1]):
        raise Refused("the index is damaged: a checksum is wrong")
    if trailer[0] != 0:
        raise Refused("the index is compressed, which TensorFlow's own never is")
    return content


def entries(content):
    """Of a block: each key has what it shares with the one before left out."""
    end = len(content) - 4 - 4 * struct.unpack("<I", content[-4:])[0]
    at, key = 0, b""
    while at < end:
        shared, at = varint(content, at)
        own, at = varint(content, at)
        size, at = varint(content, at)
        key = key[:shared] + content[at:at + own]
        yield key, content[at + own:at + own + size]
        at += own + size


def table(data):
    if len(data) < FOOTER or struct.unpack("<Q", data[-8:])[0] != TABLE_MAGIC:
        raise Refused("not the index of a checkpoint: it does not end as a table does")
    footer = data[-FOOTER:]
    block(data, footer)  # the metaindex, which has nothing
    _, at = varint(footer, 0)
    _, at = varint(footer, at)
    for _, handle in entries(block(data, footer[at:])):
        yield from entries(block(data, handle))


# ---- what it says of tensors ----

def fields(message):
    """Of a protocol buffer: (number, value), integers or bytes."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(message, at)
        elif kind == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = int.from_bytes(message[at:at + size], "little"), at + size
        yield tag >> 3, value


def number(message, field):
    return next((value for name, value in fields(message) if name == field), 0)


class Tensor:
    def __init__(self, entry):
        self.type, self.shape, self.shard, self.offset, self.size, self.crc = 0, [], 0, 0, 0, 0
        self.slices = False
        for field, value in fields(entry):
            if field == 1:
                self.type = value
            elif field == 2:
                self.shape = [number(dim, 1) for name, dim in fields(value) if name == 2]
            elif field == 3:
                self.shard = value
            elif field == 4:
                self.offset = value
            elif field == 5:
                self.size = value
            elif field == 6:
                self.crc = value
            elif field == 7:
                self.slices = True


class Checkpoint:
    def __init__(self, prefix):
        index = pathlib.Path(f"{prefix}.index")
        if not index.exists():
            raise Refused(f"{index}: there is none; a checkpoint of the first format has to be saved again "
                          "by tf.train.Saver(write_version=SaverDef.V2)")
        self.prefix, self.tensors, self.shards = prefix, {}, 1
        for key, value in table(index.read_bytes()):
            if key:
                self.tensors[key.decode()] = Tensor(value)
            else:
                self.shards = number(value, 1)
                if number(value, 2) != 0:
                    raise Refused("its numbers are big-endian")

    def values(self, name):
        """All of a tensor, as an array of floats."""
        tensor = self.tensors.get(name)
        if tensor is None:
            raise Refused(f"there is no variable {name}")
        if tensor.slices:
            raise Refused(f"{name} lies in slices (a partitioned variable), which are not read")
        if tensor.type not in TYPES:
            raise Refused(f"{name} is of type {tensor.type}, which is not read")
        path = f"{self.prefix}.data-{tensor.shard:05d}-of-{self.shards:05d}"
        with open(path, "rb") as file:
            file.seek(tensor.offset)
            data = file.read(tensor.size)
        code = TYPES[tensor.type][0]
        if len(data) != struct.calcsize(code) * count(tensor.shape):
            raise Refused(f"{path}: ends within {name}")
        if masked_crc32c(data) != tensor.crc:
            raise Refused(f"{path}: {name} is damaged: its checksum is wrong")
        return array.array("f", array.array(code, data))


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


# ---- names ----

def affine(names):
    return {f"{ours}/{part}": f"{theirs}/{part}" for ours, theirs in names.items()
            for part in ("weights", "biases")}


def inception_v1():
    """TF-slim's names, in which one of the 57 convolutions has a slip."""
    convolutions = {"conv1": "Conv2d_1a_7x7", "conv2a": "Conv2d_2b_1x1", "conv2b": "Conv2d_2c_3x3"}
    for mixed in ("3b", "3c", "4b", "4c", "4d", "4e", "4f", "5b", "5c"):
        last = "0a" if mixed == "5b" else "0b"
        for ours, theirs in (("b0", "Branch_0/Conv2d_0a_1x1"), ("b1a", "Branch_1/Conv2d_0a_1x1"),
                             ("b1b", "Branch_1/Conv2d_0b_3x3"), ("b2a", "Branch_2/Conv2d_0a_1x1"),
                             ("b2b", f"Branch_2/Conv2d_{last}_3x3"), ("b3", "Branch_3/Conv2d_0b_1x1")):
            convolutions[f"{mixed}/{ours}"] = f"Mixed_{mixed}/{theirs}"
    names = {}
    for ours, theirs in convolutions.items():
        names[f"{ours}/weights"] = f"InceptionV1/{theirs}/weights"
        for part, statistic in (("beta", "beta"), ("mean", "moving_mean"), ("variance", "moving_variance")):
            names[f"{ours}/{part}"] = f"InceptionV1/{theirs}/BatchNorm/{statistic}"
    return names | affine({"logits": "InceptionV1/Logits/Conv2d_0c_1x1"})


def nets():
    """Ours to theirs; and the dense layers that read pictures, with the layer before."""
    return {
        "lenet": (affine({name: name for name in ("conv1", "conv2", "fc3", "logits")}), {"fc3": "conv2"}),
        "cifarnet": (affine({name: name for name in ("conv1", "conv2", "fc3", "fc4", "logits")}),
                     {"fc3": "conv2"}),
        "googlenet": (inception_v1(), {}),
    }


# ---- out ----

def outputs_first(values, inputs, outputs):
    """{places, inputs, outputs} to {outputs, inputs, places}."""
    turned = array.array("f")
    for o in range(outputs):
        for i in range(inputs):
            turned.extend(values[i * outputs + o::inputs * outputs])
    return turned


def convert(checkpoint, net, averages):
    names, after_pictures = nets()[net]
    converted = {}
    for ours, theirs in names.items():
        if averages and theirs + AVERAGE in checkpoint.tensors:
            theirs += AVERAGE
        values = checkpoint.values(theirs)
        shape = checkpoint.tensors[theirs].shape
        layer = ours.rsplit("/", 1)[0]
        if len(shape) == 4:
            values = outputs_first(values, shape[2], shape[3])
            shape = [shape[3], shape[2], shape[0], shape[1]]
            if layer == "logits":  # a dense layer here
                shape = shape[:2]
        elif len(shape) == 2:
            inputs = shape[0]
            if layer in after_pictures:
                inputs = checkpoint.tensors[names[f"{after_pictures[layer]}/weights"]].shape[3]
            values = outputs_first(values, inputs, shape[1])
            shape = [shape[1], shape[0]]
        converted[ours] = (shape, values)
    return converted


def write_safetensors(path, tensors):
    """nets/weights/weights_file.h says where the format comes from."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        some = values.tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(some)]}
        data += some
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def main(arguments):
    averages = "--averages" in arguments
    words = [word for word in arguments if word != "--averages"]
    try:
        if len(words) == 2 and words[1] == "--list":
            for name, tensor in Checkpoint(words[0]).tensors.items():
                print(name, TYPES.get(tensor.type, (0, tensor.type))[1], tensor.shape)
            return 0
        if len(words) != 3 or words[1] not in nets():
            print(__doc__, file=sys.stderr)
            return 2
        write_safetensors(words[2], convert(Checkpoint(words[0]), words[1], averages))
        return 0
    except (Refused, OSError) as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
    except (IndexError, KeyError, UnicodeDecodeError, struct.error) as error:
        print(f"{words[0]}: not a checkpoint as TensorFlow writes them: {error!r}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
