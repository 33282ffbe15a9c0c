/* The gradients of a batch summed by row, and the steps that rows take. */

#ifndef TFW2V_SUMS_H
#define TFW2V_SUMS_H

#include "call.h"

/* Sums by row, for as many distinct rows as there are places: a hash table with open addressing. */
typedef struct {
    int32_t *slots; /* by hashed row, one more than the number of its sum; 0: free */
    int32_t *rows;  /* of each sum */
    float *sums;    /* [count, size] */
    int64_t count, size;
    int bits; /* of the number of slots */
} Sums;

/* Gets memory, which this thread's next sums use again, and begins without any sums. */
bool start_sums(Call *call, Sums *sums, int64_t places, int64_t size);

/* Begins again without any sums, for as many places. */
void clear_sums(Sums *sums);

/* Returns the sum of a row's gradients, zeros at first. */
float *sum_of(Sums *sums, int32_t row);

/* How far rows move. */
typedef struct {
    float rate, max_step;
    const float *factors; /* row r's step is scaled by factors[r % factor_count], if there are any */
    int64_t factor_count;
} StepLimits;

#define STEP_LIMITS_INPUTS                                                                                             \
    SCALAR_INPUT("rate", "float"), SCALAR_INPUT("max_step", "float"), {"factors", "float", {BY_FACTOR}}

/* The limits in three inputs of a call, from input `first` on. */
StepLimits step_limits_of(const Call *call, int first);

/* How many rows have taken a step, how many of these steps were clipped, and how many steps were refused because they
   would be NaN or infinite, or nearly so. */
typedef struct {
    int64_t touched, clipped, refused;
} RowCounts;

/* Moves each row against its summed gradient by one step, which is clipped. A row whose step is refused stays where it
   is, so that a table never contains NaN or infinity. */
void move_rows(Table table, const Sums *sums, StepLimits limits, RowCounts *counts);

/* The output that these counts are: touched and clipped rows, or NaN for both if a step was refused. */
#define METRICS_SHAPE ((int64_t[]){2})
void write_metrics(float *metrics, RowCounts counts);

#endif
