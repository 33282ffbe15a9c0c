#include "tensorflow_api.h"

#include <dlfcn.h>

#define DEFINE(type, name, arguments) type(*name##_) arguments;
TENSORFLOW_FUNCTIONS(DEFINE)
#undef DEFINE

static const char *const LIBRARY = "libtensorflow_framework.so.2";

const char *find_tensorflow(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (!library) return LIBRARY;
#define FIND(type, name, arguments)                                                                                    \
    if (!(*(void **)&name##_ = dlsym(library, #name))) return #name;
    TENSORFLOW_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}
