#!/usr/bin/env python3
"""gloo's all-reduce of fp32 numbers, beside `sterna bench exchange`: one process for each rank.

Rank 0 prints {"ms_per_all_reduce": M, ...}, the median. Without torch it says so and exits 77.
By hand, on one machine:  gloo_allreduce.py --rank 1 --ranks 2 & gloo_allreduce.py --rank 0 --ranks 2
"""
import argparse
import json
import os
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--rank", type=int, required=True)
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--elements", type=int, default=25_600_000)
parser.add_argument("--address", default="127.0.0.1", help="of rank 0")
parser.add_argument("--port", type=int, default=29500, help="of rank 0")
parser.add_argument("--interface", default="lo", help="the network card that gloo is to use")
parser.add_argument("--repeats", type=int, default=20)
parser.add_argument("--dropped", type=int, default=4, help="first ones that are not measured")
options = parser.parse_args()

os.environ["GLOO_SOCKET_IFNAME"] = options.interface
try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    print(f"gloo_allreduce.py: no torch here: {error}", file=sys.stderr)
    sys.exit(77)

torch.set_num_threads(1)
dist.init_process_group(
    "gloo",
    init_method=f"tcp://{options.address}:{options.port}",
    rank=options.rank,
    world_size=options.ranks,
)
gradient = torch.full((options.elements,), 1e-3)
times = []
for _ in range(options.dropped + options.repeats):
    begin = time.perf_counter()
    dist.all_reduce(gradient)
    times.append(time.perf_counter() - begin)
    gradient.mul_(1 / options.ranks)
dist.barrier()
if options.rank == 0:
    milliseconds = 1e3 * statistics.median(times[options.dropped :])
    print(
        json.dumps(
            {
                "ms_per_all_reduce": milliseconds,
                "elements": options.elements,
                "ranks": options.ranks,
                "torch": torch.__version__,
            }
        )
    )
dist.destroy_process_group()
