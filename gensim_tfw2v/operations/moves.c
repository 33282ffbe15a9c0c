#include "adagrad.h"
#include "run.h"

/* squares[i] = squared length of gradient i */
static void square_lengths(float *squares, const float *gradients, int64_t width, int64_t count) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        wide sums[4] = {{0}};
        narrow totals[4];
        for (int64_t k = 0; k < width; k += LANES)
            for (int m = 0; m < 4; m++) {
                wide part = *(const wide *)(gradients + (i + m) * width + k);
                sums[m] += part * part;
            }
        for (int m = 0; m < 4; m++) totals[m] = quarter_of(sums[m]);
        *(narrow *)(squares + i) = totals_of_four(totals);
    }
    for (; i < count; i++) squares[i] = dot(gradients + i * width, gradients + i * width, width);
}

void move_rows(
    Run *run, Table table, float *const *rows, const int32_t *ids, const float *gradients, int64_t count,
    bool are_limited
) {
    square_lengths(run->squares, gradients, run->width, count);
    for (int64_t i = 0; i < count; i++) {
        float square = run->squares[i];
        if (!rows[i] || square == 0) continue;
        float length = sqrtf(square), rate = rate_of_step(table, rows[i], run->rate, square);
        run->outcome->touched += are_limited;
        if (are_limited && rate * length > run->max_step) {
            rate = run->max_step / length;
            run->outcome->clipped++;
        }
        if (ids && run->factor_count) rate *= run->factors[ids[i] % run->factor_count];
        if (!(fabsf(rate) * length <= LONGEST_STEP)) { /* it may be NaN */
            run->outcome->refused++;
            continue;
        }
        add_scaled(rows[i], -rate, gradients + i * run->width, table.size);
    }
}
