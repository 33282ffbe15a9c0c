/* Hierarchical softmax. Hidden vectors are trained with words: with the words around their token, or with the token's
   own word. A word's rows are the tree's nodes on its Huffman path.

   As in word2vec, a node takes its step before the next word reads it. */

#include "adagrad.h"
#include "checks.h"
#include "operation.h"
#include "token_weights.h"
#include "vectors.h"

enum { MOST_TOGETHER = 16, WORDS_AHEAD = 4 };

/* Which words of a batch are trained, and the hidden vectors that they are trained with. */
typedef struct {
    const int32_t *words;        /* [runs, places] of the widened runs */
    const int32_t *left, *right; /* [runs, tokens], how many places before and after a token are its contexts */
    int64_t runs, tokens, places, window;
    int64_t first_place, used; /* of each widened run, the places whose words are trained */
    bool every_context;        /* a word is trained with all tokens whose context it is, or with its own token */
    TokenWeights weights;
} Words;

typedef struct {
    Table table;
    /* Word w's path is from step offsets[w] to before step offsets[w + 1]. Its code at a step is 0 where the sigmoid of
       the score should be 1. */
    const int32_t *nodes, *codes, *offsets;
    /* Nearly all paths pass the table's last rows. From row `first_hot` on, rows are trained on a copy, so that threads
       do not wait for what others have just written. */
    float *hot;
    int64_t first_hot;
    float rate, max_score; /* Scores at least this far from 0 move nothing. */
    bool is_measured;
    bool frozen; /* whether nodes stay as they are */
    double loss; /* NaN if steps were refused because they would be NaN or infinite, or nearly so */
    int64_t longest; /* path, rounded up to whole registers and to ROWS_TOGETHER */
    float **path;    /* [longest], rows */
    float *scores;   /* [MOST_TOGETHER, longest], which become score gradients */
    float *counts;   /* [longest], the token's weight where a score moves vectors, 0 where it is too far from 0 */
    float **sums;    /* [longest] of the gradients of rows that have a state */
} Tree;

static float *row_of_node(const Tree *tree, int32_t node) {
    if (node < tree->first_hot) return row_of(tree->table, node);
    return tree->hot + (node - tree->first_hot) * tree->table.stride;
}

static void prefetch_path(const Tree *tree, int32_t word) {
    for (int32_t step = tree->offsets[word]; step < tree->offsets[word + 1]; step += CACHE_LINE)
        __builtin_prefetch(tree->codes + step);
    for (int32_t step = tree->offsets[word]; step < tree->offsets[word + 1]; step++)
        if (tree->nodes[step] < tree->first_hot)
            prefetch_row(row_of(tree->table, tree->nodes[step]), tree->table.stride);
}

/* Prefetches the path of a word of a run, or of the next run if this one has fewer. */
static void prefetch_ahead(const Tree *tree, const Words *all, int64_t run, int64_t used) {
    if (used >= all->used) run++, used -= all->used;
    if (run < all->runs && used < all->used)
        prefetch_path(tree, all->words[run * all->places + all->first_place + used]);
}

/* Whether the scores of `count` hidden vectors on a path are finite. */
static bool are_finite(const Tree *tree, int64_t count, int32_t steps) {
    for (int64_t k = 0; k < count; k++)
        if (!are_within(tree->scores + k * tree->longest, steps, FLT_MAX)) return false;
    return true;
}

/* Replaces a hidden vector's scores on a path by their gradients, multiplied by the weight of its token. */
static void differentiate(Tree *tree, float *scores, const int32_t *codes, int32_t steps, float weight) {
    for (int32_t i = 0; i < steps; i++) {
        tree->counts[i] = fabsf(scores[i]) >= tree->max_score ? 0.0f : weight;
        scores[i] = clamped(codes[i] ? -scores[i] : scores[i]);
    }
    if (tree->is_measured)
        for (int32_t i = 0; i < steps; i++) tree->loss += weight * log1pf(expf(-scores[i]));
    for (int32_t i = 0; i < steps; i += LANES)
        *(wide *)(scores + i) = 1.0f / (1.0f + exponential(*(wide *)(scores + i)));
    for (int32_t i = 0; i < steps; i++) scores[i] = tree->counts[i] * (codes[i] ? scores[i] : -scores[i]);
}

/* Moves the rows on a path by the score gradients of `count` hidden vectors, each row at the rate of its state. */
static void move_path_with_states(Tree *tree, int32_t steps, const float *const *hidden, int64_t count) {
    int64_t size = tree->table.size;
    bool is_alone = count == 1; /* Then a row's gradient is a multiple of the hidden vector. */
    float square_of_hidden = is_alone ? dot(hidden[0], hidden[0], size) : 0;
    if (!is_alone && steps) {
        Weights by_row = {tree->scores, 1, tree->longest};
        memset(tree->sums[0], 0, (size_t)(steps * size) * sizeof(float));
        add_weighted_sums(tree->sums, steps, hidden, by_row, count, size);
    }
    for (int32_t i = 0; i < steps; i++) {
        const float *along = is_alone ? hidden[0] : tree->sums[i];
        float factor = is_alone ? tree->scores[i] : 1, square = is_alone ? square_of_hidden : dot(along, along, size);
        float rate = rate_of_step(tree->table, tree->path[i], tree->rate, factor * factor * square);
        if (isnan(rate))
            tree->loss = NAN;
        else
            add_scaled(tree->path[i], -rate * factor, along, size);
    }
}

/* The hidden vectors that are trained with a word at a time. */
typedef struct {
    const float *hidden[MOST_TOGETHER];
    float *gradients[MOST_TOGETHER];
    float weights[MOST_TOGETHER]; /* of their tokens */
    int64_t count;
} Together;

/* Trains hidden vectors with a word: adds to their gradients, and moves the rows on its path unless they are frozen. The
   word trains nothing if a score is not finite. */
static void train_word(Tree *tree, int32_t word, const Together *trained) {
    const float *const *hidden = trained->hidden;
    float *const *gradients = trained->gradients;
    int64_t count = trained->count;
    int32_t first = tree->offsets[word], steps = tree->offsets[word + 1] - first;
    const int32_t *codes = tree->codes + first;
    for (int32_t i = 0; i < steps; i++) tree->path[i] = row_of_node(tree, tree->nodes[first + i]);
    int64_t rows = rounded_up(steps, ROWS_TOGETHER);
    for (int64_t i = steps; i < rows; i++) tree->path[i] = tree->path[steps - 1]; /* These scores are not read. */
    all_dots(tree->scores, tree->longest, hidden, count, (const float *const *)tree->path, rows, tree->table.size);
    if (!are_finite(tree, count, steps)) {
        tree->loss = NAN;
        return;
    }
    for (int64_t k = 0; k < count; k++)
        differentiate(tree, tree->scores + k * tree->longest, codes, steps, trained->weights[k]);
    if (count == 1 && !tree->frozen && !has_state(tree->table)) { /* as in CBOW */
        add_weighted_sum_and_move(
            gradients[0], tree->path, tree->scores, steps, hidden[0], tree->rate, tree->table.size
        );
        return;
    }
    Weights by_vector = {tree->scores, tree->longest, 1}, by_row = {tree->scores, 1, tree->longest};
    add_weighted_sums(gradients, count, (const float *const *)tree->path, by_vector, steps, tree->table.size);
    if (tree->frozen) return;
    if (has_state(tree->table)) {
        move_path_with_states(tree, steps, hidden, count);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        for (int32_t i = 0; i < steps; i++) tree->scores[k * tree->longest + i] *= -tree->rate;
    add_weighted_sums(tree->path, steps, hidden, by_row, count, tree->table.size);
}

static bool copy_hot_rows(Call *call, Tree *tree, int64_t wanted) {
    int64_t rows = wanted < tree->table.count ? wanted : tree->table.count, numbers = rows * tree->table.stride;
    tree->first_hot = tree->table.count - rows;
    tree->hot = workspace(call, FOR_SUMS, (size_t)(2 * numbers) * sizeof(float));
    if (!tree->hot) return false;
    if (!numbers) return true;
    memcpy(tree->hot, row_of(tree->table, tree->first_hot), (size_t)numbers * sizeof(float));
    memcpy(tree->hot + numbers, tree->hot, (size_t)numbers * sizeof(float));
    return true;
}

/* If another thread has moved a row meanwhile, the row becomes the mean of both threads' results. Such a row settles
   within a batch, so both results are about equal. The sum of both changes would move it twice as far. */
static void write_hot_rows(const Tree *tree) {
    int64_t rows = tree->table.count - tree->first_hot, size = tree->table.stride; /* states as well */
    const float *before = tree->hot + rows * size;
    for (int64_t i = 0; i < rows; i++) {
        float *row = row_of(tree->table, tree->first_hot + i);
        float share = memcmp(row, before + i * size, (size_t)size * sizeof(float)) ? 0.5f : 1.0f;
        for (int64_t k = 0; k < size; k++) row[k] += share * (tree->hot[i * size + k] - row[k]);
    }
}

enum {
    TABLE, HIDDEN, WORDS, LEFT, RIGHT, BATCH, NODES, CODES, OFFSETS, HOT_NODES, EVERY_CONTEXT, RATE, MAX_SCORE, MEASURED,
    FROZEN, TOKEN_WEIGHTS
};

/* Checks that the path of a word, given by its entry among the words, is within the steps. */
static bool check_path(Call *call, const Tree *tree, int64_t entry) {
    int64_t words = call->lengths[BY_OFFSET] - 1, steps = call->lengths[BY_STEP];
    int32_t word = integers(call, WORDS)[entry];
    if ((uint32_t)word >= words) return fail_row(call, WORDS, entry, words, "offsets", "words");
    int32_t first = tree->offsets[word], end = tree->offsets[word + 1];
    if (0 <= first && first <= end && end <= steps) return true;
    return fail(
        call, "offsets holds %d at offset %d, and %d next; they must ascend from 0 to %lld, the steps of nodes", first,
        word, end, (long long)steps
    );
}

/* Checks the nodes and the codes on a word's path. */
static bool check_steps(Call *call, const Tree *tree, int32_t word) {
    for (int64_t step = tree->offsets[word]; step < tree->offsets[word + 1]; step++) {
        if ((uint32_t)tree->nodes[step] >= tree->table.count)
            return fail_row(call, NODES, step, tree->table.count, "table", "rows");
        if ((uint32_t)tree->codes[step] > 1) return fail_count(call, CODES, step, 1);
    }
    return true;
}

/* This many steps are checked at once, whatever the length of a path: a loop that ends after each step costs more than
   the comparisons. */
enum { STEPS_TOGETHER = 16 };
typedef uint32_t some_steps __attribute__((vector_size(4 * STEPS_TOGETHER), aligned(4), may_alias));

/* Checks the paths of all words that are trained, and finds the longest one. */
static bool check_paths(Call *call, Tree *tree, const Words *all) {
    int64_t entry = entries_of(call, WORDS).first, steps = call->lengths[BY_STEP];
    uint32_t last = (uint32_t)(tree->table.count > INT32_MAX ? INT32_MAX : tree->table.count - 1);
    some_steps wrong = {0};
    for (int64_t run = 0; run < all->runs; run++)
        for (int64_t place = all->first_place; place < all->first_place + all->used; place++) {
            if (!check_path(call, tree, entry + run * all->places + place)) return false;
            int32_t word = all->words[run * all->places + place], end = tree->offsets[word + 1];
            tree->longest = largest(tree->longest, end - tree->offsets[word]);
            for (int64_t step = tree->offsets[word]; step < end; step += STEPS_TOGETHER) {
                if (step + STEPS_TOGETHER > steps) {
                    if (!check_steps(call, tree, word)) return false;
                    break;
                }
                some_steps nodes = *(const some_steps *)(tree->nodes + step);
                wrong |= (nodes | (last - nodes)) >> 31 | *(const some_steps *)(tree->codes + step) >> 1;
            }
        }
    bool is_wrong = false;
    for (int lane = 0; lane < STEPS_TOGETHER; lane++) is_wrong |= wrong[lane] != 0;
    if (!is_wrong) return true;
    /* The wrong step is on a path, or only behind the end of one, where training does not read. */
    for (int64_t run = 0; run < all->runs; run++)
        for (int64_t place = all->first_place; place < all->first_place + all->used; place++)
            if (!check_steps(call, tree, all->words[run * all->places + place])) return false;
    return true;
}

static bool get_words(Call *call, Words *all) {
    *all = (Words){
        .runs = call->lengths[BY_RUN],
        .tokens = call->lengths[BY_TOKEN],
        .places = call->lengths[BY_PLACE],
        .every_context = *booleans(call, EVERY_CONTEXT),
    };
    if (!check_batch(call, BATCH) || !check_number(call, HOT_NODES, 0, INT32_MAX) ||
        !check_windows(call, LEFT, RIGHT, WORDS, all->places, &all->window) ||
        !get_token_weights(call, TOKEN_WEIGHTS, &all->weights))
        return false;
    all->words = of_batch(call, WORDS);
    all->left = of_batch(call, LEFT);
    all->right = of_batch(call, RIGHT);
    all->first_place = all->every_context ? 0 : all->window;
    all->used = all->every_context ? all->places : all->tokens;
    return true;
}

static bool make_room_for_sums(Call *call, Tree *tree) {
    if (!has_state(tree->table)) return true;
    int64_t size = tree->table.size;
    float *sums = workspace(call, FOR_PATHS, (size_t)(tree->longest * size) * sizeof(float));
    tree->sums = tree->path + tree->longest;
    for (int64_t i = 0; sums && i < tree->longest; i++) tree->sums[i] = sums + i * size;
    return sums;
}

static bool make_room(Call *call, Tree *tree) {
    tree->longest = rounded_up(tree->longest, largest(LANES, ROWS_TOGETHER));
    tree->scores = workspace(call, FOR_VECTORS, (size_t)((MOST_TOGETHER + 1) * tree->longest) * sizeof(float));
    tree->path = workspace(call, FOR_POINTERS, (size_t)(2 * tree->longest) * sizeof(float *));
    if (!tree->scores || !tree->path || !make_room_for_sums(call, tree)) return false;
    tree->counts = tree->scores + MOST_TOGETHER * tree->longest;
    memset(tree->scores, 0, (size_t)(MOST_TOGETHER * tree->longest) * sizeof(float));
    return true;
}

/* Whether a token is trained with the word at a place. */
static bool is_trained(const Words *all, int64_t run, int64_t token, int64_t place) {
    int64_t distance = place - all->window - token, of_token = run * all->tokens + token;
    if (!all->every_context) return all->left[of_token] || all->right[of_token];
    return distance && distance <= all->right[of_token] && -distance <= all->left[of_token];
}

/* Trains the word at a place of a run. */
static void train_place(
    Tree *tree, const Words *all, int64_t run, int64_t place, const float *hidden, float *gradients
) {
    int32_t word = all->words[run * all->places + place];
    int64_t first = largest(place - (all->every_context ? 2 : 1) * all->window, 0);
    int64_t end = all->every_context ? place + 1 : place - all->window + 1;
    Together together;
    together.count = 0;
    for (int64_t token = first; token < end && token < all->tokens; token++) {
        if (is_trained(all, run, token, place)) {
            int64_t of_token = run * all->tokens + token, number = of_token * tree->table.size;
            together.hidden[together.count] = hidden + number;
            together.gradients[together.count] = gradients + number;
            together.weights[together.count++] = weight_of(all->weights, of_token);
        }
        if (together.count == MOST_TOGETHER) {
            train_word(tree, word, &together);
            together.count = 0;
        }
    }
    if (together.count) train_word(tree, word, &together);
}

static void train(Call *call) {
    Words all;
    if (!get_words(call, &all)) return;
    Tree tree = {
        .table = table_of(call, TABLE),
        .nodes = integers(call, NODES),
        .codes = integers(call, CODES),
        .offsets = integers(call, OFFSETS),
        .rate = *floats(call, RATE),
        .max_score = *floats(call, MAX_SCORE),
        .is_measured = *booleans(call, MEASURED),
        .frozen = *booleans(call, FROZEN),
    };
    if (!check_paths(call, &tree, &all)) return;
    int64_t shape[] = {all.runs, all.tokens, tree.table.size};
    float *gradients = output(call, 0, shape, 3), *loss = output(call, 1, NULL, 0);
    if (!gradients || !loss || !make_room(call, &tree) || !copy_hot_rows(call, &tree, *integers(call, HOT_NODES)))
        return;
    memset(gradients, 0, (size_t)(shape[0] * shape[1] * shape[2]) * sizeof(float));
    const float *hidden = floats(call, HIDDEN);
    int64_t numbers = all.tokens * tree.table.size; /* of a run */
    for (int64_t run = 0; run < all.runs; run++) {
        if (!are_within(hidden + run * numbers, numbers, bound_of_moves(tree.rate * all.weights.largest))) {
            tree.loss = NAN; /* A run trains nothing if rows must not move along one of the run's vectors. */
            continue;
        }
        for (int64_t used = 0; used < all.used; used++) {
            prefetch_ahead(&tree, &all, run, used + WORDS_AHEAD);
            train_place(&tree, &all, run, all.first_place + used, hidden, gradients);
        }
    }
    if (!tree.frozen) write_hot_rows(&tree);
    *loss = (float)tree.loss;
}

OPERATION(tfw2v_train_huffman_paths, train) = {
    .name = "Tfw2vTrainHuffmanPaths",
    .trains = true,
    .inputs =
        {TRAINED_TABLE, HIDDEN_INPUT, {"words", "int32", {BY_BATCH, BY_RUN, BY_PLACE}}, WINDOW_INPUTS,
         SCALAR_INPUT("batch", "int32"), {"nodes", "int32", {BY_STEP}}, {"codes", "int32", {BY_STEP}},
         {"offsets", "int32", {BY_OFFSET}}, SCALAR_INPUT("hot_nodes", "int32"), SCALAR_INPUT("every_context", "bool"),
         SCALAR_INPUT("rate", "float"), SCALAR_INPUT("max_score", "float"), SCALAR_INPUT("measured", "bool"),
         SCALAR_INPUT("frozen", "bool"), TOKEN_WEIGHTS_INPUT},
    .outputs = {"gradients: float", "loss: float"},
    .compute = compute_tfw2v_train_huffman_paths,
};
