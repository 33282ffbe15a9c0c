#include "operation.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINE(type, name, arguments) type(*name##_) arguments;
TENSORFLOW_FUNCTIONS(DEFINE)
#undef DEFINE

static const char *const LIBRARY = "libtensorflow_framework.so.2";

static bool find_tensorflow(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (!library) return false;
    bool found = true;
#define FIND(type, name, arguments) found &= (*(void **)&name##_ = dlsym(library, #name)) != NULL;
    TENSORFLOW_FUNCTIONS(FIND)
#undef FIND
    return found;
}

static void any_shape(TF_ShapeInferenceContext *context, TF_Status *status) {
    TF_ShapeInferenceContextSetUnknownShape_(context, status);
}

void register_operation(
    const char *name, const char *const *inputs, const char *const *outputs, const char *const *attributes,
    void (*compute)(void *, TF_OpKernelContext *)
) {
    TF_Status *status = TF_NewStatus_();
    TF_OpDefinitionBuilder *definition = TF_NewOpDefinitionBuilder_(name);
    for (; *attributes; attributes++) TF_OpDefinitionBuilderAddAttr_(definition, *attributes);
    for (; *inputs; inputs++) TF_OpDefinitionBuilderAddInput_(definition, *inputs);
    for (; *outputs; outputs++) TF_OpDefinitionBuilderAddOutput_(definition, *outputs);
    TF_OpDefinitionBuilderSetIsStateful_(definition, true);
    TF_OpDefinitionBuilderSetShapeInferenceFunction_(definition, any_shape);
    TF_RegisterOpDefinition_(definition, status);
    TF_RegisterKernelBuilder_(name, TF_NewKernelBuilder_(name, "CPU", NULL, compute, NULL), status);
    TF_DeleteStatus_(status);
}

void run(TF_OpKernelContext *context, int inputs, int outputs, Work work) {
    Call call = {.context = context, .status = TF_NewStatus_(), .output_count = outputs};
    for (; call.input_count < inputs; call.input_count++) {
        TF_GetInput_(context, call.input_count, &call.inputs[call.input_count], call.status);
        if (TF_GetCode_(call.status) != TF_OK) break;
    }
    if (call.input_count == inputs) work(&call);
    if (TF_GetCode_(call.status) != TF_OK) TF_OpKernelContext_Failure_(context, call.status);
    for (int i = 0; i < call.input_count; i++) TF_DeleteTensor_(call.inputs[i]);
    for (int i = 0; i < outputs; i++)
        if (call.outputs[i]) TF_DeleteTensor_(call.outputs[i]);
    TF_DeleteStatus_(call.status);
}

Table table_of(const Call *call, int input) {
    return (Table){floats(call, input), dimension(call, input, 0), dimension(call, input, 1)};
}

const int32_t *of_batch(const Call *call, int input, int64_t batch) {
    const TF_Tensor *tensor = call->inputs[input];
    int64_t each = 1;
    for (int axis = 1; axis < TF_NumDims_(tensor); axis++) each *= TF_Dim_(tensor, axis);
    return (const int32_t *)TF_TensorData_(tensor) + batch * each;
}

void *output(Call *call, int number, const int64_t *dimensions, int axes) {
    TF_DataType type = TF_ExpectedOutputDataType_(call->context, number);
    size_t bytes = type == TF_BFLOAT16 ? 2 : 4;
    for (int axis = 0; axis < axes; axis++) bytes *= (size_t)dimensions[axis];
    call->outputs[number] = TF_AllocateOutput_(call->context, number, type, dimensions, axes, bytes, call->status);
    return TF_GetCode_(call->status) == TF_OK ? TF_TensorData_(call->outputs[number]) : NULL;
}

void *workspace(Call *call, enum purpose purpose, size_t bytes) {
    static _Thread_local struct {
        void *memory;
        size_t bytes;
    } spaces[PURPOSES];
    if (!spaces[purpose].memory || spaces[purpose].bytes < bytes) {
        bytes = bytes ? bytes : 1;
        free(spaces[purpose].memory);
        spaces[purpose].memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
        spaces[purpose].bytes = spaces[purpose].memory ? bytes : 0;
        if (!spaces[purpose].memory) TF_SetStatus_(call->status, TF_RESOURCE_EXHAUSTED, "no memory for a batch's sums");
    }
    return spaces[purpose].memory;
}

void register_row_operations(void);
void register_context_operations(void);
void register_prediction_operations(void);
void register_negative_operations(void);
void register_candidate_operations(void);

__attribute__((constructor)) static void register_all(void) {
    if (!find_tensorflow()) return;
    register_row_operations();
    register_context_operations();
    register_prediction_operations();
    register_negative_operations();
    register_candidate_operations();
}
