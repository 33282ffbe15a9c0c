/* An operation: its definition for TensorFlow, and how it is called. */

#ifndef TFW2V_OPERATION_H
#define TFW2V_OPERATION_H

#include "call.h"

typedef struct {
    const char *name;
    Input inputs[MOST_INPUTS];             /* up to the first one without a name */
    const char *outputs[MOST_OUTPUTS + 1]; /* "name: type", up to the first NULL */
    const char *attribute;                 /* as TensorFlow spells it; NULL if there is none */
    bool trains; /* rows may end with Adagrad's state (`adagrad.h`); the attribute `adagrad` says whether they do */
    void (*compute)(void *state, TF_OpKernelContext *context);
} Operation;

/* Gets the inputs, checks their shapes, and calls `work` for the rest. */
void run_operation(TF_OpKernelContext *context, const Operation *operation, bool has_state, void (*work)(Call *));

/* Begins the definition of an operation, whose `compute` must be compute_<identifier>. */
#define OPERATION(identifier, work)                                                                                    \
    extern const Operation identifier;                                                                                 \
    static void compute_##identifier(void *state, TF_OpKernelContext *context) {                                       \
        run_operation(context, &identifier, state != NULL, work);                                                      \
    }                                                                                                                  \
    const Operation identifier

/* Inputs that many operations have. */
#define TABLE_INPUT {"table", "float", {BY_ROW, BY_NUMBER}}
#define TRAINED_TABLE {"table", "float", {BY_ROW, BY_COLUMN}}
#define HIDDEN_INPUT {"hidden", "float", {BY_RUN, BY_TOKEN, BY_NUMBER}}
#define WINDOW_INPUTS                                                                                                  \
    {"left", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}}, {"right", "int32", {BY_BATCH, BY_RUN, BY_TOKEN}}
#define SCALAR_INPUT(name, type) {name, type, {NO_AXIS}}

#endif
