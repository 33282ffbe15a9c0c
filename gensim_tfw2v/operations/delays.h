/* Threads that do not see each other's latest steps, emulated in one thread, which trains a run of each in turn. With N
   threads, a run is trained with rows as they were N - 1 runs before, and sees its own steps. So it sees all earlier
   steps of its thread. Benchmarks and tests use this; training does not. */

#ifndef TFW2V_DELAYS_H
#define TFW2V_DELAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { SLOTS = 1 << 14 };

typedef struct Copy Copy;

typedef struct {
    int threads;
    int64_t turn;
    Copy *slots[SLOTS]; /* of the current run, by row */
    Copy *runs[];       /* [threads], the copies of the last runs */
} Delays;

/* For Python: from now on, calls emulate so many threads; 1 emulates none. */
__attribute__((visibility("default"))) void tfw2v_emulate_threads(int threads);

/* Returns NULL if no threads are emulated, or if there is no memory. */
Delays *start_delays(void);

/* The run's own copy of a row of `size` numbers, or the row itself if there is no memory. */
float *own_row(Delays *delays, float *row, int64_t size);

/* Ends the turn of a thread: the steps of its run are kept, and those of the next thread's last run become visible. */
void end_turn(Delays *delays);

/* Makes all steps visible, and frees. */
void end_delays(Delays *delays);

#endif
