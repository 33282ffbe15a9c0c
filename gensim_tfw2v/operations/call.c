#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, LONGEST_MESSAGE = 512 };

bool fail(Call *call, const char *format, ...) {
    char message[LONGEST_MESSAGE];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    TF_SetStatus_(call->status, TF_INVALID_ARGUMENT, message);
    return false;
}

void *output(Call *call, int number, const int64_t *dimensions, int axes) {
    TF_DataType type = TF_ExpectedOutputDataType_(call->context, number);
    size_t bytes = type == TF_BFLOAT16 ? sizeof(uint16_t) : sizeof(float);
    for (int axis = 0; axis < axes; axis++) bytes *= (size_t)dimensions[axis];
    call->outputs[number] = TF_AllocateOutput_(call->context, number, type, dimensions, axes, bytes, call->status);
    return TF_GetCode_(call->status) == TF_OK ? TF_TensorData_(call->outputs[number]) : NULL;
}

void *zeros(Call *call, size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, bytes ? bytes : 1)) {
        TF_SetStatus_(call->status, TF_RESOURCE_EXHAUSTED, "no memory for the vectors of a run");
        return NULL;
    }
    call->memory[call->memory_count++] = memory;
    return memset(memory, 0, bytes);
}
