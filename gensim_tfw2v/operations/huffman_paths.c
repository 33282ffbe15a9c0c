/* Words are predicted by hidden vectors around them, or by their own, by way of rows of a table that are each to be told
   "yes" or "no": the nodes of the tree on the way to a word.

   As in word2vec a node takes its step when it has been told, before the next word comes to it. */

#include "operation.h"
#include "vectors.h"

enum { MOST_TOGETHER = 16, WORDS_AHEAD = 4 };

typedef struct {
    Table table;
    /* Word w's way are the rows `passed` from offsets[w] to before offsets[w + 1], to be told "no" where codes say 1. */
    const int32_t *passed, *codes, *offsets;
    /* The table's last rows, which nearly all ways pass, are trained on a copy, in which threads do not wait for what
       others have just written: from row `first_busy` on. */
    float *busy;
    int64_t first_busy;
    float rate, farthest; /* Scores at least so far from 0 move nothing. */
    bool is_measured;
    double loss;
    int64_t longest; /* way, rounded up to whole registers, and to rows whose products are made together */
    float **way;     /* [longest] */
    float *told;     /* [MOST_TOGETHER, longest], scores, and then gradients by them */
    float *counts;   /* [longest], 1 where a score moves vectors, 0 where it is too far from 0 */
} Prediction;

static float *place_of(const Prediction *all, int32_t row) {
    return row < all->first_busy ? row_of(all->table, row) : all->busy + (row - all->first_busy) * all->table.size;
}

static void fetch_early(const Prediction *all, int32_t word) {
    for (int32_t step = all->offsets[word]; step < all->offsets[word + 1]; step += CACHE_LINE)
        __builtin_prefetch(all->codes + step);
    for (int32_t step = all->offsets[word]; step < all->offsets[word + 1]; step++)
        if (all->passed[step] < all->first_busy) prefetch_row(row_of(all->table, all->passed[step]), all->table.size);
}

/* Turns a hidden vector's scores on a way into gradients by them. */
static void tell(Prediction *all, float *told, const int32_t *codes, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) {
        all->counts[i] = fabsf(told[i]) >= all->farthest ? 0.0f : 1.0f;
        told[i] = capped(codes[i] ? -told[i] : told[i]);
    }
    if (all->is_measured)
        for (int32_t i = 0; i < steps; i++) all->loss += log1pf(expf(-told[i]));
    for (int32_t i = 0; i < steps; i += LANES) *(wide *)(told + i) = 1.0f / (1.0f + exponential(*(wide *)(told + i)));
    for (int32_t i = 0; i < steps; i++) told[i] = all->counts[i] * (codes[i] ? told[i] : -told[i]);
}

/* Adds to the gradients of hidden vectors what predicting a word asks of them, and moves the rows on its way. */
static void predict(Prediction *all, int32_t word, const float *const *hidden, float *const *gradients, int64_t count) {
    int32_t first = all->offsets[word], steps = all->offsets[word + 1] - first;
    const int32_t *codes = all->codes + first;
    for (int32_t i = 0; i < steps; i++) all->way[i] = place_of(all, all->passed[first + i]);
    int64_t rows = rounded_up(steps, ROWS_TOGETHER);
    for (int64_t i = steps; i < rows; i++) all->way[i] = all->way[steps - 1]; /* whose products nobody needs */
    all_dots(all->told, all->longest, hidden, count, (const float *const *)all->way, rows, all->table.size);
    for (int64_t k = 0; k < count; k++) tell(all, all->told + k * all->longest, codes, steps);
    if (count == 1) { /* as in CBOW */
        exchange_mixture(gradients[0], all->way, all->told, steps, hidden[0], all->rate, all->table.size);
        return;
    }
    Weights by_vector = {all->told, all->longest, 1}, by_row = {all->told, 1, all->longest};
    add_mixtures(gradients, count, (const float *const *)all->way, by_vector, steps, all->table.size);
    for (int64_t k = 0; k < count; k++)
        for (int32_t i = 0; i < steps; i++) all->told[k * all->longest + i] *= -all->rate;
    add_mixtures(all->way, steps, hidden, by_row, count, all->table.size);
}

static bool copy_busy_rows(Call *call, Prediction *all, int64_t wanted) {
    int64_t rows = wanted < all->table.count ? wanted : all->table.count, numbers = rows * all->table.size;
    all->first_busy = all->table.count - rows;
    all->busy = workspace(call, FOR_SUMS, (size_t)(2 * numbers) * sizeof(float));
    if (!all->busy) return false;
    memcpy(all->busy, row_of(all->table, all->first_busy), (size_t)numbers * sizeof(float));
    memcpy(all->busy + numbers, all->busy, (size_t)numbers * sizeof(float));
    return true;
}

/* Where another thread has moved a row meanwhile, the mean of both is what one after the other would come to: such rows
   settle within a batch. The sum of both ways would be twice as far, and farther the next time. */
static void write_busy_rows(const Prediction *all) {
    int64_t rows = all->table.count - all->first_busy, size = all->table.size;
    const float *before = all->busy + rows * size;
    for (int64_t i = 0; i < rows; i++) {
        float *row = row_of(all->table, all->first_busy + i);
        float share = memcmp(row, before + i * size, (size_t)size * sizeof(float)) ? 0.5f : 1.0f;
        for (int64_t k = 0; k < size; k++) row[k] += share * (all->busy[i * size + k] - row[k]);
    }
}

/* table, hidden [runs, tokens, size], words [batches, runs, places], left, right [batches, runs, tokens], batch,
   passed, codes, offsets, busy, every_context, rate, farthest, measured → gradients as hidden, loss

   A token's hidden vector predicts every context of it, or the token's own word if it has contexts. */
static void predict_batch(Call *call) {
    enum {
        TABLE, HIDDEN, WORDS, LEFT, RIGHT, BATCH, PASSED, CODES, OFFSETS, BUSY, EVERY_CONTEXT, RATE, FARTHEST, MEASURED
    };
    Prediction all = {
        .table = table_of(call, TABLE),
        .passed = integers(call, PASSED),
        .codes = integers(call, CODES),
        .offsets = integers(call, OFFSETS),
        .rate = *floats(call, RATE),
        .farthest = *floats(call, FARTHEST),
        .is_measured = *booleans(call, MEASURED),
    };
    int64_t batch = *integers(call, BATCH), size = all.table.size;
    const int32_t *words = of_batch(call, WORDS, batch);
    const int32_t *left = of_batch(call, LEFT, batch), *right = of_batch(call, RIGHT, batch);
    int64_t runs = dimension(call, LEFT, 1), tokens = dimension(call, LEFT, 2), places = dimension(call, WORDS, 2);
    int64_t window = (places - tokens) / 2;
    bool every_context = *booleans(call, EVERY_CONTEXT);
    const float *hidden = floats(call, HIDDEN);
    float *gradients = output(call, 0, (int64_t[]){runs, tokens, size}, 3), *loss = output(call, 1, NULL, 0);
    for (int64_t number = 0; number < runs * places; number++)
        all.longest = largest(all.longest, all.offsets[words[number] + 1] - all.offsets[words[number]]);
    all.longest = rounded_up(all.longest, largest(LANES, ROWS_TOGETHER));
    all.told = workspace(call, FOR_VECTORS, (size_t)((MOST_TOGETHER + 1) * all.longest) * sizeof(float));
    all.counts = all.told + MOST_TOGETHER * all.longest;
    all.way = workspace(call, FOR_POINTERS, (size_t)all.longest * sizeof(float *));
    if (!gradients || !loss || !all.told || !all.way || !copy_busy_rows(call, &all, *integers(call, BUSY))) return;
    memset(gradients, 0, (size_t)(runs * tokens * size) * sizeof(float));
    memset(all.told, 0, (size_t)(MOST_TOGETHER * all.longest) * sizeof(float));
    for (int64_t run = 0; run < runs; run++)
        for (int64_t place = 0; place < places; place++) {
            int64_t number = run * places + place, count = 0;
            if (number + WORDS_AHEAD < runs * places) fetch_early(&all, words[number + WORDS_AHEAD]);
            int64_t first = largest(place - (every_context ? 2 : 1) * window, 0);
            int64_t end = every_context ? place + 1 : place - window + 1;
            const float *from[MOST_TOGETHER];
            float *back[MOST_TOGETHER];
            for (int64_t token = first; token < end && token < tokens; token++) {
                int64_t distance = place - window - token, of_token = run * tokens + token;
                bool predicts = every_context ? distance && distance <= right[of_token] && -distance <= left[of_token]
                                              : left[of_token] + right[of_token] > 0;
                if (predicts) {
                    from[count] = hidden + of_token * size;
                    back[count++] = gradients + of_token * size;
                }
                if (count == MOST_TOGETHER) {
                    predict(&all, words[number], from, back, count);
                    count = 0;
                }
            }
            if (count) predict(&all, words[number], from, back, count);
        }
    write_busy_rows(&all);
    *loss = (float)all.loss;
}

OPERATION(run_predict, 14, 2, predict_batch)

void register_prediction_operations(void) {
    register_operation(
        "Tfw2vPredictWords",
        (const char *[]){
            "table: float", "hidden: float", "words: int32", "left: int32", "right: int32", "batch: int32",
            "passed: int32", "codes: int32", "offsets: int32", "busy: int32", "every_context: bool", "rate: float",
            "farthest: float", "measured: bool", NULL
        },
        (const char *[]){"gradients: float", "loss: float", NULL}, (const char *[]){NULL}, run_predict
    );
}
