/* Negative sampling of CBOW: hidden vectors tell their token's own word from the negatives that its run shares.

   A word's row takes its step when it has been told "yes", before the next token comes to it, as in word2vec. The rows
   of a run's negatives take theirs, which is bounded, when all of the run have told them "no". */

#include "sums.h"
#include "vectors.h"

/* A run of tokens and its negatives. */
typedef struct {
    int64_t tokens, drawn, size;
    int64_t padded;           /* negatives, rounded up to whole registers, and to rows whose products come together */
    int64_t count;            /* of tokens that have contexts */
    const float **rows;       /* [padded] of the negatives */
    const float **hidden;     /* [count] */
    float **gradients;        /* [count] */
    int32_t *own;             /* [count], rows of their words */
    float **sums;             /* [drawn] of the negatives' gradients */
    float *told;              /* [count, padded], scores, and then gradients by them */
    float weight;             /* how often a token is to be told of each negative */
    bool spares, is_measured; /* whether nobody is told that its own word is a negative; whether losses are wanted */
    double loss;
} Run;

static bool make_room(Call *call, Run *run) {
    run->rows = workspace(call, FOR_POINTERS, (size_t)(run->padded + 2 * run->tokens + run->drawn) * sizeof(float *));
    run->told = workspace(call, FOR_VECTORS, (size_t)(run->tokens * (run->padded + 1)) * sizeof(float));
    if (!run->rows || !run->told) return false;
    run->hidden = run->rows + run->padded;
    run->gradients = (float **)(run->hidden + run->tokens);
    run->sums = run->gradients + run->tokens;
    run->own = (int32_t *)(run->told + run->tokens * run->padded);
    return true;
}

/* Has hidden vectors predict their own words, whose rows move one after the other; begins their gradients. */
static void predict_own_words(Run *run, Table table, float rate) {
    for (int64_t i = 0; i < run->count; i++) {
        float *row = row_of(table, run->own[i]), score = capped(dot(run->hidden[i], row, run->size));
        float told = 1.0f / (1.0f + expf(score));
        if (run->is_measured) run->loss += log1pf(expf(-score));
        exchange(row, run->gradients[i], run->hidden[i], rate * told, -told, run->size);
    }
}

/* Turns a token's scores into gradients by them. */
static void tell(Run *run, const int32_t *drawn, int64_t token) {
    float *scores = run->told + token * run->padded;
    int32_t spared = run->spares ? run->own[token] : -1;
    for (int64_t k = 0; k < run->padded; k++) scores[k] = capped(scores[k]);
    if (run->is_measured)
        for (int64_t k = 0; k < run->drawn; k++)
            if (drawn[k] != spared) run->loss += run->weight * log1pf(expf(scores[k]));
    for (int64_t k = 0; k < run->padded; k += LANES)
        *(wide *)(scores + k) = run->weight / (1.0f + exponential(-*(wide *)(scores + k)));
    for (int64_t k = 0; k < run->drawn; k++)
        if (drawn[k] == spared) scores[k] = 0;
}

/* table, hidden [runs, tokens, size], drawn [batches, runs, K], own, left, right [batches, runs, tokens], batch,
   negative, spare, measured, and then the pace → figures [2], gradients as hidden, loss */
static void sample_negatives(Call *call) {
    enum { TABLE, HIDDEN, DRAWN, OWN, LEFT, RIGHT, BATCH, NEGATIVE, SPARE, MEASURED, PACE };
    Table table = table_of(call, TABLE);
    int64_t batch = *integers(call, BATCH), runs = dimension(call, DRAWN, 1);
    Run run = {
        .tokens = dimension(call, LEFT, 2),
        .drawn = dimension(call, DRAWN, 2),
        .size = table.size,
        .spares = *booleans(call, SPARE),
        .is_measured = *booleans(call, MEASURED),
    };
    run.weight = *floats(call, NEGATIVE) / (float)run.drawn;
    run.padded = rounded_up(run.drawn, largest(LANES, ROWS_TOGETHER));
    const int32_t *drawn = of_batch(call, DRAWN, batch), *own = of_batch(call, OWN, batch);
    const int32_t *left = of_batch(call, LEFT, batch), *right = of_batch(call, RIGHT, batch);
    const float *hidden = floats(call, HIDDEN);
    float *gradients = output(call, 1, (int64_t[]){runs, run.tokens, run.size}, 3), *loss = output(call, 2, NULL, 0);
    Pace pace = pace_of(call, PACE);
    Moved moved = {0};
    if (!gradients || !loss || !make_room(call, &run)) return;
    for (int64_t number = 0; number < runs; number++, drawn += run.drawn) {
        Sums sums;
        if (!start_sums(call, &sums, run.drawn, run.size)) return;
        run.count = 0;
        for (int64_t token = 0; token < run.tokens; token++) {
            int64_t of_token = number * run.tokens + token;
            if (left[of_token] + right[of_token]) {
                run.own[run.count] = own[of_token];
                run.hidden[run.count] = hidden + of_token * run.size;
                run.gradients[run.count++] = gradients + of_token * run.size;
            } else
                memset(gradients + of_token * run.size, 0, (size_t)run.size * sizeof(float));
        }
        predict_own_words(&run, table, pace.rate);
        for (int64_t k = 0; k < run.padded; k++) run.rows[k] = row_of(table, drawn[k < run.drawn ? k : 0]);
        all_dots(run.told, run.padded, run.hidden, run.count, run.rows, run.padded, run.size);
        for (int64_t i = 0; i < run.count; i++) tell(&run, drawn, i);
        Weights by_token = {run.told, run.padded, 1}, by_negative = {run.told, 1, run.padded};
        add_mixtures(run.gradients, run.count, run.rows, by_token, run.drawn, run.size);
        for (int64_t k = 0; k < run.drawn; k++) run.sums[k] = sum_of(&sums, drawn[k]);
        add_mixtures(run.sums, run.drawn, run.hidden, by_negative, run.count, run.size);
        move_rows(table, &sums, pace, &moved);
    }
    *loss = (float)run.loss;
    output_moved(call, moved);
}

OPERATION(run_sample, 13, 3, sample_negatives)

void register_negative_operations(void) {
    register_operation(
        "Tfw2vSampleNegatives",
        (const char *[]){
            "table: float", "hidden: float", "drawn: int32", "own: int32", "left: int32", "right: int32",
            "batch: int32", "negative: float", "spare: bool", "measured: bool", "rate: float", "bound: float",
            "factors: float", NULL
        },
        (const char *[]){"figures: float", "gradients: float", "loss: float", NULL}, (const char *[]){NULL}, run_sample
    );
}
