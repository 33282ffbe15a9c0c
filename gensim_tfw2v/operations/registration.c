/* Registers every operation when the library is loaded. */

#include <stdio.h>

#include "operation.h"

enum { LONGEST_TEXT = 256 };

extern const Operation tfw2v_read_rows, tfw2v_write_rows, tfw2v_add_rows, tfw2v_gather_rows, tfw2v_move_rows,
    tfw2v_sum_contexts, tfw2v_move_contexts, tfw2v_sum_even_contexts, tfw2v_move_even_contexts, tfw2v_train_skip_gram,
    tfw2v_train_cbow, tfw2v_train_huffman_paths;

static const Operation *const OPERATIONS[] = {
    &tfw2v_read_rows,          &tfw2v_write_rows,      &tfw2v_add_rows,      &tfw2v_gather_rows,
    &tfw2v_move_rows,          &tfw2v_sum_contexts,    &tfw2v_move_contexts, &tfw2v_sum_even_contexts,
    &tfw2v_move_even_contexts, &tfw2v_train_skip_gram, &tfw2v_train_cbow,    &tfw2v_train_huffman_paths,
};

static char error[LONGEST_TEXT];

/* For Python: what could not be registered and why; NULL if everything has been registered. */
__attribute__((visibility("default"))) const char *tfw2v_registration_error(void);
const char *tfw2v_registration_error(void) { return *error ? error : NULL; }

static void any_shape(TF_ShapeInferenceContext *context, TF_Status *status) {
    TF_ShapeInferenceContextSetUnknownShape_(context, status);
}

/* What kernels get as their state: this address if the attribute `adagrad` is set, otherwise NULL. */
static char has_state;

static void *read_adagrad(TF_OpKernelConstruction *construction) {
    TF_Status *status = TF_NewStatus_();
    bool value = false;
    TF_OpKernelConstruction_GetAttrBool_(construction, "adagrad", &value, status);
    if (TF_GetCode_(status) != TF_OK) TF_OpKernelConstruction_Failure_(construction, status);
    TF_DeleteStatus_(status);
    return value ? &has_state : NULL;
}

static void define(const Operation *operation, TF_Status *status) {
    TF_OpDefinitionBuilder *definition = TF_NewOpDefinitionBuilder_(operation->name);
    if (operation->attribute) TF_OpDefinitionBuilderAddAttr_(definition, operation->attribute);
    if (operation->trains) TF_OpDefinitionBuilderAddAttr_(definition, "adagrad: bool = false");
    for (const Input *input = operation->inputs; input->name; input++) {
        char text[LONGEST_TEXT];
        snprintf(text, sizeof text, "%s: %s", input->name, input->type);
        TF_OpDefinitionBuilderAddInput_(definition, text);
    }
    for (const char *const *each = operation->outputs; *each; each++)
        TF_OpDefinitionBuilderAddOutput_(definition, *each);
    TF_OpDefinitionBuilderSetIsStateful_(definition, true);
    TF_OpDefinitionBuilderSetShapeInferenceFunction_(definition, any_shape);
    TF_RegisterOpDefinition_(definition, status);
}

static bool succeeded(const Operation *operation, const TF_Status *status) {
    if (TF_GetCode_(status) == TF_OK) return true;
    snprintf(error, sizeof error, "%s: %s", operation->name, TF_Message_(status));
    return false;
}

__attribute__((constructor)) static void register_all(void) {
    const char *missing = find_tensorflow();
    if (missing) {
        snprintf(error, sizeof error, "there is no %s", missing);
        return;
    }
    TF_Status *status = TF_NewStatus_();
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        const char *name = OPERATIONS[i]->name;
        void *(*create)(TF_OpKernelConstruction *) = OPERATIONS[i]->trains ? read_adagrad : NULL;
        define(OPERATIONS[i], status);
        if (!succeeded(OPERATIONS[i], status)) break;
        TF_KernelBuilder *builder = TF_NewKernelBuilder_(name, "CPU", create, OPERATIONS[i]->compute, NULL);
        TF_RegisterKernelBuilder_(name, builder, status);
        if (!succeeded(OPERATIONS[i], status)) break;
    }
    TF_DeleteStatus_(status);
}
