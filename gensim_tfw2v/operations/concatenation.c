/* Hidden vectors that are concatenations, in parts as long as an input row: first the rows of the token's document, then
   those of the places of its window, from the first to the last. The null word's row stands for places beyond the ends of
   the token's sentence, as in gensim. */

#include "run.h"

/* The place that a part of a token's window is from, `places` if it is the null word's. */
static int64_t place_of(const Run *run, int64_t token, int64_t part) {
    int64_t place = token + part + (part >= run->window), distance = place - token - run->window;
    return -run->left[token] <= distance && distance <= run->right[token] ? place : run->places;
}

void read_concatenated(Run *run) {
    int64_t size = run->inputs.size;
    for (int64_t p = 0; p < run->places; p++) run->input_rows[p] = trained_row(run, run->inputs, run->input_ids[p]);
    run->input_rows[run->places] = trained_row(run, run->inputs, run->null_word);
    for (int64_t token = 0; token < run->tokens; token++) {
        float *hidden = run->hidden + token * run->width;
        Bag document = document_of(run, token);
        prefetch_next_inputs(run, token, 1);
        if (!document.count) memset(hidden, 0, (size_t)run->width * sizeof(float));
        if (!is_trained(run, token)) continue;
        for (int64_t k = 0; k < document.count; k++)
            copy_row(hidden + k * size, trained_row(run, run->inputs, document.rows[k]), size);
        for (int64_t part = 0; part < 2 * run->window; part++)
            copy_row(hidden + (run->tags + part) * size, run->input_rows[place_of(run, token, part)], size);
    }
}

/* Moves the rows of documents, each once against what neighbouring tokens of one document add up to. */
static void move_documents(Run *run) {
    int64_t size = run->inputs.size;
    for (int64_t first = 0, end; first < run->tokens; first = end) {
        Bag document = document_of(run, first);
        for (end = first + 1; end < run->tokens && run->documents[end] == run->documents[first];) end++;
        for (int64_t k = 0; k < document.count; k++) {
            memset(run->document_gradient, 0, (size_t)run->input_width * sizeof(float));
            for (int64_t token = first; token < end; token++)
                add_scaled(run->document_gradient, 1, run->gradients + token * run->width + k * size, size);
            move_bag(run, (Bag){document.rows + k, 1}, run->document_gradient);
        }
    }
}

void move_concatenated(Run *run) {
    int64_t size = run->inputs.size, width = run->input_width, places = run->places;
    move_documents(run);
    if (has(run->call, FREEZES_INPUTS)) return;
    memset(run->changes, 0, (size_t)((places + 1) * width) * sizeof(float));
    for (int64_t token = 0; token < run->tokens; token++) {
        if (!is_trained(run, token)) continue;
        const float *gradient = run->gradients + token * run->width + run->tags * size;
        for (int64_t part = 0; part < 2 * run->window; part++)
            add_scaled(run->changes + place_of(run, token, part) * width, 1, gradient + part * size, size);
    }
    move_rows(run, run->inputs, run->input_rows, run->input_ids, run->changes, places, true);
    move_rows(run, run->inputs, run->input_rows + places, &run->null_word, run->changes + places * width, 1, true);
}
