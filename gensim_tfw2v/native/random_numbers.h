/* Random numbers of NumPy's generator over the bit generator SFC64: the same state gives the same numbers. */

#ifndef TFW2V_RANDOM_NUMBERS_H
#define TFW2V_RANDOM_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* The state of the generator; Python makes it. A function works on a copy of its own, which stays in registers. */
typedef struct {
    uint64_t words[4];
    uint32_t kept, has_kept; /* the upper half of a random number whose lower half was used alone */
} RandomNumbers;

static inline uint64_t random_64_bits(RandomNumbers *random) {
    uint64_t *words = random->words, found = words[0] + words[1] + words[3]++;
    words[0] = words[1] ^ words[1] >> 11;
    words[1] = words[2] + (words[2] << 3);
    words[2] = (words[2] << 24 | words[2] >> 40) + found;
    return found;
}

static inline uint32_t random_32_bits(RandomNumbers *random) {
    random->has_kept = !random->has_kept;
    if (!random->has_kept) return random->kept;
    uint64_t both = random_64_bits(random);
    random->kept = (uint32_t)(both >> 32);
    return (uint32_t)both;
}

/* Numbers from 0 to below 1. */
static inline float random_float(RandomNumbers *random) { return (float)(random_32_bits(random) >> 8) * 0x1p-24f; }
static inline double random_double(RandomNumbers *random) { return (double)(random_64_bits(random) >> 11) * 0x1p-53; }

/* An integer from 0 to below `end`, which is at least 1: Lemire's way, nearly without divisions. */
static inline uint32_t random_below(RandomNumbers *random, uint32_t end) {
    if (end == 1) return 0;
    uint64_t product = (uint64_t)random_32_bits(random) * end;
    if ((uint32_t)product < end) {
        uint32_t least = -end % end;
        while ((uint32_t)product < least) product = (uint64_t)random_32_bits(random) * end;
    }
    return (uint32_t)(product >> 32);
}

#endif
