/* The rate of a row's step. With SGD it is the learning rate. Row-wise Adagrad lowers it row by row, so that rows of
   rare words take longer steps than rows of frequent words.

   Adagrad's state of a row is a first value and, over the row's steps, the squared lengths of its gradients. It is one
   number behind the vector. `gensim_tfw2v/steps/adagrad.py` has the same rule and the same two constants. */

#ifndef TFW2V_ADAGRAD_H
#define TFW2V_ADAGRAD_H

#include "call.h"
#include "vectors.h"

/* A row whose state is 0 takes steps FACTOR / sqrt(START) times as long as SGD's. They are as long as SGD's once the
   sum of START and the state is FACTOR^2. */
static const float ADAGRAD_FACTOR = 200, ADAGRAD_START = 100;

static inline bool has_state(Table table) { return table.stride > table.size; }

/* The rate of a row's step against a gradient of this squared length, which is first added to the row's state. Without
   states it is the given rate. NaN, and the state stays as it is, if the state would not be finite, or the rate not
   nearly so. */
static inline float rate_of_step(Table table, float *row, float rate, float square) {
    if (!has_state(table)) return rate;
    float state = row[table.size] + square;
    if (!(state <= FLT_MAX) || !(fabsf(rate) <= LONGEST_STEP)) return NAN;
    row[table.size] = state;
    return rate * ADAGRAD_FACTOR / sqrtf(ADAGRAD_START + state);
}

#endif
