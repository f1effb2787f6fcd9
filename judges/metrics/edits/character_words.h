/* Words and characters as numbers. */

#ifndef SPANJURY_CHARACTER_WORDS_H
#define SPANJURY_CHARACTER_WORDS_H

#include "kernels.h"
#include <stdint.h>

/* Words of one or two texts, one behind another. */
typedef struct {
    uint32_t *points;  /* each text's words, parted by one blank */
    int32_t *starts, *ends; /* of words */
    int32_t *numbers;  /* of words: equal ones of equal words */
    int32_t size, count;
} Words;

/* Cut one more text into words, which are kept, and return how many there are. */
static inline int32_t add_text(Words *all, const uint32_t *points, Py_ssize_t size)
{
    const int32_t known = all->count;
    for (Py_ssize_t at = 0; at < size;) {
        if (spanjury_is_space(points[at])) {
            at++;
            continue;
        }
        if (all->count > known)
            all->points[all->size++] = ' ';
        all->starts[all->count] = all->size;
        while (at < size && !spanjury_is_space(points[at]))
            all->points[all->size++] = points[at++];
        all->ends[all->count++] = all->size;
    }
    return all->count - known;
}

/* Return how two words are ordered: below 0 if the first one comes first, 0 if they are equal. */
static inline int compare_words(const Words *all, int32_t one, int32_t other)
{
    const uint32_t *points = all->points + all->starts[one];
    const uint32_t *others = all->points + all->starts[other];
    const int32_t size = all->ends[one] - all->starts[one];
    const int32_t length = all->ends[other] - all->starts[other];
    for (int32_t at = 0; at < size && at < length; at++)
        if (points[at] != others[at])
            return points[at] < others[at] ? -1 : 1;
    return (size > length) - (size < length);
}

/* Entries that are looked up by a hash; -1 is none. There is a power of 2 of them, at least twice
   as many as are ever in use. */
typedef struct {
    int32_t *entries;
    uint32_t slots;
} Table;

static inline uint32_t hashed(const uint32_t *points, int32_t size)
{
    uint32_t hash = 2166136261u;
    for (int32_t at = 0; at < size; at++)
        hash = (hash ^ points[at]) * 16777619u;
    return hash ^ (hash >> 15);
}

/* Number characters in place, of which some are known, and return how many there are then. */
static inline int32_t number_points(uint32_t *points, int32_t size, uint32_t *known, int32_t numbers,
                             Table table)
{
    for (int32_t at = 0; at < size; at++) {
        uint32_t slot = hashed(points + at, 1) & (table.slots - 1);
        while (table.entries[slot] >= 0 && known[table.entries[slot]] != points[at])
            slot = (slot + 1) & (table.slots - 1);
        if (table.entries[slot] < 0) {
            known[numbers] = points[at];
            table.entries[slot] = numbers++;
        }
        points[at] = (uint32_t)table.entries[slot];
    }
    return numbers;
}

#endif
