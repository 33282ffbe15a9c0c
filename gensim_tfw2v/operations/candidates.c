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
    float *told_to_rows;         /* [stride, tokens], these gradients by row */
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
    run->told = workspace(call, FOR_VECTORS, (size_t)((2 * run->tokens + 1) * run->stride) * sizeof(float));
    if (!run->rows || !run->told) return false;
    run->sums = (float **)(run->rows + run->stride);
    run->hidden = (const float **)(run->sums + run->stride);
    run->gradients = (float **)(run->hidden + run->tokens);
    run->told_to_rows = run->told + run->tokens * run->stride;
    run->shares = run->told_to_rows + run->tokens * run->stride;
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
    for (int64_t k = 0; k < run->stride; k++) run->told_to_rows[k * run->tokens + token] = told[k];
}

/* Adds to so many sums mixtures of a span of the rows. */
static void mix(
    float *const *sums, int64_t count, const float *const *rows, const float *weights, int64_t stride, Span span,
    int64_t size
) {
    if (span.end > span.first)
        add_all_mixtures(sums, count, rows + span.first, weights + span.first, stride, span.end - span.first, size);
}

static void add_gradients(const Run *run) {
    for (int64_t token = 0; token < run->tokens; token += MIXTURES_TOGETHER) {
        int64_t left = run->tokens - token, count = left < MIXTURES_TOGETHER ? left : MIXTURES_TOGETHER;
        const float *told = run->told + token * run->stride;
        Span negatives = {run->negatives, run->negatives + run->drawn};
        mix(run->gradients + token, count, run->rows, told, run->stride, places_near(run, token, count), run->size);
        mix(run->gradients + token, count, run->rows, told, run->stride, negatives, run->size);
    }
    for (int64_t k = 0; k < run->negatives + run->drawn;) {
        if (k == run->places) k = run->negatives;
        int64_t left = (k < run->places ? run->places : run->negatives + run->drawn) - k;
        int64_t count = left < MIXTURES_TOGETHER ? left : MIXTURES_TOGETHER;
        Span tokens = k < run->places ? tokens_near(run, k, count) : (Span){0, run->tokens};
        const float *told = run->told_to_rows + k * run->tokens;
        mix(run->sums + k, count, run->hidden, told, run->tokens, tokens, run->size);
        k += count;
    }
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
        .is_measured = *booleans(call, MEASURED),
    };
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
    for (int64_t number = 0; number < runs; number++) {
        run.ids = of_batch(call, IDS, batch) + number * rows;
        run.left = of_batch(call, LEFT, batch) + number * run.tokens;
        run.right = of_batch(call, RIGHT, batch) + number * run.tokens;
        for (int64_t token = 0; token < run.tokens; token++) {
            run.hidden[token] = floats(call, HIDDEN) + (number * run.tokens + token) * run.size;
            run.gradients[token] = gradients + (number * run.tokens + token) * run.size;
        }
        for (int64_t k = 0; k < run.stride; k++) run.rows[k] = row_of(table, *run.ids);
        for (int64_t k = 0; k < rows; k++) {
            int64_t at = k < run.places ? k : run.negatives + k - run.places;
            run.rows[at] = row_of(table, run.ids[k]);
            run.sums[at] = sum_of(&sums, run.ids[k]);
            if (number + 1 < runs && k >= 2 * run.window) prefetch_row(row_of(table, run.ids[k + rows]), run.size);
        }
        score(&run);
        for (int64_t token = 0; token < run.tokens; token++) {
            int64_t code = integers(call, CODES)[number * run.tokens + token];
            tell(&run, token, floats(call, WEIGHTS) + code * rows, share);
        }
        add_gradients(&run);
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
