/* The weights of contexts in windows: a mask, and in CBOW shares.

   The mask of a place is the probability that it is a context of a token. Of the `left` places before the token and the
   `right` places after it, those within its radius are contexts. Each radius below the window has the probability
   `radius_chance`, and the widest has the rest. If the chance is 0, all these places are contexts. A share is the
   expected share of the place among the token's contexts. */

#include "run.h"

/* The chance of a radius. */
static float chance_of(const Run *run, int64_t radius) {
    return radius < run->window ? run->radius_chance : 1 - run->radius_chance * (float)(run->window - 1);
}

/* shares[d] for distances d from 1 to the window: what a context at this distance counts among all contexts. */
static void share_by_distance(const Run *run, int64_t left, int64_t right, float *shares) {
    float share = 0;
    if (run->radius_chance == 0) { /* All contexts have the same share. */
        share = 1.0f / (float)largest(left + right, 1);
        for (int64_t d = 1; d <= run->window; d++) shares[d] = share;
        return;
    }
    for (int64_t radius = run->window; radius > 0; radius--) {
        int64_t contexts = smallest(left, radius) + smallest(right, radius);
        if (contexts) share += chance_of(run, radius) / (float)contexts;
        shares[radius] = share;
    }
}

/* Writes a token's weights at all places around it: by distance, and 0 beyond its reach. Returns their sum. */
static float write_weights(const Run *run, float *weights, int64_t token, const float *by_distance, float factor) {
    float *own = weights + (token + run->window) * run->by_token + token, sum = 0;
    int64_t left = run->left[token], right = run->right[token];
    for (int64_t distance = 1; distance <= run->window; distance++) {
        float weight = factor * by_distance[distance];
        own[-distance * run->by_token] = distance <= left ? weight : 0;
        own[distance * run->by_token] = distance <= right ? weight : 0;
        sum += (float)((distance <= left) + (distance <= right)) * weight;
    }
    return sum;
}

void find_chances(Run *run) {
    float *chances = run->chances;
    chances[run->window] = chance_of(run, run->window);
    for (int64_t d = run->window - 1; d > 0; d--) chances[d] = chances[d + 1] + chance_of(run, d);
}

void weigh_contexts(Run *run) {
    const float *chances = run->chances;
    float *shares = run->token_shares;
    for (int64_t token = 0; token < run->tokens; token++) {
        if (run->skip_gram) {
            run->pair_counts[token] = write_weights(run, run->masks, token, chances, weight_of(run, token));
            continue;
        }
        write_weights(run, run->masks, token, chances, 1);
        share_by_distance(run, run->left[token], run->right[token], shares);
        write_weights(run, run->shares, token, shares, 1);
    }
}
