/* Skip-gram with negative sampling. Each token's hidden vector is trained with its contexts, which tokens of a run
   share, and with the negatives that its run shares. Only places of the widened run that are near a token are read. */

#include "checks.h"
#include "operation.h"
#include "sums.h"
#include "vectors.h"

/* A run of tokens and its candidates: the places of the widened run, and the negatives, which are rows from
   `first_negative` on. */
typedef struct {
    int64_t tokens, places, negatives, size, window;
    int64_t first_negative, stride; /* places, and all rows, rounded up to whole registers */
    const int32_t *ids;             /* [places + negatives], rows of the table */
    const int32_t *left, *right;    /* [tokens], how many places before and after a token are its contexts */
    const float **rows;             /* [stride] */
    const float **hidden;           /* [tokens] */
    float **gradients;              /* [tokens] */
    float **sums;                   /* [stride] of the rows' gradients */
    float *scores;                  /* [tokens, stride], which become score gradients */
    float *negative_weights;        /* [stride - first_negative], how often a token is trained with each negative */
    bool is_measured;
    double loss;
} Run;

/* From the first to before the end. */
typedef struct {
    int64_t first, end;
} Span;

static bool make_room(Call *call, Run *run) {
    run->rows = workspace(call, FOR_POINTERS, (size_t)(2 * run->stride + 2 * run->tokens) * sizeof(float *));
    run->scores = workspace(call, FOR_VECTORS, (size_t)((run->tokens + 1) * run->stride) * sizeof(float));
    if (!run->rows || !run->scores) return false;
    run->sums = (float **)(run->rows + run->stride);
    run->hidden = (const float **)(run->sums + run->stride);
    run->gradients = (float **)(run->hidden + run->tokens);
    run->negative_weights = run->scores + run->tokens * run->stride;
    return true;
}

/* The places from the first to the last context of `count` tokens. */
static Span places_near(const Run *run, int64_t token, int64_t count) {
    Span span = {run->places, 0};
    for (int64_t t = token; t < token + count; t++) {
        if (!(run->left[t] + run->right[t])) continue;
        int64_t own = t + run->window;
        if (own - run->left[t] < span.first) span.first = own - run->left[t];
        if (own + run->right[t] + 1 > span.end) span.end = own + run->right[t] + 1;
    }
    return span.end ? span : (Span){0, 0};
}

/* The tokens whose windows may reach `count` places. */
static Span tokens_near(const Run *run, int64_t place, int64_t count) {
    int64_t end = place + count;
    return (Span){largest(place - 2 * run->window, 0), end < run->tokens ? end : run->tokens};
}

/* Multiplies `count` hidden vectors by rows. */
static void score_rows(const Run *run, int64_t token, int64_t count, Span span) {
    for (int64_t k = span.first; k < span.end; k += TILE_ROWS) {
        float *scores = run->scores + token * run->stride + k;
        if (count == TILE_VECTORS) {
            dots_of_tile(scores, run->stride, run->hidden + token, run->rows + k, run->size);
            continue;
        }
        for (int64_t t = 0; t < count; t++)
            for (int64_t i = 0; i < TILE_ROWS; i++)
                scores[t * run->stride + i] = dot(run->hidden[token + t], run->rows[k + i], run->size);
    }
}

static void score(const Run *run) {
    for (int64_t token = 0; token < run->tokens; token += TILE_VECTORS) {
        int64_t left = run->tokens - token, count = left < TILE_VECTORS ? left : TILE_VECTORS;
        score_rows(run, token, count, places_near(run, token, count));
        score_rows(run, token, count, (Span){run->first_negative, run->first_negative + run->negatives});
    }
}

/* Replaces scores by their gradients, each multiplied by its weight; `sign` is 1 for negatives and -1 for contexts. */
static void differentiate(Run *run, float *scores, const float *weights, int64_t count, float sign) {
    if (run->is_measured)
        for (int64_t k = 0; k < count; k++) run->loss += weights[k] * log1pf(expf(sign * clamped(scores[k])));
    for (int64_t k = 0; k < count; k += LANES) {
        wide part = *(wide *)(scores + k), part_weights = {0};
        if (k + LANES <= count)
            part_weights = *(const wide *)(weights + k);
        else
            memcpy(&part_weights, weights + k, (size_t)(count - k) * sizeof(float));
        for (int lane = 0; lane < LANES; lane++) part[lane] = clamped(part[lane]);
        *(wide *)(scores + k) = sign * part_weights / (1.0f + exponential(-sign * part));
    }
}

/* Replaces a token's scores by their gradients. `weights` are those of its candidates; a negative that is one of the
   token's contexts loses `hit_weight` times that context's weight. */
static void differentiate_token(Run *run, int64_t token, const float *weights, float hit_weight) {
    float *scores = run->scores + token * run->stride;
    Span near = places_near(run, token, 1);
    differentiate(run, scores + near.first, weights + near.first, near.end - near.first, -1);
    memset(scores, 0, (size_t)near.first * sizeof(float));
    memset(scores + near.end, 0, (size_t)(run->first_negative - near.end) * sizeof(float));
    for (int64_t k = 0; k < run->negatives; k++) run->negative_weights[k] = weights[run->places + k];
    if (hit_weight > 0)
        for (int64_t k = 0; k < run->negatives; k++)
            for (int64_t place = near.first; place < near.end; place++)
                if (run->ids[place] == run->ids[run->places + k])
                    run->negative_weights[k] -= hit_weight * weights[place];
    differentiate(run, scores + run->first_negative, run->negative_weights, run->negatives, 1);
}

/* Adds the part of a span of rows to the gradients of `count` tokens. */
static void add_to_tokens(const Run *run, int64_t token, int64_t count, Span span) {
    Weights weights = {run->scores + token * run->stride + span.first, run->stride, 1};
    add_weighted_sums(
        run->gradients + token, count, run->rows + span.first, weights, span.end - span.first, run->size
    );
}

/* Adds the part of a span of tokens to the sums of `count` rows. */
static void add_to_rows(const Run *run, int64_t row, int64_t count, Span span) {
    Weights weights = {run->scores + span.first * run->stride + row, 1, run->stride};
    add_weighted_sums(run->sums + row, count, run->hidden + span.first, weights, span.end - span.first, run->size);
}

/* Adds to the gradients of all tokens and, unless rows are frozen, to the sums of all rows. */
static void add_gradients(const Run *run, bool frozen) {
    for (int64_t token = 0; token < run->tokens; token += SUMS_TOGETHER) {
        int64_t left = run->tokens - token, count = left < SUMS_TOGETHER ? left : SUMS_TOGETHER;
        add_to_tokens(run, token, count, places_near(run, token, count));
        add_to_tokens(run, token, count, (Span){run->first_negative, run->first_negative + run->negatives});
    }
    if (frozen) return;
    for (int64_t place = 0; place < run->places; place += SUMS_TOGETHER) {
        int64_t left = run->places - place, count = left < SUMS_TOGETHER ? left : SUMS_TOGETHER;
        add_to_rows(run, place, count, tokens_near(run, place, count));
    }
    add_to_rows(run, run->first_negative, run->negatives, (Span){0, run->tokens});
}

enum {
    TABLE, HIDDEN, IDS, LEFT, RIGHT, BATCH, WINDOW_ROWS, WEIGHTS, SHARED_NEGATIVES, NEGATIVE, MASK_HITS, MEASURED,
    FROZEN, LIMITS
};

/* Checks all inputs, and sets the fields that are equal for all runs of the batch. */
static bool get_runs(Call *call, Run *run) {
    int64_t candidates = call->lengths[BY_CANDIDATE];
    if (!check_batch(call, BATCH) || !check_number(call, SHARED_NEGATIVES, 1, candidates)) return false;
    *run = (Run){
        .tokens = call->lengths[BY_TOKEN],
        .negatives = *integers(call, SHARED_NEGATIVES),
        .size = call->lengths[BY_NUMBER],
        .ids = of_batch(call, IDS),
        .left = of_batch(call, LEFT),
        .right = of_batch(call, RIGHT),
        .is_measured = *booleans(call, MEASURED),
    };
    run->places = candidates - run->negatives;
    run->first_negative = rounded_up(run->places, LANES) + LANES;
    run->stride = run->first_negative + rounded_up(run->negatives, LANES);
    return check_windows(call, LEFT, RIGHT, IDS, run->places, &run->window) && check_rows(call, IDS, TABLE) &&
           check_rows(call, WINDOW_ROWS, WEIGHTS);
}

static void train(Call *call) {
    Run run;
    if (!get_runs(call, &run)) return;
    Table table = table_of(call, TABLE);
    int64_t runs = call->lengths[BY_RUN], candidates = call->lengths[BY_CANDIDATE];
    const int32_t *window_rows = integers(call, WINDOW_ROWS);
    const float *hidden = floats(call, HIDDEN);
    bool frozen = *booleans(call, FROZEN);
    float hit_weight = *booleans(call, MASK_HITS) ? *floats(call, NEGATIVE) / (float)run.negatives : 0;
    float *metrics = output(call, 0, METRICS_SHAPE, 1), *loss = output(call, 2, NULL, 0);
    float *gradients = output(call, 1, (int64_t[]){runs, run.tokens, run.size}, 3);
    Sums sums;
    if (!metrics || !gradients || !loss || !make_room(call, &run)) return;
    if (!start_sums(call, &sums, runs * candidates, run.size)) return;
    memset(gradients, 0, (size_t)(runs * run.tokens * run.size) * sizeof(float));
    for (int64_t k = 0; k < run.stride; k++) run.rows[k] = table.first; /* Padding keeps this row. */
    for (int64_t number = 0; number < runs; number++) {
        for (int64_t token = 0; token < run.tokens; token++) {
            run.hidden[token] = hidden + (number * run.tokens + token) * run.size;
            run.gradients[token] = gradients + (number * run.tokens + token) * run.size;
        }
        for (int64_t k = 0; k < candidates; k++) {
            int64_t at = k < run.places ? k : run.first_negative + k - run.places;
            run.rows[at] = row_of(table, run.ids[k]);
            if (!frozen) run.sums[at] = sum_of(&sums, run.ids[k]);
            if (number + 1 < runs && k >= 2 * run.window)
                prefetch_row(row_of(table, run.ids[k + candidates]), run.size);
        }
        score(&run);
        for (int64_t token = 0; token < run.tokens; token++)
            differentiate_token(&run, token, floats(call, WEIGHTS) + window_rows[token] * candidates, hit_weight);
        add_gradients(&run, frozen);
        run.ids += candidates, run.left += run.tokens, run.right += run.tokens, window_rows += run.tokens;
    }
    RowCounts moved = {0};
    if (!frozen) move_rows(table, &sums, step_limits_of(call, LIMITS), &moved);
    *loss = (float)run.loss;
    write_metrics(metrics, moved);
}

OPERATION(tfw2v_train_skip_gram, train) = {
    .name = "Tfw2vTrainSkipGram",
    .trains = true,
    .inputs =
        {TRAINED_TABLE, HIDDEN_INPUT, {"ids", "int32", {BY_BATCH, BY_RUN, BY_CANDIDATE}}, WINDOW_INPUTS,
         SCALAR_INPUT("batch", "int32"), {"window_rows", "int32", {BY_RUN, BY_TOKEN}},
         {"weights", "float", {BY_WINDOW_ROW, BY_CANDIDATE}}, SCALAR_INPUT("shared_negatives", "int32"),
         SCALAR_INPUT("negative", "float"), SCALAR_INPUT("mask_hits", "bool"), SCALAR_INPUT("measured", "bool"),
         SCALAR_INPUT("frozen", "bool"), STEP_LIMITS_INPUTS},
    .outputs = {"metrics: float", "gradients: float", "loss: float"},
    .compute = compute_tfw2v_train_skip_gram,
};
