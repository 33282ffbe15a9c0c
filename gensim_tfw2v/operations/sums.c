#include "sums.h"

#include "vectors.h"

static const uint32_t GOLDEN = 2654435769u; /* spreads numbers that are close to each other */
enum { LEAST_SLOT_BITS = 6, ROWS_AHEAD = 4 };

bool start_sums(Call *call, Sums *sums, int64_t places, int64_t size) {
    int bits = LEAST_SLOT_BITS;
    while (((int64_t)1 << bits) < 2 * places) bits++;
    size_t slots = (size_t)1 << bits;
    int32_t *integers = workspace(call, FOR_SLOTS, (slots + (size_t)places) * sizeof(int32_t));
    sums->sums = workspace(call, FOR_SUMS, (size_t)(places * size) * sizeof(float));
    if (!integers || !sums->sums) return false;
    memset(integers, 0, slots * sizeof(int32_t));
    sums->slots = integers;
    sums->rows = integers + slots;
    sums->count = 0;
    sums->size = size;
    sums->shift = 32 - bits;
    return true;
}

float *sum_of(Sums *sums, int32_t row) {
    uint32_t last = ((uint32_t)1 << (32 - sums->shift)) - 1;
    uint32_t place = (uint32_t)row * GOLDEN >> sums->shift;
    int32_t slot;
    while ((slot = sums->slots[place]) && sums->rows[slot - 1] != row) place = (place + 1) & last;
    if (!slot) {
        sums->rows[sums->count] = row;
        slot = sums->slots[place] = (int32_t)++sums->count;
        memset(sums->sums + (slot - 1) * sums->size, 0, (size_t)sums->size * sizeof(float));
    }
    return sums->sums + (slot - 1) * sums->size;
}

Pace pace_of(const Call *call, int first) {
    enum { RATE, BOUND, FACTORS };
    return (Pace){
        .rate = *floats(call, first + RATE),
        .bound = *floats(call, first + BOUND),
        .factors = floats(call, first + FACTORS),
        .factor_count = dimension(call, first + FACTORS, 0),
    };
}

void move_rows(Table table, const Sums *sums, Pace pace, Moved *moved) {
    for (int64_t i = 0; i < sums->count; i++) {
        if (i + ROWS_AHEAD < sums->count) prefetch_row(row_of(table, sums->rows[i + ROWS_AHEAD]), table.size);
        const float *gradient = sums->sums + i * sums->size;
        float rate = pace.rate, length = sqrtf(dot(gradient, gradient, sums->size));
        if (rate * length > pace.bound) {
            rate = pace.bound / length;
            moved->shortened++;
        }
        if (pace.factor_count) rate *= pace.factors[sums->rows[i] % pace.factor_count];
        add_scaled(row_of(table, sums->rows[i]), -rate, gradient, sums->size);
    }
    moved->rows += sums->count;
}

void output_moved(Call *call, Moved moved) {
    float *figures = output(call, 0, (int64_t[]){2}, 1);
    if (!figures) return;
    figures[0] = (float)moved.rows;
    figures[1] = (float)moved.shortened;
}
