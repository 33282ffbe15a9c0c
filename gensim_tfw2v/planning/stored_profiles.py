"""Profiles that come with the package; docs/how-it-works/planning.md says how each of them was measured."""

from __future__ import annotations

from gensim_tfw2v.planning.profiles import Profile, RowCost, StepCost

AMX = Profile(
    processor="Intel Xeon with AVX-512 and AMX",
    steps={
        "sg-neg": StepCost(170.0, 4.56),
        "cbow-neg": StepCost(127.0, 4.51),
        "sg-hs": StepCost(449.0, 13.62),
        "cbow-hs": StepCost(223.0, 8.10),
    },
    worker=RowCost(4.0, 20.0),
    server=RowCost(1.4, 3.0),
    coordinator_nanoseconds_a_word=100.0,
    coordinator_milliseconds_a_block=4.0,
    counting_nanoseconds_a_word=160.0,
    start_seconds=2.0,
    memory_bytes_a_second=8e9,
)
AVX2 = Profile(
    processor="AMD EPYC with AVX2",
    steps={
        "sg-neg": StepCost(558.0, 6.49),
        "cbow-neg": StepCost(352.0, 4.79),
        "sg-hs": StepCost(1145.0, 13.28),
        "cbow-hs": StepCost(929.0, 5.67),
    },
    worker=RowCost(8.1, 20.0),
    server=RowCost(2.4, 2.0),
    coordinator_nanoseconds_a_word=100.0,
    coordinator_milliseconds_a_block=4.0,
    counting_nanoseconds_a_word=220.0,
    start_seconds=4.0,
    memory_bytes_a_second=8e9,
)
STORED = {"amx": AMX, "avx2": AVX2}
