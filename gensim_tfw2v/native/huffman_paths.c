/* The Huffman paths of the distinct words among some. */

#include <stdlib.h>
#include <string.h>

#include "arrays.h"

enum { BITS = 64 };

/* Numbers the words whose bit is set, in ascending order. */
static int64_t number_words(INPUT(uint64_t, is_there), int32_t *number, int32_t *distinct) {
    int64_t count = 0;
    for (int64_t i = 0; i < is_there_count; i++)
        for (uint64_t rest = is_there[i]; rest; rest &= rest - 1) {
            int64_t word = i * BITS + __builtin_ctzll(rest);
            number[word] = (int32_t)count;
            distinct[count++] = (int32_t)word;
        }
    return count;
}

/* Writes the distinct ids in ascending order, and for every id its number among them. `distinct` has room for all ids,
   or for all of the `words` words if these are fewer. Returns the number of distinct ids. */
EXPORT int64_t tfw2v_number_words(
    INPUT(int32_t, ids), int64_t words, OUTPUT(int32_t, numbers), OUTPUT(int32_t, distinct)
) {
    bool has_room = distinct_count >= (ids_count < words ? ids_count : words) && numbers_count == ids_count;
    if (words < 0 || words > INT32_MAX || !has_room) return WRONG_SIZES;
    if (!are_below(words, ids, ids_count)) return NO_WORD;
    int64_t parts = words / BITS + 1, found = NO_MEMORY;
    uint64_t *is_there = calloc((size_t)parts, sizeof *is_there);
    int32_t *number = malloc((size_t)(words + 1) * sizeof *number); /* of a word that is there */
    if (is_there && number) {
        for (int64_t i = 0; i < ids_count; i++) is_there[ids[i] / BITS] |= (uint64_t)1 << ids[i] % BITS;
        found = number_words(is_there, parts, number, distinct);
        for (int64_t i = 0; i < ids_count; i++) numbers[i] = number[ids[i]];
    }
    free(is_there);
    free(number);
    return found;
}

/* Writes where the paths of some words begin and end in a list of all of their steps. Returns the number of steps. */
EXPORT int64_t tfw2v_path_offsets(
    INPUT(int32_t, words), INPUT(int32_t, tree_offsets), int64_t tree_steps, OUTPUT(int32_t, offsets)
) {
    if (offsets_count != words_count + 1) return WRONG_SIZES;
    if (!are_below(tree_offsets_count - 1, words, words_count)) return NO_WORD;
    int64_t steps = 0;
    for (int64_t i = 0; i < words_count; i++) {
        int64_t begin = tree_offsets[words[i]], end = tree_offsets[words[i] + 1];
        if (begin < 0 || end < begin || tree_steps < end) return NO_PATH;
        offsets[i] = (int32_t)steps;
        steps += end - begin;
        if (steps > LONGEST) return NO_PATH;
    }
    offsets[words_count] = (int32_t)steps;
    return steps;
}

/* Writes the steps of the paths of some words. */
EXPORT int64_t tfw2v_copy_paths(
    INPUT(int32_t, words), INPUT(int32_t, tree_offsets), INPUT(int32_t, tree_nodes), INPUT(uint8_t, tree_codes),
    OUTPUT(int32_t, nodes), OUTPUT(int32_t, codes)
) {
    if (tree_codes_count != tree_nodes_count || codes_count != nodes_count) return WRONG_SIZES;
    if (!are_below(tree_offsets_count - 1, words, words_count)) return NO_WORD;
    int64_t steps = 0;
    for (int64_t i = 0; i < words_count; i++) {
        int64_t begin = tree_offsets[words[i]], end = tree_offsets[words[i] + 1];
        if (begin < 0 || end < begin || tree_nodes_count < end || nodes_count - steps < end - begin) return NO_PATH;
        for (int64_t step = begin; step < end; step++, steps++) {
            nodes[steps] = tree_nodes[step];
            codes[steps] = tree_codes[step];
        }
    }
    return steps == nodes_count ? 0 : NO_PATH;
}
