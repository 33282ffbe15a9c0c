#include "checks.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_TEXT = 160 };

/* Products of two lengths stay within 64 bits if no axis except a table's rows is longer. */
static const int64_t LONGEST = (int64_t)1 << 30;

/* One entry along an axis, and all of them. */
static const struct {
    const char *one, *all;
} AXIS_NAMES[AXES] = {
    [BY_ROW] = {"row", "rows"},
    [BY_INPUT] = {"row", "rows"},
    [BY_OUTPUT] = {"row", "rows"},
    [BY_NODE] = {"row", "rows"},
    [BY_NUMBER] = {"number", "numbers a vector"},
    [BY_COLUMN] = {"column", "columns"},
    [BY_HIDDEN_NUMBER] = {"number", "numbers a vector"},
    [BY_HIDDEN_COLUMN] = {"column", "columns"},
    [BY_BATCH] = {"batch", "batches"},
    [BY_RUN] = {"run", "runs"},
    [BY_TOKEN] = {"token", "tokens a run"},
    [BY_PLACE] = {"place", "places a run"},
    [BY_CANDIDATE] = {"candidate", "candidates a run"},
    [BY_NEGATIVE] = {"negative", "negatives a run"},
    [BY_STEP] = {"step", "steps"},
    [BY_OFFSET] = {"offset", "offsets"},
    [BY_BAG] = {"bag", "bags"},
    [BY_MEMBER] = {"member", "members"},
    [BY_FACTOR] = {"factor", "factors"},
    [BY_BOUND] = {"bound", "bounds"},
    [BY_ENTRY] = {"entry", "entries"},
};

static void add_text(char *text, const char *part) {
    size_t used = strlen(text);
    snprintf(text + used, LONGEST_TEXT - used, "%s%s", used ? ", " : "", part);
}

static int axes_of(const Input *input) {
    int count = 0;
    while (count < MOST_AXES && input->axes[count]) count++;
    return count;
}

static bool fail_axes(Call *call, int input) {
    const Input *described = &call->described[input];
    int count = axes_of(described);
    char names[LONGEST_TEXT] = "";
    for (int axis = 0; axis < count; axis++) add_text(names, AXIS_NAMES[described->axes[axis]].all);
    int found = TF_NumDims_(call->inputs[input]);
    if (!count) return fail(call, "%s has %d axes; it must be a scalar", described->name, found);
    return fail(call, "%s has %d axes; it must have %d (%s)", described->name, found, count, names);
}

static bool is_table(Axis kind) { return kind == BY_ROW || kind == BY_INPUT || kind == BY_OUTPUT || kind == BY_NODE; }

bool check_shapes(Call *call) {
    int by[AXES] = {0}; /* the input that the length of a kind of axis is from */
    bool has_state = has(call, ADAGRAD);
    for (int kind = 0; kind < AXES; kind++) call->lengths[kind] = -1;
    for (int input = 0; input < call->input_count; input++) {
        if (!is_used(call, input)) continue;
        const Input *described = &call->described[input];
        int count = axes_of(described);
        if (TF_NumDims_(call->inputs[input]) != count) return fail_axes(call, input);
        for (int axis = 0; axis < count; axis++) {
            Axis kind = described->axes[axis];
            int64_t length = TF_Dim_(call->inputs[input], axis);
            if (kind == BY_COLUMN || kind == BY_HIDDEN_COLUMN) {
                if (length < has_state) return fail(call, "%s has 0 columns and no state", described->name);
                kind = numbers_in(call, kind), length -= has_state;
            }
            int64_t *known = &call->lengths[kind];
            if (*known < 0) *known = length, by[kind] = input;
            if (length != *known)
                return fail(
                    call, "%s has %lld %s and %s has %lld", described->name, (long long)length, AXIS_NAMES[kind].all,
                    call->described[by[kind]].name, (long long)*known
                );
            if (length > LONGEST && !is_table(kind))
                return fail(
                    call, "%s has %lld %s; at most %lld are supported", described->name, (long long)length,
                    AXIS_NAMES[kind].all, (long long)LONGEST
                );
        }
    }
    return true;
}

bool check_span(Call *call, int input) {
    const int32_t *span = integers(call, input);
    if (call->lengths[BY_BOUND] == 2 && 0 <= span[0] && span[0] <= span[1] && span[1] <= call->lengths[BY_BATCH]) {
        call->first_batch = span[0], call->end_batch = span[1];
        return true;
    }
    return fail(
        call, "%s must have 2 bounds of batches, from 0 to %lld, in ascending order", call->described[input].name,
        (long long)call->lengths[BY_BATCH]
    );
}

bool check_number(Call *call, int input, int64_t least, int64_t most) {
    int32_t value = *integers(call, input);
    if (least <= value && value <= most) return true;
    return fail(
        call, "%s is %d; it must be from %lld to %lld", call->described[input].name, value, (long long)least,
        (long long)most
    );
}

bool check_any(Call *call, int input, Axis axis) {
    return call->lengths[axis] > 0 || fail(call, "%s has 0 %s", call->described[input].name, AXIS_NAMES[axis].all);
}

/* Writes "batch 1, run 0, place 3" for an entry that is counted from the input's first one. */
static void locate(const Call *call, int input, int64_t entry, char *text) {
    const Input *described = &call->described[input];
    int count = axes_of(described);
    int64_t at[MOST_AXES];
    for (int axis = count; axis--;) {
        at[axis] = entry % call->lengths[described->axes[axis]];
        entry /= call->lengths[described->axes[axis]];
    }
    *text = 0;
    for (int axis = 0; axis < count; axis++) {
        char part[LONGEST_TEXT / MOST_AXES];
        snprintf(part, sizeof part, "%s %lld", AXIS_NAMES[described->axes[axis]].one, (long long)at[axis]);
        add_text(text, part);
    }
}

bool fail_row(Call *call, int input, int64_t entry, int64_t rows, const char *table, const char *rows_name) {
    char place[LONGEST_TEXT];
    locate(call, input, entry, place);
    return fail(
        call, "%s holds %d at %s; %s has %lld %s", call->described[input].name, integers(call, input)[entry], place,
        table, (long long)rows, rows_name
    );
}

bool fail_count(Call *call, int input, int64_t entry, int64_t most) {
    char place[LONGEST_TEXT];
    locate(call, input, entry, place);
    return fail(
        call, "%s holds %d at %s; it must be from 0 to %lld", call->described[input].name,
        integers(call, input)[entry], place, (long long)most
    );
}

/* The entries of an input that a call reads: those of the span's batches, or all if there are no batches. */
typedef struct {
    int64_t first, count;
} Entries;

static Entries entries_of(const Call *call, int input) {
    const Axis *axes = call->described[input].axes;
    bool is_by_batch = axes[0] == BY_BATCH;
    int64_t count = 1;
    for (int axis = is_by_batch; axis < MOST_AXES && axes[axis]; axis++) count *= call->lengths[axes[axis]];
    if (!is_by_batch) return (Entries){0, count};
    return (Entries){call->first_batch * count, (call->end_batch - call->first_batch) * count};
}

/* The first entry that is below 0 or not below the end, counted from the input's first entry; -1 if there is none. */
static int64_t find_outside(const Call *call, int input, int64_t end) {
    Entries entries = entries_of(call, input);
    const int32_t *values = integers(call, input);
    uint32_t found = 0; /* Entries below 0 become the largest ones. */
    for (int64_t i = entries.first; i < entries.first + entries.count; i++)
        found = (uint32_t)values[i] > found ? (uint32_t)values[i] : found;
    int64_t most = smallest(end, (int64_t)INT32_MAX + 1);
    if (!entries.count || found < most) return -1;
    int64_t entry = entries.first;
    while ((uint32_t)values[entry] < most) entry++;
    return entry;
}

bool check_rows(Call *call, int input, int table) {
    Axis axis = call->described[table].axes[0];
    int64_t rows = call->lengths[axis], entry = find_outside(call, input, rows);
    return entry < 0 || fail_row(call, input, entry, rows, call->described[table].name, AXIS_NAMES[axis].all);
}

bool check_counts(Call *call, int input, int64_t most) {
    int64_t entry = find_outside(call, input, most + 1);
    return entry < 0 || fail_count(call, input, entry, most);
}

bool check_bags(Call *call, int input, bool may_miss, int offsets, int members, int table) {
    Entries entries = entries_of(call, input);
    const int32_t *numbers = integers(call, input), *begins = integers(call, offsets), *rows = integers(call, members);
    int64_t bags = call->lengths[BY_BAG] - 1, count = call->lengths[BY_MEMBER];
    int64_t table_rows = call->lengths[call->described[table].axes[0]];
    for (int64_t i = entries.first; i < entries.first + entries.count; i++) {
        if (may_miss && numbers[i] == -1) continue;
        if (numbers[i] < 0 || numbers[i] >= bags)
            return fail_row(call, input, i, bags, call->described[offsets].name, AXIS_NAMES[BY_BAG].all);
        int64_t begin = begins[numbers[i]], end = begins[numbers[i] + 1];
        if (begin < 0 || end < begin || count < end)
            return fail(
                call, "%s must ascend from 0 to %lld, the members of %s", call->described[offsets].name,
                (long long)count, call->described[members].name
            );
        for (int64_t member = begin; member < end; member++)
            if (rows[member] < 0 || rows[member] >= table_rows)
                return fail_row(
                    call, members, member, table_rows, call->described[table].name, AXIS_NAMES[BY_INPUT].all
                );
    }
    return true;
}

bool check_bag_sizes(Call *call, int input, int offsets, int64_t size) {
    Entries entries = entries_of(call, input);
    const int32_t *numbers = integers(call, input), *begins = integers(call, offsets);
    for (int64_t i = entries.first; i < entries.first + entries.count; i++) {
        int64_t found = numbers[i] < 0 ? size : (int64_t)begins[numbers[i] + 1] - begins[numbers[i]];
        if (found == size) continue;
        char place[LONGEST_TEXT];
        locate(call, input, i, place);
        return fail(
            call, "%s holds a bag of %lld rows at %s; it must have %lld", call->described[input].name,
            (long long)found, place, (long long)size
        );
    }
    return true;
}

bool check_weights(Call *call, int input) {
    Entries entries = entries_of(call, input);
    const float *values = floats(call, input);
    for (int64_t i = entries.first; i < entries.first + entries.count; i++)
        if (!(0 <= values[i] && values[i] <= FLT_MAX)) {
            char place[LONGEST_TEXT];
            locate(call, input, i, place);
            return fail(
                call, "%s holds %g at %s; weights are from 0 on", call->described[input].name, values[i], place
            );
        }
    return true;
}
