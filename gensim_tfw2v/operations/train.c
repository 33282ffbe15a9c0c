/* The operations that train a span of a block's batches, run by run: one for skip-gram, one for CBOW. */

#include "adagrad.h"
#include "checks.h"
#include "operation.h"
#include "run.h"

enum {
    INPUTS, OUTPUTS, NODES, LEFT, RIGHT, INPUT_IDS, CANDIDATES, TARGETS, WORDS, PATH_NODES, CODES, OFFSETS, WEIGHTS,
    WINDOW, RATES, MAX_STEP, FACTORS, NEGATIVE, SHARED_NEGATIVES, MEASURED, RADIUS_CHANCE, SPAN, MEMBERS, BAG_OFFSETS,
    TOKEN_DOCUMENTS
};

/* Checks that words have paths, and that all paths are made of nodes. Finds the longest path. */
static bool check_paths(Call *call, Run *run) {
    int64_t steps = call->lengths[BY_STEP], words = call->lengths[BY_OFFSET] - 1;
    const int32_t *offsets = integers(call, OFFSETS);
    if (!check_any(call, OFFSETS, BY_OFFSET) || !check_rows(call, PATH_NODES, NODES) || !check_counts(call, CODES, 1))
        return false;
    int32_t wrong = 0;
    for (int64_t word = 0; word < words; word++) {
        int64_t length = (int64_t)offsets[word + 1] - offsets[word];
        wrong |= (length < 0) | (offsets[word] < 0);
        run->longest_path = largest(run->longest_path, length);
    }
    if (wrong || (uint32_t)offsets[words] > steps)
        return fail(call, "offsets must ascend from 0 to %lld, the steps of path_nodes", (long long)steps);
    return check_counts(call, WORDS, words - 1);
}

static bool check_candidates(Call *call, const Run *run) {
    if (!check_rows(call, CANDIDATES, OUTPUTS)) return false;
    int64_t expected = run->negatives + (run->skip_gram ? run->places : 0);
    int64_t found = call->lengths[run->skip_gram ? BY_CANDIDATE : BY_NEGATIVE];
    if (found == expected) return run->skip_gram || check_rows(call, TARGETS, OUTPUTS);
    return fail(
        call, "candidates has %lld a run; %lld places and negatives are expected", (long long)found,
        (long long)expected
    );
}

static bool check_inputs(Call *call, bool skip_gram) {
    bool bags = has(call, BAGS), documents = has(call, DOCUMENTS);
    if ((bags || documents) && !check_any(call, BAG_OFFSETS, BY_BAG)) return false;
    if ((bags || documents) && !skip_gram && !has(call, EVEN_CONTEXTS))
        return fail(call, "bags and documents need contexts of equal weight (even_contexts)");
    if (has(call, CONCATENATED) && (skip_gram || bags || !documents))
        return fail(call, "concatenated inputs need documents, and are no bags");
    if (documents && !check_bags(call, TOKEN_DOCUMENTS, true, BAG_OFFSETS, MEMBERS, INPUTS)) return false;
    return bags ? check_bags(call, INPUT_IDS, false, BAG_OFFSETS, MEMBERS, INPUTS) : check_rows(call, INPUT_IDS, INPUTS);
}

/* Checks that hidden vectors have a part for each row of a document and each place of a window, and that the last member
   of all bags is an input row: the null word's. */
static bool check_parts(Call *call, Run *run) {
    int64_t size = run->inputs.size, members = call->lengths[BY_MEMBER];
    run->tags = run->size / largest(size, 1) - 2 * run->window;
    if (run->tags < 1 || run->size != size * (run->tags + 2 * run->window))
        return fail(
            call, "hidden vectors have %lld numbers; with window %lld they must have parts of %lld numbers for each of "
            "%lld contexts and at least 1 row of a document", (long long)run->size, (long long)run->window,
            (long long)size, (long long)(2 * run->window)
        );
    run->null_word = members ? run->members[members - 1] : -1;
    if (run->null_word < 0 || run->null_word >= run->inputs.count)
        return fail(
            call, "bag_members must end with the null word's row; inputs has %lld rows", (long long)run->inputs.count
        );
    return check_bag_sizes(call, TOKEN_DOCUMENTS, BAG_OFFSETS, run->tags);
}

/* Checks all inputs, and sets what all runs have in common. */
static bool get_runs(Call *call, Run *run) {
    bool samples = has(call, NEGATIVE_SAMPLING), paths = has(call, HIERARCHICAL_SOFTMAX);
    if (!check_any(call, LEFT, BY_TOKEN) || !check_number(call, WINDOW, 1, INT32_MAX / 4))
        return false;
    run->call = call;
    run->tokens = call->lengths[BY_TOKEN];
    run->window = *integers(call, WINDOW);
    run->places = run->tokens + 2 * run->window;
    run->size = call->lengths[numbers_in(call, BY_HIDDEN_COLUMN)];
    int64_t places = run->skip_gram && !paths ? run->places : call->lengths[BY_PLACE];
    if (places != run->places)
        return fail(
            call, "%s has %lld places a run; with window %lld and %lld tokens there are %lld",
            call->described[run->skip_gram ? WORDS : INPUT_IDS].name, (long long)places, (long long)run->window,
            (long long)run->tokens, (long long)run->places
        );
    if (!check_counts(call, LEFT, run->window) || !check_counts(call, RIGHT, run->window) ||
        !check_inputs(call, run->skip_gram) || (has(call, WEIGHTED) && !check_weights(call, WEIGHTS)))
        return false;
    run->negatives = samples ? *integers(call, SHARED_NEGATIVES) : 0;
    if (samples && (!check_number(call, SHARED_NEGATIVES, 1, INT32_MAX) || !check_candidates(call, run))) return false;
    if (paths && !check_paths(call, run)) return false;
    run->inputs = table_of(call, INPUTS);
    if (samples) run->outputs = table_of(call, OUTPUTS);
    if (paths) run->nodes = table_of(call, NODES);
    run->nodes_of_paths = integers(call, PATH_NODES);
    run->codes = integers(call, CODES);
    run->offsets = integers(call, OFFSETS);
    run->members = integers(call, MEMBERS);
    run->bags = integers(call, BAG_OFFSETS);
    run->negative = *floats(call, NEGATIVE);
    run->radius_chance = *floats(call, RADIUS_CHANCE);
    run->max_step = *floats(call, MAX_STEP);
    run->factors = floats(call, FACTORS);
    run->factor_count = call->lengths[BY_FACTOR];
    return !has(call, CONCATENATED) || check_parts(call, run);
}

/* Memory that is handed out in parts; without a beginning, only their size is counted. */
typedef struct {
    char *first;
    size_t used;
} Room;

static void *take(Room *room, int64_t count, size_t bytes) {
    void *part = room->first ? room->first + room->used : NULL;
    room->used += (size_t)rounded_up((int64_t)((size_t)count * bytes), 64);
    return part;
}

/* Hands out a run's memory. */
static void lay_out(Run *run, Room *room) {
    int64_t tokens = run->tokens + ROWS_TOGETHER, longest = run->longest_path;
    run->input_rows = take(room, run->places + 1, sizeof(float *));
    run->candidate_rows = take(room, run->candidates, sizeof(float *));
    run->path_rows = take(room, MOST_TOGETHER * longest, sizeof(float *));
    run->hidden = take(room, tokens * run->width, sizeof(float));
    run->gradients = take(room, tokens * run->width, sizeof(float));
    run->vector_of = take(room, run->tokens, sizeof(int32_t));
    run->across = take(room, run->width * run->by_token, sizeof(float));
    run->copies = take(room, (run->candidates + 1) * run->width, sizeof(float));
    run->changes = take(room, (run->candidates + 1) * run->width, sizeof(float));
    run->scores = take(room, run->candidates * run->by_token, sizeof(float));
    run->masks = take(room, run->candidates * run->by_token, sizeof(float));
    run->shares = take(room, run->candidates * run->by_token, sizeof(float));
    run->pair_counts = take(room, run->by_token, sizeof(float));
    run->vector_pairs = take(room, run->by_token, sizeof(float));
    run->negative_weights = take(room, run->by_token, sizeof(float));
    run->squares = take(room, largest(run->candidates + tokens, longest), sizeof(float));
    run->chances = take(room, run->window + 1, sizeof(float));
    run->token_shares = take(room, run->window + 1, sizeof(float));
    run->path_scores = take(room, MOST_TOGETHER * longest, sizeof(float));
    run->path_labels = take(room, longest, sizeof(float));
    run->begun = take(room, run->places + 1, sizeof(int32_t));
    run->rows_before = take(room, run->places + 1, sizeof(int64_t));
    run->document_gradient = take(room, run->width, sizeof(float));
    run->hot_rows = take(room, longest ? HOT_SLOTS * 2 * run->hot_width : 0, sizeof(float));
    run->hidden_rows = take(room, tokens, sizeof(float *));
    run->gradient_rows = take(room, run->tokens, sizeof(float *));
    run->copy_rows = take(room, run->candidates, sizeof(float *));
    run->change_rows = take(room, run->candidates, sizeof(float *));
    run->path_copies = take(room, longest * run->width, sizeof(float));
    run->path_changes = take(room, longest * run->width, sizeof(float));
    run->path_copy_rows = take(room, longest, sizeof(float *));
    run->path_change_rows = take(room, longest, sizeof(float *));
}

/* Writes where each row of a matrix begins. */
static void point_at(float **rows, float *first, int64_t width, int64_t count) {
    for (int64_t i = 0; i < count; i++) rows[i] = first + i * width;
}

static bool make_room(Call *call, Run *run) {
    run->width = rounded_up(run->size, LANES);
    run->input_width = rounded_up(run->inputs.size, LANES);
    run->by_token = rounded_up(run->tokens, largest(LANES, ROWS_TOGETHER));
    run->hot_width = rounded_up(run->size + 1, LANES);
    run->negatives_at = rounded_up(run->places, TILE_CANDIDATES);
    run->candidates = run->negatives_at + rounded_up(run->negatives, TILE_CANDIDATES);
    run->longest_path = rounded_up(run->longest_path, largest(LANES, ROWS_TOGETHER));
    Room room = {0};
    lay_out(run, &room);
    room = (Room){zeros(call, room.used), 0};
    if (!room.first) return false;
    lay_out(run, &room);
    find_chances(run);
    run->has_windows = true; /* until a run of documents alone says otherwise */
    run->vectors = run->tokens;
    for (int64_t token = 0; token < run->tokens; token++) run->vector_of[token] = (int32_t)token;
    point_at(run->hidden_rows, run->hidden, run->width, run->tokens + ROWS_TOGETHER);
    point_at(run->gradient_rows, run->gradients, run->width, run->tokens);
    point_at(run->copy_rows, run->copies, run->width, run->candidates);
    point_at(run->change_rows, run->changes, run->width, run->candidates);
    point_at(run->path_copy_rows, run->path_copies, run->width, run->longest_path);
    point_at(run->path_change_rows, run->path_changes, run->width, run->longest_path);
    return true;
}

/* Points at the inputs of a run, by its number among all runs of the block. */
static void go_to(Run *run, int64_t number) {
    const Call *call = run->call;
    run->left = integers(call, LEFT) + number * run->tokens;
    run->right = integers(call, RIGHT) + number * run->tokens;
    run->input_ids = integers(call, INPUT_IDS) + number * (run->skip_gram ? run->tokens : run->places);
    if (has(call, NEGATIVE_SAMPLING)) {
        run->candidate_ids =
            integers(call, CANDIDATES) + number * (run->negatives + (run->skip_gram ? run->places : 0));
        if (!run->skip_gram) run->target_ids = integers(call, TARGETS) + number * run->tokens;
    }
    if (has(call, HIERARCHICAL_SOFTMAX)) run->words = integers(call, WORDS) + number * run->places;
    if (has(call, DOCUMENTS)) run->documents = integers(call, TOKEN_DOCUMENTS) + number * run->tokens;
    if (has(call, WEIGHTED)) run->weights = floats(call, WEIGHTS) + number * run->tokens;
    run->has_next = number + 1 < call->end_batch * call->lengths[BY_RUN];
}

/* Counts a token's pairs with its own word, where weights of contexts do not. */
static void count_targets(Run *run) {
    for (int64_t token = 0; token < run->tokens; token++)
        run->pair_counts[token] = is_trained(run, token) ? weight_of(run, token) : 0;
}

static bool is_empty(const Run *run) {
    for (int64_t token = 0; token < run->tokens; token++)
        if (is_trained(run, token)) return false;
    return true;
}

/* Whether rows that move one after the other, each along a hidden vector, stay finite. */
static bool may_move_along(const Run *run) {
    float heaviest = 1;
    for (int64_t token = 0; token < run->tokens; token++)
        heaviest = weight_of(run, token) > heaviest ? weight_of(run, token) : heaviest;
    return are_within(run->hidden, run->vectors * run->width, bound_of_moves(run->rate * heaviest));
}

static void train_run(Run *run) {
    bool samples = has(run->call, NEGATIVE_SAMPLING), paths = has(run->call, HIERARCHICAL_SOFTMAX);
    bool weighs = run->skip_gram ? samples : !has(run->call, EVEN_CONTEXTS);
    if (weighs) weigh_contexts(run);
    if (!run->skip_gram) count_targets(run);
    read_hidden(run);
    if ((paths || !run->skip_gram) && !may_move_along(run)) {
        run->outcome->refused++; /* The run trains nothing. */
        return;
    }
    memset(run->gradients, 0, (size_t)(run->vectors * run->width) * sizeof(float));
    if (paths) train_paths(run);
    if (samples) train_samples(run);
    if (run->documents || !has(run->call, FREEZES_INPUTS)) move_hidden(run);
}

/* Trains a run, given by its number among all runs of the block. */
static void train_number(Run *run, int64_t number, Outcome *outcomes) {
    const Call *call = run->call;
    int64_t batch = number / call->lengths[BY_RUN];
    go_to(run, number);
    if (is_empty(run)) return;
    run->rate = floats(call, RATES)[batch];
    run->is_measured = booleans(call, MEASURED)[batch];
    run->outcome = outcomes + batch - call->first_batch;
    train_run(run);
}

/* Trains all runs, one after the other. */
static void train_in_order(Run *run, Outcome *outcomes) {
    int64_t runs = run->call->lengths[BY_RUN];
    for (int64_t number = run->call->first_batch * runs; number < run->call->end_batch * runs; number++)
        train_number(run, number, outcomes);
}

/* Trains all runs as the emulated threads would: each thread has consecutive runs, and the threads take turns. */
static void train_in_turn(Run *run, Outcome *outcomes) {
    int64_t runs = run->call->lengths[BY_RUN], first = run->call->first_batch * runs;
    int64_t count = run->call->end_batch * runs - first, threads = run->delays->threads;
    int64_t of_thread = (count + threads - 1) / threads;
    for (int64_t turn = 0; turn < of_thread * threads; turn++) {
        int64_t number = turn % threads * of_thread + turn / threads;
        if (number < count) train_number(run, first + number, outcomes);
        end_turn(run->delays);
    }
    end_delays(run->delays);
}

/* Writes the losses and numbers of steps of batches, NaN for those in which a step was refused. */
static void write_metrics(float *metrics, const Outcome *outcomes, int64_t batches) {
    for (int64_t batch = 0; batch < batches; batch++) {
        const Outcome *outcome = outcomes + batch;
        metrics[batch] = outcome->refused ? NAN : (float)outcome->loss;
        metrics[batches + batch] = outcome->refused ? NAN : (float)outcome->touched;
        metrics[2 * batches + batch] = outcome->refused ? NAN : (float)outcome->clipped;
    }
}

static void train(Call *call, bool skip_gram) {
    Run run = {.skip_gram = skip_gram};
    if (!check_span(call, SPAN)) return;
    if (call->first_batch == call->end_batch) { /* The arrays of a block without tokens have no axis of any length. */
        output(call, 0, (int64_t[]){3, 0}, 2);
        return;
    }
    if (!get_runs(call, &run)) return;
    int64_t batches = call->end_batch - call->first_batch;
    float *metrics = output(call, 0, (int64_t[]){3, batches}, 2);
    Outcome *outcomes = zeros(call, (size_t)batches * sizeof(Outcome));
    bool has_runs = call->lengths[BY_RUN];
    if (!metrics || !outcomes || (has_runs && !make_room(call, &run))) return;
    run.delays = start_delays();
    if (run.delays)
        train_in_turn(&run, outcomes);
    else
        train_in_order(&run, outcomes);
    write_metrics(metrics, outcomes, batches);
}

static void train_skip_gram(Call *call) { train(call, true); }
static void train_cbow(Call *call) { train(call, false); }

#define TABLE_INPUTS                                                                                                   \
    {"inputs", "float", {BY_INPUT, BY_COLUMN}, 0},                                                                     \
        {"outputs", "float", {BY_OUTPUT, BY_HIDDEN_COLUMN}, NEGATIVE_SAMPLING},                                        \
        {"nodes", "float", {BY_NODE, BY_HIDDEN_COLUMN}, HIERARCHICAL_SOFTMAX},                                         \
        {"left", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}, 0}, {"right", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}, 0}
#define OTHER_INPUTS(needs_targets, needs_documents)                                                                   \
    {"targets", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}, needs_targets},                                                 \
        {"words", "int32", {BY_BATCH, BY_RUN, BY_PLACE}, HIERARCHICAL_SOFTMAX},                                        \
        {"path_nodes", "int32", {BY_STEP}, HIERARCHICAL_SOFTMAX}, {"codes", "int32", {BY_STEP}, HIERARCHICAL_SOFTMAX}, \
        {"offsets", "int32", {BY_OFFSET}, HIERARCHICAL_SOFTMAX},                                                       \
        {"weights", "float", {BY_BATCH, BY_RUN, BY_TOKEN}, WEIGHTED}, SCALAR_INPUT("window", "int32"),                 \
        {"learning_rates", "float", {BY_BATCH}, 0}, SCALAR_INPUT("max_step", "float"),                                 \
        {"lock_factors", "float", {BY_FACTOR}, 0}, SCALAR_INPUT("negative", "float"),                                  \
        SCALAR_INPUT("shared_negatives", "int32"), {"measured", "bool", {BY_BATCH}, 0},                                \
        SCALAR_INPUT("radius_chance", "float"), {"span", "int32", {BY_BOUND}, 0},                                      \
        {"bag_members", "int32", {BY_MEMBER}, BAGS | DOCUMENTS},                                                       \
        {"bag_offsets", "int32", {BY_BAG}, BAGS | DOCUMENTS},                                                          \
        {"token_documents", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}, needs_documents}

OPERATION(tfw2v_train_skip_gram, train_skip_gram) = {
    .name = "Tfw2vTrainSkipGram",
    .trains = true,
    .inputs =
        {TABLE_INPUTS, {"input_ids", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}, 0},
         {"candidates", "int32", {BY_BATCH, BY_RUN, BY_CANDIDATE}, NEGATIVE_SAMPLING}, OTHER_INPUTS(NEVER, NEVER)},
    .outputs = {"metrics: float"},
    .compute = compute_tfw2v_train_skip_gram,
};
OPERATION(tfw2v_train_cbow, train_cbow) = {
    .name = "Tfw2vTrainCbow",
    .trains = true,
    .inputs =
        {TABLE_INPUTS, {"input_ids", "int32", {BY_BATCH, BY_RUN, BY_PLACE}, 0},
         {"candidates", "int32", {BY_BATCH, BY_RUN, BY_NEGATIVE}, NEGATIVE_SAMPLING},
         OTHER_INPUTS(NEGATIVE_SAMPLING, DOCUMENTS)},
    .outputs = {"metrics: float"},
    .compute = compute_tfw2v_train_cbow,
};
