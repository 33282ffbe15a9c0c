#include "adagrad.h"
#include "run.h"

void square_lengths(float *squares, const float *vectors, int64_t width, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        wide sums[4] = {{0}};
        narrow totals[4];
        for (int64_t k = 0; k < width; k += LANES)
            for (int m = 0; m < 4; m++) {
                wide part = *(const wide *)(vectors + (i + m) * width + k);
                sums[m] += part * part;
            }
        for (int m = 0; m < 4; m++) totals[m] = quarter_of(sums[m]);
        *(narrow *)(squares + i) = totals_of_four(totals);
    }
    for (; i < count; i++) squares[i] = dot(vectors + i * width, vectors + i * width, width);
}

/* Moves a row against a gradient of this squared length, which is not 0. `id` is NULL if no factor scales the step. */
static inline void move_row(
    Run *run, Table table, float *row, const int32_t *id, const float *gradient, float square, bool is_limited
) {
    float length = sqrtf(square), rate = rate_of_step(table, row, run->rate, square);
    run->outcome->touched += is_limited;
    if (is_limited && rate * length > run->max_step) {
        rate = run->max_step / length;
        run->outcome->clipped++;
    }
    if (id && run->factor_count) rate *= run->factors[*id % run->factor_count];
    if (!(fabsf(rate) * length <= LONGEST_STEP)) /* it may be NaN */
        run->outcome->refused++;
    else
        add_scaled(row, -rate, gradient, table.size);
}

void move_rows(
    Run *run, Table table, float *const *rows, const int32_t *ids, const float *gradients, int64_t count,
    bool are_limited
) {
    int64_t width = rounded_up(table.size, LANES);
    square_lengths(run->squares, gradients, width, count);
    for (int64_t i = 0; i < count; i++)
        if (rows[i] && run->squares[i] != 0)
            move_row(run, table, rows[i], ids ? ids + i : NULL, gradients + i * width, run->squares[i], are_limited);
}

void move_bag(Run *run, Bag bag, const float *gradient) {
    float square = dot(gradient, gradient, run->input_width);
    for (int64_t k = 0; k < bag.count && square != 0; k++)
        move_row(run, run->inputs, trained_row(run, run->inputs, bag.rows[k]), bag.rows + k, gradient, square, true);
}
