/* Checks of the inputs of a call, made before a row is read or moved.

   A check that fails makes the call fail with InvalidArgument, whose message names the input, and returns false. Every
   operation makes all its checks, and gets all its memory, before it moves the first row: an operation that fails has
   changed nothing. */

#ifndef TFW2V_CHECKS_H
#define TFW2V_CHECKS_H

#include "call.h"

/* Checks the number of axes of each input that is used, and that axes of one kind have the same length; stores these
   lengths. */
bool check_shapes(Call *call);

/* Checks which batches the call trains, and stores it. The following checks look at the entries of these batches. */
bool check_span(Call *call, int input);

/* Checks a scalar int32. */
bool check_number(Call *call, int input, int64_t least, int64_t most);

/* Checks that the entries of an input are rows of another one. */
bool check_rows(Call *call, int input, int table);

/* Checks that the entries of an input are bags, or from -1 on if `may_miss`, and that the members of these bags are rows
   of `table`. */
bool check_bags(Call *call, int input, bool may_miss, int offsets, int members, int table);

/* Checks that these bags, which `check_bags` has found to be some, have so many rows; -1 is no bag. */
bool check_bag_sizes(Call *call, int input, int offsets, int64_t size);

/* Checks that the entries of an input are from 0 to `most`. */
bool check_counts(Call *call, int input, int64_t most);

/* Checks that the entries of an input are finite and at least 0. */
bool check_weights(Call *call, int input);

/* Checks that an axis is not empty, because its length is a divisor. */
bool check_any(Call *call, int input, Axis axis);

/* Fails because of an entry, counted from the input's first one: it is no row of `table`, or not from 0 to `most`. */
bool fail_row(Call *call, int input, int64_t entry, int64_t rows, const char *table, const char *rows_name);
bool fail_count(Call *call, int input, int64_t entry, int64_t most);

#endif
