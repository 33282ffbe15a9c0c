/* Hidden vectors, and the input rows that they consist of. In skip-gram a hidden vector is the row of its token, or the
   mean of a bag of rows. In CBOW it is a weighted sum of the rows of the token's contexts, each a row or a bag, and of
   the rows of the token's document if it has one, or all these rows one after the other (`concatenation.c`). Every row
   of a bag gets the whole gradient of the bag, as in fastText. In a run without contexts, tokens of a document that
   follow each other have one hidden vector.

   Where all contexts of a token have the same weight, they are consecutive places of the run, and their sum is the
   difference of two running sums along the run: a token costs the same with any window. On the way back, a token's
   gradient is added from its first context on and taken away after its last one: a running sum of these changes is the
   gradient of each place. */

#include "run.h"

static void copy_inputs(Run *run, float *copies, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        run->input_rows[i] = trained_row(run, run->inputs, run->input_ids[i]);
        copy_row(copies + i * run->width, run->input_rows[i], run->size);
    }
}

enum { BAGS_AHEAD = 2, MOST_AT_ONCE = 64 }; /* bags ahead, whose rows are prefetched, and rows that are summed at once */

static void prefetch_bag(const Run *run, int64_t number) {
    Bag bag = bag_of(run, number);
    for (int64_t k = 0; k < bag.count; k++) prefetch_row(row_of(run->inputs, bag.rows[k]), run->size);
}

static void add_bag(const Run *run, float *sum, float factor, Bag bag) {
    for (int64_t k = 0; k < bag.count; k++)
        add_scaled(sum, factor, trained_row(run, run->inputs, bag.rows[k]), run->size);
}

/* sum = factor * the rows of a bag, added up a few registers at a time. */
static void sum_bag(const Run *run, float *sum, float factor, Bag bag) {
    const float *first[MOST_AT_ONCE];
    int64_t at_once = smallest(bag.count, MOST_AT_ONCE), size = run->size, i = 0;
    for (int64_t k = 0; k < at_once; k++) first[k] = trained_row(run, run->inputs, bag.rows[k]);
    for (; i + 2 * LANES <= size; i += 2 * LANES) {
        wide one = {0}, other = {0};
        for (int64_t k = 0; k < at_once; k++) {
            one += *(const wide *)(first[k] + i);
            other += *(const wide *)(first[k] + i + LANES);
        }
        *(wide *)(sum + i) = factor * one;
        *(wide *)(sum + i + LANES) = factor * other;
    }
    for (; i + 4 <= size; i += 4) {
        narrow part = {0};
        for (int64_t k = 0; k < at_once; k++) part += *(const narrow *)(first[k] + i);
        *(narrow *)(sum + i) = factor * part;
    }
    for (; i < size; i++) {
        sum[i] = 0;
        for (int64_t k = 0; k < at_once; k++) sum[i] += factor * first[k][i];
    }
    add_bag(run, sum, factor, (Bag){bag.rows + at_once, bag.count - at_once});
}

/* Writes the sums of bags of rows, or in skip-gram their means. */
static void sum_bags(Run *run, float *sums, int64_t count) {
    run->rows_before[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        float *sum = sums + i * run->width;
        Bag bag = bag_of(run, run->input_ids[i]);
        if (i + BAGS_AHEAD < count) prefetch_bag(run, run->input_ids[i + BAGS_AHEAD]);
        sum_bag(run, sum, run->skip_gram ? 1.0f / (float)largest(bag.count, 1) : 1.0f, bag);
        run->rows_before[i + 1] = run->rows_before[i] + bag.count;
    }
}

/* The places of a token and its contexts, from the first to before the end, and the rows of which its hidden vector
   consists. */
typedef struct {
    int64_t first, own, end, contexts, rows;
} Reach;

static Reach reach_of(const Run *run, int64_t token) {
    int64_t left = run->left[token], right = run->right[token], own = token + run->window;
    Reach reach = {own - left, own, own + right + 1, left + right, left + right};
    if (has(run->call, BAGS)) {
        const int64_t *before = run->rows_before;
        reach.rows = before[reach.end] - before[reach.first] - (before[own + 1] - before[own]);
    }
    reach.rows += document_of(run, token).count;
    return reach;
}

/* How much of a token's gradient each of these rows gets. */
static float share_of(const Run *run, Reach reach) {
    return has(run->call, MEAN_CONTEXT) || !reach.rows ? 1.0f : 1.0f / (float)reach.rows;
}

/* Writes hidden vectors. changes[p] becomes the sum of the rows at the places before p. */
static void sum_even_contexts(Run *run) {
    int64_t width = run->width;
    memset(run->changes, 0, (size_t)width * sizeof(float));
    for (int64_t place = 0; place < run->places; place++) {
        float *sum = run->changes + place * width;
        add_vectors(sum + width, sum, run->copies + place * width, width);
    }
    for (int64_t token = 0; token < run->tokens; token++) {
        prefetch_next_inputs(run, token, 1);
        Reach reach = reach_of(run, token);
        float *hidden = run->hidden + token * width;
        float factor = has(run->call, MEAN_CONTEXT) ? 1.0f / (float)largest(reach.rows, 1) : 1.0f;
        if (reach.contexts)
            scale_rest(
                hidden, factor, run->changes + reach.end * width, run->changes + reach.first * width,
                run->copies + reach.own * width, width
            );
        else
            memset(hidden, 0, (size_t)width * sizeof(float));
        add_bag(run, hidden, factor, document_of(run, token));
    }
}

/* Writes the gradients of places, as running sums of what differs from place to place. */
static void spread_even_gradients(Run *run) {
    int64_t width = run->width;
    memset(run->changes, 0, (size_t)((run->places + 1) * width) * sizeof(float));
    memset(run->begun, 0, (size_t)(run->places + 1) * sizeof(int32_t));
    for (int64_t token = 0; token < run->tokens; token++) {
        Reach reach = reach_of(run, token);
        if (!reach.contexts) continue;
        const float *gradient = run->gradients + token * width;
        float share = share_of(run, reach);
        add_scaled(run->changes + reach.first * width, share, gradient, width);
        add_scaled(run->changes + reach.end * width, -share, gradient, width);
        run->begun[reach.first]++;
        run->begun[reach.end]--;
    }
    float *current = run->copies; /* which nothing reads any more */
    memset(current, 0, (size_t)width * sizeof(float));
    int32_t reaching = 0; /* tokens whose windows have the place */
    for (int64_t place = 0; place < run->places; place++) {
        float *change = run->changes + place * width;
        int64_t token = place - run->window;
        bool has_window = 0 <= token && token < run->tokens && has_contexts(run, token);
        reaching += run->begun[place];
        if (!reaching) memset(current, 0, (size_t)width * sizeof(float)); /* What is left are rounding errors. */
        else add_scaled(current, 1, change, width);
        if (reaching <= has_window) memset(change, 0, (size_t)width * sizeof(float)); /* only its own token's */
        else copy_row(change, current, width);
        if (reaching > has_window && has_window)
            add_scaled(change, -share_of(run, reach_of(run, token)), run->gradients + token * width, width);
    }
}

/* Writes hidden vectors as weighted sums of the copies. */
static void sum_contexts(Run *run) {
    const float *weights = has(run->call, MEAN_CONTEXT) ? run->shares : run->masks;
    for (int64_t token = 0; token < run->tokens; token += SUMS_TOGETHER) {
        int64_t together = smallest(SUMS_TOGETHER, run->tokens - token);
        Weights near = {weights + token * run->by_token + token, 1, run->by_token};
        int64_t places = 2 * run->window + together;
        prefetch_next_inputs(run, token, together);
        sum_rows(run->hidden_rows + token, together, read_only(run->copy_rows + token), places, near, run->width);
    }
}

/* Writes the gradients of places as weighted sums of those of hidden vectors. */
static void spread_gradients(Run *run) {
    const float *weights = has(run->call, MEAN_CONTEXT) ? run->masks : run->shares;
    for (int64_t place = 0; place < run->places; place += SUMS_TOGETHER) {
        int64_t together = smallest(SUMS_TOGETHER, run->places - place);
        int64_t first = largest(place - 2 * run->window, 0), end = smallest(place + together, run->tokens);
        Weights near = {weights + place * run->by_token + first, run->by_token, 1};
        const float *const *tokens = read_only(run->gradient_rows + first);
        sum_rows(run->change_rows + place, together, tokens, end - first, near, run->width);
    }
}

/* Finds the tokens that have hidden vectors in common, and how many of these there are. */
static void number_vectors(Run *run) {
    run->has_windows = false;
    for (int64_t token = 0; token < run->tokens && !run->has_windows; token++)
        run->has_windows = has_contexts(run, token);
    int32_t last = -1;
    for (int64_t token = 0; token < run->tokens; token++) {
        bool is_same = !run->has_windows && token && run->documents[token] == run->documents[token - 1];
        run->vector_of[token] = last += !is_same;
    }
    run->vectors = last + 1;
}

/* Writes the hidden vectors of documents. */
static void sum_documents(Run *run) {
    for (int64_t token = 0; token < run->tokens; token++) {
        if (token && run->vector_of[token] == run->vector_of[token - 1]) continue;
        Bag bag = document_of(run, token);
        float *hidden = run->hidden_rows[run->vector_of[token]];
        memset(hidden, 0, (size_t)run->width * sizeof(float));
        add_bag(run, hidden, has(run->call, MEAN_CONTEXT) ? 1.0f / (float)largest(bag.count, 1) : 1.0f, bag);
    }
}

void read_hidden(Run *run) {
    if (run->documents && !has(run->call, CONCATENATED)) number_vectors(run);
    if (!run->has_windows) {
        sum_documents(run);
        return;
    }
    if (has(run->call, CONCATENATED)) {
        read_concatenated(run);
        return;
    }
    void (*read)(Run *, float *, int64_t) = has(run->call, BAGS) ? sum_bags : copy_inputs;
    if (run->skip_gram) {
        read(run, run->hidden, run->tokens);
        return;
    }
    read(run, run->copies, run->places);
    if (has(run->call, EVEN_CONTEXTS))
        sum_even_contexts(run);
    else
        sum_contexts(run);
}

/* Moves the rows of documents, each once against what neighbouring tokens of one document add up to. */
static void move_documents(Run *run) {
    for (int64_t token = 0; token < run->tokens;) {
        int64_t first = token;
        memset(run->document_gradient, 0, (size_t)run->width * sizeof(float));
        for (; token < run->tokens && run->documents[token] == run->documents[first]; token++)
            if (token == first || run->vector_of[token] != run->vector_of[token - 1])
                add_scaled(
                    run->document_gradient, share_of(run, reach_of(run, token)),
                    run->gradient_rows[run->vector_of[token]], run->width
                );
        move_bag(run, document_of(run, first), run->document_gradient);
    }
}

void move_hidden(Run *run) {
    if (has(run->call, CONCATENATED)) {
        move_concatenated(run);
        return;
    }
    const float *gradients = run->gradients;
    if (run->documents) move_documents(run);
    if (has(run->call, FREEZES_INPUTS) || !run->has_windows) return;
    if (!run->skip_gram) {
        if (has(run->call, EVEN_CONTEXTS))
            spread_even_gradients(run);
        else
            spread_gradients(run);
        gradients = run->changes;
    }
    int64_t count = run->skip_gram ? run->tokens : run->places;
    if (!has(run->call, BAGS)) {
        move_rows(run, run->inputs, run->input_rows, run->input_ids, gradients, count, true);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        move_bag(run, bag_of(run, run->input_ids[i]), gradients + i * run->width);
}
