/* What all functions that Python calls have in common.

   Python gives every array with the number of its entries, so that a function can check all sizes and all indices before
   it uses them. Arrays may come from another machine. */

#ifndef TFW2V_ARRAYS_H
#define TFW2V_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default"))) /* other functions are not seen outside of the library */
#define INPUT(type, name) const type *name, int64_t name##_count
#define OUTPUT(type, name) type *name, int64_t name##_count

/* What a function returns if it fails; otherwise it returns a number that is at least 0. */
enum {
    NO_MEMORY = -1,
    WRONG_SIZES = -2,
    WRONG_LENGTHS = -3, /* of sentences: below 0, or not those of as many words as there are */
    NO_WORD = -4,       /* an id that is not in the vocabulary */
    NO_PATH = -5,       /* offsets of Huffman paths that are not in the tree */
    NOT_UTF8 = -6,
};

/* No array has more entries, so that numbers of entries fit int32 and products of two of them int64. */
static const int64_t LONGEST = (int64_t)1 << 30;

/* Whether all integers are from 0 to below `end`; as unsigned integers, those below 0 are larger than all others. */
static inline bool are_below(int64_t end, INPUT(int32_t, values)) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < values_count; i++) largest = (uint32_t)values[i] > largest ? (uint32_t)values[i] : largest;
    return !values_count || largest < end;
}

/* Whether these are the lengths of sentences with `words` words in all. */
static inline bool are_lengths(int64_t words, INPUT(int32_t, lengths)) {
    int64_t sum = 0;
    bool is_negative = false;
    for (int64_t i = 0; i < lengths_count; i++) sum += lengths[i], is_negative |= lengths[i] < 0;
    return !is_negative && sum == words;
}

#endif
