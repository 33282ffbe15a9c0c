/* Words → the buckets of their character n-grams, exactly as fastText and gensim find them. */

#include <stddef.h>

#include "arrays.h"

static const uint32_t HASH_START = 2166136261, HASH_FACTOR = 16777619;

/* Whether a byte continues a character. */
static inline bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/* FNV-1a, but bytes are signed, as in fastText. */
static inline uint32_t hashed(uint32_t hash, uint8_t byte) {
    return (hash ^ (uint32_t)(int32_t)(int8_t)byte) * HASH_FACTOR;
}

/* Writes the buckets of a word's n-grams of `least` to `most` characters, from `count` on, unless `buckets` is NULL.
   Characters at both ends of the word, which are its marks, are no n-grams alone. Returns the number after the last. */
static int64_t hash_word(
    const uint8_t *word, int64_t size, int64_t least, int64_t most, int64_t bucket, int32_t *buckets, int64_t count
) {
    for (int64_t begin = 0; begin < size; begin++) {
        if (continues(word[begin])) continue;
        uint32_t hash = HASH_START;
        for (int64_t at = begin, length = 1; at < size && length <= most; length++) {
            do hash = hashed(hash, word[at++]);
            while (at < size && continues(word[at]));
            if (length < least || (length == 1 && (begin == 0 || at == size))) continue;
            if (buckets) buckets[count] = (int32_t)(hash % (uint32_t)bucket);
            count++;
        }
    }
    return count;
}

/* Writes where the buckets of each word begin and the last ones end, and the buckets if there is room for them. Word w
   has the bytes of `texts` from ends[w] to ends[w + 1], with a mark at both ends. Returns the number of buckets. */
EXPORT int64_t tfw2v_hash_ngrams(
    INPUT(uint8_t, texts), INPUT(int64_t, ends), int64_t least, int64_t most, int64_t bucket, OUTPUT(int64_t, offsets),
    OUTPUT(int32_t, buckets)
) {
    int64_t words = ends_count - 1, count = 0;
    if (words < 0 || offsets_count != ends_count || bucket < 1 || bucket > INT32_MAX) return WRONG_SIZES;
    for (int64_t word = 0; word < words; word++)
        if (ends[word] < 0 || ends[word + 1] < ends[word] || texts_count < ends[word + 1]) return WRONG_SIZES;
    for (int64_t word = 0; word < words; word++) {
        const uint8_t *text = texts + ends[word];
        int64_t size = ends[word + 1] - ends[word];
        offsets[word] = count;
        int64_t after = hash_word(text, size, least, most, bucket, NULL, count);
        if (buckets && after > buckets_count) return WRONG_SIZES;
        if (buckets) hash_word(text, size, least, most, bucket, buckets, count);
        count = after;
    }
    offsets[words] = count;
    return count;
}
