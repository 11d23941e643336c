#!/usr/bin/env python3
"""Reads a TFRecord file that Sterna wrote with the package `tfrecord` (pip install tfrecord), and
compares every feature with what a text file says: a line a record, JSON, bytes in hexadecimal.

usage: read_tfrecord.py FILE.tfrecord EXPECTED.jsonl    (status 77: the package is missing)
tests/input/python_reads_records_test.cc writes both files and runs this.
"""
import json
import sys

try:
    from tfrecord import example_pb2, reader
except ImportError as error:
    print(f"no package `tfrecord`: {error}")
    sys.exit(77)


def values(feature):
    kind = feature.WhichOneof("kind")
    found = list(getattr(feature, kind).value) if kind else []
    return [v.hex() for v in found] if kind == "bytes_list" else found


def main():
    path, expected_path = sys.argv[1:]
    with open(expected_path, encoding="ascii") as lines:
        expected = [json.loads(line) for line in lines]
    found = []
    for data in reader.tfrecord_iterator(path):
        example = example_pb2.Example()
        example.ParseFromString(bytes(data))
        found.append({key: values(f) for key, f in example.features.feature.items()})
    if len(found) != len(expected):
        sys.exit(f"{path}: {len(found)} records, and {len(expected)} were written")
    for number, (got, wanted) in enumerate(zip(found, expected)):
        if got != wanted:
            sys.exit(f"{path}: record {number} has {got}, and must have {wanted}")
    print(f"{len(found)} records as they were written")


main()
