/* Checks of the inputs of a call, made before a row is read or moved.

   A check that fails makes the call fail with InvalidArgument, whose message names the input, and returns false. Every
   operation makes all its checks, and gets all its memory, before it moves the first row: an operation that fails has
   changed nothing. */

#ifndef TFW2V_CHECKS_H
#define TFW2V_CHECKS_H

#include "call.h"

/* Checks the number of axes of each input, and that axes of one kind have the same length; stores these lengths. */
bool check_shapes(Call *call);

/* Checks the number of the call's batch, and stores it. */
bool check_batch(Call *call, int input);

/* Checks a scalar int32. */
bool check_number(Call *call, int input, int64_t least, int64_t most);

/* Checks that the batch's entries of an input are rows of another one. */
bool check_rows(Call *call, int input, int table);

/* Checks that the batch's entries of an input are from 0 to `most`. */
bool check_counts(Call *call, int input, int64_t most);

/* Checks how many contexts tokens have on both sides: none may be outside of the widened run. Widened runs have
   `places` of an input; on either side, the places before the first token, and after the last one, are `window`. */
bool check_windows(Call *call, int left, int right, int wide_input, int64_t places, int64_t *window);

/* Checks that an axis is not empty, because its length is a divisor. */
bool check_any(Call *call, int input, Axis axis);

/* Fails because of an entry, counted from the input's first one: it is no row of `table`, or not from 0 to `most`. */
bool fail_row(Call *call, int input, int64_t entry, int64_t rows, const char *table, const char *rows_name);
bool fail_count(Call *call, int input, int64_t entry, int64_t most);

/* The largest of some integers, where negative integers count as larger than all others: one comparison finds both ids
   that are too large and ids below 0. */
static inline int64_t largest_of(const int32_t *values, int64_t count) {
    uint32_t found = 0;
    for (int64_t i = 0; i < count; i++) found = (uint32_t)values[i] > found ? (uint32_t)values[i] : found;
    return found;
}

#endif
