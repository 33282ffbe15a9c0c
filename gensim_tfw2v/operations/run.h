/* A run: consecutive tokens that are trained together. Its rows are copied, its gradients follow from the copies, and
   its rows move at once, in place, before the next run reads any.

   A run is widened by the window on both sides: token t is at place t + window. */

#ifndef TFW2V_RUN_H
#define TFW2V_RUN_H

#include "call.h"
#include "delays.h"
#include "products.h"
#include "vectors.h"

/* At most this many hidden vectors are trained with a word at the same time. */
enum { MOST_TOGETHER = 16 };

/* Nodes next to the root, at the first steps of paths, are trained on copies. The root is on the path of every word:
   without a copy, threads would wait at each word for what others have just written. */
enum { HOT_STEPS = 8, HOT_SLOTS = 512, MOST_HOT = 400 };

/* What has come of the runs of a batch. */
typedef struct {
    double loss; /* of a measured batch */
    /* How many steps rows have taken, how many of these were shortened, and how many steps were refused because they
       would be NaN or infinite, or nearly so. */
    int64_t touched, clipped, refused;
} Outcome;

typedef struct {
    /* equal for all runs of a call */
    const Call *call;
    Table inputs, outputs, nodes;
    bool skip_gram;
    int64_t tokens, places, window, negatives;
    int64_t size;          /* of a hidden vector and of the outputs */
    int64_t width;         /* of rows in this thread's memory: `size`, rounded up to whole registers */
    int64_t input_width;   /* likewise of input rows, which are shorter if they are concatenated */
    int64_t by_token;      /* `tokens`, rounded up to whole registers and to ROWS_TOGETHER */
    int64_t negatives_at;  /* places, rounded up to whole tiles: where negatives begin among candidates */
    int64_t candidates;    /* places and negatives, both rounded up to whole tiles */
    const int32_t *nodes_of_paths, *codes, *offsets; /* word w's path has the steps offsets[w] to offsets[w + 1] */
    int64_t longest_path;  /* rounded up to whole registers and to ROWS_TOGETHER */
    const int32_t *members, *bags; /* bag b has the input rows members[bags[b]] to members[bags[b + 1]] */
    int64_t tags;          /* rows of each document that are concatenated */
    int32_t null_word;     /* the input row in place of contexts that a concatenation lacks */
    float negative;        /* draws expected for each pair */
    float radius_chance;   /* of each radius except the widest; 0 if each token has one radius */
    float max_step;        /* longest step of a row */
    const float *factors;  /* input row r's step is scaled by factors[r % factor_count], if there are any */
    int64_t factor_count;

    /* the run's part of the inputs, and whether the next run follows it in memory */
    const int32_t *left, *right; /* [tokens], how many places before and after a token are its contexts */
    const int32_t *input_ids;    /* skip-gram [tokens], CBOW [places]; numbers of bags if inputs are bags */
    const int32_t *candidate_ids; /* skip-gram [places + negatives], CBOW [negatives] */
    const int32_t *target_ids;   /* CBOW [tokens] */
    const int32_t *documents;    /* CBOW [tokens], bags of rows that are further contexts, -1 for none; may be NULL */
    const int32_t *words;        /* [places], which have Huffman paths */
    const float *weights;        /* [tokens], NULL if all are 1 */
    bool has_next;
    bool has_windows;      /* whether a token has contexts */
    int64_t vectors;       /* hidden vectors: one a token, or where tokens have no contexts, one a document */
    float rate;
    bool is_measured;

    /* this thread's memory */
    float **input_rows;          /* [tokens or places + 1], in the table */
    float **candidate_rows;      /* [candidates], likewise; NULL for padding */
    float *hidden, *gradients;   /* [tokens + ROWS_TOGETHER, width], of which `vectors` are in use */
    int32_t *vector_of;          /* [tokens], the number of each token's hidden vector */
    float **hidden_rows;         /* [tokens + ROWS_TOGETHER], where each vector begins */
    float **gradient_rows;       /* [tokens], likewise */
    float *across;               /* [width, by_token], hidden vectors by token */
    float *copies, *changes;     /* [candidates, width]: copies of rows, and their gradients */
    float **copy_rows, **change_rows; /* [candidates], where each begins */
    float *scores;               /* [candidates, by_token], which become their gradients */
    float *masks, *shares;       /* [candidates, by_token], weights of contexts (`windows.c`) */
    float *pair_counts;          /* [by_token], how many pairs a token has with contexts, or with its own word */
    float *vector_pairs;         /* [by_token], the same of a hidden vector */
    float *negative_weights;     /* [by_token], how often a hidden vector is trained with a negative */
    float *squares;              /* squared lengths of gradients of candidates, tokens or a path, or of hidden vectors */
    float *chances;              /* [window + 1] by distance: that a radius reaches so far */
    float *token_shares;         /* [window + 1] by distance: shares of one token's contexts */
    float *path_scores;          /* [most tokens together, longest path] */
    float *path_labels;          /* [longest path] */
    float *path_copies, *path_changes; /* [longest path, width] */
    float **path_copy_rows, **path_change_rows; /* [longest path], where each begins */
    float **path_rows;           /* [words together, longest path] */
    int32_t *begun;              /* [places + 1] */
    int64_t *rows_before;        /* [places + 1], rows of the inputs at the places before */
    float *document_gradient;    /* [width] */
    float *hot_rows;             /* [HOT_SLOTS, 2, hot_width], the run's own copies of nodes, and as they were */
    int64_t hot_width;
    int32_t hot_nodes[HOT_SLOTS]; /* 1 more than the node whose copy is in a slot; 0: none */
    int64_t hot_count;
    Delays *delays;              /* of emulated threads; NULL if there are none */

    Outcome *outcome;            /* of the run's batch */
} Run;

/* A row that the run trains. */
static inline float *trained_row(const Run *run, Table table, int32_t row) {
    float *found = row_of(table, row);
    return run->delays ? own_row(run->delays, found, table.stride) : found;
}

/* Rows of inputs whose sum or mean a hidden vector, or a part of it, is. */
typedef struct {
    const int32_t *rows;
    int64_t count;
} Bag;

static inline Bag bag_of(const Run *run, int64_t number) {
    int64_t begin = run->bags[number];
    return (Bag){run->members + begin, run->bags[number + 1] - begin};
}

/* The further contexts of a token. */
static inline Bag document_of(const Run *run, int64_t token) {
    return run->documents && run->documents[token] >= 0 ? bag_of(run, run->documents[token]) : (Bag){NULL, 0};
}

static inline bool has_contexts(const Run *run, int64_t token) { return run->left[token] || run->right[token]; }

/* Whether the token has a hidden vector to train. */
static inline bool is_trained(const Run *run, int64_t token) {
    return has_contexts(run, token) || document_of(run, token).count;
}

static inline float weight_of(const Run *run, int64_t token) { return run->weights ? run->weights[token] : 1.0f; }

static inline const float *const *read_only(float *const *rows) { return (const float *const *)rows; }

/* Copies a row into this thread's memory. */
static inline void copy_row(float *restrict copy, const float *restrict row, int64_t size) {
    int64_t i = 0;
    for (; i + LANES <= size; i += LANES) *(wide *)(copy + i) = *(const wide *)(row + i);
    for (; i + 4 <= size; i += 4) *(narrow *)(copy + i) = *(const narrow *)(row + i);
    for (; i < size; i++) copy[i] = row[i];
}

/* Prefetches the next run's input rows of some tokens: of so few that other work hides how long they take. */
static inline void prefetch_next_inputs(const Run *run, int64_t token, int64_t count) {
    if (!run->has_next || has(run->call, BAGS)) return; /* Bags are prefetched where they are summed. */
    const int32_t *next = run->input_ids + (run->skip_gram ? run->tokens : run->places + 2 * run->window);
    for (int64_t t = token; t < token + count; t++) prefetch_row(row_of(run->inputs, next[t]), run->inputs.size);
}

/* Writes the chances of distances, which are equal for all runs. */
void find_chances(Run *run);

/* Writes the weights of contexts and how many pairs each token has. */
void weigh_contexts(Run *run);

/* Writes hidden vectors and where they come from. */
void read_hidden(Run *run);

/* Moves the input rows that hidden vectors consist of against the gradients of these, if they are not frozen; rows of
   documents never are. */
void move_hidden(Run *run);

/* The same for hidden vectors that are concatenations. */
void read_concatenated(Run *run);
void move_concatenated(Run *run);

/* Trains hidden vectors by negative sampling, and adds to their gradients. */
void train_samples(Run *run);

/* Trains hidden vectors with nodes on Huffman paths, and adds to their gradients. */
void train_paths(Run *run);

/* squares[i] = the squared length of vector i, of `count` vectors of `width` numbers */
void square_lengths(float *squares, const float *vectors, int64_t width, int64_t count);

/* Moves each row against its gradient [width, or input_width] by one step, at the learning rate or the rate that its
   state gives. A limited step is at most `max_step` long, and is counted. A row whose step is refused stays where it
   is, so that a table never contains NaN or infinity. A row whose gradient is 0 is not written. `ids` and factors scale
   the steps if there are any. */
void move_rows(
    Run *run, Table table, float *const *rows, const int32_t *ids, const float *gradients, int64_t count,
    bool are_limited
);

/* Moves each input row of a bag against the same gradient [input_width], as `move_rows` does. */
void move_bag(Run *run, Bag bag, const float *gradient);

#endif
