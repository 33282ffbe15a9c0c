#include "operation.h"

#include <stdlib.h>

#include "checks.h"

void run_operation(
    TF_OpKernelContext *context, const Operation *operation, unsigned attributes, void (*work)(Call *)
) {
    Call call = {
        .context = context,
        .status = TF_NewStatus_(),
        .described = operation->inputs,
        .attributes = attributes,
    };
    bool has_inputs = true;
    while (has_inputs && operation->inputs[call.input_count].name) {
        TF_GetInput_(context, call.input_count, &call.inputs[call.input_count], call.status);
        has_inputs = TF_GetCode_(call.status) == TF_OK;
        call.input_count += has_inputs;
    }
    if (has_inputs && check_shapes(&call)) work(&call);
    if (TF_GetCode_(call.status) != TF_OK) TF_OpKernelContext_Failure_(context, call.status);
    for (int i = 0; i < call.input_count; i++) TF_DeleteTensor_(call.inputs[i]);
    for (int i = 0; i < MOST_OUTPUTS; i++)
        if (call.outputs[i]) TF_DeleteTensor_(call.outputs[i]);
    for (int i = 0; i < call.memory_count; i++) free(call.memory[i]);
    TF_DeleteStatus_(call.status);
}
