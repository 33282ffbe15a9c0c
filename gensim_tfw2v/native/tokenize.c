/* UTF-8 text → the numbers of the words between white space, exactly as Python's `str.split` finds them. */

#include <string.h>

#include "arrays.h"

/* Bytes of a block and of a key; words that are looked up together, and words of a block at most. */
enum { BLOCK = 64, KEY_BYTES = 16, BATCH = 256, BLOCK_WORDS = BLOCK / 2, PLACE_NUMBERS = 3 };

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bits of a block are in the order of its bytes"
#endif

static const uint64_t EACH_BYTE = 0x0101010101010101, HIGH_BITS = 0x8080808080808080;
/* Masks of the first 0 to 8 bytes. */
static const uint64_t FIRST_BYTES[] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF,
};

/* A word of up to 15 bytes: these bytes, zeros, and their number. A longer word: a hash, and 255 as the number. */
typedef struct {
    uint64_t first, last;
} Key;

typedef struct {
    Key key;
    uint64_t number; /* plus 1; 0 if the place is empty */
} Place;

/* All words by number. Word n has the bytes of `texts` from ends[n] to ends[n + 1], the last of which is a line end.
   Behind the last word, `texts` has room for a key. */
typedef struct {
    Place *places;
    uint64_t last_place; /* one less than a power of 2 */
    int64_t *ends;
    uint8_t *texts;
    int64_t words;
} Table;

/* The words of a text that are not looked up yet. There may be one more begin than ends: of a word that goes on. */
typedef struct {
    int64_t begins[BATCH + 1], ends[BATCH];
    int64_t begun, ended;
} Batch;

/* Bits of the bytes of a block: of white space, line ends, and bytes that are not ASCII. */
typedef struct {
    uint64_t blank, line_end, wide;
} Bits;

/* Where the next character that is not checked begins, and bits of white space that reaches into the next block. */
typedef struct {
    int64_t checked;
    uint64_t blank;
} WideSpaces;

/* -- white space -------------------------------------------------------------------------------------------------- */

/* The highest bits of eight bytes, each set if the byte is at least `least`; all bytes are below 128. */
static inline uint64_t at_least(int least, uint64_t bytes) { return bytes + (uint64_t)(128 - least) * EACH_BYTE; }

/* The highest bits of eight bytes, as one byte. */
static inline uint64_t gathered(uint64_t bytes) { return ((bytes & HIGH_BITS) >> 7) * 0x0102040810204080 >> 56; }

static Bits bits_of(const uint8_t *block) {
    Bits found = {0};
    for (int place = 0; place < BLOCK; place += 8) {
        uint64_t bytes;
        memcpy(&bytes, block + place, 8);
        uint64_t low = bytes & ~HIGH_BITS;
        /* 9 to 13, and 28 to 32 */
        uint64_t blank = (at_least(9, low) & ~at_least(14, low)) | (at_least(28, low) & ~at_least(33, low));
        found.blank |= gathered(blank & ~bytes) << place;
        found.line_end |= gathered(at_least('\n', low) & ~at_least('\n' + 1, low) & ~bytes) << place;
        found.wide |= gathered(bytes) << place;
    }
    return found;
}

/* The number of bytes of the character that begins with a byte that is not ASCII; 0 if it is not UTF-8. */
static int bytes_of_character(const uint8_t *text, int64_t rest) {
    int lead = text[0], bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (bytes > rest) return 0;
    for (int i = 1; i < bytes; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    /* Characters that are longer than they need to be, halves of surrogate pairs, and those above the last one. */
    if ((lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90)) return 0;
    if ((lead == 0xED && text[1] >= 0xA0) || (lead == 0xF4 && text[1] >= 0x90)) return 0;
    return bytes;
}

static bool is_wide_space(const uint8_t *text, int bytes) {
    if (bytes == 2) return text[0] == 0xC2 && (text[1] == 0x85 || text[1] == 0xA0);
    if (bytes != 3 || text[0] > 0xE3) return false;
    int code = (text[0] & 0xF) << 12 | (text[1] & 0x3F) << 6 | (text[2] & 0x3F);
    if (0x2000 <= code && code <= 0x200A) return true;
    return code == 0x1680 || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* Adds the white space of several bytes in a block. Returns whether all characters that begin there are UTF-8. */
static bool add_wide_spaces(INPUT(uint8_t, text), int64_t begin, Bits *bits, WideSpaces *spaces) {
    bits->blank |= spaces->blank;
    spaces->blank = 0;
    for (uint64_t rest = bits->wide; rest; rest &= rest - 1) {
        int bit = __builtin_ctzll(rest);
        const uint8_t *character = text + begin + bit;
        if (begin + bit < spaces->checked) continue;
        int bytes = bytes_of_character(character, text_count - begin - bit);
        if (!bytes) return false;
        spaces->checked = begin + bit + bytes;
        if (!is_wide_space(character, bytes)) continue;
        uint64_t blank = ((uint64_t)1 << bytes) - 1;
        bits->blank |= blank << bit;
        if (bit + bytes > BLOCK) spaces->blank = blank >> (BLOCK - bit);
    }
    return true;
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

/* A hash, whose upper half is the better one. */
static inline uint64_t mixed(Key key) {
    uint64_t sum = key.first * 0x9E3779B97F4A7C15 + key.last * 0xC2B2AE3D27D4EB4F;
    return (sum ^ sum >> 32) * 0xD6E8FEB86659FD93;
}

static Key key_of_long_word(const uint8_t *word, int64_t size) {
    Key key = {0};
    uint64_t sum = (uint64_t)size;
    for (; size > KEY_BYTES; word += KEY_BYTES, size -= KEY_BYTES) {
        memcpy(&key, word, KEY_BYTES);
        key.first ^= sum;
        sum = mixed(key);
    }
    key = (Key){0};
    memcpy(&key, word, (size_t)size);
    key.first ^= sum;
    return (Key){mixed(key), (uint64_t)255 << 56};
}

/* The key of a word. `room` bytes can be read. */
static inline Key key_of(const uint8_t *word, int64_t size, int64_t room) {
    Key key = {0};
    if (size >= KEY_BYTES) return key_of_long_word(word, size);
    memcpy(&key, word, room < KEY_BYTES ? (size_t)size : KEY_BYTES);
    key.first &= FIRST_BYTES[size < 8 ? size : 8];
    key.last &= FIRST_BYTES[size < 8 ? 0 : size - 8];
    key.last |= (uint64_t)size << 56;
    return key;
}

static inline uint64_t place_of(const Table *table, Key key) { return mixed(key) >> 32 & table->last_place; }

/* Whether the table has a word of a key as this number. */
static inline bool is_word(const Table *table, int64_t number, Key key, const uint8_t *word, int64_t size) {
    if (key.last >> 56 < KEY_BYTES) return true;
    return table->ends[number + 1] - table->ends[number] - 1 == size &&
           !memcmp(table->texts + table->ends[number], word, (size_t)size);
}

static void fill_place(Table *table, Key key, int64_t number) {
    uint64_t place = place_of(table, key);
    while (table->places[place].number) place = (place + 1) & table->last_place;
    table->places[place] = (Place){key, (uint64_t)number + 1};
}

static int32_t add_word(Table *table, Key key, const uint8_t *word, int64_t size) {
    int64_t number = table->words++, begin = table->ends[number];
    memcpy(table->texts + begin, word, (size_t)size);
    table->texts[begin + size] = '\n';
    table->ends[number + 1] = begin + size + 1;
    fill_place(table, key, number);
    return (int32_t)number;
}

static inline int32_t number_of(Table *table, Key key, uint64_t place, const uint8_t *word, int64_t size) {
    for (;; place = (place + 1) & table->last_place) {
        const Place *found = table->places + place;
        if (!found->number) return add_word(table, key, word, size);
        int64_t number = (int64_t)found->number - 1;
        bool is_equal = found->key.first == key.first && found->key.last == key.last;
        if (is_equal && is_word(table, number, key, word, size)) return (int32_t)number;
    }
}

/* Writes the numbers of the words that have ended. Places are fetched for all of them before the first is used. */
static void look_up(INPUT(uint8_t, text), Table *table, Batch *batch, int32_t *numbers) {
    Key keys[BATCH];
    uint64_t places[BATCH];
    for (int64_t i = 0; i < batch->ended; i++) {
        int64_t begin = batch->begins[i];
        keys[i] = key_of(text + begin, batch->ends[i] - begin, text_count - begin);
        places[i] = place_of(table, keys[i]);
        __builtin_prefetch(table->places + places[i]);
    }
    for (int64_t i = 0; i < batch->ended; i++) {
        int64_t begin = batch->begins[i];
        numbers[i] = number_of(table, keys[i], places[i], text + begin, batch->ends[i] - begin);
    }
    batch->begins[0] = batch->begins[batch->ended];
    batch->begun -= batch->ended;
    batch->ended = 0;
}

/* -- the text ----------------------------------------------------------------------------------------------------- */

/* Adds the begins and ends of words in a block. `was_blank` tells whether the byte before it is white space. */
static void add_words(Batch *batch, int64_t begin, uint64_t blank, bool was_blank) {
    uint64_t before = blank << 1 | was_blank;
    for (uint64_t rest = ~blank & before; rest; rest &= rest - 1)
        batch->begins[batch->begun++] = begin + __builtin_ctzll(rest);
    for (uint64_t rest = blank & ~before; rest; rest &= rest - 1)
        batch->ends[batch->ended++] = begin + __builtin_ctzll(rest);
}

/* Writes words and line ends of a text behind the `found` ones. */
static int64_t read_text(
    INPUT(uint8_t, text), Table *table, int32_t *numbers, OUTPUT(int32_t, line_ends), int64_t found[2]
) {
    Batch batch;
    batch.begun = batch.ended = 0;
    WideSpaces spaces = {0};
    bool was_blank = true;
    /* White space follows the last byte. */
    for (int64_t begin = 0; begin <= text_count; begin += BLOCK) {
        uint8_t last[BLOCK];
        bool is_whole = text_count - begin >= BLOCK;
        if (!is_whole) memcpy(memset(last, ' ', BLOCK), text + begin, (size_t)(text_count - begin));
        Bits bits = bits_of(is_whole ? text + begin : last);
        if (bits.wide && !add_wide_spaces(text, text_count, begin, &bits, &spaces)) return NOT_UTF8;
        uint64_t begins = ~bits.blank & (bits.blank << 1 | was_blank);
        for (uint64_t rest = bits.line_end; rest; rest &= rest - 1) {
            if (found[1] == line_ends_count) return WRONG_SIZES;
            uint64_t before = (rest & -rest) - 1;
            line_ends[found[1]++] = (int32_t)(found[0] + batch.begun + __builtin_popcountll(begins & before));
        }
        add_words(&batch, begin, bits.blank, was_blank);
        was_blank = bits.blank >> (BLOCK - 1);
        if (batch.ended > BATCH - BLOCK_WORDS || begin + BLOCK > text_count) {
            int64_t ended = batch.ended;
            look_up(text, text_count, table, &batch, numbers + found[0]);
            found[0] += ended;
        }
    }
    return 0;
}

/* Writes the numbers of a text's words, and how many words come before each line end. Gives new words the next numbers.

   `places`, `ends` and `texts` are a table. `known` has the number of its words, and of those that have places. `found`
   has the numbers of words and line ends that `numbers` and `line_ends` hold; those of the text follow them. */
EXPORT int64_t tfw2v_tokenize(
    INPUT(uint8_t, text), OUTPUT(uint64_t, places), OUTPUT(int64_t, ends), OUTPUT(uint8_t, texts),
    OUTPUT(int64_t, known), OUTPUT(int32_t, numbers), OUTPUT(int32_t, line_ends), OUTPUT(int64_t, found)
) {
    int64_t most_words = text_count / 2 + 1, all_places = places_count / PLACE_NUMBERS;
    if (known_count != 2 || found_count != 2 || places_count % PLACE_NUMBERS) return WRONG_SIZES;
    if (all_places < 1 || all_places & (all_places - 1) || all_places > LONGEST) return WRONG_SIZES;
    int64_t words = known[0], placed = known[1];
    if (placed < 0 || words < placed || words + most_words >= ends_count || all_places < ends_count) return WRONG_SIZES;
    if (texts_count - KEY_BYTES - 1 - ends[words] < text_count) return WRONG_SIZES;
    if (found[0] < 0 || numbers_count - found[0] < most_words || found[1] < 0) return WRONG_SIZES;
    Table table = {(Place *)places, (uint64_t)all_places - 1, ends, texts, words};
    for (; placed < words; placed++) {
        int64_t size = ends[placed + 1] - ends[placed] - 1;
        fill_place(&table, key_of(texts + ends[placed], size, size + KEY_BYTES), placed);
    }
    int64_t error = read_text(text, text_count, &table, numbers, line_ends, line_ends_count, found);
    known[0] = known[1] = table.words;
    return error;
}
