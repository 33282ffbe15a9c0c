"""Vectors of length 1 have the direction of the others; zeros, which have none, stay as they are."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.evaluation.unit_vectors import of_length_1


def test_a_vector_and_each_row_of_a_matrix_have_length_1() -> None:
    rows = np.array([[3, 4], [0, 0], [-5, 0]], np.float32)
    expected = np.array([[0.6, 0.8], [0, 0], [-1, 0]], np.float32)
    np.testing.assert_array_equal(of_length_1(rows), expected)
    np.testing.assert_array_equal(of_length_1(rows[0]), expected[0])
    assert of_length_1(rows).dtype == np.float32
