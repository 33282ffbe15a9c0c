/* Arithmetic on whole numbers. */

#ifndef TFW2V_NUMBERS_H
#define TFW2V_NUMBERS_H

#include <stdint.h>

static inline int64_t largest(int64_t one, int64_t other) { return one > other ? one : other; }
static inline int64_t smallest(int64_t one, int64_t other) { return one < other ? one : other; }
static inline int64_t rounded_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts * parts; }

#endif
