/* TensorFlow's C interface for kernels.

   The functions are looked up in the library that Python has loaded. So this compiles without TensorFlow, and one
   compiled library works with all TensorFlow versions. */

#ifndef TFW2V_TENSORFLOW_API_H
#define TFW2V_TENSORFLOW_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TF_Tensor TF_Tensor;
typedef struct TF_Status TF_Status;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

typedef enum { TF_FLOAT = 1, TF_INT32 = 3, TF_BFLOAT16 = 14 } TF_DataType;
typedef enum { TF_OK = 0, TF_INVALID_ARGUMENT = 3, TF_RESOURCE_EXHAUSTED = 8 } TF_Code;

/* type, name, arguments */
#define TENSORFLOW_FUNCTIONS(X)                                                                                        \
    X(TF_Status *, TF_NewStatus, (void))                                                                               \
    X(void, TF_DeleteStatus, (TF_Status *))                                                                            \
    X(void, TF_SetStatus, (TF_Status *, TF_Code, const char *))                                                        \
    X(TF_Code, TF_GetCode, (const TF_Status *))                                                                        \
    X(const char *, TF_Message, (const TF_Status *))                                                                   \
    X(int, TF_NumDims, (const TF_Tensor *))                                                                            \
    X(int64_t, TF_Dim, (const TF_Tensor *, int))                                                                       \
    X(void *, TF_TensorData, (const TF_Tensor *))                                                                      \
    X(TF_DataType, TF_TensorType, (const TF_Tensor *))                                                                 \
    X(void, TF_DeleteTensor, (TF_Tensor *))                                                                            \
    X(void, TF_GetInput, (TF_OpKernelContext *, int, TF_Tensor **, TF_Status *))                                       \
    X(TF_DataType, TF_ExpectedOutputDataType, (TF_OpKernelContext *, int))                                             \
    X(TF_Tensor *, TF_AllocateOutput,                                                                                  \
      (TF_OpKernelContext *, int, TF_DataType, const int64_t *, int, size_t, TF_Status *))                             \
    X(void, TF_OpKernelContext_Failure, (TF_OpKernelContext *, TF_Status *))                                           \
    X(TF_OpDefinitionBuilder *, TF_NewOpDefinitionBuilder, (const char *))                                             \
    X(void, TF_OpDefinitionBuilderAddInput, (TF_OpDefinitionBuilder *, const char *))                                  \
    X(void, TF_OpDefinitionBuilderAddOutput, (TF_OpDefinitionBuilder *, const char *))                                 \
    X(void, TF_OpDefinitionBuilderAddAttr, (TF_OpDefinitionBuilder *, const char *))                                   \
    X(void, TF_OpDefinitionBuilderSetIsStateful, (TF_OpDefinitionBuilder *, bool))                                     \
    X(void, TF_OpDefinitionBuilderSetShapeInferenceFunction,                                                           \
      (TF_OpDefinitionBuilder *, void (*)(TF_ShapeInferenceContext *, TF_Status *)))                                   \
    X(void, TF_ShapeInferenceContextSetUnknownShape, (TF_ShapeInferenceContext *, TF_Status *))                        \
    X(void, TF_RegisterOpDefinition, (TF_OpDefinitionBuilder *, TF_Status *))                                          \
    X(TF_KernelBuilder *, TF_NewKernelBuilder,                                                                         \
      (const char *, const char *, void *(*)(TF_OpKernelConstruction *), void (*)(void *, TF_OpKernelContext *),       \
       void (*)(void *)))                                                                                              \
    X(void, TF_RegisterKernelBuilder, (const char *, TF_KernelBuilder *, TF_Status *))                                 \
    X(void, TF_OpKernelConstruction_GetAttrBool, (TF_OpKernelConstruction *, const char *, bool *, TF_Status *))       \
    X(void, TF_OpKernelConstruction_Failure, (TF_OpKernelConstruction *, TF_Status *))

/* Each is called by its name with `_` behind it: TF_Dim_ is TensorFlow's TF_Dim. */
#define DECLARE(type, name, arguments) extern type(*name##_) arguments;
TENSORFLOW_FUNCTIONS(DECLARE)
#undef DECLARE

/* Looks up all functions. Returns NULL, or the name of a missing function. */
const char *find_tensorflow(void);

#endif
