/* Tokens cut into runs. */

#include <string.h>

#include "arrays.h"

/* Writes values, and zeros after the last one. */
EXPORT int64_t tfw2v_pad(INPUT(int32_t, values), OUTPUT(int32_t, padded)) {
    if (padded_count < values_count) return WRONG_SIZES;
    if (values_count) memcpy(padded, values, (size_t)values_count * sizeof *values);
    if (padded_count > values_count)
        memset(padded + values_count, 0, (size_t)(padded_count - values_count) * sizeof *values);
    return 0;
}

/* Copies the values of places `begin` to `begin + count` of a line that continues with its first and last value. */
static void copy_places(INPUT(int32_t, line), int64_t begin, int64_t count, int32_t *copied) {
    if (0 <= begin && begin + count <= line_count) {
        memcpy(copied, line + begin, (size_t)count * sizeof *line);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t place = begin + i;
        copied[i] = line[place < 0 ? 0 : place < line_count ? place : line_count - 1];
    }
}

/* Writes the values of widened runs: `run_tokens` values and `window` more on both sides, and then the run's negatives
   if there are any. Places beyond both ends have the first and the last value. */
EXPORT int64_t tfw2v_widen(
    INPUT(int32_t, values), int64_t runs, int64_t run_tokens, int64_t window, INPUT(int32_t, negatives),
    OUTPUT(int32_t, wide)
) {
    bool is_grid = 1 <= runs && runs <= LONGEST && 1 <= run_tokens && run_tokens <= LONGEST && 0 <= window;
    bool is_short = window <= INT32_MAX && values_count && values_count <= LONGEST && negatives_count >= 0;
    if (!is_grid || !is_short || negatives_count % runs || wide_count % runs) return WRONG_SIZES;
    int64_t places = run_tokens + 2 * window, shared = negatives_count / runs;
    if (wide_count / runs != places + shared) return WRONG_SIZES;
    for (int64_t run = 0; run < runs; run++) {
        copy_places(values, values_count, run * run_tokens - window, places, wide);
        wide += places;
        if (shared) memcpy(wide, negatives + run * shared, (size_t)shared * sizeof *wide);
        wide += shared;
    }
    return 0;
}
