/* An operation: its definition for TensorFlow, and how it is called. */

#ifndef TFW2V_OPERATION_H
#define TFW2V_OPERATION_H

#include "call.h"

typedef struct {
    const char *name;
    Input inputs[MOST_INPUTS + 1];         /* up to the first one without a name */
    const char *outputs[MOST_OUTPUTS + 1]; /* "name: type", up to the first NULL */
    const char *type;                      /* the attribute T, as TensorFlow spells it; NULL if there is none */
    bool trains;                           /* whether it has the attributes of `Attribute` */
    void (*compute)(void *state, TF_OpKernelContext *context);
} Operation;

/* Gets the inputs, checks their shapes, and calls `work` for the rest. `attributes` are those that are set. */
void run_operation(
    TF_OpKernelContext *context, const Operation *operation, unsigned attributes, void (*work)(Call *)
);

/* Begins the definition of an operation, whose `compute` must be compute_<identifier>. What TensorFlow keeps as the
   state of a kernel are the attributes that are set. */
#define OPERATION(identifier, work)                                                                                    \
    extern const Operation identifier;                                                                                 \
    static void compute_##identifier(void *state, TF_OpKernelContext *context) {                                       \
        run_operation(context, &identifier, (unsigned)(uintptr_t)state, work);                                         \
    }                                                                                                                  \
    const Operation identifier

/* Inputs that several operations have. */
#define TABLE_INPUT {"table", "float", {BY_ROW, BY_NUMBER}, 0}
#define SCALAR_INPUT(name, type) {name, type, {NO_AXIS}, 0}

#endif
