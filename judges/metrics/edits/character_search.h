/* The search for shifts of words that leave fewer of them to edit.

   It is that of _searched in character.py, for words that are alike if they are equal. */

#ifndef SPANJURY_CHARACTER_SEARCH_H
#define SPANJURY_CHARACTER_SEARCH_H

#include "character_words.h"
#include "edit_rows.h"
#include "kernels.h"

typedef struct {
    int32_t start, to, length;
} Shift;

typedef struct {
    Words all;                   /* the reference's, then the output's */
    int32_t theirs, ours;        /* words of the reference, and of the output */
    int32_t known;               /* different words of the reference: their numbers come first */
    int32_t *first;              /* of each number: the first such word */
    int32_t *words;              /* of the output, in their present order */
    int32_t *moved, *best;       /* other orders */
    int32_t edits;               /* that the words need in their present order */
    int32_t *last, *before;      /* where a word stands last in the reference, and before a place */
    int32_t *runs, *runs_behind; /* by place of the reference, from a word and from the next */
    int32_t *counts;             /* of shifts, by length */
    int32_t kept;                /* shifts that are tried at a time */
    Shift *shifts;
    Wanted wanted;
    Costs *costs, *spare; /* before each word */
} Search;

static inline void number_words(Search *search, Table table)
{
    const Words *all = &search->all;
    int32_t numbers = 0;
    for (int32_t n = 0; n < all->count; n++) {
        uint32_t slot = hashed(all->points + all->starts[n], all->ends[n] - all->starts[n]);
        slot &= table.slots - 1;
        while (table.entries[slot] >= 0 &&
               compare_words(all, search->first[table.entries[slot]], n))
            slot = (slot + 1) & (table.slots - 1);
        if (table.entries[slot] < 0) {
            search->first[numbers] = n;
            table.entries[slot] = numbers++;
        }
        all->numbers[n] = table.entries[slot];
        if (n < search->theirs)
            search->known = numbers;
    }
}

/* Note where each word stands in the reference. */
static inline void index_reference(Search *search)
{
    for (int32_t word = 0; word < search->known; word++)
        search->last[word] = -1;
    for (int32_t place = 0; place < search->theirs; place++) {
        const int32_t word = search->all.numbers[place];
        search->before[place] = search->last[word];
        search->last[word] = place;
    }
}

/* Return the last place of the reference that has a word; -1 if none has. */
static inline int32_t last_place(const Search *search, int32_t word)
{
    return word < search->known ? search->last[word] : -1;
}

/* Return the fewest edits that any order of the words needs. `counts` is 0, for each word. */
static inline int32_t least_edits(const Search *search, int32_t *counts)
{
    int32_t common = 0;
    for (int32_t at = 0; at < search->theirs; at++)
        counts[search->all.numbers[at]]++;
    for (int32_t at = 0; at < search->ours; at++)
        common += counts[search->words[at]]-- > 0;
    return (search->ours > search->theirs ? search->ours : search->theirs) - common;
}

/* Note the costs before each word, and the edits. */
static inline void read_words(Search *search)
{
    const Py_ssize_t blocks = search->wanted.blocks;
    begin(&search->wanted, search->costs);
    for (int32_t at = 0; at < search->ours; at++)
        read_symbol(&search->wanted, search->words[at], search->costs + at * blocks,
                    search->costs + (at + 1) * blocks);
    search->edits =
        edits_of(&search->wanted, search->costs + search->ours * blocks, search->ours);
}

/* Return how long a run is that both texts share from some places on. */
static inline int32_t run_length(const Search *search, int32_t start, int32_t to)
{
    const int goes_on = start + 1 < search->ours && to + 1 < search->theirs &&
                        search->words[start + 1] == search->all.numbers[to + 1];
    return goes_on ? search->runs_behind[to + 1] + 1 : 1;
}

/* Go through all shifts from the last to the first: count those of each length or, when `counts`
   says where those of a length end, put them there. */
static inline void list_shifts(Search *search, int is_counting)
{
    for (int32_t start = search->ours - 1; start >= 0; start--) {
        for (int32_t to = last_place(search, search->words[start]); to >= 0;
             to = search->before[to]) {
            const int32_t length = search->runs[to] = run_length(search, start, to);
            if (to == start)
                continue;
            if (is_counting)
                search->counts[length]++;
            else if (--search->counts[length] < search->kept)
                search->shifts[search->counts[length]] = (Shift){start, to, length};
        }
        int32_t *runs = search->runs;
        search->runs = search->runs_behind;
        search->runs_behind = runs;
    }
}

/* Put the shifts to try in order, the longest first, and return how many there are. */
static inline int32_t order_shifts(Search *search)
{
    int32_t total = 0;
    memset(search->counts, 0, ((size_t)search->ours + 1) * sizeof *search->counts);
    list_shifts(search, 1);
    for (int32_t length = search->ours; length > 0; length--)
        search->counts[length] = total += search->counts[length];
    list_shifts(search, 0);
    return total < search->kept ? total : search->kept;
}

static inline void copy_words(int32_t *into, const int32_t *from, int32_t count)
{
    memcpy(into, from, (size_t)count * sizeof *into);
}

/* Put the words in the order that a shift leaves, and return the first place that it changes. */
static inline int32_t move(const Search *search, Shift shift)
{
    const int32_t rest = search->ours - shift.length, behind = shift.start + shift.length;
    const int32_t to = shift.to < rest ? shift.to : rest;
    const int32_t *words = search->words;
    int32_t *moved = search->moved;
    copy_words(moved, words, search->ours);
    copy_words(moved + to, words + shift.start, shift.length);
    if (to < shift.start)
        copy_words(moved + to + shift.length, words + to, shift.start - to);
    else
        copy_words(moved + shift.start, words + behind, to - shift.start);
    return to < shift.start ? to : shift.start;
}

/* Whether the moved words come behind the best ones in the alphabet. */
static inline int is_behind(const Search *search)
{
    for (int32_t at = 0; at < search->ours; at++)
        if (search->moved[at] != search->best[at])
            return compare_words(&search->all, search->first[search->moved[at]],
                                 search->first[search->best[at]]) > 0;
    return 0;
}

/* Return the edits that words need: those of the output before a place, and some others. */
static inline int32_t edits_behind(const Search *search, int32_t place, const int32_t *words,
                            int32_t count)
{
    const Py_ssize_t blocks = search->wanted.blocks;
    memcpy(search->spare, search->costs + place * blocks, (size_t)blocks * sizeof(Costs));
    read_symbols(&search->wanted, words, count, search->spare);
    return edits_of(&search->wanted, search->spare, place + count);
}

static inline int is_same_phrase(Shift one, Shift other)
{
    return one.start == other.start && one.length == other.length;
}

/* Return the fewest edits that a shift may leave. Where the next one moves the same phrase it
   pays to work out what the words need without it, which has to be added in any place. */
static inline int32_t hoped_for(const Search *search, const Shift *shift, const Shift *end)
{
    if (shift + 1 == end || !is_same_phrase(shift[0], shift[1]))
        return search->edits - 2 * shift->length;
    const int32_t behind = shift->start + shift->length;
    return edits_behind(search, shift->start, search->words + behind, search->ours - behind) -
           shift->length;
}

/* Make the best shift; 0 if none leaves fewer edits. */
static inline int make_shift(Search *search)
{
    const Shift *end = search->shifts + order_shifts(search);
    int32_t fewest = search->edits - 1, hoped = 0;
    int has_best = 0;
    for (const Shift *shift = search->shifts; shift < end; shift++) {
        if (search->edits - 2 * shift->length > fewest) /* no shift saves more */
            break;
        if (shift == search->shifts || !is_same_phrase(shift[-1], shift[0]))
            hoped = hoped_for(search, shift, end);
        if (hoped > fewest)
            continue;
        const int32_t place = move(search, *shift);
        if (has_best && hoped == fewest && !is_behind(search))
            continue;
        const int32_t left =
            edits_behind(search, place, search->moved + place, search->ours - place);
        if (left < fewest || (left == fewest && (!has_best || is_behind(search)))) {
            int32_t *best = search->best;
            search->best = search->moved;
            search->moved = best;
            fewest = left;
            has_best = 1;
        }
    }
    if (has_best) {
        int32_t *words = search->words;
        search->words = search->best;
        search->best = words;
        read_words(search);
    }
    return has_best;
}

/* Return how many shifts are tried at a time, `most` at most. */
static inline int32_t shifts_tried(const Search *search, int32_t most)
{
    int64_t all = 0;
    for (int32_t at = 0; at < search->ours; at++)
        for (int32_t to = last_place(search, search->words[at]); to >= 0; to = search->before[to])
            all++;
    return all < most ? (int32_t)all : most;
}

/* Shift the output's words for as long as that leaves fewer edits; -1 and an exception if that
   fails. `spare` is 0, for each word. */
static inline int shift_words(Search *search, int32_t *spare, int32_t most)
{
    index_reference(search);
    search->kept = shifts_tried(search, most);
    search->shifts = calloc((size_t)search->kept + 1, sizeof *search->shifts);
    const int has_wanted =
        set_wanted(&search->wanted, search->all.numbers, search->theirs, search->known);
    const Py_ssize_t blocks = search->wanted.blocks;
    search->costs = calloc((size_t)((search->ours + 2) * blocks + 1), sizeof *search->costs);
    int failed = !search->shifts || !has_wanted || !search->costs;
    if (failed) {
        PyErr_NoMemory();
    } else {
        const int32_t least = least_edits(search, spare);
        search->spare = search->costs + (search->ours + 1) * blocks;
        read_words(search);
        for (int is_going = 1; is_going && !failed;) {
            Py_BEGIN_ALLOW_THREADS
            is_going = search->edits > least && make_shift(search);
            Py_END_ALLOW_THREADS
            failed = PyErr_CheckSignals() < 0;
        }
    }
    free(search->shifts);
    free(search->wanted.same);
    free(search->costs);
    return failed ? -1 : 0;
}

#endif
