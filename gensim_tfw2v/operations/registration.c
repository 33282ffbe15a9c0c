/* Registers every operation when the library is loaded. */

#include <stdio.h>

#include "operation.h"

enum { LONGEST_TEXT = 256 };

extern const Operation tfw2v_read_rows, tfw2v_write_rows, tfw2v_add_rows, tfw2v_train_skip_gram, tfw2v_train_cbow;

static const Operation *const OPERATIONS[] = {
    &tfw2v_read_rows, &tfw2v_write_rows, &tfw2v_add_rows, &tfw2v_train_skip_gram, &tfw2v_train_cbow,
};

/* By the number of their bit. */
static const char *const ATTRIBUTES[] = {
    "adagrad",        "negative_sampling", "hierarchical_softmax", "mean_context",   "even_contexts",
    "mask_hits",      "weighted",          "freezes_inputs",       "freezes_outputs", "bags",
    "documents",      "concatenated",
};
enum { ATTRIBUTE_COUNT = sizeof ATTRIBUTES / sizeof *ATTRIBUTES };

static char error[LONGEST_TEXT];

/* For Python: what could not be registered and why; NULL if everything has been registered. */
__attribute__((visibility("default"))) const char *tfw2v_registration_error(void);
const char *tfw2v_registration_error(void) { return *error ? error : NULL; }

static void any_shape(TF_ShapeInferenceContext *context, TF_Status *status) {
    TF_ShapeInferenceContextSetUnknownShape_(context, status);
}

/* What kernels get as their state: the attributes that are set. */
static void *read_attributes(TF_OpKernelConstruction *construction) {
    TF_Status *status = TF_NewStatus_();
    uintptr_t found = 0;
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        bool value = false;
        TF_OpKernelConstruction_GetAttrBool_(construction, ATTRIBUTES[i], &value, status);
        if (TF_GetCode_(status) != TF_OK) TF_OpKernelConstruction_Failure_(construction, status);
        found |= (uintptr_t)value << i;
    }
    TF_DeleteStatus_(status);
    return (void *)found;
}

static void define(const Operation *operation, TF_Status *status) {
    TF_OpDefinitionBuilder *definition = TF_NewOpDefinitionBuilder_(operation->name);
    char text[LONGEST_TEXT];
    if (operation->type) TF_OpDefinitionBuilderAddAttr_(definition, operation->type);
    for (int i = 0; i < ATTRIBUTE_COUNT && operation->trains; i++) {
        snprintf(text, sizeof text, "%s: bool = false", ATTRIBUTES[i]);
        TF_OpDefinitionBuilderAddAttr_(definition, text);
    }
    for (const Input *input = operation->inputs; input->name; input++) {
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
        void *(*create)(TF_OpKernelConstruction *) = OPERATIONS[i]->trains ? read_attributes : NULL;
        define(OPERATIONS[i], status);
        if (!succeeded(OPERATIONS[i], status)) break;
        TF_KernelBuilder *builder = TF_NewKernelBuilder_(name, "CPU", create, OPERATIONS[i]->compute, NULL);
        TF_RegisterKernelBuilder_(name, builder, status);
        if (!succeeded(OPERATIONS[i], status)) break;
    }
    TF_DeleteStatus_(status);
}
