/* Arithmetic on vectors of any length: a register of numbers at a time, then four, then one. */

#ifndef TFW2V_VECTORS_H
#define TFW2V_VECTORS_H

#include <math.h>
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
typedef int32_t narrow_numbers __attribute__((vector_size(16)));
typedef uint32_t wide_bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(2 * LANES), aligned(2), may_alias));

/* Those numbers of two registers, one after the other, that are counted from 0. */
#if defined(__clang__)
#define SHUFFLE(one, other, ...) __builtin_shufflevector(one, other, __VA_ARGS__)
#else
#define SHUFFLE(one, other, ...) __builtin_shuffle(one, other, (narrow_numbers){__VA_ARGS__})
#endif

/* sum += factor * vector */
static inline void add_scaled(float *restrict sum, float factor, const float *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) *(wide *)(sum + i) += factor * *(const wide *)(vector + i);
    for (; i + 4 <= size; i += 4) *(narrow *)(sum + i) += factor * *(const narrow *)(vector + i);
    for (; i < size; i++) sum[i] += factor * vector[i];
}

/* gradient = share * row, and row += step * vector, with one reading of both */
static inline void exchange(
    float *restrict row, float *restrict gradient, const float *restrict vector, float step, float share, int64_t size
) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide part = *(wide *)(row + i);
        *(wide *)(gradient + i) = share * part;
        *(wide *)(row + i) = part + step * *(const wide *)(vector + i);
    }
    for (; i < size; i++) {
        gradient[i] = share * row[i];
        row[i] += step * vector[i];
    }
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

/* The lanes of each of four registers, added up. */
static inline narrow totals_of_four(const narrow *values) {
    narrow first = SHUFFLE(values[0], values[1], 0, 4, 1, 5) + SHUFFLE(values[0], values[1], 2, 6, 3, 7);
    narrow second = SHUFFLE(values[2], values[3], 0, 4, 1, 5) + SHUFFLE(values[2], values[3], 2, 6, 3, 7);
    return SHUFFLE(first, second, 0, 1, 4, 5) + SHUFFLE(first, second, 2, 3, 6, 7);
}

/* Rows whose products with a vector are added up side by side, enough for sums not to wait for each other. */
enum { ROWS_TOGETHER = LANES == 16 ? 4 : 8 };

/* products[k] = vector . rows[k] for a number of rows that is a multiple of ROWS_TOGETHER */
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
        } found; /* written at once, as those who read whole registers need it */
        for (int row = 0; row < ROWS_TOGETHER; row += 4) found.parts[row / 4] = totals_of_four(totals + row);
        memcpy(products + k, &found, sizeof found);
        for (; i < size; i++)
            for (int row = 0; row < ROWS_TOGETHER; row++) products[k + row] += vector[i] * rows[k + row][i];
    }
}

/* Vectors and rows whose products are added up side by side, so that both are read once for several. */
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

/* products[v * stride + k] = vectors[v] . rows[k] of all, where the number of rows is a multiple of ROWS_TOGETHER */
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

enum { REGISTERS = 8 }; /* of a sum that is added up at once */

/* Does what `mix_rows` does for so many consecutive registers, of which the last one may overlap the one before it. */
static inline __attribute__((always_inline)) void mix_registers(
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

/* sum += sum of weights[k] * rows[k], at most so many registers at once; with a vector, by which the weights are then
   gradients, rows[k] -= rate * weights[k] * vector as well. */
static inline __attribute__((always_inline)) void mix_rows(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t size, const int most
) {
    for (int64_t k = 0; k < count && size < LANES; k++) {
        add_scaled(sum, weights[k], rows[k], size);
        if (vector) add_scaled(rows[k], -rate * weights[k], vector, size);
    }
    for (int64_t begin = 0; begin < size && size >= LANES;) {
        int64_t left = (size - begin + LANES - 1) / LANES;
        /* The last one overlaps the one before it, and so has to be added to at the same time. */
        int registers = left == most + 1 ? most - 1 : left < most ? (int)left : most;
        int64_t end = begin + registers * LANES, last = (end < size ? end : size) - LANES;
        switch (registers) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        if (n <= most) mix_registers(sum, rows, weights, count, vector, rate, begin, last, n);                         \
        break;
            CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
        }
        begin = end;
    }
}

/* sum += sum of weights[k] * rows[k] */
static inline void add_mixture(
    float *restrict sum, const float *const *rows, const float *restrict weights, int64_t count, int64_t size
) {
    mix_rows(sum, (float *const *)rows, weights, count, NULL, 0, size, REGISTERS);
}

/* The same, and rows[k] -= rate * weights[k] * vector, with one reading of the rows. */
static inline void exchange_mixture(
    float *restrict sum, float *const *rows, const float *restrict weights, int64_t count,
    const float *restrict vector, float rate, int64_t size
) {
    mix_rows(sum, rows, weights, count, vector, rate, size, REGISTERS / 2);
}

/* Mixtures of the same rows that are added up side by side, so that a row is read once for all of them. */
enum { MIXTURES_TOGETHER = 4, MIXTURE_REGISTERS = LANES == 16 ? 4 : 3 }; /* of each of them */

/* How much of a row is in a mixture: first[mixture * by_mixture + row * by_row]. */
typedef struct {
    const float *first;
    int64_t by_mixture, by_row;
} Weights;

/* Adds to so many registers of each of so many sums. */
static inline __attribute__((always_inline)) void add_mixtures_at(
    float *const *sums, const float *const *rows, Weights weights, int64_t count, int64_t begin, const int mixtures,
    const int registers
) {
    wide parts[MIXTURES_TOGETHER][REGISTERS];
    for (int m = 0; m < mixtures; m++)
        for (int r = 0; r < registers; r++) parts[m][r] = (wide){0};
    for (int64_t k = 0; k < count; k++) {
        const float *of_row = weights.first + k * weights.by_row;
        wide row[REGISTERS];
        for (int r = 0; r < registers; r++) row[r] = *(const wide *)(rows[k] + begin + r * LANES);
        for (int m = 0; m < mixtures; m++)
            for (int r = 0; r < registers; r++) parts[m][r] += of_row[m * weights.by_mixture] * row[r];
    }
    for (int m = 0; m < mixtures; m++)
        for (int r = 0; r < registers; r++) *(wide *)(sums[m] + begin + r * LANES) += parts[m][r];
}

/* Adds mixtures to so many sums, some of which may be the same, so many registers of each at once. */
static inline __attribute__((always_inline)) void add_some_mixtures(
    float *const *sums, const float *const *rows, Weights weights, int64_t count, int64_t size, const int mixtures,
    const int registers
) {
    int64_t begin = 0;
    for (; begin + registers * LANES <= size; begin += registers * LANES)
        add_mixtures_at(sums, rows, weights, count, begin, mixtures, registers);
    for (; begin + 2 * LANES <= size; begin += 2 * LANES)
        add_mixtures_at(sums, rows, weights, count, begin, mixtures, 2);
    for (; begin + LANES <= size; begin += LANES) add_mixtures_at(sums, rows, weights, count, begin, mixtures, 1);
    for (; begin + 4 <= size; begin += 4) {
        narrow parts[MIXTURES_TOGETHER] = {{0}};
        for (int64_t k = 0; k < count; k++)
            for (int m = 0; m < mixtures; m++)
                parts[m] += weights.first[m * weights.by_mixture + k * weights.by_row] *
                            *(const narrow *)(rows[k] + begin);
        for (int m = 0; m < mixtures; m++) *(narrow *)(sums[m] + begin) += parts[m];
    }
    for (int m = 0; m < mixtures && begin < size; m++)
        for (int64_t k = 0; k < count; k++)
            add_scaled(
                sums[m] + begin, weights.first[m * weights.by_mixture + k * weights.by_row], rows[k] + begin,
                size - begin
            );
}

/* sums[m] += sum of weights[m, k] * rows[k] */
static inline void add_mixtures(
    float *const *sums, int64_t sums_count, const float *const *rows, Weights weights, int64_t count, int64_t size
) {
    for (int64_t m = 0; m < sums_count;) {
        int64_t left = sums_count - m, together = left >= MIXTURES_TOGETHER ? MIXTURES_TOGETHER : left > 1 ? 2 : 1;
        if (together == MIXTURES_TOGETHER)
            add_some_mixtures(sums + m, rows, weights, count, size, MIXTURES_TOGETHER, MIXTURE_REGISTERS);
        else if (together == 2)
            add_some_mixtures(sums + m, rows, weights, count, size, 2, REGISTERS / 2);
        else
            add_some_mixtures(sums + m, rows, weights, count, size, 1, REGISTERS);
        weights.first += together * weights.by_mixture;
        m += together;
    }
}

/* bfloat16 is the upper half of float32: rounded to the nearer one, to the even one between two. */
static inline uint16_t half_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline void to_halves(uint16_t *restrict out, const float *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) {
        wide_bits bits = *(const wide_bits *)(vector + i);
        bits = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        *(halves *)(out + i) = __builtin_convertvector(bits, halves);
    }
    for (; i < size; i++) out[i] = half_of(vector[i]);
}

static inline void from_halves(float *restrict out, const uint16_t *restrict vector, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES)
        *(wide_bits *)(out + i) = __builtin_convertvector(*(const halves *)(vector + i), wide_bits) << 16;
    for (; i < size; i++) {
        uint32_t bits = (uint32_t)vector[i] << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

/* The score, or the nearest one whose exponential float32 still holds. */
static inline float capped(float score) {
    const float largest = 80;
    score = score > largest ? largest : score;
    return score < -largest ? -largest : score;
}

/* e to the power of each of them, to float32's precision, from -87 to 88. */
static inline wide exponential(wide values) {
    /* 2^n * e^rest: adding 1.5 * 2^23 rounds to the nearest n, which is then in the lowest bits. */
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
