#include "delays.h"

#include <stdlib.h>
#include <string.h>

struct Copy {
    Copy *next_in_run, *next_in_slot;
    float *row; /* in the table */
    int64_t size;
    float numbers[]; /* [2, size]: as the run has trained them, and as they were */
};

static int emulated = 1;

void tfw2v_emulate_threads(int threads) { emulated = threads; }

Delays *start_delays(void) {
    if (emulated < 2) return NULL;
    Delays *delays = calloc(1, sizeof *delays + (size_t)emulated * sizeof(Copy *));
    if (delays) delays->threads = emulated;
    return delays;
}

float *own_row(Delays *delays, float *row, int64_t size) {
    Copy **slot = &delays->slots[((uintptr_t)row >> 4) % SLOTS];
    for (Copy *copy = *slot; copy; copy = copy->next_in_slot)
        if (copy->row == row) return copy->numbers;
    Copy *copy = malloc(sizeof *copy + (size_t)(2 * size) * sizeof(float));
    if (!copy) return row;
    Copy **run = &delays->runs[delays->turn % delays->threads];
    *copy = (Copy){.next_in_run = *run, .next_in_slot = *slot, .row = row, .size = size};
    memcpy(copy->numbers, row, (size_t)size * sizeof(float));
    memcpy(copy->numbers + size, row, (size_t)size * sizeof(float));
    return (*run = *slot = copy)->numbers;
}

/* Adds the steps of a run to the rows. */
static void show(Copy **run) {
    for (Copy *copy = *run, *next; copy; copy = next) {
        next = copy->next_in_run;
        for (int64_t i = 0; i < copy->size; i++) copy->row[i] += copy->numbers[i] - copy->numbers[copy->size + i];
        free(copy);
    }
    *run = NULL;
}

void end_turn(Delays *delays) {
    memset(delays->slots, 0, sizeof delays->slots);
    delays->turn++;
    show(&delays->runs[delays->turn % delays->threads]);
}

void end_delays(Delays *delays) {
    for (int i = 1; i <= delays->threads; i++) show(&delays->runs[(delays->turn + i) % delays->threads]);
    free(delays);
}
