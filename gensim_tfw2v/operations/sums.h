/* The gradients of a batch summed by row, and the steps that rows take. */

#ifndef TFW2V_SUMS_H
#define TFW2V_SUMS_H

#include "operation.h"

/* Sums by row, for as many distinct rows as there are places. */
typedef struct {
    int32_t *slots; /* by hashed row, one more than the number of its sum; 0: free */
    int32_t *rows;  /* of each sum */
    float *sums;    /* [count, size] */
    int64_t count, size;
    int shift;
} Sums;

bool start_sums(Call *call, Sums *sums, int64_t places, int64_t size);

/* Returns the sum of a row's gradients, zeros at first. */
float *sum_of(Sums *sums, int32_t row);

/* How far rows move. */
typedef struct {
    float rate, bound;
    const float *factors; /* row r's step is scaled by factors[r % factor_count], if there are any */
    int64_t factor_count;
} Pace;

/* The pace that three inputs of a call from `first` on tell. */
Pace pace_of(const Call *call, int first);

/* How many steps rows have taken, and how many of these were shortened. */
typedef struct {
    int64_t rows, shortened;
} Moved;

/* Moves each row by one bounded step against its summed gradient. */
void move_rows(Table table, const Sums *sums, Pace pace, Moved *moved);

/* Outputs these figures as a call's first output. */
void output_moved(Call *call, Moved moved);

#endif
