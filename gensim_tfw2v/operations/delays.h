/* Threads that do not see each other's latest steps, emulated in one thread: a run is trained with rows as they were
   some runs before, and sees only its own steps. Benchmarks and tests use this; training does not. */

#ifndef TFW2V_DELAYS_H
#define TFW2V_DELAYS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Delays Delays;

/* For Python: from now on, calls emulate so many threads; 1 emulates none. */
void tfw2v_emulate_threads(int threads);

/* Returns NULL if no threads are emulated, or if there is no memory. */
Delays *start_delays(void);

/* The run's own copy of a row of `size` numbers, or the row itself if there is no memory. */
float *own_row(Delays *delays, float *row, int64_t size);

/* Ends a run: its steps are kept, and those of the run that is now old enough become visible. */
void end_delayed_run(Delays *delays);

/* Makes all steps visible, and frees. */
void end_delays(Delays *delays);

#endif
