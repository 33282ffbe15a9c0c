#include "sums.h"

#include "adagrad.h"
#include "vectors.h"

static const uint32_t GOLDEN = 2654435769u; /* spreads numbers that are close to each other */
enum { LEAST_SLOT_BITS = 6, ROWS_AHEAD = 4 };

static int64_t slots_of(const Sums *sums) { return (int64_t)1 << sums->bits; }

bool start_sums(Call *call, Sums *sums, int64_t places, int64_t size) {
    sums->bits = LEAST_SLOT_BITS;
    while (slots_of(sums) < 2 * places) sums->bits++;
    int64_t slots = slots_of(sums);
    sums->slots = workspace(call, FOR_SLOTS, (size_t)(slots + places) * sizeof(int32_t));
    sums->sums = workspace(call, FOR_SUMS, (size_t)(places * size) * sizeof(float));
    if (!sums->slots || !sums->sums) return false;
    sums->rows = sums->slots + slots;
    sums->size = size;
    clear_sums(sums);
    return true;
}

void clear_sums(Sums *sums) {
    memset(sums->slots, 0, (size_t)slots_of(sums) * sizeof(int32_t));
    sums->count = 0;
}

float *sum_of(Sums *sums, int32_t row) {
    uint32_t last = ((uint32_t)1 << sums->bits) - 1;
    uint32_t place = (uint32_t)row * GOLDEN >> (32 - sums->bits);
    int32_t slot;
    while ((slot = sums->slots[place]) && sums->rows[slot - 1] != row) place = (place + 1) & last;
    if (!slot) {
        sums->rows[sums->count] = row;
        slot = sums->slots[place] = (int32_t)++sums->count;
        memset(sums->sums + (slot - 1) * sums->size, 0, (size_t)sums->size * sizeof(float));
    }
    return sums->sums + (slot - 1) * sums->size;
}

StepLimits step_limits_of(const Call *call, int first) {
    enum { RATE, MAX_STEP, FACTORS };
    return (StepLimits){
        .rate = *floats(call, first + RATE),
        .max_step = *floats(call, first + MAX_STEP),
        .factors = floats(call, first + FACTORS),
        .factor_count = call->lengths[BY_FACTOR],
    };
}

void move_rows(Table table, const Sums *sums, StepLimits limits, RowCounts *counts) {
    for (int64_t i = 0; i < sums->count; i++) {
        if (i + ROWS_AHEAD < sums->count) prefetch_row(row_of(table, sums->rows[i + ROWS_AHEAD]), table.stride);
        const float *gradient = sums->sums + i * sums->size;
        float *row = row_of(table, sums->rows[i]);
        float square = dot(gradient, gradient, sums->size), length = sqrtf(square);
        float rate = rate_of_step(table, row, limits.rate, square);
        if (rate * length > limits.max_step) {
            rate = limits.max_step / length;
            counts->clipped++;
        }
        if (limits.factor_count) rate *= limits.factors[sums->rows[i] % limits.factor_count];
        if (!(fabsf(rate) * length <= LONGEST_STEP)) { /* it may be NaN */
            counts->refused++;
            continue;
        }
        add_scaled(row, -rate, gradient, sums->size);
    }
    counts->touched += sums->count;
}

void write_metrics(float *metrics, RowCounts counts) {
    metrics[0] = counts.refused ? NAN : (float)counts.touched;
    metrics[1] = counts.refused ? NAN : (float)counts.clipped;
}
