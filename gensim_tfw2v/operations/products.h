/* Products of the small matrices of a run. They are in this thread's memory, and their rows are padded with zeros to
   whole registers, so that no product has a rest of single numbers.

   Two layouts appear. A matrix "by number" has a vector in each row. A matrix "by token" has a row for each candidate,
   or for each number of a vector, and the tokens of the run side by side in it. */

#ifndef TFW2V_PRODUCTS_H
#define TFW2V_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>

/* Scores are computed for so many candidates at a time. */
enum { TILE_CANDIDATES = 6 };

/* scores[k][t] = candidates[k] . hidden[t] for the candidates of a tile and `registers` registers of tokens. `across`
   has the hidden vectors by token, [size, by_token], and scores are [candidates, by_token]. */
void score_candidates(
    float *scores, const float *across, int64_t by_token, const float *candidates, int64_t width, int64_t size,
    int64_t registers
);

/* products[v * stride + k] = vectors[v] . rows[k] for all; the number of rows is a multiple of ROWS_TOGETHER */
void all_dots(
    float *products, int64_t stride, const float *const *vectors, int64_t vector_count, const float *const *rows,
    int64_t row_count, int64_t size
);

/* The weight of a row in a sum is first[sum * by_sum + row * by_row]. */
typedef struct {
    const float *first;
    int64_t by_sum, by_row;
} Weights;

/* At most this many sums are added up side by side, so that each row is read once for all of them. */
enum { SUMS_TOGETHER = 4 };

/* sums[m] += sum of weights[m, k] * rows[k] for `together` sums, and `count` rows of `width` numbers */
void add_rows(
    float *const *sums, int64_t together, const float *const *rows, int64_t count, Weights weights, int64_t width
);

/* The same with sums that begin at 0. */
void sum_rows(
    float *const *sums, int64_t together, const float *const *rows, int64_t count, Weights weights, int64_t width
);

/* out[i][t] = rows[t][i] for `tokens` rows, a multiple of 4 */
void transpose(float *out, int64_t by_token, const float *rows, int64_t width, int64_t tokens, int64_t size);

#endif
