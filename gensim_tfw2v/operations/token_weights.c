#include "token_weights.h"

#include <float.h>

#include "checks.h"

bool get_token_weights(Call *call, int input, TokenWeights *weights) {
    const char *name = call->described[input].name;
    int64_t tokens = call->lengths[BY_RUN] * call->lengths[BY_TOKEN], count = call->lengths[BY_WEIGHT];
    const float *values = floats(call, input);
    *weights = (TokenWeights){.largest = 1};
    if (!count) return true;
    if (count != tokens)
        return fail(
            call, "%s has %lld weights; a batch has %lld tokens", name, (long long)count, (long long)tokens
        );
    for (int64_t token = 0; token < tokens; token++) {
        if (!(0 <= values[token] && values[token] <= FLT_MAX))
            return fail(call, "%s holds %g at weight %lld; weights are from 0 on", name, values[token], (long long)token);
        if (values[token] > weights->largest) weights->largest = values[token];
    }
    weights->values = values;
    return true;
}
