/* Hierarchical softmax for one run. Hidden vectors are trained with words: with the words around their token
   (skip-gram), or with the token's own word (CBOW). A word's rows are the tree's nodes on its Huffman path.

   As in word2vec, nodes take their steps before later words read them. In skip-gram a word is trained with all tokens
   of the run whose context it is, together. In CBOW the words of a few tokens are scored before any of their nodes
   moves: nodes near the root are on all of their paths, and each word would wait for the one before it. */

#include "adagrad.h"
#include "run.h"

/* As in word2vec, whose table of the sigmoid ends there: a score at least this far from 0 moves nothing. */
static const float MAX_NODE_SCORE = 6;
enum { WORDS_AHEAD = 6, WORDS_TOGETHER = 4, CACHED_NODES = 512 };

/* Prefetches the nodes of a path, except for those next to the root, which are in the cache. */
static void prefetch_path(const Run *run, int32_t word) {
    __builtin_prefetch(run->codes + run->offsets[word]);
    for (int32_t step = run->offsets[word]; step < run->offsets[word + 1]; step++)
        if (run->nodes_of_paths[step] < run->nodes.count - CACHED_NODES)
            prefetch_row(row_of(run->nodes, run->nodes_of_paths[step]), run->size);
}

/* Prefetches the path of the word at a place, or in the next run if this one has fewer places. The next run begins with
   places that this one has, too. */
static void prefetch_path_at(const Run *run, int64_t place) {
    if (place < run->places)
        prefetch_path(run, run->words[place]);
    else if (run->has_next && place < run->places + run->tokens)
        prefetch_path(run, run->words[place + 2 * run->window]);
}

/* A word's path, and the hidden vectors that are trained with it together. */
typedef struct {
    int32_t first, steps;
    float **rows;  /* [longest path] */
    float *scores; /* [count, longest path], which become score gradients */
    int64_t count;
    const float *hidden[MOST_TOGETHER];
    float *gradients[MOST_TOGETHER];
    float weights[MOST_TOGETHER]; /* of their tokens */
} Path;

static void add_token(const Run *run, Path *path, int64_t token) {
    path->hidden[path->count] = run->hidden_rows[run->vector_of[token]];
    path->gradients[path->count] = run->gradient_rows[run->vector_of[token]];
    path->weights[path->count++] = weight_of(run, token);
}

/* Returns the run's own copy of a node's row. */
static float *hot_row(Run *run, int32_t node) {
    const uint32_t golden = 2654435769u; /* spreads numbers that are close to each other */
    uint32_t slot = (uint32_t)node * golden / (UINT32_MAX / HOT_SLOTS + 1);
    while (run->hot_nodes[slot] && run->hot_nodes[slot] != node + 1) slot = (slot + 1) % HOT_SLOTS;
    float *own = run->hot_rows + slot * 2 * run->hot_width;
    if (run->hot_nodes[slot]) return own;
    const float *row = trained_row(run, run->nodes, node);
    if (run->hot_count == MOST_HOT) return (float *)row;
    run->hot_count++;
    run->hot_nodes[slot] = node + 1;
    memcpy(own, row, (size_t)run->nodes.stride * sizeof(float));
    memcpy(own + run->hot_width, row, (size_t)run->nodes.stride * sizeof(float));
    return own;
}

/* Adds the steps of all copies to the rows. */
static void write_hot_rows(Run *run) {
    for (int64_t slot = 0; slot < HOT_SLOTS && run->hot_count; slot++) {
        if (!run->hot_nodes[slot]) continue;
        float *row = trained_row(run, run->nodes, run->hot_nodes[slot] - 1);
        const float *own = run->hot_rows + slot * 2 * run->hot_width, *before = own + run->hot_width;
        for (int64_t i = 0; i < run->nodes.stride; i++) row[i] += own[i] - before[i];
        run->hot_nodes[slot] = 0;
    }
    run->hot_count = 0;
}

/* Finds the rows of a word's path; `number` counts the words that are scored before one is trained. */
static void find_path(Run *run, Path *path, int32_t word, int64_t number) {
    path->first = run->offsets[word], path->steps = run->offsets[word + 1] - path->first;
    path->rows = run->path_rows + number * run->longest_path;
    path->scores = run->path_scores + number * run->longest_path;
    for (int32_t i = 0; i < path->steps; i++) {
        int32_t node = run->nodes_of_paths[path->first + i];
        bool is_hot = i < HOT_STEPS && !has(run->call, FREEZES_OUTPUTS);
        path->rows[i] = is_hot ? hot_row(run, node) : trained_row(run, run->nodes, node);
    }
}

/* Writes the label of each step: 1 where the path takes the branch with code 0, so that the sigmoid of the score should
   be 1. */
static void label_steps(Run *run, const Path *path) {
    const int32_t *codes = run->codes + path->first;
    for (int32_t i = 0; i < path->steps; i++) run->path_labels[i] = (float)(1 - codes[i]);
}

/* Replaces a hidden vector's scores on a path by their gradients, multiplied by the weight of its token. Returns false
   if a score is not finite. */
static bool differentiate(Run *run, float *scores, int32_t steps, float weight) {
    const float *labels = run->path_labels;
    if (!are_within(scores, steps, FLT_MAX)) return false;
    if (run->is_measured)
        for (int32_t i = 0; i < steps; i++)
            run->outcome->loss += weight * log1pf(expf(clamped(labels[i] != 0 ? -scores[i] : scores[i])));
    for (int32_t i = 0; i < steps; i += LANES) {
        wide score = *(wide *)(scores + i), label = *(const wide *)(labels + i);
        wide gradient = weight * (1.0f / (1.0f + exponential(-all_clamped(score))) - label);
        wide_integers counts = (score < MAX_NODE_SCORE) & (score > -MAX_NODE_SCORE);
        *(wide *)(scores + i) = chosen(counts, gradient, (wide){0});
    }
    return true;
}

/* Moves the rows of a path by the score gradients of several hidden vectors. */
static void move_together(Run *run, Path *path) {
    bool has_states = has_state(run->nodes);
    if (!has_states)
        for (int64_t k = 0; k < path->count; k++)
            for (int32_t i = 0; i < path->steps; i += LANES)
                *(wide *)(path->scores + k * run->longest_path + i) *= -run->rate;
    for (int32_t i = 0; i < path->steps; i += SUMS_TOGETHER) {
        Weights weights = {path->scores + i, 1, run->longest_path};
        int64_t together = smallest(SUMS_TOGETHER, path->steps - i);
        if (has_states)
            sum_rows(run->path_change_rows + i, together, path->hidden, path->count, weights, run->width);
        else
            add_rows(run->path_copy_rows + i, together, path->hidden, path->count, weights, run->width);
    }
    if (has_states)
        move_rows(run, run->nodes, path->rows, NULL, run->path_changes, path->steps, false);
    else
        for (int32_t i = 0; i < path->steps; i++) copy_row(path->rows[i], run->path_copy_rows[i], run->size);
}

/* Trains hidden vectors together with a word's path, on copies of its rows. The path trains nothing if a score is not
   finite. */
static void train_together(Run *run, Path *path) {
    for (int32_t i = 0; i < path->steps; i++) copy_row(run->path_copy_rows[i], path->rows[i], run->size);
    all_dots( /* Scores beyond the last step are not read. */
        path->scores, run->longest_path, path->hidden, path->count, read_only(run->path_copy_rows),
        rounded_up(path->steps, ROWS_TOGETHER), run->width
    );
    bool are_finite = true;
    label_steps(run, path);
    for (int64_t k = 0; k < path->count; k++)
        are_finite &= differentiate(run, path->scores + k * run->longest_path, path->steps, path->weights[k]);
    if (!are_finite) {
        run->outcome->refused++;
        return;
    }
    for (int64_t k = 0; k < path->count; k += SUMS_TOGETHER) {
        Weights weights = {path->scores + k * run->longest_path, run->longest_path, 1};
        const float *const *rows = read_only(run->path_copy_rows);
        add_rows(path->gradients + k, smallest(SUMS_TOGETHER, path->count - k), rows, path->steps, weights, run->width);
    }
    if (!has(run->call, FREEZES_OUTPUTS)) move_together(run, path);
}

/* Scores one hidden vector on a path's rows in the table. */
static void score_alone(const Run *run, Path *path) {
    int64_t rows = rounded_up(path->steps, ROWS_TOGETHER);
    for (int64_t i = path->steps; i < rows; i++) path->rows[i] = path->rows[path->steps - 1]; /* Nobody reads these. */
    all_dots(path->scores, run->longest_path, path->hidden, 1, read_only(path->rows), rows, run->size);
}

/* Trains one hidden vector with a scored path, and moves the path's rows in the same pass unless they are frozen. The
   path trains nothing if a score is not finite. */
static void train_alone(Run *run, Path *path) {
    const float *hidden = path->hidden[0], *scores = path->scores;
    float *gradient = path->gradients[0];
    label_steps(run, path);
    if (!differentiate(run, path->scores, path->steps, path->weights[0])) {
        run->outcome->refused++;
        return;
    }
    if (has(run->call, FREEZES_OUTPUTS)) {
        for (int32_t i = 0; i < path->steps; i++) add_scaled(gradient, scores[i], path->rows[i], run->size);
        return;
    }
    if (!has_state(run->nodes)) {
        sum_and_move(gradient, path->rows, scores, path->steps, hidden, run->rate, run->size);
        return;
    }
    float square = dot(hidden, hidden, run->width);
    for (int32_t i = 0; i < path->steps; i++) {
        float rate = rate_of_step(run->nodes, path->rows[i], run->rate, scores[i] * scores[i] * square);
        if (isnan(rate)) run->outcome->refused++;
        add_and_move(path->rows[i], gradient, hidden, isnan(rate) ? 0 : -rate * scores[i], scores[i], run->size);
    }
}

/* Trains the word at a place with all tokens whose context it is. */
static void train_place(Run *run, int64_t place) {
    Path path;
    path.count = 0;
    int64_t end = smallest(place + 1, run->tokens);
    for (int64_t token = largest(place - 2 * run->window, 0); token < end; token++) {
        int64_t distance = place - run->window - token;
        if (distance && distance <= run->right[token] && -distance <= run->left[token]) add_token(run, &path, token);
        if (path.count && (path.count == MOST_TOGETHER || token + 1 == end)) {
            find_path(run, &path, run->words[place], 0);
            train_together(run, &path);
            path.count = 0;
        }
    }
}

/* Trains the own words of some tokens. */
static void train_own_words(Run *run, int64_t token, int64_t count) {
    Path paths[WORDS_TOGETHER];
    int64_t used = 0;
    for (int64_t t = token; t < token + count; t++) {
        if (!is_trained(run, t)) continue;
        paths[used].count = 0;
        add_token(run, &paths[used], t);
        find_path(run, &paths[used], run->words[t + run->window], used);
        score_alone(run, &paths[used++]);
    }
    for (int64_t i = 0; i < used; i++) train_alone(run, &paths[i]);
}

void train_paths(Run *run) {
    if (run->skip_gram)
        for (int64_t place = 0; place < run->places; place++) {
            prefetch_path_at(run, place + WORDS_AHEAD);
            if (place < run->tokens) prefetch_next_inputs(run, place, 1);
            train_place(run, place);
        }
    else
        for (int64_t token = 0; token < run->tokens; token += WORDS_TOGETHER) {
            for (int64_t t = token; t < token + WORDS_TOGETHER; t++) prefetch_path_at(run, t + run->window + WORDS_AHEAD);
            train_own_words(run, token, smallest(WORDS_TOGETHER, run->tokens - token));
        }
    write_hot_rows(run);
}
