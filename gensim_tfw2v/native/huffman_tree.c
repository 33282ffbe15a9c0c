/* The tree of Huffman's algorithm, with the ties of Python's heapq, which gensim uses. */

#include <stdlib.h>

#include "arrays.h"

/* A node without a parent yet. Only counts are compared: which of two equal ones comes first depends on the heap. */
typedef struct {
    double count;
    int32_t node;
} Entry;

/* Moves an entry up from a place, at most to `top`, until its parent is no larger. */
static void move_up(Entry *heap, int64_t top, int64_t place, Entry entry) {
    while (place > top) {
        int64_t above = (place - 1) / 2;
        if (!(entry.count < heap[above].count)) break;
        heap[place] = heap[above];
        place = above;
    }
    heap[place] = entry;
}

/* Fills a place whose entry is gone. As in heapq, the smaller children move up as far as a leaf, and the new entry
   moves up from there. */
static void fill(Entry *heap, int64_t count, int64_t top, Entry entry) {
    int64_t place = top, child;
    while ((child = 2 * place + 1) < count) {
        if (child + 1 < count && !(heap[child].count < heap[child + 1].count)) child++;
        heap[place] = heap[child];
        place = child;
    }
    move_up(heap, top, place, entry);
}

static Entry take_least(Entry *heap, int64_t *count) {
    Entry least = heap[0];
    if (--*count) fill(heap, *count, 0, heap[*count]);
    return least;
}

/* Writes the parent and the branch of each node: first the words, then inner nodes as they are made. The root, which is
   the last node, has the parent 0. */
EXPORT int64_t tfw2v_join_rarest(
    INPUT(double, counts), INPUT(int32_t, order), OUTPUT(int32_t, parent), OUTPUT(uint8_t, branch)
) {
    int64_t nodes = counts_count ? 2 * counts_count - 1 : 0, waiting = counts_count;
    if (counts_count > LONGEST || order_count != counts_count) return WRONG_SIZES;
    if (parent_count != nodes || branch_count != nodes) return WRONG_SIZES;
    if (!are_below(counts_count, order, order_count)) return NO_WORD;
    Entry *heap = malloc((size_t)(counts_count + 1) * sizeof *heap);
    if (!heap) return NO_MEMORY;
    for (int64_t i = 0; i < order_count; i++) heap[i] = (Entry){counts[order[i]], order[i]};
    for (int64_t i = 0; i < nodes; i++) parent[i] = 0, branch[i] = 0;
    for (int64_t place = waiting / 2 - 1; place >= 0; place--) fill(heap, waiting, place, heap[place]);
    for (int64_t node = counts_count; node < nodes; node++) {
        Entry left = take_least(heap, &waiting), right = take_least(heap, &waiting);
        parent[left.node] = parent[right.node] = (int32_t)node;
        branch[right.node] = 1;
        move_up(heap, 0, waiting++, (Entry){left.count + right.count, (int32_t)node});
    }
    free(heap);
    return 0;
}
