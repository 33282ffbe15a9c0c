/* A call of an operation: its inputs and outputs, and memory to work in. */

#ifndef TFW2V_CALL_H
#define TFW2V_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "tensorflow_api.h"

enum { MOST_INPUTS = 20, MOST_OUTPUTS = 4, MOST_AXES = 3 };

/* Kinds of axes: what the entries along an axis of an input are. All axes of one kind have the same length in all
   inputs of a call. */
typedef enum {
    NO_AXIS,
    BY_ROW,
    BY_NUMBER, /* of a vector */
    BY_COLUMN, /* of a trained table: the numbers of a vector, and then its state if rows have one */
    BY_BATCH,
    BY_RUN,
    BY_TOKEN,     /* of a run */
    BY_PLACE,     /* of a widened run */
    BY_CANDIDATE, /* a place of a widened run, or a negative that the run shares */
    BY_NEGATIVE,
    BY_WINDOW_ROW, /* of a table of weights */
    BY_STEP,       /* of all Huffman paths */
    BY_OFFSET,     /* of the path of each word, and the end of the last one */
    BY_FACTOR,
    BY_WEIGHT, /* of a token */
    BY_ENTRY, /* of a plain list */
    AXES
} Axis;

/* An operation's description of one of its inputs. */
typedef struct {
    const char *name, *type;
    Axis axes[MOST_AXES]; /* NO_AXIS after the last one, so that a scalar has {NO_AXIS} */
} Input;

typedef struct {
    TF_OpKernelContext *context;
    TF_Status *status;
    const Input *described; /* one a tensor */
    TF_Tensor *inputs[MOST_INPUTS];
    TF_Tensor *outputs[MOST_OUTPUTS];
    int input_count;
    bool has_state;        /* rows of the trained table end with a state */
    int64_t lengths[AXES]; /* of each kind of axis, set by `check_shapes` */
    int64_t batch;         /* its number, set by `check_batch` */
} Call;

/* Rows of one length. A row is a vector, and behind it the row's state if it has one. */
typedef struct {
    float *first;
    int64_t count, size; /* of rows, and of the numbers of a vector */
    int64_t stride;      /* numbers from the beginning of a row to that of the next one */
} Table;

static inline float *row_of(Table table, int64_t row) { return table.first + row * table.stride; }
static inline int64_t largest(int64_t one, int64_t other) { return one > other ? one : other; }
static inline int64_t rounded_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts * parts; }

static inline float *floats(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const int32_t *integers(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const bool *booleans(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const uint16_t *bfloat16s(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline bool is_bfloat16(const Call *call, int input) {
    return TF_TensorType_(call->inputs[input]) == TF_BFLOAT16;
}

static inline Table table_of(const Call *call, int input) {
    int64_t size = call->lengths[BY_NUMBER];
    return (Table){floats(call, input), call->lengths[BY_ROW], size, size + call->has_state};
}

/* Entries of an input: the entries of the call's batch if the input has an axis of batches, otherwise all. */
typedef struct {
    int64_t first, count;
} Entries;

Entries entries_of(const Call *call, int input);

static inline const int32_t *of_batch(const Call *call, int input) {
    return integers(call, input) + entries_of(call, input).first;
}

/* Makes the call fail with InvalidArgument; returns false. */
bool fail(Call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The data of a new output; NULL if there is no memory for it, and then the call fails for that reason. */
void *output(Call *call, int number, const int64_t *dimensions, int axes);

/* Memory of this thread, at least `bytes` bytes, until its next call for the same purpose; NULL if there is not enough,
   and then the call fails for that reason. */
enum purpose { FOR_SUMS, FOR_SLOTS, FOR_POINTERS, FOR_VECTORS, FOR_PATHS, PURPOSES };
void *workspace(Call *call, enum purpose purpose, size_t bytes);

#endif
