/* CBOW with negative sampling. Each token's hidden vector is trained with its target, which is the token's own word,
   and with the negatives that its run shares.

   As in word2vec, a target's row takes its step before the next token reads it. The rows of a run's negatives take
   their step, which is clipped, after all tokens of the run. */

#include "adagrad.h"
#include "checks.h"
#include "operation.h"
#include "sums.h"
#include "token_weights.h"
#include "vectors.h"

enum { ROWS_AHEAD = 4 }; /* this many targets ahead, rows are prefetched */

/* A run of tokens and its negatives. */
typedef struct {
    int64_t tokens, negatives, size;
    int64_t padded;             /* negatives, rounded up to whole registers and to ROWS_TOGETHER */
    int64_t count;              /* of tokens that have contexts: only these are trained */
    const float **rows;         /* [padded] of the negatives */
    const float **hidden;       /* [count] */
    float **gradients;          /* [count] */
    int32_t *targets;           /* [count], rows of the tokens' words */
    float **sums;               /* [negatives] of their gradients */
    float *scores;              /* [count, padded], which become score gradients */
    float *weights;             /* [count] of the tokens */
    float largest_weight;
    float weight;               /* how often a token of weight 1 is trained with each negative */
    bool mask_hits;             /* whether a token leaves out negatives that equal its target */
    bool is_measured;           /* whether the loss is wanted */
    bool frozen;                /* whether rows stay as they are */
    double loss;
} Run;

static bool make_room(Call *call, Run *run) {
    int64_t pointers = run->padded + 2 * run->tokens + run->negatives;
    run->rows = workspace(call, FOR_POINTERS, (size_t)pointers * sizeof(float *));
    run->scores = workspace(call, FOR_VECTORS, (size_t)(run->tokens * (run->padded + 2)) * sizeof(float));
    if (!run->rows || !run->scores) return false;
    run->hidden = run->rows + run->padded;
    run->gradients = (float **)(run->hidden + run->tokens);
    run->sums = run->gradients + run->tokens;
    run->targets = (int32_t *)(run->scores + run->tokens * run->padded);
    run->weights = run->scores + run->tokens * (run->padded + 1);
    return true;
}

/* Trains hidden vectors with their targets, whose rows move one after the other unless they are frozen; begins the
   vectors' gradients. A row stays where it is if its score is not finite, or if the hidden vector or the rate is not
   within bounds. */
static void train_targets(Run *run, Table table, float rate, RowCounts *moved) {
    float bound = bound_of_moves(rate * run->largest_weight);
    for (int64_t i = 0; i < run->count; i++) {
        if (i + ROWS_AHEAD < run->count) prefetch_row(row_of(table, run->targets[i + ROWS_AHEAD]), run->size);
        float *row = row_of(table, run->targets[i]), product = dot(run->hidden[i], row, run->size);
        float score = clamped(product), weight = run->weights[i], score_gradient = weight / (1.0f + expf(score));
        float own_rate = NAN;
        if (fabsf(product) <= FLT_MAX && are_within(run->hidden[i], run->size, bound)) {
            float square = score_gradient * score_gradient * square_for_state(table, run->hidden[i]);
            own_rate = run->frozen ? 0 : rate_of_step(table, row, rate, square);
        }
        if (isnan(own_rate)) {
            moved->refused++;
            memset(run->gradients[i], 0, (size_t)run->size * sizeof(float));
            continue;
        }
        if (run->is_measured) run->loss += weight * log1pf(expf(-score));
        if (run->frozen) {
            memset(run->gradients[i], 0, (size_t)run->size * sizeof(float));
            add_scaled(run->gradients[i], -score_gradient, row, run->size);
        } else
            scale_and_move(
                row, run->gradients[i], run->hidden[i], own_rate * score_gradient, -score_gradient, run->size
            );
    }
}

/* Replaces a token's scores by their gradients. */
static void differentiate(Run *run, const int32_t *negatives, int64_t token) {
    float *scores = run->scores + token * run->padded;
    int32_t masked = run->mask_hits ? run->targets[token] : -1;
    float weight = run->weight * run->weights[token];
    for (int64_t k = 0; k < run->padded; k++) scores[k] = clamped(scores[k]);
    if (run->is_measured)
        for (int64_t k = 0; k < run->negatives; k++)
            if (negatives[k] != masked) run->loss += weight * log1pf(expf(scores[k]));
    for (int64_t k = 0; k < run->padded; k += LANES)
        *(wide *)(scores + k) = weight / (1.0f + exponential(-*(wide *)(scores + k)));
    for (int64_t k = 0; k < run->negatives; k++)
        if (negatives[k] == masked) scores[k] = 0;
}

enum {
    TABLE, HIDDEN, NEGATIVES, TARGETS, LEFT, RIGHT, BATCH, NEGATIVE, MASK_HITS, MEASURED, FROZEN, TOKEN_WEIGHTS, LIMITS
};

static bool check_inputs(Call *call, TokenWeights *weights) {
    return check_batch(call, BATCH) && check_any(call, NEGATIVES, BY_NEGATIVE) && check_rows(call, NEGATIVES, TABLE) &&
           check_rows(call, TARGETS, TABLE) && check_counts(call, LEFT, INT32_MAX) &&
           check_counts(call, RIGHT, INT32_MAX) && get_token_weights(call, TOKEN_WEIGHTS, weights);
}

static void train(Call *call) {
    TokenWeights weights;
    if (!check_inputs(call, &weights)) return;
    Table table = table_of(call, TABLE);
    int64_t runs = call->lengths[BY_RUN];
    Run run = {
        .tokens = call->lengths[BY_TOKEN],
        .negatives = call->lengths[BY_NEGATIVE],
        .size = table.size,
        .largest_weight = weights.largest,
        .mask_hits = *booleans(call, MASK_HITS),
        .is_measured = *booleans(call, MEASURED),
        .frozen = *booleans(call, FROZEN),
    };
    run.weight = *floats(call, NEGATIVE) / (float)run.negatives;
    run.padded = rounded_up(run.negatives, largest(LANES, ROWS_TOGETHER));
    const int32_t *negatives = of_batch(call, NEGATIVES), *targets = of_batch(call, TARGETS);
    const int32_t *left = of_batch(call, LEFT), *right = of_batch(call, RIGHT);
    const float *hidden = floats(call, HIDDEN);
    float *metrics = output(call, 0, METRICS_SHAPE, 1), *loss = output(call, 2, NULL, 0);
    float *gradients = output(call, 1, (int64_t[]){runs, run.tokens, run.size}, 3);
    StepLimits limits = step_limits_of(call, LIMITS);
    RowCounts moved = {0};
    Sums sums;
    if (!metrics || !gradients || !loss || !make_room(call, &run)) return;
    if (!start_sums(call, &sums, run.negatives, run.size)) return;
    for (int64_t number = 0; number < runs; number++, negatives += run.negatives) {
        clear_sums(&sums);
        run.count = 0;
        for (int64_t token = 0; token < run.tokens; token++) {
            int64_t of_token = number * run.tokens + token;
            if (left[of_token] || right[of_token]) {
                run.targets[run.count] = targets[of_token];
                run.weights[run.count] = weight_of(weights, of_token);
                run.hidden[run.count] = hidden + of_token * run.size;
                run.gradients[run.count++] = gradients + of_token * run.size;
            } else
                memset(gradients + of_token * run.size, 0, (size_t)run.size * sizeof(float));
        }
        for (int64_t k = 0; k < run.negatives; k++) prefetch_row(row_of(table, negatives[k]), run.size);
        train_targets(&run, table, limits.rate, &moved);
        for (int64_t k = 0; k < run.padded; k++) run.rows[k] = row_of(table, negatives[k < run.negatives ? k : 0]);
        all_dots(run.scores, run.padded, run.hidden, run.count, run.rows, run.padded, run.size);
        for (int64_t i = 0; i < run.count; i++) differentiate(&run, negatives, i);
        Weights by_token = {run.scores, run.padded, 1}, by_negative = {run.scores, 1, run.padded};
        add_weighted_sums(run.gradients, run.count, run.rows, by_token, run.negatives, run.size);
        if (run.frozen) continue;
        for (int64_t k = 0; k < run.negatives; k++) run.sums[k] = sum_of(&sums, negatives[k]);
        add_weighted_sums(run.sums, run.negatives, run.hidden, by_negative, run.count, run.size);
        move_rows(table, &sums, limits, &moved);
    }
    *loss = (float)run.loss;
    write_metrics(metrics, moved);
}

OPERATION(tfw2v_train_cbow, train) = {
    .name = "Tfw2vTrainCbow",
    .trains = true,
    .inputs =
        {TRAINED_TABLE, HIDDEN_INPUT, {"negatives", "int32", {BY_BATCH, BY_RUN, BY_NEGATIVE}},
         {"targets", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}}, WINDOW_INPUTS, SCALAR_INPUT("batch", "int32"),
         SCALAR_INPUT("negative", "float"), SCALAR_INPUT("mask_hits", "bool"), SCALAR_INPUT("measured", "bool"),
         SCALAR_INPUT("frozen", "bool"), TOKEN_WEIGHTS_INPUT, STEP_LIMITS_INPUTS},
    .outputs = {"metrics: float", "gradients: float", "loss: float"},
    .compute = compute_tfw2v_train_cbow,
};
