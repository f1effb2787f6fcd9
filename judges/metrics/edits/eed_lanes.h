/* Costs of EED for a few pairs of texts side by side, a lane of vectors each.

   A template: whoever includes it defines BUNDLE (the function's name), CELL (the type of a
   cost), LANES, and TARGET (whose instructions are taken). The recurrence is that of compare_single in eed_kernel.c. */

#define NAME_OF(bundle, part) bundle##_##part
#define NAME(bundle, part) NAME_OF(bundle, part)
#define VECTOR NAME(BUNDLE, vector)
#define ROW NAME(BUNDLE, row)
#define PICK NAME(BUNDLE, pick)
#define LEAST NAME(BUNDLE, least)
#define READ NAME(BUNDLE, read)
#define FILL NAME(BUNDLE, fill)

typedef CELL VECTOR __attribute__((vector_size(LANES * sizeof(CELL))));

/* A row of the table, up to the place that was read last. */
typedef struct {
    VECTOR sign, clip, corner, left, least, nearest;
} ROW;

TARGET static inline VECTOR PICK(VECTOR which, VECTOR yes, VECTOR no)
{
    return (which & yes) | (~which & no);
}

TARGET static inline VECTOR LEAST(VECTOR one, VECTOR other)
{
#ifdef MINIMUM
    return MINIMUM(one, other);
#else
    return PICK((VECTOR)(one < other), one, other);
#endif
}

/* Read the places from one up to another. Those beyond an output's end, which `size` tells if it
   is given, are not visited and lead to none that is. */
TARGET static inline ROW READ(ROW row, VECTOR *above, const VECTOR *ours, Py_ssize_t from, Py_ssize_t to,
                       const EedCosts *costs, const VECTOR *size)
{
    const VECTOR none = {0}, edit = none + (CELL)costs->edit;
    const VECTOR deletion = none + (CELL)costs->deletion;
    const VECTOR insertion = none + (CELL)costs->insertion;
    VECTOR place = none + (CELL)from;
    for (Py_ssize_t at = from; at < to; at++, place += 1) {
        const VECTOR up = LEAST(above[at], row.clip);
        const VECTOR changed = row.corner + (edit & (VECTOR)(ours[at] != row.sign));
        row.left = LEAST(LEAST(changed, up + insertion), row.left + deletion);
        above[at] = row.left;
        row.corner = up;
        VECTOR closer = (VECTOR)(row.left < row.least);
        if (size)
            closer &= (VECTOR)(place <= *size);
        row.nearest = PICK(closer, place, row.nearest);
        row.least = size ? PICK(closer, row.left, row.least) : LEAST(row.least, row.left);
    }
    return row;
}

/* Put down each lane's output, character by character, and its size. */
TARGET static void FILL(VECTOR *ours, VECTOR *size, const Pair *pairs, int used)
{
    CELL *cells = (CELL *)ours;
    for (int lane = 0; lane < used; lane++) {
        (*size)[lane] = (CELL)pairs[lane].output_size;
        for (Py_ssize_t at = 0; at < pairs[lane].output_size; at++)
            cells[(at + 1) * LANES + lane] = (CELL)pairs[lane].output[at];
    }
}

TARGET static void BUNDLE(const Pair *pairs, int used, const EedCosts *costs, void *scratch,
                   EedResult *results)
{
    const VECTOR none = {0}, edit = none + (CELL)costs->edit, jump = none + (CELL)costs->jump;
    const VECTOR highest = none + (CELL)(sizeof(CELL) == 2 ? INT16_MAX : INT32_MAX);
    const Extent extent = extent_of(pairs, used);
    const Py_ssize_t places = extent.longest + 1;
    VECTOR *above = scratch, *ours = above + places, size = none, clip = highest;
    uint32_t *visits = (uint32_t *)(ours + places);
    memset(scratch, 0, (size_t)places * LANES * (sizeof *visits + 2 * sizeof(CELL)));
    FILL(ours, &size, pairs, used);
    for (Py_ssize_t at = 1; at < places; at++)
        above[at] = edit;
    for (int lane = 0; lane < used; lane++)
        results[lane].cost = pairs[lane].output_size ? costs->edit : 0; /* of no characters */
    for (Py_ssize_t n = 0; n < extent.rows; n++) {
        ROW row = {.clip = clip, .corner = LEAST(above[0], clip)};
        for (int lane = 0; lane < used; lane++)
            if (n < pairs[lane].reference_size)
                row.sign[lane] = (CELL)pairs[lane].reference[n];
        above[0] = row.left = row.least = row.corner + edit;
        row = READ(row, above, ours, 1, extent.shortest + 1, costs, NULL);
        row = READ(row, above, ours, extent.shortest + 1, places, costs, &size);
        clip = PICK((VECTOR)(row.sign == ' '), row.least + jump, highest);
        for (int lane = 0; lane < used; lane++) {
            const Py_ssize_t left = pairs[lane].reference_size - n;
            const CELL end = above[pairs[lane].output_size][lane];
            visits[(Py_ssize_t)row.nearest[lane] * LANES + lane] += left > 0;
            if (left == 1)
                results[lane].cost = end < clip[lane] ? end : clip[lane];
        }
    }
    for (int lane = 0; lane < used; lane++)
        for (Py_ssize_t at = 0; at <= pairs[lane].output_size; at++)
            results[lane].missed += missed(visits[at * LANES + lane]);
}

#undef NAME_OF
#undef NAME
#undef VECTOR
#undef ROW
#undef PICK
#undef LEAST
#undef READ
#undef FILL
#undef BUNDLE
#undef CELL
#undef LANES
#undef TARGET
#undef MINIMUM
