/* CBOW's hidden vectors: weighted sums of context rows, and the gradients of these sums, which move the rows. */

#include "checks.h"
#include "operation.h"
#include "sums.h"
#include "vectors.h"

/* The runs of a batch with the contexts of their tokens. */
typedef struct {
    const int32_t *ids;          /* [runs, places] of the widened runs */
    const int32_t *left, *right; /* [runs, tokens], how many places before and after a token are its contexts */
    const int32_t *window_rows;  /* [runs, tokens], the row of weights of each token */
    const float *weights;        /* [window rows, places] */
    int64_t runs, tokens, places, window;
} Contexts;

static bool get_contexts(Call *call, Contexts *contexts) {
    enum { TABLE, IDS, LEFT, RIGHT, BATCH, WINDOW_ROWS, WEIGHTS };
    contexts->runs = call->lengths[BY_RUN];
    contexts->tokens = call->lengths[BY_TOKEN];
    contexts->places = call->lengths[BY_PLACE];
    if (!check_batch(call, BATCH) || !check_rows(call, IDS, TABLE) || !check_rows(call, WINDOW_ROWS, WEIGHTS) ||
        !check_windows(call, LEFT, RIGHT, IDS, contexts->places, &contexts->window))
        return false;
    contexts->ids = of_batch(call, IDS);
    contexts->left = of_batch(call, LEFT);
    contexts->right = of_batch(call, RIGHT);
    contexts->window_rows = integers(call, WINDOW_ROWS);
    contexts->weights = floats(call, WEIGHTS);
    return true;
}

/* Memory for `vectors` vectors with weights. */
static const float **room_for(Call *call, int64_t vectors, float **weights) {
    const float **found = workspace(call, FOR_POINTERS, (size_t)vectors * (sizeof(float *) + sizeof(float)));
    if (found) *weights = (float *)(found + vectors);
    return found;
}

static void sum(Call *call) {
    enum { TABLE };
    Contexts all;
    if (!get_contexts(call, &all)) return;
    Table table = table_of(call, TABLE);
    int64_t tokens = all.runs * all.tokens;
    float *hidden = output(call, 0, (int64_t[]){all.runs, all.tokens, table.size}, 3), *weights;
    const float **found = room_for(call, 2 * all.window, &weights);
    if (!hidden || !found) return;
    memset(hidden, 0, (size_t)(tokens * table.size) * sizeof(float));
    for (int64_t number = 0; number < tokens; number++) {
        int64_t token = number % all.tokens, own = token + all.window, count = 0;
        const int32_t *ids = all.ids + number / all.tokens * all.places;
        if (number + all.tokens < tokens) /* one of the next run */
            prefetch_row(row_of(table, ids[all.places + own]), table.size);
        for (int64_t place = own - all.left[number]; place <= own + all.right[number]; place++) {
            if (place == own) continue;
            found[count] = row_of(table, ids[place]);
            weights[count++] = all.weights[all.window_rows[number] * all.places + place];
        }
        add_weighted_sum(hidden + number * table.size, found, weights, count, table.size);
    }
}

static void move(Call *call) {
    enum { TABLE, GRADIENTS = 7, LIMITS };
    Contexts all;
    if (!get_contexts(call, &all)) return;
    Table table = table_of(call, TABLE);
    Sums sums;
    float *weights, *metrics = output(call, 0, METRICS_SHAPE, 1);
    const float **found = room_for(call, all.tokens, &weights);
    if (!metrics || !found || !start_sums(call, &sums, all.runs * all.places, table.size)) return;
    for (int64_t run = 0; run < all.runs; run++) {
        const int32_t *left = all.left + run * all.tokens, *right = all.right + run * all.tokens;
        const int32_t *window_rows = all.window_rows + run * all.tokens;
        const float *gradients = floats(call, GRADIENTS) + run * all.tokens * table.size;
        for (int64_t place = 0; place < all.places; place++) {
            int64_t count = 0;
            for (int64_t token = largest(place - 2 * all.window, 0); token <= place && token < all.tokens; token++) {
                int64_t distance = place - all.window - token;
                if (!distance || distance > right[token] || -distance > left[token]) continue;
                found[count] = gradients + token * table.size;
                weights[count++] = all.weights[window_rows[token] * all.places + place];
            }
            if (!count) continue;
            add_weighted_sum(sum_of(&sums, all.ids[run * all.places + place]), found, weights, count, table.size);
        }
    }
    RowCounts moved = {0};
    move_rows(table, &sums, step_limits_of(call, LIMITS), &moved);
    write_metrics(metrics, moved);
}

#define CONTEXT_INPUTS                                                                                                 \
    TRAINED_TABLE, {"ids", "int32", {BY_BATCH, BY_RUN, BY_PLACE}}, WINDOW_INPUTS, SCALAR_INPUT("batch", "int32"),      \
        {"window_rows", "int32", {BY_RUN, BY_TOKEN}}, {"weights", "float", {BY_WINDOW_ROW, BY_PLACE}}

OPERATION(tfw2v_sum_contexts, sum) = {
    .name = "Tfw2vSumContexts",
    .trains = true,
    .inputs = {CONTEXT_INPUTS},
    .outputs = {"hidden: float"},
    .compute = compute_tfw2v_sum_contexts,
};

OPERATION(tfw2v_move_contexts, move) = {
    .name = "Tfw2vMoveContexts",
    .trains = true,
    .inputs = {CONTEXT_INPUTS, {"gradients", "float", {BY_RUN, BY_TOKEN, BY_NUMBER}}, STEP_LIMITS_INPUTS},
    .outputs = {"metrics: float"},
    .compute = compute_tfw2v_move_contexts,
};
