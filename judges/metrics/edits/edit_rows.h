/* Edits between two sequences of numbers, found in rows of bits.

   References
   ----------
   Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances,
   Nordic Journal of Computing 10(1) */

#ifndef SPANJURY_EDIT_ROWS_H
#define SPANJURY_EDIT_ROWS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BITS 64

/* The sequence that is wanted, in blocks of 64 places. Its symbols are numbered from 0. */
typedef struct {
    int32_t size, known, blocks;
    uint64_t *same; /* the places of each symbol; those of all others, none, come last */
} Wanted;

/* By place of what is wanted: where it costs one edit more than at the place before, or less. */
typedef struct {
    uint64_t rises, falls;
} Costs;

/* Whether it costs more, or less, to read one more symbol up to the end of a block. */
typedef struct {
    uint64_t rises, falls;
} Edges;

/* Note the places of symbols; 0 if there is no memory. */
static inline int set_wanted(Wanted *wanted, const int32_t *symbols, int32_t size, int32_t known)
{
    *wanted = (Wanted){.size = size, .known = known, .blocks = (size + BITS - 1) / BITS};
    wanted->same = calloc(((size_t)known + 1) * (size_t)wanted->blocks + 1, sizeof(uint64_t));
    for (int32_t at = 0; wanted->same && at < size; at++)
        wanted->same[(size_t)symbols[at] * (size_t)wanted->blocks + (size_t)(at / BITS)] |=
            (uint64_t)1 << at % BITS;
    return wanted->same != NULL;
}

static inline const uint64_t *places_of(const Wanted *wanted, int32_t symbol)
{
    const int32_t row = symbol < wanted->known ? symbol : wanted->known;
    return wanted->same + (size_t)row * (size_t)wanted->blocks;
}

static inline Costs read_block(Costs costs, uint64_t same, Edges *edges)
{
    const uint64_t here = same | edges->falls, kept = same | costs.falls;
    const uint64_t level = (((here & costs.rises) + costs.rises) ^ costs.rises) | here;
    const uint64_t rises = costs.falls | ~(level | costs.rises), falls = costs.rises & level;
    const uint64_t risen = (rises << 1) | edges->rises, fallen = (falls << 1) | edges->falls;
    *edges = (Edges){rises >> (BITS - 1), falls >> (BITS - 1)};
    return (Costs){fallen | ~(kept | risen), risen & kept};
}

/* Set the costs before anything is read. */
static inline void begin(const Wanted *wanted, Costs *costs)
{
    for (int32_t block = 0; block < wanted->blocks; block++)
        costs[block] = (Costs){~(uint64_t)0, 0};
}

/* Read one more symbol, from the costs before it to those behind it, which may be the same. */
static inline void read_symbol(const Wanted *wanted, int32_t symbol, const Costs *from,
                               Costs *into)
{
    const uint64_t *same = places_of(wanted, symbol);
    Edges edges = {1, 0};
    for (int32_t block = 0; block < wanted->blocks; block++)
        into[block] = read_block(from[block], same[block], &edges);
}

static inline void read_symbols(const Wanted *wanted, const int32_t *symbols, int32_t count,
                                Costs *costs)
{
    if (wanted->blocks != 1) {
        for (int32_t at = 0; at < count; at++)
            read_symbol(wanted, symbols[at], costs, costs);
        return;
    }
    Costs now = *costs; /* in registers */
    for (int32_t at = 0; at < count; at++) {
        Edges edges = {1, 0};
        now = read_block(now, *places_of(wanted, symbols[at]), &edges);
    }
    *costs = now;
}

static inline int32_t count_bits(uint64_t bits)
{
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    return (int32_t)((((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
}

/* Return the edits to all that is wanted, `read` symbols having been read. */
static inline int32_t edits_of(const Wanted *wanted, const Costs *costs, int32_t read)
{
    int32_t edits = read;
    for (int32_t block = 0; block < wanted->blocks; block++) {
        const int32_t held = wanted->size - block * BITS;
        const uint64_t all = held < BITS ? ((uint64_t)1 << held) - 1 : ~(uint64_t)0;
        edits += count_bits(costs[block].rises & all) - count_bits(costs[block].falls & all);
    }
    return edits;
}

#endif
