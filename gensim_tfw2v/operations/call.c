#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 64, LONGEST_MESSAGE = 512 };

Entries entries_of(const Call *call, int input) {
    const Axis *axes = call->described[input].axes;
    bool is_by_batch = axes[0] == BY_BATCH;
    int64_t count = 1;
    for (int axis = is_by_batch; axis < MOST_AXES && axes[axis]; axis++) count *= call->lengths[axes[axis]];
    return (Entries){is_by_batch ? call->batch * count : 0, count};
}

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

void *workspace(Call *call, enum purpose purpose, size_t bytes) {
    static _Thread_local struct {
        void *memory;
        size_t bytes;
    } spaces[PURPOSES];
    bool is_enough = spaces[purpose].memory && spaces[purpose].bytes >= bytes;
#ifdef __SANITIZE_ADDRESS__
    is_enough = false; /* The sanitizer finds any use beyond the requested bytes. */
#endif
    if (!is_enough) {
        bytes = bytes ? bytes : 1;
        free(spaces[purpose].memory);
        if (posix_memalign(&spaces[purpose].memory, ALIGNMENT, bytes)) spaces[purpose].memory = NULL;
        spaces[purpose].bytes = spaces[purpose].memory ? bytes : 0;
        if (!spaces[purpose].memory) TF_SetStatus_(call->status, TF_RESOURCE_EXHAUSTED, "no memory for a batch's sums");
    }
    return spaces[purpose].memory;
}
