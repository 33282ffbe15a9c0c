/* Graphs in compressed rows, and random walks on them.

   The neighbours of node v are at places starts[v] to starts[v + 1] - 1, in rising order. `ends` has for each of them the
   sum of the weights of all neighbours up to and including it; it is empty if all edges weigh the same. */

#include <string.h>

#include "arrays.h"
#include "random_numbers.h"

/* Whether these are the places where the neighbours of nodes begin, and where the last ones end. */
static bool are_starts(int64_t neighbours, INPUT(int64_t, starts)) {
    if (starts_count < 1 || starts_count - 1 > INT32_MAX || starts[0] != 0) return false;
    for (int64_t i = 1; i < starts_count; i++)
        if (starts[i] < starts[i - 1]) return false;
    return starts[starts_count - 1] == neighbours;
}

/* Groups edges by their second node: writes the first nodes of those that end in each node, with their weights, and where
   the group of each node begins. With `both_ways`, an edge also counts as one from its second node to its first. A loop
   counts once. `weights` and `grouped_weights` may be empty. */
EXPORT int64_t tfw2v_group_edges(
    INPUT(int32_t, first), INPUT(int32_t, second), INPUT(float, weights), int64_t both_ways, OUTPUT(int64_t, starts),
    OUTPUT(int32_t, grouped), OUTPUT(float, grouped_weights)
) {
    int64_t nodes = starts_count - 1;
    if (nodes < 0 || nodes > INT32_MAX || first_count != second_count) return WRONG_SIZES;
    if (weights_count ? weights_count != first_count || grouped_weights_count != grouped_count : grouped_weights_count)
        return WRONG_SIZES;
    if (!are_below(nodes, first, first_count) || !are_below(nodes, second, second_count)) return NO_WORD;
    memset(starts, 0, (size_t)starts_count * sizeof *starts);
    for (int64_t i = 0; i < first_count; i++) {
        starts[second[i] + 1]++;
        if (both_ways && first[i] != second[i]) starts[first[i] + 1]++;
    }
    for (int64_t v = 0; v < nodes; v++) starts[v + 1] += starts[v];
    if (starts[nodes] != grouped_count) return WRONG_SIZES;
    /* Places are filled from `starts`, which is moved on meanwhile and moved back afterwards. */
    for (int64_t i = 0; i < first_count; i++) {
        int64_t place = starts[second[i]]++;
        grouped[place] = first[i];
        if (weights_count) grouped_weights[place] = weights[i];
        if (both_ways && first[i] != second[i]) {
            place = starts[first[i]]++;
            grouped[place] = second[i];
            if (weights_count) grouped_weights[place] = weights[i];
        }
    }
    memmove(starts + 1, starts, (size_t)nodes * sizeof *starts);
    starts[0] = 0;
    return 0;
}

/* Writes the edges of a graph turned round: the neighbours of each node become those from which an edge leads to it, in
   rising order. */
EXPORT int64_t tfw2v_turn_edges(
    INPUT(int64_t, starts), INPUT(int32_t, neighbours), INPUT(float, weights), OUTPUT(int64_t, turned_starts),
    OUTPUT(int32_t, turned), OUTPUT(float, turned_weights)
) {
    int64_t nodes = starts_count - 1;
    if (!are_starts(neighbours_count, starts, starts_count) || turned_starts_count != starts_count) return WRONG_SIZES;
    if (turned_count != neighbours_count || turned_weights_count != weights_count) return WRONG_SIZES;
    if (weights_count && weights_count != neighbours_count) return WRONG_SIZES;
    if (!are_below(nodes, neighbours, neighbours_count)) return NO_WORD;
    memset(turned_starts, 0, (size_t)starts_count * sizeof *turned_starts);
    for (int64_t i = 0; i < neighbours_count; i++) turned_starts[neighbours[i] + 1]++;
    for (int64_t v = 0; v < nodes; v++) turned_starts[v + 1] += turned_starts[v];
    for (int64_t v = 0; v < nodes; v++) {
        for (int64_t i = starts[v]; i < starts[v + 1]; i++) {
            int64_t place = turned_starts[neighbours[i]]++;
            turned[place] = (int32_t)v;
            if (weights_count) turned_weights[place] = weights[i];
        }
    }
    memmove(turned_starts + 1, turned_starts, (size_t)nodes * sizeof *turned_starts);
    turned_starts[0] = 0;
    return 0;
}

/* Writes the running sums of weights, node by node. */
EXPORT int64_t tfw2v_add_weights(INPUT(int64_t, starts), INPUT(float, weights), OUTPUT(double, ends)) {
    if (!are_starts(weights_count, starts, starts_count) || ends_count != weights_count) return WRONG_SIZES;
    for (int64_t v = 0; v < starts_count - 1; v++) {
        double sum = 0;
        for (int64_t i = starts[v]; i < starts[v + 1]; i++) ends[i] = sum += weights[i];
    }
    return 0;
}

typedef struct {
    const int64_t *starts;
    const int32_t *neighbours;
    const double *ends; /* NULL if all edges weigh the same */
} Graph;

/* How steps that follow another one are weighted: those back, those to a neighbour of the node before, and others. */
typedef struct {
    double back, near, far, least, most;
} Bias;

/* After so many refused draws, the weights of all neighbours are computed instead. */
enum { MOST_DRAWS = 64 };

/* The first place in a range whose value is above `value`; the last place if there is none. */
static int64_t first_above(const double *values, int64_t begin, int64_t end, double value) {
    while (end - begin > 1) {
        int64_t middle = begin + (end - begin - 1) / 2;
        if (values[middle] > value)
            end = middle + 1;
        else
            begin = middle + 1;
    }
    return begin;
}

static bool has_edge(const Graph *graph, int32_t from, int32_t to) {
    int64_t begin = graph->starts[from], end = graph->starts[from + 1];
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (graph->neighbours[middle] == to) return true;
        if (graph->neighbours[middle] < to)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

/* A neighbour of a node that has one, drawn by the weights of edges. */
static int32_t draw_neighbour(const Graph *graph, int32_t node, RandomNumbers *random) {
    int64_t begin = graph->starts[node], end = graph->starts[node + 1];
    if (end - begin == 1) return graph->neighbours[begin];
    if (!graph->ends) return graph->neighbours[begin + random_below(random, (uint32_t)(end - begin))];
    double value = random_double(random) * graph->ends[end - 1];
    return graph->neighbours[first_above(graph->ends, begin, end, value)];
}

static double bias_of(const Graph *graph, const Bias *bias, int32_t before, int32_t next) {
    if (next == before) return bias->back;
    return has_edge(graph, before, next) ? bias->near : bias->far;
}

/* A neighbour drawn from the exact distribution, in two passes over all neighbours. */
static int32_t draw_exactly(const Graph *graph, const Bias *bias, int32_t before, int32_t node, RandomNumbers *random) {
    int64_t begin = graph->starts[node], end = graph->starts[node + 1];
    double sum = 0, value = 0;
    for (int pass = 0; pass < 2; pass++) {
        double earlier = 0, part = 0;
        for (int64_t i = begin; i < end; i++) {
            double weight = graph->ends ? graph->ends[i] - earlier : 1;
            if (graph->ends) earlier = graph->ends[i];
            part += weight * bias_of(graph, bias, before, graph->neighbours[i]);
            if (pass && part > value) return graph->neighbours[i];
        }
        if (!pass) sum = part, value = random_double(random) * sum;
    }
    return graph->neighbours[end - 1]; /* rounding */
}

/* The next node of a walk that came from `before`: neighbours are drawn by the weights of edges, and refused so often that
   the rest are distributed by bias as well. So nothing is stored for pairs of edges. */
static int32_t draw_biased(const Graph *graph, const Bias *bias, int32_t before, int32_t node, RandomNumbers *random) {
    if (graph->starts[node + 1] - graph->starts[node] == 1) return graph->neighbours[graph->starts[node]];
    for (int draws = 0; draws < MOST_DRAWS; draws++) {
        int32_t next = draw_neighbour(graph, node, random);
        double limit = random_double(random) * bias->most;
        if (limit < bias->least || limit < bias_of(graph, bias, before, next)) return next;
    }
    return draw_exactly(graph, bias, before, node, random);
}

static bool is_positive(double value) { return value > 0 && value < 1e30; }

/* Draws a walk of up to `length` nodes from each of `begins`, and writes one after the other, and their lengths: a walk
   ends where no edge leads on. `bias` has three numbers, the weights of a step back, to a neighbour of the node before,
   and to another node; it is empty if all are 1. Returns the number of nodes written. A node's neighbours are checked
   when a walk comes to it, because there may be billions. */
EXPORT int64_t tfw2v_draw_walks(
    INPUT(int64_t, starts), INPUT(int32_t, neighbours), INPUT(double, ends), INPUT(double, bias), INPUT(int32_t, begins),
    int64_t length, RandomNumbers *random, OUTPUT(int32_t, nodes), OUTPUT(int32_t, lengths)
) {
    int64_t last = starts_count - 1;
    if (last < 0 || last > INT32_MAX || neighbours_count > UINT32_MAX) return WRONG_SIZES;
    if (ends_count && ends_count != neighbours_count) return WRONG_SIZES;
    if (length < 1 || length > LONGEST || begins_count > LONGEST || nodes_count / length < begins_count) return WRONG_SIZES;
    if (lengths_count != begins_count || (bias_count && bias_count != 3)) return WRONG_SIZES;
    if (bias_count && !(is_positive(bias[0]) && is_positive(bias[1]) && is_positive(bias[2]))) return WRONG_SIZES;
    if (!are_below(last, begins, begins_count)) return NO_WORD;
    Graph graph = {starts, neighbours, ends_count ? ends : NULL};
    Bias weights = {.back = 1, .near = 1, .far = 1};
    if (bias_count) weights = (Bias){.back = bias[0], .near = bias[1], .far = bias[2]};
    weights.least = weights.near < weights.far ? weights.near : weights.far;
    if (weights.back < weights.least) weights.least = weights.back;
    weights.most = weights.near > weights.far ? weights.near : weights.far;
    if (weights.back > weights.most) weights.most = weights.back;
    RandomNumbers own = *random;
    int64_t written = 0;
    for (int64_t walk = 0; walk < begins_count; walk++) {
        int64_t begin = written;
        int32_t node = begins[walk], before = -1;
        nodes[written++] = node;
        while (written - begin < length) {
            if ((uint32_t)node >= last) return NO_WORD;
            if (starts[node] == starts[node + 1]) break;
            if (starts[node] < 0 || starts[node] > starts[node + 1] || starts[node + 1] > neighbours_count)
                return WRONG_SIZES;
            int32_t next = bias_count && before >= 0 ? draw_biased(&graph, &weights, before, node, &own)
                                                     : draw_neighbour(&graph, node, &own);
            before = node, node = next;
            nodes[written++] = node;
        }
        lengths[walk] = (int32_t)(written - begin);
    }
    *random = own;
    return written;
}
