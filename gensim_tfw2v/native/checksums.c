/* Fletcher's checksums of pages of bytes. */

#include <string.h>

#include "arrays.h"

enum { WORD_BYTES = 8, LANES = 8, ROUND_BYTES = LANES * WORD_BYTES };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pages consist of little-endian words"
#endif

/* Writes the sum of the words of a page, and that of these words multiplied by 1, 2, 3 and so on, modulo 2^64 and
   inverted: a page of zeros does not fit a checksum of zeros. Bytes after the last one count as zeros. Words are summed
   in lanes side by side: lane l has the words l, l + LANES and so on, and round r the words from r * LANES on. */
static void checksum(const uint8_t *page, int64_t bytes, uint64_t *found) {
    uint64_t sums[LANES] = {0}, sums_of_sums[LANES] = {0}, rounds = 0;
    for (int64_t begin = 0; begin < bytes; begin += ROUND_BYTES, rounds++) {
        uint64_t words[LANES] = {0};
        if (bytes - begin >= ROUND_BYTES)
            memcpy(words, page + begin, ROUND_BYTES);
        else
            memcpy(words, page + begin, (size_t)(bytes - begin));
        for (int lane = 0; lane < LANES; lane++) sums_of_sums[lane] += sums[lane] += words[lane];
    }
    uint64_t plain = 0, weighted = 0;
    for (int lane = 0; lane < LANES; lane++) {
        /* A word of round r is in `rounds` - r of the sums. So this is the sum of r times each word. */
        uint64_t by_round = rounds * sums[lane] - sums_of_sums[lane];
        plain += sums[lane];
        weighted += LANES * by_round + (uint64_t)(lane + 1) * sums[lane];
    }
    found[0] = ~plain, found[1] = ~weighted;
}

/* Writes two numbers for each page of `data`, which begins with a page; the last page may be short. */
EXPORT int64_t tfw2v_page_checksums(INPUT(uint8_t, data), int64_t page_bytes, OUTPUT(uint64_t, checksums)) {
    if (page_bytes < WORD_BYTES || page_bytes % WORD_BYTES) return WRONG_SIZES;
    int64_t pages = data_count / page_bytes + (data_count % page_bytes > 0);
    if (checksums_count != 2 * pages) return WRONG_SIZES;
    for (int64_t page = 0; page < pages; page++) {
        int64_t begin = page * page_bytes, rest = data_count - begin;
        checksum(data + begin, rest < page_bytes ? rest : page_bytes, checksums + 2 * page);
    }
    return 0;
}
