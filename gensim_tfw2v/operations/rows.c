/* Operations on rows of a table: they read rows, write them, and add to them. */

#include "checks.h"
#include "operation.h"
#include "vectors.h"

enum { ROWS_AHEAD = 8 };

/* Copies rows to the first output, if there is memory for it. */
static void copy_rows(const Call *call, Table table, const int32_t *rows, int64_t count, void *vectors) {
    if (!vectors) return;
    bool as_bfloat16 = TF_ExpectedOutputDataType_(call->context, 0) == TF_BFLOAT16;
    for (int64_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count) prefetch_row(row_of(table, rows[i + ROWS_AHEAD]), table.size);
        const float *row = row_of(table, rows[i]);
        if (as_bfloat16)
            to_bfloat16((uint16_t *)vectors + i * table.size, row, table.size);
        else
            memcpy((float *)vectors + i * table.size, row, (size_t)table.size * sizeof(float));
    }
}

/* One of the vectors of an input, as float32; `room` has room for one. */
static const float *vector_of(
    const Call *call, int input, int64_t number, int64_t size, bool of_bfloat16, float *room
) {
    if (!of_bfloat16) return floats(call, input) + number * size;
    from_bfloat16(room, bfloat16s(call, input) + number * size, size);
    return room;
}

static void read(Call *call) {
    enum { TABLE, ROWS };
    if (!check_rows(call, ROWS, TABLE)) return;
    Table table = table_of(call, TABLE);
    int64_t shape[] = {call->lengths[BY_ENTRY], table.size};
    copy_rows(call, table, integers(call, ROWS), shape[0], output(call, 0, shape, 2));
}

static void write(Call *call) {
    enum { TABLE, ROWS, VALUES };
    if (!check_rows(call, ROWS, TABLE)) return;
    Table table = table_of(call, TABLE);
    const int32_t *rows = integers(call, ROWS);
    const float *values = floats(call, VALUES);
    float *written = output(call, 0, NULL, 0);
    if (!written) return;
    int64_t count = call->lengths[BY_ENTRY];
    for (int64_t i = 0; i < count; i++)
        memcpy(row_of(table, rows[i]), values + i * table.size, (size_t)table.size * sizeof(float));
    *written = (float)count;
}

static void add(Call *call) {
    enum { TABLE, ROWS, CHANGES };
    if (!check_rows(call, ROWS, TABLE)) return;
    Table table = table_of(call, TABLE);
    const int32_t *rows = integers(call, ROWS);
    float *room = zeros(call, (size_t)table.size * sizeof(float));
    float *added = output(call, 0, NULL, 0);
    if (!room || !added) return;
    bool of_bfloat16 = is_bfloat16(call, CHANGES);
    int64_t count = call->lengths[BY_ENTRY];
    for (int64_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count) prefetch_row(row_of(table, rows[i + ROWS_AHEAD]), table.size);
        const float *change = vector_of(call, CHANGES, i, table.size, of_bfloat16, room);
        add_scaled(row_of(table, rows[i]), 1, change, table.size);
    }
    *added = (float)count;
}

#define ROWS_INPUT {"rows", "int32", {BY_ENTRY}, 0}
OPERATION(tfw2v_read_rows, read) = {
    .name = "Tfw2vReadRows",
    .inputs = {TABLE_INPUT, ROWS_INPUT},
    .outputs = {"values: T"},
    .type = "T: {float, bfloat16} = DT_FLOAT",
    .compute = compute_tfw2v_read_rows,
};

OPERATION(tfw2v_write_rows, write) = {
    .name = "Tfw2vWriteRows",
    .inputs = {TABLE_INPUT, ROWS_INPUT, {"values", "float", {BY_ENTRY, BY_NUMBER}, 0}},
    .outputs = {"written: float"},
    .compute = compute_tfw2v_write_rows,
};

OPERATION(tfw2v_add_rows, add) = {
    .name = "Tfw2vAddRows",
    .inputs = {TABLE_INPUT, ROWS_INPUT, {"changes", "T", {BY_ENTRY, BY_NUMBER}, 0}},
    .outputs = {"added: float"},
    .type = "T: {float, bfloat16}",
    .compute = compute_tfw2v_add_rows,
};
