#!/usr/bin/env python3
"""tf_checkpoint.py reads what TensorFlow itself wrote, and refuses what is damaged.

The checkpoint below is TensorFlow 2.21's (SaveV2 twice, then MergeV2Checkpoints): TernGrad's LeNet made
small. Element i of variable k, in the order of SHAPES, is 100 k + i; its moving average is the negative.
"""
import base64
import contextlib
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest
import zlib

import tf_checkpoint

FILES = {
    ".index":
        "eNpjYGDjYJJi4mBk4OFPzs8rM9RPykwsTi3mYBRiEWLiYNLgMOWT9ZfjkRTUd60oyM9LzSvJTMzxzS/LzEt3LEstSkxPhSmV"
        "YAQqLr/K4cXGLluempmeUQIyRQAoxQzFjCBlChwaHqai/TsdeCXl8ZmJoVGCEaw1yH7nRRYOQSNUhzIrBGjwmC4+JzyJR1KY"
        "kFOZgUaBlHclTbyF4VhGmH1gU2M0JEwNEoqbiHAsikagDSCtp3/nf2bgEkxLNkZ1LotCiYaAqeKTHaVchJ3LAjQMpFzSXa6Y"
        "hV0c4VwOoCQP2LQWRo0DjKZCSZNSuSUl8ZkH1wI0E6Lpb9OcWwzcAuk5+UmJOfHFJakFHJxCDEDpN6DI3319viADr1BOfnpm"
        "STFa2lA4AlKRts2oildShIjkAVH//2/GOgY+MaiJqJ6BGHuGSUPB9OtE+/98khKE/AIzGqznyNF5NgxAUMbEwMAEYhROkvwA"
        "ohlBxIFPCzcwMDLnMtxlhYudm5mi/oiV4z0rPwNBEP67oVul1P02ADn7wN4=",
    ".data-00000-of-00002":
        "eNoVx1tKAgAURdHTw2wETUNnUKQf1ajuKKzh3E8TiZAIiQgJiWgIPazVgcXmJP+r02R+nixYcsc9Kx54ZM0Tz7yw4ZUtb7zz"
        "wcUkueSK2SRFrpXcKJkruVXyqeRLybeSHyU7Jb9KMs0ZRZM9n6LJvk/R5MCnaHLoUzQZ+BRNjnyKJkOfosmxT9HkxCcjpWgy"
        "9il6PP0DYyxTPg==",
    ".data-00001-of-00002":
        "eNolx11KAgAQhdHbj9kK2kYuwcdyVbMKbTcN6YNGRESISERERLSEyupAwxw+bpLyl8nyKrnmhlvuuOeBNRu2PPLEMy+88sY7"
        "H5zNk3MmTOcpMlNyoWSpZKXkU8mXkm8lOyU/Sn6VZJExRZM9m6LJvk3R5MCmaHJoUzQZ2BRNjmyKJkObosmxTdHkxCanStFk"
        "ZFP0aDHM//0BlvCAxQ==",
}
SHAPES = [("conv1/biases", [2]), ("conv1/weights", [3, 3, 1, 2]), ("conv2/biases", [3]),
          ("conv2/weights", [1, 1, 2, 3]), ("fc3/biases", [4]), ("fc3/weights", [12, 4]),
          ("logits/biases", [2]), ("logits/weights", [4, 2])]


def expected():
    """Ours, element by element."""
    tensors = {}
    for k, (name, shape) in enumerate(SHAPES):
        at = lambda i, k=k: float(100 * k + i)  # noqa: E731
        if len(shape) == 1:
            tensors[name] = (shape, [at(i) for i in range(shape[0])])
        elif len(shape) == 4:
            h, w, inputs, outputs = shape
            tensors[name] = ([outputs, inputs, h, w],
                             [at(((y * w + x) * inputs + i) * outputs + o) for o in range(outputs)
                              for i in range(inputs) for y in range(h) for x in range(w)])
        else:
            inputs, outputs = shape
            channels = 3 if name == "fc3/weights" else inputs  # 2 x 2 pixels of conv2's three
            tensors[name] = ([outputs, inputs],
                             [at((place * channels + c) * outputs + o) for o in range(outputs)
                              for c in range(channels) for place in range(inputs // channels)])
    return tensors


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        tensors[name] = (entry["shape"], list(struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])))
    return tensors


class TfCheckpoint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.prefix = pathlib.Path(self.folder.name) / "model"
        self.bytes = {end: zlib.decompress(base64.b64decode(text)) for end, text in FILES.items()}
        for end, content in self.bytes.items():
            self.write(end, content)
        self.out = pathlib.Path(self.folder.name) / "out.safetensors"

    def write(self, end, content):
        pathlib.Path(f"{self.prefix}{end}").write_bytes(content)

    def run_script(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = tf_checkpoint.main([str(self.prefix), *arguments])
        return code, out.getvalue(), err.getvalue()

    def refusal(self, *arguments):
        code, out, err = self.run_script(*arguments or ("lenet", str(self.out)))
        self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
        self.assertFalse(self.out.exists())
        return err

    def test_variables_become_our_tensors(self):
        self.assertEqual(self.run_script("lenet", str(self.out)), (0, "", ""))
        self.assertEqual(read_safetensors(self.out), expected())

    def test_moving_averages_do_too(self):
        self.assertEqual(self.run_script("lenet", str(self.out), "--averages"), (0, "", ""))
        negatives = {name: (shape, [-v for v in values]) for name, (shape, values) in expected().items()}
        self.assertEqual(read_safetensors(self.out), negatives)

    def test_it_lists_what_there_is(self):
        code, out, _ = self.run_script("--list")
        self.assertEqual(code, 0)
        self.assertEqual(len(out.splitlines()), 17)
        self.assertIn("conv1/weights DT_FLOAT [3, 3, 1, 2]\n", out)
        self.assertIn("global_step DT_INT64 []\n", out)

    def test_another_net_is_refused(self):
        self.assertIn("there is no variable fc4/weights", self.refusal("cifarnet", str(self.out)))
        self.assertIn("there is no variable InceptionV1/Conv2d_1a_7x7/weights",
                      self.refusal("googlenet", str(self.out)))

    def test_a_flipped_byte_is_found(self):
        for end, content in self.bytes.items():
            if end == ".data-00001-of-00002":
                continue  # the averages
            for at in range(0, len(content), 3):
                self.write(end, content[:at] + bytes([content[at] ^ 0x24]) + content[at + 1:])
                code, _, err = self.run_script("lenet", str(self.out))
                # The footer has padding.
                if code != 0 or end != ".index" or at < len(content) - tf_checkpoint.FOOTER:
                    self.assertEqual((code, err.count("\n")), (1, 1), (end, at))
            self.write(end, content)

    def test_every_cut_is_found(self):
        for length in range(len(self.bytes[".index"])):
            self.write(".index", self.bytes[".index"][:length])
            self.refusal()
        self.write(".index", self.bytes[".index"])
        self.write(".data-00000-of-00002", self.bytes[".data-00000-of-00002"][:-1])
        self.assertIn("ends within", self.refusal())

    def test_what_is_not_there_is_said(self):
        pathlib.Path(f"{self.prefix}.data-00000-of-00002").unlink()
        self.assertIn(".data-00000-of-00002", self.refusal())
        pathlib.Path(f"{self.prefix}.index").unlink()
        self.assertIn("write_version", self.refusal())

    def test_the_checksum_is_the_formats(self):
        # RFC 3720, B.4: 32 bytes of zeros have 8a9136aa; masked as LevelDB's util/crc32c.h says.
        crc = 0x8A9136AA
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        self.assertEqual(tf_checkpoint.masked_crc32c(bytes(32)), masked)


if __name__ == "__main__":
    sys.exit(unittest.main())
