"""Numbers with units, as people write them."""

from __future__ import annotations

import pytest

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.arguments.units import (
    binary_byte_count,
    bits_a_second,
    byte_count,
    duration,
    large,
    size,
    whole_count,
)
from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.model import corpus_reading


@pytest.mark.parametrize(
    ("text", "bits"), [("10Gbit", 1e10), ("100mbit/s", 1e8), ("2.5Gbit", 2.5e9), ("1 Gbps", None), ("1Gbitps", 1e9)]
)
def test_rates_are_bits(text: str, bits: float | None) -> None:
    if bits is None:
        with pytest.raises(ValueError, match="1 Gbps"):
            bits_a_second(text)
    else:
        assert bits_a_second(text) == bits


@pytest.mark.parametrize("text", ["10GB", "10", "-1Gbit", "0Gbit", "Gbit", "1.2.3Gbit", "nan", "10Gbyte", "1e400Gbit"])
def test_what_is_no_rate_is_an_error_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rate in bits a second") as raised:
        bits_a_second(text)
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "count"), [("64GB", 64 * 10**9), ("64GiB", 64 << 30), ("512m", 512 * 10**6), ("7", 7)]
)
def test_sizes_are_decimal_or_binary(text: str, count: int) -> None:
    assert byte_count(text) == count


@pytest.mark.parametrize("text", ["64Gbit", "-1GB", "0", "GB", "1..2GB", "1e400"])
def test_what_is_no_size_is_an_error_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size in bytes") as raised:
        byte_count(text)
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "count"), [("64G", 64 << 30), ("512 mb", 512 << 20), ("1.5KiB", 1536), ("1e+3", 1000), ("0", 0)]
)
def test_sizes_of_memory_flags_are_binary(text: str, count: int) -> None:
    assert binary_byte_count(text) == count


@pytest.mark.parametrize("text", ["", "B", "G", "-1", "nan", "1e400", "5X", "64Gbit"])
def test_what_is_no_size_for_a_memory_flag_is_an_error_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size in bytes, such as 500000, 512M or 2G") as raised:
        binary_byte_count(text)
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize("text", ["-5", "1.5", "0", "many", "inf", "nan", "1e400"])
def test_what_is_no_count_is_an_error_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match="is not a whole number of 1 or more") as raised:
        whole_count(text)
    assert repr(text) in str(raised.value)


def test_numbers_are_shown_with_few_digits() -> None:
    assert whole_count("1e11") == 10**11
    shown = [duration(each) for each in (8.51, 600, 36_000, 1e6, 1e9)]
    assert shown == ["8.5 s", "10 min", "10 hours", "11.6 days", "31.7 years"]
    assert [size(each) for each in (12, 1_300_000_000, 2.44e12)] == ["12 bytes", "1.3 GB", "2.4 TB"]
    assert [large(each) for each in (840_000, 2e8, 1e12)] == ["840,000", "200 million", "1 trillion"]


def test_the_cache_takes_a_size_as_a_text() -> None:
    sentences = [["cat", "say", "meow"], ["dog", "say", "woof"]] * 50
    model = TFWord2Vec(sentences, min_count=1, vector_size=4, cache_memory="1M", cache_disk="2G", epochs=1)
    assert corpus_reading._budget(model) == CacheBudget(2**20, 2**31)
    with pytest.raises(ValueError, match="cache_memory must be a whole number of at least 0 of bytes, or a text such"):
        TFWord2Vec(cache_memory=1.5)  # type: ignore[arg-type]
