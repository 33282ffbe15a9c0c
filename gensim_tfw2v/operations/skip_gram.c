/* Negative sampling of skip-gram: hidden vectors tell their contexts, which neighbours share, from the negatives that
   their run shares. Of the widened run only the places near a token are looked at. */

#include "sums.h"
#include "vectors.h"

/* A run of tokens and the rows that they are told of: places of the widened run, and negatives from `negatives` on. */
typedef struct {
    int64_t tokens, places, drawn, size, window;
    int64_t negatives, stride;   /* places, and all rows, rounded up to whole registers */
    const int32_t *ids;          /* [places + drawn], rows of the table */
    const int32_t *left, *right; /* [tokens], how many places before and after a token are its contexts */
    const float **rows;          /* [stride] */
    const float **hidden;        /* [tokens] */
    float **gradients;           /* [tokens] */
    float **sums;                /* [stride] of the rows' gradients */
    float *told;                 /* [tokens, stride], scores, and then gradients by them */
    float *shares;               /* [stride - negatives], how often a token is to be told of each negative */
    bool is_measured;
    double loss;
} Run;

/* Those from the first to before the end. */
typedef struct {
    int64_t first, end;
} Span;

static bool make_room(Call *call, Run *run) {
    run->rows = workspace(call, FOR_POINTERS, (size_t)(2 * run->stride + 2 * run->tokens) * sizeof(float *));
    run->told = workspace(call, FOR_VECTORS, (size_t)((run->tokens + 1) * run->stride) * sizeof(float));
    if (!run->rows || !run->told) return false;
    run->sums = (float **)(run->rows + run->stride);
    run->hidden = (const float **)(run->sums + run->stride);
    run->gradients = (float **)(run->hidden + run->tokens);
    run->shares = run->told + run->tokens * run->stride;
    return true;
}

/* The places from the first to the last context of so many tokens. */
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

/* The tokens whose windows may reach so many places. */
static Span tokens_near(const Run *run, int64_t place, int64_t count) {
    int64_t end = place + count;
    return (Span){largest(place - 2 * run->window, 0), end < run->tokens ? end : run->tokens};
}

/* Makes the products of so many hidden vectors with rows. */
static void score_rows(const Run *run, int64_t token, int64_t count, Span span) {
    for (int64_t k = span.first; k < span.end; k += TILE_ROWS) {
        float *told = run->told + token * run->stride + k;
        if (count == TILE_VECTORS) {
            dots_of_tile(told, run->stride, run->hidden + token, run->rows + k, run->size);
            continue;
        }
        for (int64_t t = 0; t < count; t++)
            for (int64_t i = 0; i < TILE_ROWS; i++)
                told[t * run->stride + i] = dot(run->hidden[token + t], run->rows[k + i], run->size);
    }
}

static void score(const Run *run) {
    for (int64_t token = 0; token < run->tokens; token += TILE_VECTORS) {
        int64_t left = run->tokens - token, count = left < TILE_VECTORS ? left : TILE_VECTORS;
        score_rows(run, token, count, places_near(run, token, count));
        score_rows(run, token, count, (Span){run->negatives, run->negatives + run->drawn});
    }
}

/* Turns scores into gradients by them, of rows that are to be told "no", or with `sign` -1 "yes", so often each. */
static void tell_rows(Run *run, float *told, const float *shares, int64_t count, float sign) {
    if (run->is_measured)
        for (int64_t k = 0; k < count; k++) run->loss += shares[k] * log1pf(expf(sign * capped(told[k])));
    for (int64_t k = 0; k < count; k += LANES) {
        wide scores = *(wide *)(told + k), weights = {0};
        if (k + LANES <= count)
            weights = *(const wide *)(shares + k);
        else
            memcpy(&weights, shares + k, (size_t)(count - k) * sizeof(float));
        for (int lane = 0; lane < LANES; lane++) scores[lane] = capped(scores[lane]);
        *(wide *)(told + k) = sign * weights / (1.0f + exponential(-sign * scores));
    }
}

static void tell(Run *run, int64_t token, const float *weights, float share) {
    float *told = run->told + token * run->stride;
    Span near = places_near(run, token, 1);
    tell_rows(run, told + near.first, weights + near.first, near.end - near.first, -1);
    memset(told, 0, (size_t)near.first * sizeof(float));
    memset(told + near.end, 0, (size_t)(run->negatives - near.end) * sizeof(float));
    for (int64_t k = 0; k < run->drawn; k++) run->shares[k] = weights[run->places + k];
    if (share > 0)
        for (int64_t k = 0; k < run->drawn; k++)
            for (int64_t place = near.first; place < near.end; place++)
                if (run->ids[place] == run->ids[run->places + k]) run->shares[k] -= share * weights[place];
    tell_rows(run, told + run->negatives, run->shares, run->drawn, 1);
}

/* Adds to so many tokens' gradients what a span of rows gives. */
static void add_to_tokens(const Run *run, int64_t token, int64_t count, Span span) {
    Weights weights = {run->told + token * run->stride + span.first, run->stride, 1};
    add_mixtures(run->gradients + token, count, run->rows + span.first, weights, span.end - span.first, run->size);
}

/* Adds to so many rows' sums what a span of tokens gives. */
static void add_to_rows(const Run *run, int64_t row, int64_t count, Span span) {
    Weights weights = {run->told + span.first * run->stride + row, 1, run->stride};
    add_mixtures(run->sums + row, count, run->hidden + span.first, weights, span.end - span.first, run->size);
}

static void add_gradients(const Run *run) {
    for (int64_t token = 0; token < run->tokens; token += MIXTURES_TOGETHER) {
        int64_t left = run->tokens - token, count = left < MIXTURES_TOGETHER ? left : MIXTURES_TOGETHER;
        add_to_tokens(run, token, count, places_near(run, token, count));
        add_to_tokens(run, token, count, (Span){run->negatives, run->negatives + run->drawn});
    }
    for (int64_t place = 0; place < run->places; place += MIXTURES_TOGETHER) {
        int64_t left = run->places - place, count = left < MIXTURES_TOGETHER ? left : MIXTURES_TOGETHER;
        add_to_rows(run, place, count, tokens_near(run, place, count));
    }
    add_to_rows(run, run->negatives, run->drawn, (Span){0, run->tokens});
}

/* table, hidden [runs, tokens, size], ids [batches, runs, places + drawn], left, right [batches, runs, tokens], batch,
   codes [runs, tokens], weights [..., places + drawn], shared, negative, spare, measured, and then the pace
   → figures [2], gradients as hidden, loss */
static void meet_candidates(Call *call) {
    enum { TABLE, HIDDEN, IDS, LEFT, RIGHT, BATCH, CODES, WEIGHTS, SHARED, NEGATIVE, SPARE, MEASURED, PACE };
    Table table = table_of(call, TABLE);
    int64_t batch = *integers(call, BATCH), runs = dimension(call, IDS, 1), rows = dimension(call, IDS, 2);
    Run run = {
        .tokens = dimension(call, LEFT, 2),
        .drawn = *integers(call, SHARED),
        .size = table.size,
        .ids = of_batch(call, IDS, batch),
        .left = of_batch(call, LEFT, batch),
        .right = of_batch(call, RIGHT, batch),
        .is_measured = *booleans(call, MEASURED),
    };
    const int32_t *codes = integers(call, CODES);
    const float *hidden = floats(call, HIDDEN);
    run.places = rows - run.drawn;
    run.window = (run.places - run.tokens) / 2;
    run.negatives = rounded_up(run.places, LANES) + LANES;
    run.stride = run.negatives + rounded_up(run.drawn, LANES);
    float share = *booleans(call, SPARE) ? *floats(call, NEGATIVE) / (float)run.drawn : 0;
    float *gradients = output(call, 1, (int64_t[]){runs, run.tokens, run.size}, 3), *loss = output(call, 2, NULL, 0);
    Pace pace = pace_of(call, PACE);
    Moved moved = {0};
    Sums sums;
    if (!gradients || !loss || !make_room(call, &run)) return;
    memset(gradients, 0, (size_t)(runs * run.tokens * run.size) * sizeof(float));
    if (!start_sums(call, &sums, runs * rows, run.size)) return;
    for (int64_t k = 0; k < run.stride; k++) run.rows[k] = table.first; /* so padding remains */
    for (int64_t number = 0; number < runs; number++) {
        for (int64_t token = 0; token < run.tokens; token++) {
            run.hidden[token] = hidden + (number * run.tokens + token) * run.size;
            run.gradients[token] = gradients + (number * run.tokens + token) * run.size;
        }
        for (int64_t k = 0; k < rows; k++) {
            int64_t at = k < run.places ? k : run.negatives + k - run.places;
            run.rows[at] = row_of(table, run.ids[k]);
            run.sums[at] = sum_of(&sums, run.ids[k]);
            if (number + 1 < runs && k >= 2 * run.window) prefetch_row(row_of(table, run.ids[k + rows]), run.size);
        }
        score(&run);
        for (int64_t token = 0; token < run.tokens; token++)
            tell(&run, token, floats(call, WEIGHTS) + codes[token] * rows, share);
        add_gradients(&run);
        run.ids += rows, run.left += run.tokens, run.right += run.tokens, codes += run.tokens;
    }
    move_rows(table, &sums, pace, &moved);
    *loss = (float)run.loss;
    output_moved(call, moved);
}

OPERATION(run_meet, 15, 3, meet_candidates)

void register_candidate_operations(void) {
    register_operation(
        "Tfw2vMeetCandidates",
        (const char *[]){
            "table: float", "hidden: float", "ids: int32", "left: int32", "right: int32", "batch: int32",
            "codes: int32", "weights: float", "shared: int32", "negative: float", "spare: bool", "measured: bool",
            "rate: float", "bound: float", "factors: float", NULL
        },
        (const char *[]){"figures: float", "gradients: float", "loss: float", NULL}, (const char *[]){NULL}, run_meet
    );
}
