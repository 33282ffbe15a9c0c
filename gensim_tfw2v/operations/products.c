#include "products.h"

#include "vectors.h"

/* A tile of scores has at most this many registers of tokens. */
enum { TILE_REGISTERS = 2 };

static inline __attribute__((always_inline)) void score_tile(
    float *restrict scores, const float *restrict across, int64_t by_token, const float *restrict candidates,
    int64_t width, int64_t size, const int registers
) {
    /* One register of tokens takes even and odd numbers apart: fewer sums at a time would wait for each other. */
    wide sums[TILE_CANDIDATES][TILE_REGISTERS];
    for (int k = 0; k < TILE_CANDIDATES; k++)
        for (int r = 0; r < TILE_REGISTERS; r++) sums[k][r] = (wide){0};
    int64_t i = 0;
    if (registers == 1)
        for (; i + 2 <= size; i += 2) {
            wide even = *(const wide *)(across + i * by_token), odd = *(const wide *)(across + (i + 1) * by_token);
            for (int k = 0; k < TILE_CANDIDATES; k++) {
                sums[k][0] += candidates[k * width + i] * even;
                sums[k][1] += candidates[k * width + i + 1] * odd;
            }
        }
    for (; i < size; i++) {
        wide tokens[TILE_REGISTERS];
        for (int r = 0; r < registers; r++) tokens[r] = *(const wide *)(across + i * by_token + r * LANES);
        for (int k = 0; k < TILE_CANDIDATES; k++) {
            float number = candidates[k * width + i];
            for (int r = 0; r < registers; r++) sums[k][r] += number * tokens[r];
        }
    }
    for (int k = 0; k < TILE_CANDIDATES; k++) {
        if (registers == 1) sums[k][0] += sums[k][1];
        for (int r = 0; r < registers; r++) *(wide *)(scores + k * by_token + r * LANES) = sums[k][r];
    }
}

void score_candidates(
    float *scores, const float *across, int64_t by_token, const float *candidates, int64_t width, int64_t size,
    int64_t registers
) {
    int64_t r = 0;
    for (; r + TILE_REGISTERS <= registers; r += TILE_REGISTERS)
        score_tile(scores + r * LANES, across + r * LANES, by_token, candidates, width, size, TILE_REGISTERS);
    if (r < registers) score_tile(scores + r * LANES, across + r * LANES, by_token, candidates, width, size, 1);
}

/* A tile: this many vectors are multiplied by this many rows side by side, and each is read once. */
enum { TILE_VECTORS = 3, TILE_ROWS = 4 };

/* products[v * stride + k] = vectors[v] . rows[k] of a tile */
static inline void dots_of_tile(
    float *restrict products, int64_t stride, const float *const *vectors, const float *const *rows, int64_t size
) {
    wide sums[TILE_VECTORS][TILE_ROWS];
    for (int v = 0; v < TILE_VECTORS; v++)
        for (int k = 0; k < TILE_ROWS; k++) sums[v][k] = (wide){0};
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide parts[TILE_VECTORS];
        for (int v = 0; v < TILE_VECTORS; v++) parts[v] = *(const wide *)(vectors[v] + i);
        for (int k = 0; k < TILE_ROWS; k++) {
            wide row = *(const wide *)(rows[k] + i);
            for (int v = 0; v < TILE_VECTORS; v++) sums[v][k] += parts[v] * row;
        }
    }
    for (int v = 0; v < TILE_VECTORS; v++) {
        narrow totals[TILE_ROWS];
        int64_t j = i;
        for (int k = 0; k < TILE_ROWS; k++) totals[k] = quarter_of(sums[v][k]);
        for (; j + 4 <= size; j += 4)
            for (int k = 0; k < TILE_ROWS; k++)
                totals[k] += *(const narrow *)(vectors[v] + j) * *(const narrow *)(rows[k] + j);
        *(narrow *)(products + v * stride) = totals_of_four(totals);
        for (; j < size; j++)
            for (int k = 0; k < TILE_ROWS; k++) products[v * stride + k] += vectors[v][j] * rows[k][j];
    }
}

void all_dots(
    float *restrict products, int64_t stride, const float *const *vectors, int64_t vector_count,
    const float *const *rows, int64_t row_count, int64_t size
) {
    int64_t v = 0;
    for (; v + TILE_VECTORS <= vector_count; v += TILE_VECTORS)
        for (int64_t k = 0; k < row_count; k += TILE_ROWS)
            dots_of_tile(products + v * stride + k, stride, vectors + v, rows + k, size);
    for (; v < vector_count; v++) dots(products + v * stride, vectors[v], rows, row_count, size);
}

enum { SUM_REGISTERS = LANES == 16 ? 4 : 3 }; /* of each sum that is added up side by side with others */

static inline __attribute__((always_inline)) void add_to_part(
    float *const *sums, const float *const *rows, int64_t count, Weights weights, int64_t at, bool adds,
    const int together, const int registers
) {
    wide parts[SUMS_TOGETHER][SUM_REGISTERS];
    for (int m = 0; m < together; m++)
        for (int r = 0; r < registers; r++)
            {
            parts[m][r] = (wide){0};
            if (adds) parts[m][r] = *(const wide *)(sums[m] + at + r * LANES);
        }
    for (int64_t k = 0; k < count; k++) {
        const float *of_row = weights.first + k * weights.by_row;
        wide row[SUM_REGISTERS];
        for (int r = 0; r < registers; r++) row[r] = *(const wide *)(rows[k] + at + r * LANES);
        for (int m = 0; m < together; m++)
            for (int r = 0; r < registers; r++) parts[m][r] += of_row[m * weights.by_sum] * row[r];
    }
    for (int m = 0; m < together; m++)
        for (int r = 0; r < registers; r++) *(wide *)(sums[m] + at + r * LANES) = parts[m][r];
}

static inline __attribute__((always_inline)) void add_to_some(
    float *const *sums, const float *const *rows, int64_t count, Weights weights, int64_t width, bool adds,
    const int together
) {
    for (int64_t at = 0, left = width / LANES; left;) {
        /* Two parts of about the same size are faster than a large and a very small one. */
        int64_t registers = left == SUM_REGISTERS + 1 ? SUM_REGISTERS - 1 : smallest(left, SUM_REGISTERS);
        switch (registers) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        if (n <= SUM_REGISTERS) add_to_part(sums, rows, count, weights, at, adds, together, n);                        \
        break;
            CASE(1) CASE(2) CASE(3) CASE(4)
#undef CASE
        }
        at += registers * LANES, left -= registers;
    }
}

static void combine_rows(
    float *const *sums, int64_t together, const float *const *rows, int64_t count, Weights weights, int64_t width,
    bool adds
) {
    switch (together) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        add_to_some(sums, rows, count, weights, width, adds, n);                                                       \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4)
#undef CASE
    }
}

void add_rows(
    float *const *sums, int64_t together, const float *const *rows, int64_t count, Weights weights, int64_t width
) {
    combine_rows(sums, together, rows, count, weights, width, true);
}

void sum_rows(
    float *const *sums, int64_t together, const float *const *rows, int64_t count, Weights weights, int64_t width
) {
    combine_rows(sums, together, rows, count, weights, width, false);
}

void transpose(
    float *restrict out, int64_t by_token, const float *restrict rows, int64_t width, int64_t tokens, int64_t size
) {
    for (int64_t t = 0; t < tokens; t += 4)
        for (int64_t i = 0; i < size; i += 4) { /* padding is read beyond the size, and written where nobody reads */
            narrow in[4];
            for (int m = 0; m < 4; m++) in[m] = *(const narrow *)(rows + (t + m) * width + i);
            narrow low01 = SHUFFLE(in[0], in[1], 0, 4, 1, 5), high01 = SHUFFLE(in[0], in[1], 2, 6, 3, 7);
            narrow low23 = SHUFFLE(in[2], in[3], 0, 4, 1, 5), high23 = SHUFFLE(in[2], in[3], 2, 6, 3, 7);
            *(narrow *)(out + i * by_token + t) = SHUFFLE(low01, low23, 0, 1, 4, 5);
            *(narrow *)(out + (i + 1) * by_token + t) = SHUFFLE(low01, low23, 2, 3, 6, 7);
            *(narrow *)(out + (i + 2) * by_token + t) = SHUFFLE(high01, high23, 0, 1, 4, 5);
            *(narrow *)(out + (i + 3) * by_token + t) = SHUFFLE(high01, high23, 2, 3, 6, 7);
        }
}
