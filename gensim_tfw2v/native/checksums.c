/* Fletcher's checksums of pages of bytes. */

#include <string.h>

#include "arrays.h"

enum { PAGE_BYTES = 4096, WORD_BYTES = 8, PAGE_WORDS = PAGE_BYTES / WORD_BYTES, LANES = 8 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pages consist of little-endian words"
#endif

/* The sum of the words of a page, and of these words multiplied by 1, 2, 3 and so on, modulo 2^64 and inverted. The
   words are summed in lanes side by side: lane l has the words l, l + LANES and so on. */
static void checksum(const unsigned char *page, uint64_t *found) {
    uint64_t sums[LANES] = {0}, sums_of_sums[LANES] = {0};
    enum { ROUNDS = PAGE_WORDS / LANES };
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t words[LANES];
        memcpy(words, page + round * sizeof words, sizeof words);
        for (int lane = 0; lane < LANES; lane++) sums_of_sums[lane] += sums[lane] += words[lane];
    }
    uint64_t plain = 0, weighted = 0;
    for (int lane = 0; lane < LANES; lane++) {
        /* A word of round r is in ROUNDS - r of the sums, so that this is the sum of r times each word. */
        uint64_t by_round = ROUNDS * sums[lane] - sums_of_sums[lane];
        plain += sums[lane];
        weighted += LANES * by_round + (uint64_t)(lane + 1) * sums[lane];
    }
    found[0] = ~plain, found[1] = ~weighted;
}

/* Writes two numbers for each page of `data`, which begins with a page; the last page may be short, and counts as
   filled up with zeros. */
int64_t tfw2v_page_checksums(INPUT(uint8_t, data), OUTPUT(uint64_t, checksums)) {
    int64_t whole = data_count / PAGE_BYTES, rest = data_count % PAGE_BYTES;
    if (checksums_count != 2 * (whole + (rest > 0))) return WRONG_SIZES;
    for (int64_t page = 0; page < whole; page++) checksum(data + page * PAGE_BYTES, checksums + 2 * page);
    if (rest) {
        unsigned char last[PAGE_BYTES] = {0};
        memcpy(last, data + whole * PAGE_BYTES, (size_t)rest);
        checksum(last, checksums + 2 * whole);
    }
    return 0;
}
