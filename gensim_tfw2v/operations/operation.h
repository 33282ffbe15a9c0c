/* What the operations have in common: their inputs and outputs, and memory to work in. */

#ifndef TFW2V_OPERATION_H
#define TFW2V_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "tensorflow_api.h"

#define DECLARE(type, name, arguments) extern type(*name##_) arguments;
TENSORFLOW_FUNCTIONS(DECLARE)
#undef DECLARE

#define MOST_INPUTS 16

/* A call of an operation. */
typedef struct {
    TF_OpKernelContext *context;
    TF_Status *status;
    TF_Tensor *inputs[MOST_INPUTS];
    TF_Tensor *outputs[4];
    int input_count, output_count;
} Call;

typedef void (*Work)(Call *);

/* A number of rows of one length. */
typedef struct {
    float *first;
    int64_t count, size;
} Table;

static inline float *row_of(Table table, int64_t row) { return table.first + row * table.size; }
static inline int64_t largest(int64_t one, int64_t other) { return one > other ? one : other; }
static inline int64_t rounded_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts * parts; }

static inline float *floats(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const int32_t *integers(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const bool *booleans(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline const uint16_t *halves_of(const Call *call, int input) { return TF_TensorData_(call->inputs[input]); }
static inline int64_t dimension(const Call *call, int input, int axis) { return TF_Dim_(call->inputs[input], axis); }
static inline bool is_half(const Call *call, int input) { return TF_TensorType_(call->inputs[input]) == TF_BFLOAT16; }

Table table_of(const Call *call, int input);

/* What an array by batch holds for one of them. */
const int32_t *of_batch(const Call *call, int input, int64_t batch);

/* The data of a new output; NULL if there is no memory for it, which the call then fails with. */
void *output(Call *call, int number, const int64_t *dimensions, int axes);

/* Memory of this thread, at least so many bytes, until its next call for the same purpose. */
enum purpose { FOR_SUMS, FOR_SLOTS, FOR_POINTERS, FOR_VECTORS, PURPOSES };
void *workspace(Call *call, enum purpose purpose, size_t bytes);

/* Has an operation registered that runs `work`; inputs, outputs and attributes are spelt as TensorFlow does. */
void register_operation(
    const char *name, const char *const *inputs, const char *const *outputs, const char *const *attributes,
    void (*compute)(void *, TF_OpKernelContext *)
);

void run(TF_OpKernelContext *context, int inputs, int outputs, Work work);

#define OPERATION(name, input_count, output_count, work)                                                               \
    static void name(void *state, TF_OpKernelContext *context) {                                                       \
        (void)state;                                                                                                   \
        run(context, input_count, output_count, work);                                                                 \
    }

#endif
