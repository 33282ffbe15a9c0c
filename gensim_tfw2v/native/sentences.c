/* Ids of words: sentences without some of their words, counts, and other numbers. */

#include "arrays.h"
#include "random_numbers.h"

/* Sentences that are being written: words of the open sentence follow those that have ended. */
typedef struct {
    int32_t *lengths;
    int32_t *numbers; /* where each sentence was among those that were given; NULL if nobody asks */
    int64_t sentences, words, begin;
} Kept;

/* A sentence without words is left out. */
static void end_sentence(Kept *kept, int64_t number) {
    int64_t length = kept->words - kept->begin;
    kept->lengths[kept->sentences] = (int32_t)length;
    if (kept->numbers) kept->numbers[kept->sentences] = (int32_t)number;
    kept->sentences += length > 0;
    kept->begin = kept->words;
}

/* Whether arrays of some numbers of entries have room for sentences of so many words. */
static bool have_room(int64_t words, int64_t sentences, int64_t ids, int64_t lengths, int64_t numbers) {
    return words <= LONGEST && sentences <= LONGEST && ids >= words && lengths >= sentences && numbers == 1;
}

/* Whether an array has room for a number of each sentence, or is not wanted. */
static bool have_room_for_numbers(int64_t sentences, INPUT(int32_t, numbers)) {
    return !numbers || numbers_count >= sentences;
}

/* Writes the sentences with each word kept at its probability. Returns the number of words; `sentences` is one number,
   that of sentences. `numbers`, unless it is NULL, has the number of each sentence among those given. */
EXPORT int64_t tfw2v_subsample(
    INPUT(int32_t, ids), INPUT(int32_t, lengths), INPUT(float, keep), RandomNumbers *random, OUTPUT(int32_t, kept_ids),
    OUTPUT(int32_t, kept_lengths), OUTPUT(int64_t, sentences), OUTPUT(int32_t, numbers)
) {
    if (!have_room(ids_count, lengths_count, kept_ids_count, kept_lengths_count, sentences_count)) return WRONG_SIZES;
    if (!have_room_for_numbers(lengths_count, numbers, numbers_count)) return WRONG_SIZES;
    if (!are_lengths(ids_count, lengths, lengths_count)) return WRONG_LENGTHS;
    if (!are_below(keep_count, ids, ids_count)) return NO_WORD;
    RandomNumbers own = *random;
    Kept kept = {.lengths = kept_lengths, .numbers = numbers};
    for (int64_t sentence = 0, word = 0; sentence < lengths_count; sentence++) {
        for (int64_t end = word + lengths[sentence]; word < end; word++) {
            kept_ids[kept.words] = ids[word];
            kept.words += random_float(&own) < keep[ids[word]];
        }
        end_sentence(&kept, sentence);
    }
    *random = own;
    *sentences = kept.sentences;
    return kept.words;
}

/* Writes the sentences without unknown words, whose id is negative. Ids are those that `table` has for `ids`, or `ids`
   themselves if `table` is NULL. Returns the number of words; `sentences` is one number, that of sentences. `numbers` is
   as in `tfw2v_subsample`. */
EXPORT int64_t tfw2v_known_words(
    INPUT(int32_t, ids), INPUT(int32_t, lengths), INPUT(int32_t, table), OUTPUT(int32_t, known_ids),
    OUTPUT(int32_t, known_lengths), OUTPUT(int64_t, sentences), OUTPUT(int32_t, numbers)
) {
    if (!have_room(ids_count, lengths_count, known_ids_count, known_lengths_count, sentences_count)) return WRONG_SIZES;
    if (!have_room_for_numbers(lengths_count, numbers, numbers_count)) return WRONG_SIZES;
    if (!are_lengths(ids_count, lengths, lengths_count)) return WRONG_LENGTHS;
    if (table && !are_below(table_count, ids, ids_count)) return NO_WORD;
    Kept known = {.lengths = known_lengths, .numbers = numbers};
    for (int64_t sentence = 0, word = 0; sentence < lengths_count; sentence++) {
        for (int64_t end = word + lengths[sentence]; word < end; word++) {
            int32_t id = table ? table[ids[word]] : ids[word];
            known_ids[known.words] = id;
            known.words += id >= 0;
        }
        end_sentence(&known, sentence);
    }
    *sentences = known.sentences;
    return known.words;
}

/* Writes the least and the largest of some integers and their sum, or zeros if there are none. */
EXPORT int64_t tfw2v_extremes(INPUT(int32_t, values), OUTPUT(int64_t, found)) {
    if (found_count != 3) return WRONG_SIZES;
    int32_t least = values_count ? values[0] : 0, largest = least;
    int64_t sum = 0;
    for (int64_t i = 0; i < values_count; i++) {
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
        sum += values[i];
    }
    found[0] = least, found[1] = largest, found[2] = sum;
    return 0;
}

/* Adds the occurrences of words to their counts. */
EXPORT int64_t tfw2v_count_words(INPUT(int32_t, ids), OUTPUT(int64_t, counts)) {
    if (!are_below(counts_count, ids, ids_count)) return NO_WORD;
    for (int64_t i = 0; i < ids_count; i++) counts[ids[i]]++;
    return 0;
}

/* Writes the numbers that a table has for ids. */
EXPORT int64_t tfw2v_renumber(INPUT(int32_t, ids), INPUT(int32_t, table), OUTPUT(int32_t, numbers)) {
    if (numbers_count != ids_count) return WRONG_SIZES;
    if (!are_below(table_count, ids, ids_count)) return NO_WORD;
    for (int64_t i = 0; i < ids_count; i++) numbers[i] = table[ids[i]];
    return 0;
}
