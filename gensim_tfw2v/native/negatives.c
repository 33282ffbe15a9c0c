/* Words drawn as negatives. */

#include <stdlib.h>

#include "arrays.h"
#include "random_numbers.h"

/* The first word, from `word` on, whose place in the table is at least `place`; the last word if there is none. The
   distance is doubled until the word is passed, because the next draw is most often the same word or a near one. */
static int64_t first_reaching(INPUT(uint32_t, cumulative), int64_t word, uint32_t place) {
    if (cumulative[word] >= place) return word;
    int64_t below = word, step = 1;
    while (below + step < cumulative_count && cumulative[below + step] < place) below += step, step *= 2;
    int64_t found = below + step < cumulative_count ? below + step : cumulative_count - 1;
    while (found - below > 1) {
        int64_t middle = below + (found - below) / 2;
        if (cumulative[middle] < place)
            below = middle;
        else
            found = middle;
    }
    return found;
}

/* Shuffles as NumPy does: a place is drawn anew until it is one of those that are left. Instead of branching, which the
   processor could not predict, an entry changes places with itself if the drawn place is none. */
static void shuffle(RandomNumbers *random, OUTPUT(int32_t, values)) {
    for (int64_t i = values_count - 1; i > 0;) {
        int64_t place = random_32_bits(random) & UINT32_MAX >> __builtin_clz((uint32_t)i);
        bool is_one = place <= i;
        int64_t other = is_one ? place : i;
        int32_t moved = values[i];
        values[i] = values[other];
        values[other] = moved;
        i -= is_one;
    }
}

/* Draws one word from each of as many equal slices of the distribution as there are draws, in random order. */
static void draw(INPUT(uint32_t, cumulative), RandomNumbers *random, OUTPUT(int32_t, drawn)) {
    double slice = (double)cumulative[cumulative_count - 1] / (double)drawn_count;
    int64_t word = 0;
    for (int64_t i = 0; i < drawn_count; i++) {
        uint32_t place = (uint32_t)(((double)i + random_double(random)) * slice);
        word = first_reaching(cumulative, cumulative_count, word, place);
        drawn[i] = (int32_t)word;
    }
    shuffle(random, drawn, drawn_count);
}

/* Writes drawn words; `cumulative` has the places where the words end in the distribution. If `pool` is below the
   number of words to write, these come from a pool of so many drawn words. */
EXPORT int64_t tfw2v_draw_negatives(
    INPUT(uint32_t, cumulative), int64_t pool, RandomNumbers *random, OUTPUT(int32_t, drawn)
) {
    bool is_short = cumulative_count <= LONGEST && drawn_count <= LONGEST;
    if (!cumulative_count || !drawn_count || !is_short || pool < 1) return WRONG_SIZES;
    RandomNumbers own = *random;
    if (drawn_count <= pool) {
        draw(cumulative, cumulative_count, &own, drawn, drawn_count);
    } else {
        int32_t *words = malloc((size_t)pool * sizeof *words);
        if (!words) return NO_MEMORY;
        draw(cumulative, cumulative_count, &own, words, pool);
        for (int64_t i = 0; i < drawn_count; i++) drawn[i] = words[random_below(&own, (uint32_t)pool)];
        free(words);
    }
    *random = own;
    return 0;
}
