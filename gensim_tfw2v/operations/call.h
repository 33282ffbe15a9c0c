/* A call of an operation: its inputs and outputs, and memory to work in. */

#ifndef TFW2V_CALL_H
#define TFW2V_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"
#include "tensorflow_api.h"

enum { MOST_INPUTS = 25, MOST_OUTPUTS = 1, MOST_AXES = 3, MOST_MEMORY = 2 };

/* Kinds of axes: what the entries along an axis of an input are. All axes of one kind have the same length in all
   inputs of a call. */
typedef enum {
    NO_AXIS,
    BY_ROW,
    BY_INPUT, /* row of a trained table */
    BY_OUTPUT,
    BY_NODE,
    BY_NUMBER, /* of a vector */
    BY_COLUMN, /* of a trained table: the numbers of a vector, and then its state if rows have one */
    BY_HIDDEN_NUMBER, /* of a hidden vector that is a concatenation */
    BY_HIDDEN_COLUMN, /* of a trained table, likewise; its vectors are as long as hidden vectors */
    BY_BATCH,
    BY_RUN,
    BY_TOKEN,     /* of a run */
    BY_PLACE,     /* of a widened run */
    BY_CANDIDATE, /* a place of a widened run, or a negative that the run shares */
    BY_NEGATIVE,
    BY_STEP,   /* of all Huffman paths */
    BY_OFFSET, /* of the path of each word, and the end of the last one */
    BY_BAG,    /* of the rows of each bag, and the end of the last one */
    BY_MEMBER, /* of all bags */
    BY_FACTOR,
    BY_BOUND, /* of a span: its first batch, and the one after its last */
    BY_ENTRY, /* of a plain list */
    AXES
} Axis;

/* Attributes of operations that train, one bit each. */
typedef enum {
    ADAGRAD = 1 << 0, /* rows end with Adagrad's state (`adagrad.h`) */
    NEGATIVE_SAMPLING = 1 << 1,
    HIERARCHICAL_SOFTMAX = 1 << 2,
    MEAN_CONTEXT = 1 << 3,  /* contexts are averaged, and each gets the whole gradient; else each gets its share of it */
    EVEN_CONTEXTS = 1 << 4, /* running sums add a token's contexts, which have equal weights */
    MASK_HITS = 1 << 5,     /* negatives that equal a token's target are left out */
    WEIGHTED = 1 << 6,      /* tokens have weights */
    FREEZES_INPUTS = 1 << 7,
    FREEZES_OUTPUTS = 1 << 8, /* and nodes */
    BAGS = 1 << 9,            /* an input is a bag of rows: their mean in skip-gram, each of them in CBOW */
    DOCUMENTS = 1 << 10,      /* a CBOW token has the rows of a bag besides those of its contexts */
    CONCATENATED = 1 << 11,   /* all these rows are concatenated (`concatenation.c`); outputs are as long */
    NEVER = 1 << 12,          /* no operation has it */
} Attribute;

/* An operation's description of one of its inputs. */
typedef struct {
    const char *name, *type;
    Axis axes[MOST_AXES]; /* NO_AXIS after the last one, so that a scalar has {NO_AXIS} */
    Attribute needs;      /* the input is used only with this attribute; 0: always */
} Input;

typedef struct {
    TF_OpKernelContext *context;
    TF_Status *status;
    const Input *described; /* one a tensor */
    TF_Tensor *inputs[MOST_INPUTS];
    TF_Tensor *outputs[MOST_OUTPUTS];
    void *memory[MOST_MEMORY]; /* freed when the call ends */
    int input_count, memory_count;
    unsigned attributes;   /* those that are set */
    int64_t lengths[AXES]; /* of each kind of axis, set by `check_shapes` */
    int64_t first_batch, end_batch; /* of the span, set by `check_span` */
} Call;

/* Rows of one length. A row is a vector, and behind it the row's state if it has one. */
typedef struct {
    float *first;
    int64_t count, size; /* of rows, and of the numbers of a vector */
    int64_t stride;      /* numbers from the beginning of a row to that of the next one */
} Table;

static inline float *row_of(Table table, int64_t row) { return table.first + row * table.stride; }

static inline bool has(const Call *call, Attribute attribute) { return call->attributes & attribute; }
static inline bool is_used(const Call *call, int input) {
    return !call->described[input].needs || has(call, call->described[input].needs);
}
static inline float *floats(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const int32_t *integers(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const bool *booleans(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const uint16_t *bfloat16s(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline bool is_bfloat16(const Call *call, int input) {
    return TF_TensorType_(call->inputs[input]) == TF_BFLOAT16;
}

/* The kind of the numbers of a vector in a table whose columns are of this kind. */
static inline Axis numbers_in(const Call *call, Axis columns) {
    return columns == BY_HIDDEN_COLUMN && has(call, CONCATENATED) ? BY_HIDDEN_NUMBER : BY_NUMBER;
}

static inline Table table_of(const Call *call, int input) {
    const Axis *axes = call->described[input].axes;
    int64_t size = call->lengths[numbers_in(call, axes[1])];
    return (Table){floats(call, input), call->lengths[axes[0]], size, size + has(call, ADAGRAD)};
}

/* Makes the call fail with InvalidArgument; returns false. */
bool fail(Call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The data of a new output; NULL if there is no memory for it, and then the call fails for that reason. */
void *output(Call *call, int number, const int64_t *dimensions, int axes);

/* Zeros until the call ends, from an address on that registers and cache lines are aligned with; NULL if there is not
   enough memory, and then the call fails for that reason. */
void *zeros(Call *call, size_t bytes);

#endif
