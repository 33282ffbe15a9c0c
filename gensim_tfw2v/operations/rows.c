/* Rows of a table → vectors for products, and gradients of such vectors → moved rows. */

#include "sums.h"
#include "vectors.h"

enum { ROWS_AHEAD = 8 };

/* Copies rows to the first output, if there is memory for it. */
static void fetch(const Call *call, Table table, const int32_t *rows, int64_t count, void *vectors) {
    if (!vectors) return;
    bool in_halves = TF_ExpectedOutputDataType_(call->context, 0) == TF_BFLOAT16;
    for (int64_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count) prefetch_row(row_of(table, rows[i + ROWS_AHEAD]), table.size);
        const float *row = row_of(table, rows[i]);
        if (in_halves)
            to_halves((uint16_t *)vectors + i * table.size, row, table.size);
        else
            memcpy((float *)vectors + i * table.size, row, (size_t)table.size * sizeof(float));
    }
}

/* table, ids [batches, runs, places], batch → vectors [runs, places, size] */
static void gather(Call *call) {
    enum { TABLE, IDS, BATCH };
    Table table = table_of(call, TABLE);
    const int32_t *ids = of_batch(call, IDS, *integers(call, BATCH));
    int64_t shape[] = {dimension(call, IDS, 1), dimension(call, IDS, 2), table.size};
    int64_t places = shape[0] * shape[1];
    fetch(call, table, ids, places, output(call, 0, shape, 3));
}

/* One of the vectors of an input; if they are of bfloat16, `whole` has room for it. */
static const float *vector_of(const Call *call, int input, int64_t number, int64_t size, bool in_halves, float *whole) {
    if (!in_halves) return floats(call, input) + number * size;
    from_halves(whole, halves_of(call, input) + number * size, size);
    return whole;
}

/* table, ids [batches, runs, places], batch, gradients [runs, places, size], pace → figures [2] */
static void move(Call *call) {
    enum { TABLE, IDS, BATCH, GRADIENTS, PACE };
    Table table = table_of(call, TABLE);
    const int32_t *ids = of_batch(call, IDS, *integers(call, BATCH));
    int64_t places = dimension(call, IDS, 1) * dimension(call, IDS, 2);
    float *whole = workspace(call, FOR_VECTORS, (size_t)table.size * sizeof(float));
    Sums sums;
    if (!whole || !start_sums(call, &sums, places, table.size)) return;
    bool in_halves = is_half(call, GRADIENTS);
    for (int64_t place = 0; place < places; place++) {
        const float *gradient = vector_of(call, GRADIENTS, place, table.size, in_halves, whole);
        add_scaled(sum_of(&sums, ids[place]), 1, gradient, table.size);
    }
    Moved moved = {0};
    move_rows(table, &sums, pace_of(call, PACE), &moved);
    output_moved(call, moved);
}

/* table, rows [n] → values [n, size] */
static void read(Call *call) {
    enum { TABLE, ROWS };
    Table table = table_of(call, TABLE);
    int64_t count = dimension(call, ROWS, 0);
    fetch(call, table, integers(call, ROWS), count, output(call, 0, (int64_t[]){count, table.size}, 2));
}

/* table, rows [n], values [n, size] → n */
static void write(Call *call) {
    enum { TABLE, ROWS, VALUES };
    Table table = table_of(call, TABLE);
    int64_t count = dimension(call, ROWS, 0);
    const float *values = floats(call, VALUES);
    for (int64_t i = 0; i < count; i++)
        memcpy(row_of(table, integers(call, ROWS)[i]), values + i * table.size, (size_t)table.size * sizeof(float));
    float *written = output(call, 0, NULL, 0);
    if (written) *written = (float)count;
}

/* table, rows [n], changes [n, size] → n */
static void add(Call *call) {
    enum { TABLE, ROWS, CHANGES };
    Table table = table_of(call, TABLE);
    int64_t count = dimension(call, ROWS, 0);
    const int32_t *rows = integers(call, ROWS);
    float *whole = workspace(call, FOR_VECTORS, (size_t)table.size * sizeof(float));
    if (!whole) return;
    bool in_halves = is_half(call, CHANGES);
    for (int64_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count) prefetch_row(row_of(table, rows[i + ROWS_AHEAD]), table.size);
        const float *change = vector_of(call, CHANGES, i, table.size, in_halves, whole);
        add_scaled(row_of(table, rows[i]), 1, change, table.size);
    }
    float *added = output(call, 0, NULL, 0);
    if (added) *added = (float)count;
}

OPERATION(run_read, 2, 1, read)
OPERATION(run_add, 3, 1, add)
OPERATION(run_write, 3, 1, write)
OPERATION(run_gather, 3, 1, gather)
OPERATION(run_move, 7, 1, move)

void register_row_operations(void) {
    register_operation(
        "Tfw2vReadRows", (const char *[]){"table: float", "rows: int32", NULL},
        (const char *[]){"values: T", NULL}, (const char *[]){"T: {float, bfloat16} = DT_FLOAT", NULL}, run_read
    );
    register_operation(
        "Tfw2vAddRows", (const char *[]){"table: float", "rows: int32", "changes: T", NULL},
        (const char *[]){"added: float", NULL}, (const char *[]){"T: {float, bfloat16}", NULL}, run_add
    );
    register_operation(
        "Tfw2vWriteRows", (const char *[]){"table: float", "rows: int32", "values: float", NULL},
        (const char *[]){"written: float", NULL}, (const char *[]){NULL}, run_write
    );
    register_operation(
        "Tfw2vGatherRows", (const char *[]){"table: float", "ids: int32", "batch: int32", NULL},
        (const char *[]){"vectors: T", NULL}, (const char *[]){"T: {float, bfloat16}", NULL}, run_gather
    );
    register_operation(
        "Tfw2vMoveRows",
        (const char *[]){
            "table: float", "ids: int32", "batch: int32", "gradients: T", "rate: float", "bound: float",
            "factors: float", NULL
        },
        (const char *[]){"figures: float", NULL}, (const char *[]){"T: {float, bfloat16}", NULL}, run_move
    );
}
