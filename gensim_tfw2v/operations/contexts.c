/* CBOW's mixtures of context rows, and the gradients of these mixtures → moved rows. */

#include "sums.h"
#include "vectors.h"

/* The runs of a batch with the contexts of their tokens. */
typedef struct {
    const int32_t *rows;         /* [runs, places] of the widened runs */
    const int32_t *left, *right; /* [runs, tokens], how many places before and after a token are its contexts */
    const int32_t *codes;        /* [runs, tokens], which row of weights is a token's */
    const float *weights;        /* [..., places] */
    int64_t runs, tokens, places, window;
} Contexts;

static Contexts contexts_of(const Call *call) {
    enum { ROWS = 1, LEFT, RIGHT, BATCH, CODES, WEIGHTS };
    int64_t batch = *integers(call, BATCH);
    Contexts found = {
        .rows = of_batch(call, ROWS, batch),
        .left = of_batch(call, LEFT, batch),
        .right = of_batch(call, RIGHT, batch),
        .codes = integers(call, CODES),
        .weights = floats(call, WEIGHTS),
        .runs = dimension(call, ROWS, 1),
        .tokens = dimension(call, LEFT, 2),
        .places = dimension(call, ROWS, 2),
    };
    found.window = (found.places - found.tokens) / 2;
    return found;
}

/* Memory for so many vectors with weights. */
static const float **mixture_of(Call *call, int64_t vectors, float **weights) {
    const float **found = workspace(call, FOR_POINTERS, (size_t)vectors * (sizeof(float *) + sizeof(float)));
    *weights = (float *)(found + vectors);
    return found;
}

/* table, rows [batches, runs, places], left, right [batches, runs, tokens], batch, codes [runs, tokens],
   weights [..., places] → hidden [runs, tokens, size] */
static void mix(Call *call) {
    enum { TABLE };
    Table table = table_of(call, TABLE);
    Contexts all = contexts_of(call);
    int64_t tokens = all.runs * all.tokens;
    float *hidden = output(call, 0, (int64_t[]){all.runs, all.tokens, table.size}, 3), *weights;
    const float **found = mixture_of(call, 2 * all.window, &weights);
    if (!hidden || !found) return;
    memset(hidden, 0, (size_t)(tokens * table.size) * sizeof(float));
    for (int64_t number = 0; number < tokens; number++) {
        int64_t token = number % all.tokens, own = token + all.window, count = 0;
        const int32_t *rows = all.rows + number / all.tokens * all.places;
        if (number + all.tokens < tokens) /* one of the next run */
            prefetch_row(row_of(table, rows[all.places + own]), table.size);
        for (int64_t place = own - all.left[number]; place <= own + all.right[number]; place++) {
            if (place == own) continue;
            found[count] = row_of(table, rows[place]);
            weights[count++] = all.weights[all.codes[number] * all.places + place];
        }
        add_mixture(hidden + number * table.size, found, weights, count, table.size);
    }
}

/* The same before `hidden`, whose gradients come next, and then the pace → figures [2] */
static void move(Call *call) {
    enum { TABLE, GRADIENTS = 7, PACE };
    Table table = table_of(call, TABLE);
    Contexts all = contexts_of(call);
    Sums sums;
    float *weights;
    const float **found = mixture_of(call, all.tokens, &weights);
    if (!found || !start_sums(call, &sums, all.runs * all.places, table.size)) return;
    for (int64_t run = 0; run < all.runs; run++) {
        const int32_t *left = all.left + run * all.tokens, *right = all.right + run * all.tokens;
        const int32_t *codes = all.codes + run * all.tokens;
        const float *gradients = floats(call, GRADIENTS) + run * all.tokens * table.size;
        for (int64_t place = 0; place < all.places; place++) {
            int64_t count = 0;
            for (int64_t token = largest(place - 2 * all.window, 0); token <= place && token < all.tokens; token++) {
                int64_t distance = place - all.window - token;
                if (!distance || distance > right[token] || -distance > left[token]) continue;
                found[count] = gradients + token * table.size;
                weights[count++] = all.weights[codes[token] * all.places + place];
            }
            if (count)
                add_mixture(sum_of(&sums, all.rows[run * all.places + place]), found, weights, count, table.size);
        }
    }
    Moved moved = {0};
    move_rows(table, &sums, pace_of(call, PACE), &moved);
    output_moved(call, moved);
}

OPERATION(run_mix, 7, 1, mix)
OPERATION(run_move, 11, 1, move)

#define CONTEXTS                                                                                                       \
    "table: float", "rows: int32", "left: int32", "right: int32", "batch: int32", "codes: int32", "weights: float"

void register_context_operations(void) {
    register_operation(
        "Tfw2vMixContexts", (const char *[]){CONTEXTS, NULL}, (const char *[]){"hidden: float", NULL},
        (const char *[]){NULL}, run_mix
    );
    register_operation(
        "Tfw2vMoveContexts",
        (const char *[]){CONTEXTS, "gradients: float", "rate: float", "bound: float", "factors: float", NULL},
        (const char *[]){"figures: float", NULL}, (const char *[]){NULL}, run_move
    );
}
