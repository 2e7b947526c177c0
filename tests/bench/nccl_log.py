#!/usr/bin/env python3
"""Writes the log of a job of RANKS ranks that hangs, as all ranks write it into one file, of about BYTES bytes.

Its lines are those of tests/fixtures/captures/h200x4/nccl-hang.txt, which NCCL 2.28.9 and PyTorch 2.11 wrote: start, channels,
steps, and at the end a watchdog line of every rank but the last.
"""
import argparse
import pathlib


def head(rank):
    return f"node-{rank // 8:03d}:{1000 + rank}:{1000 + rank} [{rank % 8}] NCCL INFO "


def start(rank, ranks):
    comm = f"ncclCommInitRankConfig comm 0x{0x48775fc0 + rank:x} rank {rank} nranks {ranks} cudaDev {rank % 8} nvmlDev {rank % 8} busId {rank % 8 + 1}b000 commId 0x4c3ba331d40fb6fe - Init "
    yield head(rank) + "Bootstrap: Using eth0:192.0.2.2<0>"
    yield head(rank) + "NCCL version 2.28.9+cuda13.0"
    yield head(rank) + "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:192.0.2.2<0>"
    yield head(rank) + "NCCL_IB_TIMEOUT set by environment to 22."
    yield head(rank) + comm + "START"
    yield head(rank) + "Trees " + " ".join(f"[{i}] {rank + 1}/-1/-1->{rank}->{rank - 1}" for i in range(24))
    yield head(rank) + comm + "COMPLETE"
    yield head(rank) + "Connected all rings, use ring PXN 0 GDR 1"


def channels(rank, ranks, turn):
    for channel in range(24):
        to = (rank + 1) % ranks
        via = "NET/IB/3/GDRDMA" if to % 8 == 0 else "P2P/CUMEM"
        yield head(rank) + f"Channel {channel:02d}/{turn} : {rank}[{rank % 8}] -> {to}[{to % 8}] via {via}"


def end(rank, number):
    front = f"[rank{rank}]:[E1127 21:52:45.977186709 ProcessGroupNCCL.cpp:"
    yield front + f"689] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, NumelIn=268435456, NumelOut=268435456, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."
    yield front + f"2303] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by watchdog at work sequence id: {number} PG status: last enqueued work: {number}, last completed work: {number - 1}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=512)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    arguments = parser.parse_args()
    ranks = range(arguments.ranks)
    turns = ["".join(line + "\n" for rank in ranks for line in channels(rank, arguments.ranks, turn)) for turn in range(4)]
    with arguments.file.open("w") as out:
        written = out.write("".join(line + "\n" for rank in ranks for line in start(rank, arguments.ranks)))
        turn = 0
        while written < arguments.bytes:
            written += out.write(turns[turn % 4])
            written += out.write(f"step {turn} loss 2.3456 tokens/s 123456 grad norm 0.91\n" * 200)
            turn += 1
        for rank in ranks[:-1]:
            out.write("".join(line + "\n" for line in end(rank, 4711)))


if __name__ == "__main__":
    main()
