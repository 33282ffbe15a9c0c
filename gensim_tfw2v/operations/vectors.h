/* Arithmetic on vectors of any length: a register of numbers at a time, then four, then one.

   The order of additions decides the last bits of the vectors that training makes. Keep it. */

#ifndef TFW2V_VECTORS_H
#define TFW2V_VECTORS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "numbers.h"

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

/* gradient += factor * row, and row += step * vector, with one pass over both */
static inline void add_and_move(
    float *restrict row, float *restrict gradient, const float *restrict vector, float step, float factor, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide part = *(wide *)(row + i);
        *(wide *)(gradient + i) += factor * part;
        *(wide *)(row + i) = part + step * *(const wide *)(vector + i);
    }
    for (; i + 4 <= size; i += 4) {
        narrow part = *(narrow *)(row + i);
        *(narrow *)(gradient + i) += factor * part;
        *(narrow *)(row + i) = part + step * *(const narrow *)(vector + i);
    }
    for (; i < size; i++) {
        gradient[i] += factor * row[i];
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

enum { REGISTERS = 4 }; /* this many parts of a sum are kept in registers at once */

static inline __attribute__((always_inline)) void sum_and_move_part(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t at, const int registers
) {
    wide parts[REGISTERS], along[REGISTERS];
    for (int r = 0; r < registers; r++) {
        parts[r] = *(const wide *)(sum + at + r * LANES);
        along[r] = rate * *(const wide *)(vector + at + r * LANES);
    }
    for (int64_t k = 0; k < count; k++) {
        float *row = rows[k] + at, weight = weights[k];
        for (int r = 0; r < registers; r++) {
            wide old = *(const wide *)(row + r * LANES);
            parts[r] += weight * old;
            *(wide *)(row + r * LANES) = old - weight * along[r];
        }
    }
    for (int r = 0; r < registers; r++) *(wide *)(sum + at + r * LANES) = parts[r];
}

/* sum += sum of weights[k] * rows[k], and rows[k] -= rate * weights[k] * vector, with one pass over the rows. No register
   overlaps another one: the next reader of a row would wait until both are written. */
static inline void sum_and_move(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t size
) {
    int64_t at = 0;
    for (; at + REGISTERS * LANES <= size; at += REGISTERS * LANES)
        sum_and_move_part(sum, rows, weights, count, vector, rate, at, REGISTERS);
    for (; at + 2 * LANES <= size; at += 2 * LANES)
        sum_and_move_part(sum, rows, weights, count, vector, rate, at, 2);
    for (; at + LANES <= size; at += LANES) sum_and_move_part(sum, rows, weights, count, vector, rate, at, 1);
    for (; at + 4 <= size; at += 4) {
        narrow part = *(const narrow *)(sum + at), along = rate * *(const narrow *)(vector + at);
        for (int64_t k = 0; k < count; k++) {
            narrow old = *(const narrow *)(rows[k] + at);
            part += weights[k] * old;
            *(narrow *)(rows[k] + at) = old - weights[k] * along;
        }
        *(narrow *)(sum + at) = part;
    }
    for (; at < size; at++)
        for (int64_t k = 0; k < count; k++) {
            sum[at] += weights[k] * rows[k][at];
            rows[k][at] -= rate * weights[k] * vector[at];
        }
}

/* bfloat16 is the upper 16 bits of float32, rounded to the nearest, and to the even one in the middle of two. Rounding
   would make infinity or 0 of some NaN, so the upper bits of NaN stay, with one bit set that no infinity has. */
static inline uint16_t bfloat16_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline void to_bfloat16(uint16_t *restrict out, const float *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide_bits bits = *(const wide_bits *)(vector + i);
        wide_bits are_nan = (wide_bits)((bits & 0x7fffffffu) > 0x7f800000u);
        wide_bits rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        bits = (are_nan & (bits >> 16 | 0x40u)) | (~are_nan & rounded);
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

/* Scores farther from 0 than this count as this: float32 has no exponential of more than 88. */
static const float LARGEST_SCORE = 80;

/* The score, or the nearest one whose exponential fits float32. */
static inline float clamped(float score) {
    score = score > LARGEST_SCORE ? LARGEST_SCORE : score;
    return score < -LARGEST_SCORE ? -LARGEST_SCORE : score;
}

typedef int32_t wide_integers __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* `one` where a lane of the mask is set, otherwise `other`. */
static inline wide chosen(wide_integers mask, wide one, wide other) {
    return (wide)((mask & (wide_integers)one) | (~mask & (wide_integers)other));
}

/* The same as `clamped`, for each score; NaN stays NaN. */
static inline wide all_clamped(wide scores) {
    const wide most = (wide){0} + LARGEST_SCORE;
    scores = chosen(scores > most, most, scores);
    return chosen(scores < -most, -most, scores);
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

/* Fetches a row that is read and written soon. */
static inline void prefetch_row(const float *row, int64_t size) {
    for (int64_t i = 0; i < size; i += CACHE_LINE) __builtin_prefetch(row + i, 1, 2);
    __builtin_prefetch(row + size - 1, 1, 2);
}

#endif
