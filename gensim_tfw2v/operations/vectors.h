/* Arithmetic on vectors of any length: a register of numbers at a time, then four, then one.

   The order of additions decides the last bits of the vectors that training makes. Keep it. */

#ifndef TFW2V_VECTORS_H
#define TFW2V_VECTORS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float wide __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef float narrow __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t narrow_integers __attribute__((vector_size(16)));
typedef uint32_t wide_bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint16_t wide_bfloat16 __attribute__((vector_size(2 * LANES), aligned(2), may_alias));

/* Picks numbers of two registers: the first register's are counted from 0, the second one's from 4. */
#if defined(__clang__)
#define SHUFFLE(one, other, ...) __builtin_shufflevector(one, other, __VA_ARGS__)
#else
#define SHUFFLE(one, other, ...) __builtin_shuffle(one, other, (narrow_integers){__VA_ARGS__})
#endif

/* sum += factor * vector */
static inline void add_scaled(float *restrict sum, float factor, const float *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) *(wide *)(sum + i) += factor * *(const wide *)(vector + i);
    for (; i + 4 <= size; i += 4) *(narrow *)(sum + i) += factor * *(const narrow *)(vector + i);
    for (; i < size; i++) sum[i] += factor * vector[i];
}

/* gradient = factor * row, and row += step * vector, with one pass over both */
static inline void scale_and_move(
    float *restrict row, float *restrict gradient, const float *restrict vector, float step, float factor, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide part = *(wide *)(row + i);
        *(wide *)(gradient + i) = factor * part;
        *(wide *)(row + i) = part + step * *(const wide *)(vector + i);
    }
    for (; i < size; i++) {
        gradient[i] = factor * row[i];
        row[i] += step * vector[i];
    }
}

/* out = one + other */
static inline void add_vectors(
    float *restrict out, const float *restrict one, const float *restrict other, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) *(wide *)(out + i) = *(const wide *)(one + i) + *(const wide *)(other + i);
    for (; i + 4 <= size; i += 4) *(narrow *)(out + i) = *(const narrow *)(one + i) + *(const narrow *)(other + i);
    for (; i < size; i++) out[i] = one[i] + other[i];
}

/* out = factor * (all - less - own) */
static inline void scale_rest(
    float *restrict out, float factor, const float *restrict all, const float *restrict less,
    const float *restrict own, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide rest = *(const wide *)(all + i) - *(const wide *)(less + i);
        *(wide *)(out + i) = factor * (rest - *(const wide *)(own + i));
    }
    for (; i + 4 <= size; i += 4) {
        narrow rest = *(const narrow *)(all + i) - *(const narrow *)(less + i);
        *(narrow *)(out + i) = factor * (rest - *(const narrow *)(own + i));
    }
    for (; i < size; i++) out[i] = factor * (all[i] - less[i] - own[i]);
}

/* sum += all - factor * own */
static inline void add_rest(
    float *restrict sum, const float *restrict all, float factor, const float *restrict own, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES)
        *(wide *)(sum + i) += *(const wide *)(all + i) - factor * *(const wide *)(own + i);
    for (; i + 4 <= size; i += 4)
        *(narrow *)(sum + i) += *(const narrow *)(all + i) - factor * *(const narrow *)(own + i);
    for (; i < size; i++) sum[i] += all[i] - factor * own[i];
}

static inline float total_of_four(narrow values) { return (values[0] + values[1]) + (values[2] + values[3]); }

static inline narrow quarter_of(wide values) {
    union {
        wide all;
        narrow parts[LANES / 4];
    } sum = {values};
    narrow total = sum.parts[0];
    for (int part = 1; part < LANES / 4; part++) total += sum.parts[part];
    return total;
}

static inline float total_of(wide values) { return total_of_four(quarter_of(values)); }

static inline float dot(const float *restrict one, const float *restrict other, int64_t size) {
    wide even = {0}, odd = {0};
    narrow rest = {0};
    int64_t i = 0;
    for (; i + 2 * LANES <= size; i += 2 * LANES) {
        even += *(const wide *)(one + i) * *(const wide *)(other + i);
        odd += *(const wide *)(one + i + LANES) * *(const wide *)(other + i + LANES);
    }
    for (; i + LANES <= size; i += LANES) even += *(const wide *)(one + i) * *(const wide *)(other + i);
    for (; i + 4 <= size; i += 4) rest += *(const narrow *)(one + i) * *(const narrow *)(other + i);
    float sum = total_of(even + odd) + total_of_four(rest);
    for (; i < size; i++) sum += one[i] * other[i];
    return sum;
}

/* The sums of the lanes of each of four registers. */
static inline narrow totals_of_four(const narrow *values) {
    narrow first = SHUFFLE(values[0], values[1], 0, 4, 1, 5) + SHUFFLE(values[0], values[1], 2, 6, 3, 7);
    narrow second = SHUFFLE(values[2], values[3], 0, 4, 1, 5) + SHUFFLE(values[2], values[3], 2, 6, 3, 7);
    return SHUFFLE(first, second, 0, 1, 4, 5) + SHUFFLE(first, second, 2, 3, 6, 7);
}

/* This many rows are multiplied by a vector side by side, so that no addition waits for the one before it. */
enum { ROWS_TOGETHER = LANES == 16 ? 4 : 8 };

/* products[k] = vector . rows[k]; the number of rows is a multiple of ROWS_TOGETHER */
static inline void dots(
    float *restrict products, const float *restrict vector, const float *const *rows, int64_t count, int64_t size
) {
    for (int64_t k = 0; k < count; k += ROWS_TOGETHER) {
        wide sums[ROWS_TOGETHER] = {{0}};
        narrow totals[ROWS_TOGETHER];
        int64_t i = 0;
        for (; i + LANES <= size; i += LANES)
            for (int row = 0; row < ROWS_TOGETHER; row++)
                sums[row] += *(const wide *)(vector + i) * *(const wide *)(rows[k + row] + i);
        for (int row = 0; row < ROWS_TOGETHER; row++) totals[row] = quarter_of(sums[row]);
        for (; i + 4 <= size; i += 4)
            for (int row = 0; row < ROWS_TOGETHER; row++)
                totals[row] += *(const narrow *)(vector + i) * *(const narrow *)(rows[k + row] + i);
        union {
            narrow parts[ROWS_TOGETHER / 4];
            float all[ROWS_TOGETHER];
        } found; /* One write, because the next reads of whole registers would wait for several writes. */
        for (int row = 0; row < ROWS_TOGETHER; row += 4) found.parts[row / 4] = totals_of_four(totals + row);
        memcpy(products + k, &found, sizeof found);
        for (; i < size; i++)
            for (int row = 0; row < ROWS_TOGETHER; row++) products[k + row] += vector[i] * rows[k + row][i];
    }
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

/* products[v * stride + k] = vectors[v] . rows[k] for all; the number of rows is a multiple of ROWS_TOGETHER */
static inline void all_dots(
    float *restrict products, int64_t stride, const float *const *vectors, int64_t vector_count,
    const float *const *rows, int64_t row_count, int64_t size
) {
    int64_t v = 0;
    for (; v + TILE_VECTORS <= vector_count; v += TILE_VECTORS)
        for (int64_t k = 0; k < row_count; k += TILE_ROWS)
            dots_of_tile(products + v * stride + k, stride, vectors + v, rows + k, size);
    for (; v < vector_count; v++) dots(products + v * stride, vectors[v], rows, row_count, size);
}

enum { REGISTERS = 8 }; /* this many parts of a sum are kept in registers at once */

/* Does the work of `sum_rows` for `registers` consecutive registers. The last one may overlap the one before it. */
static inline __attribute__((always_inline)) void sum_registers(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t begin, int64_t last, const int registers
) {
    wide parts[REGISTERS], along[REGISTERS];
    int64_t places[REGISTERS];
    for (int r = 0; r < registers; r++) {
        places[r] = r < registers - 1 ? begin + r * LANES : last;
        parts[r] = *(wide *)(sum + places[r]);
        if (vector) along[r] = rate * *(const wide *)(vector + places[r]);
    }
    for (int64_t k = 0; k < count; k++) {
        float *row = rows[k], weight = weights[k];
        wide old[REGISTERS];
        for (int r = 0; r < registers; r++) old[r] = *(const wide *)(row + places[r]);
        for (int r = 0; r < registers; r++) parts[r] += weight * old[r];
        if (!vector) continue;
        for (int r = 0; r < registers; r++) *(wide *)(row + places[r]) = old[r] - weight * along[r];
    }
    for (int r = 0; r < registers; r++) *(wide *)(sum + places[r]) = parts[r];
}

/* sum += sum of weights[k] * rows[k], at most `most` registers at once. If there is a vector, then also
   rows[k] -= rate * weights[k] * vector. */
static inline __attribute__((always_inline)) void sum_rows(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t size, const int most
) {
    for (int64_t k = 0; k < count && size < LANES; k++) {
        add_scaled(sum, weights[k], rows[k], size);
        if (vector) add_scaled(rows[k], -rate * weights[k], vector, size);
    }
    for (int64_t begin = 0; begin < size && size >= LANES;) {
        int64_t left = (size - begin + LANES - 1) / LANES;
        /* The last register overlaps the one before it, so both are added to at the same time. */
        int registers = left == most + 1 ? most - 1 : left < most ? (int)left : most;
        int64_t end = begin + registers * LANES, last = (end < size ? end : size) - LANES;
        switch (registers) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        if (n <= most) sum_registers(sum, rows, weights, count, vector, rate, begin, last, n);                         \
        break;
            CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
        }
        begin = end;
    }
}

/* sum += sum of weights[k] * rows[k] */
static inline void add_weighted_sum(
    float *restrict sum, const float *const *rows, const float *restrict weights, int64_t count, int64_t size
) {
    sum_rows(sum, (float *const *)rows, weights, count, NULL, 0, size, REGISTERS);
}

/* The same, and rows[k] -= rate * weights[k] * vector, with one pass over the rows. */
static inline void add_weighted_sum_and_move(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t size
) {
    sum_rows(sum, rows, weights, count, vector, rate, size, REGISTERS / 2);
}

/* This many weighted sums of the same rows are added up side by side, so that each row is read once for all of them. */
enum { SUMS_TOGETHER = 4, SUMS_REGISTERS = LANES == 16 ? 4 : 3 }; /* of each sum */

/* The weight of a row in a sum is first[sum * by_sum + row * by_row]. */
typedef struct {
    const float *first;
    int64_t by_sum, by_row;
} Weights;

/* Adds the rows to `registers` registers of each sum, from `begin` on. */
static inline __attribute__((always_inline)) void add_weighted_sums_at(
    float *const *sums, const float *const *rows, Weights weights, int64_t count, int64_t begin, const int together,
    const int registers
) {
    wide parts[SUMS_TOGETHER][REGISTERS];
    for (int m = 0; m < together; m++)
        for (int r = 0; r < registers; r++) parts[m][r] = (wide){0};
    for (int64_t k = 0; k < count; k++) {
        const float *of_row = weights.first + k * weights.by_row;
        wide row[REGISTERS];
        for (int r = 0; r < registers; r++) row[r] = *(const wide *)(rows[k] + begin + r * LANES);
        for (int m = 0; m < together; m++)
            for (int r = 0; r < registers; r++) parts[m][r] += of_row[m * weights.by_sum] * row[r];
    }
    for (int m = 0; m < together; m++)
        for (int r = 0; r < registers; r++) *(wide *)(sums[m] + begin + r * LANES) += parts[m][r];
}

/* Adds the rows to `together` sums at the same time, `registers` registers of each at once. Some of the sums may be the
   same. */
static inline __attribute__((always_inline)) void add_some_weighted_sums(
    float *const *sums, const float *const *rows, Weights weights, int64_t count, int64_t size, const int together,
    const int registers
) {
    int64_t begin = 0;
    for (; begin + registers * LANES <= size; begin += registers * LANES)
        add_weighted_sums_at(sums, rows, weights, count, begin, together, registers);
    for (; begin + 2 * LANES <= size; begin += 2 * LANES)
        add_weighted_sums_at(sums, rows, weights, count, begin, together, 2);
    for (; begin + LANES <= size; begin += LANES) add_weighted_sums_at(sums, rows, weights, count, begin, together, 1);
    for (; begin + 4 <= size; begin += 4) {
        narrow parts[SUMS_TOGETHER] = {{0}};
        for (int64_t k = 0; k < count; k++)
            for (int m = 0; m < together; m++)
                parts[m] += weights.first[m * weights.by_sum + k * weights.by_row] *
                            *(const narrow *)(rows[k] + begin);
        for (int m = 0; m < together; m++) *(narrow *)(sums[m] + begin) += parts[m];
    }
    for (int m = 0; m < together && begin < size; m++)
        for (int64_t k = 0; k < count; k++)
            add_scaled(
                sums[m] + begin, weights.first[m * weights.by_sum + k * weights.by_row], rows[k] + begin,
                size - begin
            );
}

/* sums[m] += sum of weights[m, k] * rows[k] */
static inline void add_weighted_sums(
    float *const *sums, int64_t sums_count, const float *const *rows, Weights weights, int64_t count, int64_t size
) {
    for (int64_t m = 0; m < sums_count;) {
        int64_t left = sums_count - m, together = left >= SUMS_TOGETHER ? SUMS_TOGETHER : left > 1 ? 2 : 1;
        if (together == SUMS_TOGETHER)
            add_some_weighted_sums(sums + m, rows, weights, count, size, SUMS_TOGETHER, SUMS_REGISTERS);
        else if (together == 2)
            add_some_weighted_sums(sums + m, rows, weights, count, size, 2, REGISTERS / 2);
        else
            add_some_weighted_sums(sums + m, rows, weights, count, size, 1, REGISTERS);
        weights.first += together * weights.by_sum;
        m += together;
    }
}

/* bfloat16 is the upper 16 bits of float32, rounded to the nearest, and to the even one in the middle of two. */
static inline uint16_t bfloat16_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline void to_bfloat16(uint16_t *restrict out, const float *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide_bits bits = *(const wide_bits *)(vector + i);
        bits = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        *(wide_bfloat16 *)(out + i) = __builtin_convertvector(bits, wide_bfloat16);
    }
    for (; i < size; i++) out[i] = bfloat16_of(vector[i]);
}

static inline void from_bfloat16(float *restrict out, const uint16_t *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES)
        *(wide_bits *)(out + i) = __builtin_convertvector(*(const wide_bfloat16 *)(vector + i), wide_bits) << 16;
    for (; i < size; i++) {
        uint32_t bits = (uint32_t)vector[i] << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

/* Finite rows whose steps are not longer than this stay finite for millions of steps. */
static const float LONGEST_STEP = 1e32f;

/* Whether all numbers are at most `bound` from 0; NaN is not. */
static inline bool are_within(const float *numbers, int64_t count, float bound) {
    int32_t wrong = 0;
    for (int64_t i = 0; i < count; i++) wrong |= !(fabsf(numbers[i]) <= bound);
    return !wrong;
}

/* How far from 0 the numbers of a vector may be if rows move along it by at most the rate; -1 if no distance is
   allowed. */
static inline float bound_of_moves(float rate) {
    float scale = fabsf(rate) > 1 ? fabsf(rate) : 1;
    return fabsf(rate) <= LONGEST_STEP ? LONGEST_STEP / scale : -1;
}

/* The score, or the nearest one whose exponential fits float32. */
static inline float clamped(float score) {
    const float largest = 80;
    score = score > largest ? largest : score;
    return score < -largest ? -largest : score;
}

/* e to the power of each value, to the precision of float32, for values from -87 to 88. */
static inline wide exponential(wide values) {
    /* It is 2^n * e^rest. Adding 1.5 * 2^23 rounds to the nearest n, and leaves n in the lowest bits. */
    wide shifted = values * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    wide rest = values - n * 0.693359375f + n * 2.12194440e-4f;
    wide series = 1.9875691500e-4f * rest + 1.3981999507e-3f;
    series = series * rest + 8.3334519073e-3f;
    series = series * rest + 4.1665795894e-2f;
    series = series * rest + 1.6666665459e-1f;
    series = series * rest + 5.0000001201e-1f;
    series = series * rest * rest + rest + 1.0f;
    union {
        wide numbers;
        wide_bits bits;
    } power = {shifted};
    power.bits = (power.bits << 23) + (127u << 23);
    return series * power.numbers;
}

enum { CACHE_LINE = 16 }; /* numbers */

static inline void prefetch_row(const float *row, int64_t size) {
    for (int64_t i = 0; i < size; i += CACHE_LINE) __builtin_prefetch(row + i, 1, 2);
}

#endif
