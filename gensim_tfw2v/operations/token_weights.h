/* The weights of a batch's tokens. A token of weight w counts as w tokens: its score gradients are multiplied by w. */

#ifndef TFW2V_TOKEN_WEIGHTS_H
#define TFW2V_TOKEN_WEIGHTS_H

#include "call.h"

typedef struct {
    const float *values; /* [runs, tokens]; NULL if every token has the weight 1 */
    float largest;
} TokenWeights;

#define TOKEN_WEIGHTS_INPUT {"token_weights", "float", {BY_WEIGHT}}

/* Gets the weights in an input, which is empty if every token has the weight 1. Checks that there is one for each token
   of the batch, and that each is finite and at least 0. */
bool get_token_weights(Call *call, int input, TokenWeights *weights);

static inline float weight_of(TokenWeights weights, int64_t token) {
    return weights.values ? weights.values[token] : 1.0f;
}

#endif
