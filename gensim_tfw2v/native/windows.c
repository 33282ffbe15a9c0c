/* The contexts of tokens: how many each has on both sides, and how many pairs a batch trains. */

#include "arrays.h"
#include "random_numbers.h"

static inline int32_t smaller(int32_t one, int32_t other) { return one < other ? one : other; }
static inline int32_t larger(int32_t one, int32_t other) { return one > other ? one : other; }

/* Writes the number of contexts to the left and right of each token, within its sentence, and zeros for the padding
   after the last token. Windows reach as far as `window`, or as a radius drawn from 1 to `window` for each token.
   Returns the largest of these numbers. */
EXPORT int64_t tfw2v_draw_windows(
    INPUT(int32_t, lengths), int64_t tokens, int64_t window, int64_t shrink, RandomNumbers *random,
    OUTPUT(int32_t, left), OUTPUT(int32_t, right)
) {
    bool is_window = (shrink ? 1 : 0) <= window && window <= INT32_MAX;
    bool has_room = tokens <= LONGEST && left_count >= tokens && right_count == left_count;
    if (!is_window || !has_room) return WRONG_SIZES;
    if (!are_lengths(tokens, lengths, lengths_count)) return WRONG_LENGTHS;
    RandomNumbers own = *random;
    int32_t reach = 0, radius = (int32_t)window;
    int64_t token = 0;
    for (int64_t sentence = 0; sentence < lengths_count; sentence++) {
        for (int32_t before = 0, after = lengths[sentence]; after--; before++, token++) {
            if (shrink) radius = 1 + (int32_t)random_below(&own, (uint32_t)window);
            left[token] = smaller(radius, before);
            right[token] = smaller(radius, after);
            reach = larger(reach, larger(left[token], right[token]));
        }
    }
    for (; token < left_count; token++) left[token] = right[token] = 0;
    *random = own;
    return reach;
}

/* Writes the number of pairs of each batch: for every token the sum of what `expected` has for its contexts on both
   sides, or 1 for a token with contexts if `expected` is NULL. All batches have the same number of tokens.

   The order of additions does not matter: expected pairs are 0 or float32 numbers of at least 1, thus multiples of
   2^-23, and sums of such numbers are exact up to 2^30. */
EXPORT int64_t tfw2v_count_pairs(
    INPUT(int32_t, left), INPUT(int32_t, right), INPUT(float, expected), OUTPUT(double, pairs)
) {
    if (!pairs_count || left_count % pairs_count || right_count != left_count) return WRONG_SIZES;
    if (expected && !are_below(expected_count, left, left_count)) return WRONG_SIZES;
    if (expected && !are_below(expected_count, right, right_count)) return WRONG_SIZES;
    int64_t tokens = left_count / pairs_count;
    for (int64_t batch = 0; batch < pairs_count; batch++) {
        const int32_t *before = left + batch * tokens, *after = right + batch * tokens;
        double sum = 0;
        for (int64_t i = 0; i < tokens; i++)
            sum += expected ? expected[before[i]] + expected[after[i]] : (before[i] | after[i]) != 0;
        pairs[batch] = sum;
    }
    return 0;
}
