/* Negative sampling for one run. Each token's hidden vector is trained with its contexts (skip-gram) or with its own
   word, its target (CBOW), and with the negatives that its run shares.

   In skip-gram, contexts are places of the widened run. These and the negatives are the run's candidates: a tile of
   candidates is multiplied by all hidden vectors that it may be trained with.

   In CBOW, as in word2vec, a target's row takes its step before the next token reads it. */

#include "adagrad.h"
#include "run.h"

enum { ROWS_AHEAD = 4 }; /* this many targets ahead, rows are prefetched */

/* Registers of tokens, from the first one on. */
typedef struct {
    int64_t first, registers;
} TokenSpan;

/* The tokens whose windows may reach the places of a tile. */
static TokenSpan tokens_near(const Run *run, int64_t place) {
    int64_t first = largest(place - 2 * run->window, 0), end = smallest(place + TILE_CANDIDATES, run->tokens);
    int64_t registers = (end - first + LANES - 1) / LANES;
    return (TokenSpan){smallest(first, run->by_token - registers * LANES), registers};
}

/* Copies rows of candidates from number `at` on. */
static void copy_candidates(Run *run, const int32_t *ids, int64_t at, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        float *row = trained_row(run, run->outputs, ids[k]);
        run->candidate_rows[at + k] = row;
        copy_row(run->copies + (at + k) * run->width, row, run->size);
    }
}

/* Prefetches the rows of a tile of the next run's candidates, except for places that this run has, too. */
static void prefetch_tile(const Run *run, int64_t at) {
    int64_t stride = run->skip_gram ? run->places + run->negatives : run->negatives;
    if (!run->has_next) return;
    for (int64_t k = at; k < smallest(at + TILE_CANDIDATES, stride); k++)
        if (!run->skip_gram || k >= 2 * run->window)
            prefetch_row(row_of(run->outputs, run->candidate_ids[stride + k]), run->size);
}

/* Replaces scores of a span of tokens by their gradients; `sign` is 1 for negatives and -1 for contexts. */
static void differentiate(Run *run, float *scores, const float *weights, TokenSpan span, float sign) {
    scores += span.first, weights += span.first;
    int64_t count = span.registers * LANES;
    if (run->is_measured)
        for (int64_t t = 0; t < count; t++)
            if (weights[t] != 0) run->outcome->loss += weights[t] * log1pf(expf(sign * clamped(scores[t])));
    for (int64_t t = 0; t < count; t += LANES) {
        wide score = all_clamped(*(wide *)(scores + t)), weight = *(const wide *)(weights + t);
        *(wide *)(scores + t) = sign * weight / (1.0f + exponential(-sign * score));
    }
}

/* Whether a run has so few hidden vectors that they would not fill a register: those of some documents, or
   concatenations, whose runs are short. */
static bool has_few_vectors(const Run *run) {
    return has(run->call, CONCATENATED) || run->vectors <= ROWS_TOGETHER;
}

/* Multiplies the candidates of a tile by the hidden vectors of a span of tokens. */
static void score_tile_at(Run *run, int64_t at, TokenSpan span) {
    float *scores = run->scores + at * run->by_token;
    if (has_few_vectors(run)) {
        const float *const *candidates = read_only(run->copy_rows + at), *const *hidden = read_only(run->hidden_rows);
        int64_t vectors = rounded_up(run->vectors, ROWS_TOGETHER);
        all_dots(scores, run->by_token, candidates, TILE_CANDIDATES, hidden, vectors, run->width);
        return;
    }
    score_candidates(
        scores + span.first, run->across + span.first, run->by_token, run->copies + at * run->width, run->width,
        run->size, span.registers
    );
}

static void score_places(Run *run) {
    for (int64_t place = 0; place < run->places; place += TILE_CANDIDATES) {
        TokenSpan span = tokens_near(run, place);
        score_tile_at(run, place, span);
        prefetch_tile(run, place);
        for (int64_t p = place; p < smallest(place + TILE_CANDIDATES, run->places); p++)
            differentiate(run, run->scores + p * run->by_token, run->masks + p * run->by_token, span, -1);
    }
}

/* How often the hidden vectors of documents are trained with a negative: as often as all their tokens together. */
static const float *weights_by_document(const Run *run, int32_t negative, float each) {
    float *weights = run->negative_weights;
    memcpy(weights, run->vector_pairs, (size_t)run->by_token * sizeof(float));
    for (int64_t t = 0; has(run->call, MASK_HITS) && t < run->tokens; t++)
        if (run->target_ids[t] == negative) weights[run->vector_of[t]] -= run->pair_counts[t];
    for (int64_t v = 0; v < run->by_token; v++) weights[v] *= each;
    return weights;
}

/* How often hidden vectors are trained with a negative. A negative that is a token's context or target loses that one's
   weight. */
static const float *weights_of_negative(Run *run, int32_t negative) {
    float each = run->negative / (float)run->negatives, *weights = run->negative_weights;
    if (run->vectors < run->tokens) return weights_by_document(run, negative, each);
    for (int64_t t = 0; t < run->by_token; t++) weights[t] = each * run->pair_counts[t];
    if (!has(run->call, MASK_HITS)) return weights;
    if (!run->skip_gram)
        for (int64_t t = 0; t < run->tokens; t++) weights[t] = run->target_ids[t] == negative ? 0 : weights[t];
    for (int64_t p = 0; run->skip_gram && p < run->places; p++)
        if (run->candidate_ids[p] == negative)
            for (int64_t t = 0; t < run->by_token; t++) weights[t] -= each * run->masks[p * run->by_token + t];
    return weights;
}

/* Counts the pairs of the tokens that have a hidden vector in common. */
static void count_pairs_of_vectors(Run *run) {
    memset(run->vector_pairs, 0, (size_t)run->by_token * sizeof(float));
    for (int64_t t = 0; t < run->tokens; t++) run->vector_pairs[run->vector_of[t]] += run->pair_counts[t];
}

static void score_negatives(Run *run, const int32_t *ids) {
    if (run->vectors < run->tokens) count_pairs_of_vectors(run);
    TokenSpan all = {0, rounded_up(run->vectors, LANES) / LANES};
    for (int64_t k = 0; k < run->negatives; k += TILE_CANDIDATES) {
        int64_t at = run->negatives_at + k;
        score_tile_at(run, at, all);
        prefetch_tile(run, (run->skip_gram ? run->places : 0) + k);
        for (int64_t n = k; n < smallest(k + TILE_CANDIDATES, run->negatives); n++)
            differentiate(
                run, run->scores + (run->negatives_at + n) * run->by_token, weights_of_negative(run, ids[n]), all, 1
            );
    }
}

/* Adds to the gradients of hidden vectors. */
static void add_to_tokens(Run *run) {
    int64_t by_token = run->by_token, negatives_at = run->negatives_at;
    for (int64_t token = 0; token < run->vectors; token += SUMS_TOGETHER) {
        int64_t together = smallest(SUMS_TOGETHER, run->vectors - token);
        float **gradients = run->gradient_rows + token, *scores = run->scores + token;
        if (run->skip_gram) {
            prefetch_next_inputs(run, token, together);
            Weights near = {scores + token * by_token, 1, by_token};
            int64_t places = 2 * run->window + together;
            add_rows(gradients, together, read_only(run->copy_rows + token), places, near, run->width);
        }
        Weights of_negatives = {scores + negatives_at * by_token, 1, by_token};
        const float *const *negatives = read_only(run->copy_rows + negatives_at);
        add_rows(gradients, together, negatives, run->negatives, of_negatives, run->width);
    }
}

/* Writes the gradients of candidates, from number `at` on, each trained with the tokens near it or with all. */
static void differentiate_rows(Run *run, int64_t at, int64_t count, bool are_places) {
    for (int64_t k = at; k < at + count; k += SUMS_TOGETHER) {
        int64_t together = smallest(SUMS_TOGETHER, at + count - k);
        int64_t first = are_places ? largest(k - 2 * run->window, 0) : 0;
        int64_t end = are_places ? smallest(k + together, run->tokens) : run->vectors;
        Weights weights = {run->scores + k * run->by_token + first, run->by_token, 1};
        const float *const *tokens = read_only(run->hidden_rows + first);
        sum_rows(run->change_rows + k, together, tokens, end - first, weights, run->width);
    }
}

/* Trains hidden vectors with their targets, whose rows move one after the other unless they are frozen. A row stays
   where it is if its score is not finite. */
static void train_targets(Run *run) {
    bool frozen = has(run->call, FREEZES_OUTPUTS), needs_squares = !frozen && has_state(run->outputs);
    if (needs_squares) square_lengths(run->squares, run->hidden, run->width, run->vectors);
    for (int64_t t = 0; t < run->tokens; t++) {
        if (t + ROWS_AHEAD < run->tokens)
            prefetch_row(row_of(run->outputs, run->target_ids[t + ROWS_AHEAD]), run->size);
        if (!is_trained(run, t)) continue;
        float *row = trained_row(run, run->outputs, run->target_ids[t]);
        float *gradient = run->gradient_rows[run->vector_of[t]], *hidden = run->hidden_rows[run->vector_of[t]];
        float product = dot(hidden, row, run->size), weight = weight_of(run, t), score = clamped(product);
        float score_gradient = weight / (1.0f + expf(score)), rate = NAN;
        if (fabsf(product) <= FLT_MAX) {
            float square = needs_squares ? run->squares[run->vector_of[t]] : 0;
            square *= score_gradient * score_gradient;
            rate = frozen ? 0 : rate_of_step(run->outputs, row, run->rate, square);
        }
        if (isnan(rate)) {
            run->outcome->refused++;
            continue;
        }
        if (run->is_measured) run->outcome->loss += weight * log1pf(expf(-score));
        if (frozen)
            add_scaled(gradient, -score_gradient, row, run->size);
        else
            add_and_move(row, gradient, hidden, rate * score_gradient, -score_gradient, run->size);
    }
}

void train_samples(Run *run) {
    const int32_t *negatives = run->candidate_ids + (run->skip_gram ? run->places : 0);
    if (!run->skip_gram) train_targets(run);
    if (run->skip_gram) copy_candidates(run, run->candidate_ids, 0, run->places);
    copy_candidates(run, negatives, run->negatives_at, run->negatives);
    if (!has_few_vectors(run))
        transpose(run->across, run->by_token, run->hidden, run->width, rounded_up(run->vectors, 4), run->size);
    if (run->skip_gram) score_places(run);
    score_negatives(run, negatives);
    add_to_tokens(run);
    if (has(run->call, FREEZES_OUTPUTS)) return;
    if (run->skip_gram) {
        differentiate_rows(run, 0, run->places, true);
        move_rows(run, run->outputs, run->candidate_rows, NULL, run->changes, run->places, true);
    }
    differentiate_rows(run, run->negatives_at, run->negatives, false);
    move_rows(
        run, run->outputs, run->candidate_rows + run->negatives_at, NULL, run->changes + run->negatives_at * run->width,
        run->negatives, true
    );
}
