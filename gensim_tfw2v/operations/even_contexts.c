/* CBOW's hidden vectors where all contexts of a token have the same weight, and the gradients that move the contexts.

   A token's contexts are consecutive places of its run. So their sum is the difference of two running sums along the
   run, and a token costs the same with any window. On the way back, a token's gradient is added from its first context
   on and taken away after its last one: a running sum of these changes is the gradient of each place.

   Runs that continue each other, as those of a block do, make one line, so that no place counts in two of them. */

#include "checks.h"
#include "operation.h"
#include "sums.h"
#include "vectors.h"

/* A line of tokens: a run, or several that continue each other. */
typedef struct {
    const int32_t *ids;          /* [tokens + 2 * window] */
    const int32_t *left, *right; /* [tokens], how many places before and after a token are its contexts */
    int64_t tokens, window;
    bool mean; /* whether contexts are averaged, and each gets the whole gradient; else each gets its share of it */
} Line;

/* The lines of a batch, one after the other. */
typedef struct {
    Line line;
    const int32_t *ids; /* [runs, places] of the widened runs */
    int32_t *joined;    /* the ids of a line */
    int64_t run, runs;  /* the next run, and all */
    int64_t run_tokens, places;
} Lines;

/* The places of a token and its contexts, from the first to before the end. */
typedef struct {
    int64_t first, own, end, contexts;
} Reach;

enum { TABLE, IDS, LEFT, RIGHT, BATCH, MEAN, GRADIENTS, LIMITS };

/* Running sums stay exact enough along this many tokens. */
enum { MOST_TOKENS = 512 };

static bool get_lines(Call *call, Lines *all) {
    *all = (Lines){
        .runs = call->lengths[BY_RUN],
        .run_tokens = call->lengths[BY_TOKEN],
        .places = call->lengths[BY_PLACE],
        .line = {.mean = *booleans(call, MEAN)},
    };
    if (!check_batch(call, BATCH) || !check_rows(call, IDS, TABLE) ||
        !check_windows(call, LEFT, RIGHT, IDS, all->places, &all->line.window))
        return false;
    all->ids = of_batch(call, IDS);
    all->line.left = of_batch(call, LEFT);
    all->line.right = of_batch(call, RIGHT);
    return true;
}

/* The places of the longest line. */
static int64_t most_places(const Lines *all) {
    return largest(MOST_TOKENS, all->run_tokens) + 2 * all->line.window;
}

/* Goes to the next line, and returns false if there is none. A run continues the run before it if its first places are
   the last ones of that run. */
static bool next_line(Lines *all) {
    Line *line = &all->line;
    line->left += line->tokens, line->right += line->tokens, line->tokens = 0;
    if (all->run == all->runs) return false;
    const int32_t *ids = all->ids + all->run * all->places;
    int64_t shared = 2 * line->window;
    memcpy(all->joined, ids, (size_t)all->places * sizeof *ids);
    for (;;) {
        line->tokens += all->run_tokens;
        all->run++, ids += all->places;
        if (all->run == all->runs || line->tokens + all->run_tokens > MOST_TOKENS) break;
        if (memcmp(ids, ids - shared, (size_t)shared * sizeof *ids)) break;
        memcpy(all->joined + line->tokens + shared, ids + shared, (size_t)all->run_tokens * sizeof *ids);
    }
    line->ids = all->joined;
    return true;
}

static inline Reach reach_of(const Line *line, int64_t token) {
    int64_t left = line->left[token], right = line->right[token], own = token + line->window;
    return (Reach){own - left, own, own + right + 1, left + right};
}

/* How much of a token's gradient each of its contexts gets. */
static inline float share_of(const Line *line, Reach reach) {
    return line->mean ? 1.0f : 1.0f / (float)reach.contexts;
}

enum { PLACES_AHEAD = 6 };

/* Writes the hidden vectors of a line. sums[p] is the sum of the rows at the places before p. */
static void sum_line(const Line *line, Table table, float *sums, float *hidden) {
    int64_t size = table.size, added = 0, places = line->tokens + 2 * line->window;
    memset(sums, 0, (size_t)size * sizeof(float));
    for (int64_t token = 0; token < line->tokens; token++, hidden += size) {
        Reach reach = reach_of(line, token);
        if (!reach.contexts) {
            memset(hidden, 0, (size_t)size * sizeof(float));
            continue;
        }
        for (; added < reach.end; added++) {
            if (added + PLACES_AHEAD < places) prefetch_row(row_of(table, line->ids[added + PLACES_AHEAD]), size);
            float *sum = sums + added * size;
            add_vectors(sum + size, sum, row_of(table, line->ids[added]), size);
        }
        const float *end = sums + reach.end * size, *first = sums + reach.first * size;
        float factor = line->mean ? 1.0f / (float)reach.contexts : 1.0f;
        scale_rest(hidden, factor, end, first, row_of(table, line->ids[reach.own]), size);
    }
}

static void sum(Call *call) {
    Lines all;
    if (!get_lines(call, &all)) return;
    Table table = table_of(call, TABLE);
    int64_t places = most_places(&all);
    float *hidden = output(call, 0, (int64_t[]){all.runs, all.run_tokens, table.size}, 3);
    float *sums = workspace(call, FOR_VECTORS, (size_t)((places + 1) * table.size) * sizeof(float));
    all.joined = workspace(call, FOR_POINTERS, (size_t)places * sizeof(int32_t));
    if (!hidden || !sums || !all.joined) return;
    for (; next_line(&all); hidden += all.line.tokens * table.size) sum_line(&all.line, table, sums, hidden);
}

/* The gradients of a line's places. */
typedef struct {
    float *changes; /* [places + 1, size], by how much each place's gradient differs from that of the place before it */
    float *current; /* [size], the gradient of the current place */
    int32_t *begun; /* [places + 1], how many more tokens reach a place than the place before it */
} Gradients;

static bool make_room(Call *call, Lines *all, int64_t size, Gradients *gradients) {
    int64_t places = most_places(all), ends = places + 1;
    gradients->changes = workspace(call, FOR_VECTORS, (size_t)((ends + 1) * size) * sizeof(float));
    gradients->begun = workspace(call, FOR_POINTERS, (size_t)(ends + places) * sizeof(int32_t));
    if (!gradients->changes || !gradients->begun) return false;
    gradients->current = gradients->changes + ends * size;
    all->joined = gradients->begun + ends;
    return true;
}

/* Writes where a token's gradient begins and ends. */
static void add_changes(const Line *line, int64_t token, const float *of_token, int64_t size, Gradients *gradients) {
    Reach reach = reach_of(line, token);
    if (!reach.contexts) return;
    float share = share_of(line, reach);
    add_scaled(gradients->changes + reach.first * size, share, of_token, size);
    add_scaled(gradients->changes + reach.end * size, -share, of_token, size);
    gradients->begun[reach.first]++;
    gradients->begun[reach.end]--;
}

/* Adds the gradients of a line's places to the sums of their rows. A place with a token gets none from that token. */
static void add_gradients(
    const Line *line, const float *of_tokens, int64_t size, Gradients *gradients, Sums *sums
) {
    int64_t places = line->tokens + 2 * line->window, reached = 2 * line->window + 1; /* by one token */
    memset(gradients->begun, 0, (size_t)(places + 1) * sizeof(int32_t));
    memset(gradients->changes, 0, (size_t)(reached * size) * sizeof(float));
    memset(gradients->current, 0, (size_t)size * sizeof(float));
    int32_t tokens = 0; /* whose windows reach the place */
    for (int64_t place = 0; place < places; place++) {
        if (place < line->tokens) { /* the last token whose window may begin here */
            memset(gradients->changes + (place + reached) * size, 0, (size_t)size * sizeof(float));
            add_changes(line, place, of_tokens + place * size, size, gradients);
        }
        int64_t token = place - line->window;
        bool has_token = 0 <= token && token < line->tokens;
        Reach reach = has_token ? reach_of(line, token) : (Reach){0};
        tokens += gradients->begun[place];
        if (!tokens) { /* What is left of the running sum are rounding errors. */
            memset(gradients->current, 0, (size_t)size * sizeof(float));
            continue;
        }
        add_scaled(gradients->current, 1.0f, gradients->changes + place * size, size);
        if (tokens == (reach.contexts > 0)) continue; /* only its own */
        float *sum = sum_of(sums, line->ids[place]);
        if (reach.contexts)
            add_rest(sum, gradients->current, share_of(line, reach), of_tokens + token * size, size);
        else
            add_scaled(sum, 1.0f, gradients->current, size);
    }
}

static void move(Call *call) {
    Lines all;
    if (!get_lines(call, &all)) return;
    Table table = table_of(call, TABLE);
    Gradients gradients;
    Sums sums;
    float *metrics = output(call, 0, METRICS_SHAPE, 1);
    if (!metrics || !make_room(call, &all, table.size, &gradients)) return;
    if (!start_sums(call, &sums, all.runs * all.places, table.size)) return;
    const float *of_tokens = floats(call, GRADIENTS);
    for (; next_line(&all); of_tokens += all.line.tokens * table.size)
        add_gradients(&all.line, of_tokens, table.size, &gradients, &sums);
    RowCounts moved = {0};
    move_rows(table, &sums, step_limits_of(call, LIMITS), &moved);
    write_metrics(metrics, moved);
}

#define CONTEXT_INPUTS                                                                                                 \
    TRAINED_TABLE, {"ids", "int32", {BY_BATCH, BY_RUN, BY_PLACE}}, WINDOW_INPUTS, SCALAR_INPUT("batch", "int32"),        \
        SCALAR_INPUT("mean", "bool")

OPERATION(tfw2v_sum_even_contexts, sum) = {
    .name = "Tfw2vSumEvenContexts",
    .trains = true,
    .inputs = {CONTEXT_INPUTS},
    .outputs = {"hidden: float"},
    .compute = compute_tfw2v_sum_even_contexts,
};

OPERATION(tfw2v_move_even_contexts, move) = {
    .name = "Tfw2vMoveEvenContexts",
    .trains = true,
    .inputs = {CONTEXT_INPUTS, {"gradients", "float", {BY_RUN, BY_TOKEN, BY_NUMBER}}, STEP_LIMITS_INPUTS},
    .outputs = {"metrics: float"},
    .compute = compute_tfw2v_move_even_contexts,
};
