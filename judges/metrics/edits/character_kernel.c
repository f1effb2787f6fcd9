/* CharacTER: edits of characters, after a search for shifts that leave fewer words to edit.

   The search is that of _searched in character.py, for words that are alike if they are equal. */

#include "edit_rows.h"
#include "kernels.h"

#define MOST_POINTS (1 << 14) /* of a text, so that no size overflows and no table is large */

/* Words of one or two texts, one behind another. */
typedef struct {
    uint32_t *points;  /* each text's words, parted by one blank */
    int32_t *starts, *ends; /* of words */
    int32_t *numbers;  /* of words: equal ones of equal words */
    int32_t size, count;
} Words;

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

/* Cut one more text into words, which are kept, and return how many there are. */
static int32_t add_text(Words *all, const uint32_t *points, Py_ssize_t size)
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
static int compare_words(const Words *all, int32_t one, int32_t other)
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

static uint32_t hashed(const uint32_t *points, int32_t size)
{
    uint32_t hash = 2166136261u;
    for (int32_t at = 0; at < size; at++)
        hash = (hash ^ points[at]) * 16777619u;
    return hash ^ (hash >> 15);
}

static void number_words(Search *search, Table table)
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
static void index_reference(Search *search)
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
static int32_t last_place(const Search *search, int32_t word)
{
    return word < search->known ? search->last[word] : -1;
}

/* Return the fewest edits that any order of the words needs. `counts` is 0, for each word. */
static int32_t least_edits(const Search *search, int32_t *counts)
{
    int32_t common = 0;
    for (int32_t at = 0; at < search->theirs; at++)
        counts[search->all.numbers[at]]++;
    for (int32_t at = 0; at < search->ours; at++)
        common += counts[search->words[at]]-- > 0;
    return (search->ours > search->theirs ? search->ours : search->theirs) - common;
}

/* Note the costs before each word, and the edits. */
static void read_words(Search *search)
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
static int32_t run_length(const Search *search, int32_t start, int32_t to)
{
    const int goes_on = start + 1 < search->ours && to + 1 < search->theirs &&
                        search->words[start + 1] == search->all.numbers[to + 1];
    return goes_on ? search->runs_behind[to + 1] + 1 : 1;
}

/* Go through all shifts from the last to the first: count those of each length or, when `counts`
   says where those of a length end, put them there. */
static void list_shifts(Search *search, int is_counting)
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
static int32_t order_shifts(Search *search)
{
    int32_t total = 0;
    memset(search->counts, 0, ((size_t)search->ours + 1) * sizeof *search->counts);
    list_shifts(search, 1);
    for (int32_t length = search->ours; length > 0; length--)
        search->counts[length] = total += search->counts[length];
    list_shifts(search, 0);
    return total < search->kept ? total : search->kept;
}

static void copy_words(int32_t *into, const int32_t *from, int32_t count)
{
    memcpy(into, from, (size_t)count * sizeof *into);
}

/* Put the words in the order that a shift leaves, and return the first place that it changes. */
static int32_t move(const Search *search, Shift shift)
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
static int is_behind(const Search *search)
{
    for (int32_t at = 0; at < search->ours; at++)
        if (search->moved[at] != search->best[at])
            return compare_words(&search->all, search->first[search->moved[at]],
                                 search->first[search->best[at]]) > 0;
    return 0;
}

/* Return the edits that words need: those of the output before a place, and some others. */
static int32_t edits_behind(const Search *search, int32_t place, const int32_t *words,
                            int32_t count)
{
    const Py_ssize_t blocks = search->wanted.blocks;
    memcpy(search->spare, search->costs + place * blocks, (size_t)blocks * sizeof(Costs));
    read_symbols(&search->wanted, words, count, search->spare);
    return edits_of(&search->wanted, search->spare, place + count);
}

static int is_same_phrase(Shift one, Shift other)
{
    return one.start == other.start && one.length == other.length;
}

/* Return the fewest edits that a shift may leave. Where the next one moves the same phrase it
   pays to work out what the words need without it, which has to be added in any place. */
static int32_t hoped_for(const Search *search, const Shift *shift, const Shift *end)
{
    if (shift + 1 == end || !is_same_phrase(shift[0], shift[1]))
        return search->edits - 2 * shift->length;
    const int32_t behind = shift->start + shift->length;
    return edits_behind(search, shift->start, search->words + behind, search->ours - behind) -
           shift->length;
}

/* Make the best shift; 0 if none leaves fewer edits. */
static int make_shift(Search *search)
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
static int32_t shifts_tried(const Search *search, int32_t most)
{
    int64_t all = 0;
    for (int32_t at = 0; at < search->ours; at++)
        for (int32_t to = last_place(search, search->words[at]); to >= 0; to = search->before[to])
            all++;
    return all < most ? (int32_t)all : most;
}

/* Shift the output's words for as long as that leaves fewer edits; -1 and an exception if that
   fails. `spare` is 0, for each word. */
static int shift_words(Search *search, int32_t *spare, int32_t most)
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

/* Number characters in place, of which some are known, and return how many there are then. */
static int32_t number_points(uint32_t *points, int32_t size, uint32_t *known, int32_t numbers,
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

/* Return the edits between two sequences of numbers below `known`; -1 if there is no memory. */
static int32_t edits_between(const int32_t *numbers, int32_t size, const int32_t *others,
                             int32_t length, int32_t known)
{
    for (; size && length && *numbers == *others; size--, length--)
        numbers++, others++;
    while (size && length && numbers[size - 1] == others[length - 1])
        size--, length--;
    if (size > length) { /* there are as many either way, and fewer steps to the longer one */
        const int32_t *longer = numbers, longest = size;
        numbers = others, size = length;
        others = longer, length = longest;
    }
    Wanted wanted;
    Costs *costs = NULL;
    int32_t edits = -1;
    if (set_wanted(&wanted, others, length, known))
        costs = calloc((size_t)wanted.blocks + 1, sizeof *costs);
    if (costs) {
        begin(&wanted, costs);
        read_symbols(&wanted, numbers, size, costs);
        edits = edits_of(&wanted, costs, size);
    }
    free(costs);
    free(wanted.same);
    return edits;
}

/* Memory that is cut into pieces. */
typedef struct {
    int32_t *pieces; /* one behind another */
    int32_t *next;
} Memory;

static int32_t *take(Memory *memory, Py_ssize_t count)
{
    int32_t *piece = memory->next;
    memory->next += count;
    return piece;
}

/* Return the characters to edit after the shifts; -1 and an exception if that fails. */
static int32_t edits_after(const Search *search, Memory memory, Table table)
{
    const Words *all = &search->all;
    const int32_t length = search->theirs ? all->ends[search->theirs - 1] : 0;
    uint32_t *after = (uint32_t *)take(&memory, all->size);
    uint32_t *known = (uint32_t *)take(&memory, all->size);
    int32_t size = 0, edits;
    Py_BEGIN_ALLOW_THREADS
    for (int32_t at = 0; at < search->ours; at++) {
        const int32_t word = search->first[search->words[at]];
        if (at)
            after[size++] = ' ';
        for (int32_t point = all->starts[word]; point < all->ends[word]; point++)
            after[size++] = all->points[point];
    }
    memset(table.entries, -1, table.slots * sizeof *table.entries);
    int32_t numbers = number_points(all->points, length, known, 0, table);
    numbers = number_points(after, size, known, numbers, table);
    edits = edits_between((int32_t *)after, size, (int32_t *)all->points, length, numbers);
    Py_END_ALLOW_THREADS
    if (edits < 0)
        PyErr_NoMemory();
    return edits;
}

/* Return how many words from `at` on stand next further back in the new order. */
static int32_t moved_back(const int32_t *before, const int32_t *after, int32_t size, int32_t at)
{
    if (before[at] == after[at])
        return 0;
    int32_t place = at + 1, length = 0;
    while (place < size && after[place] != before[at])
        place++;
    while (place + length < size && before[at + length] == after[place + length])
        length++;
    return length;
}

/* Return the characters and words of each phrase that was moved back; NULL if that fails. */
static PyObject *moved_phrases(const Search *search)
{
    const Words *all = &search->all;
    PyObject *phrases = PyList_New(0);
    for (int32_t at = 0, length; phrases && at < search->ours; at += length ? length : 1) {
        length = moved_back(all->numbers + search->theirs, search->words, search->ours, at);
        if (!length)
            continue;
        int32_t characters = 0;
        for (int32_t n = search->theirs + at; n < search->theirs + at + length; n++)
            characters += all->ends[n] - all->starts[n];
        PyObject *phrase = Py_BuildValue("(ii)", (int)characters, (int)length);
        if (!phrase || PyList_Append(phrases, phrase) < 0)
            Py_CLEAR(phrases);
        Py_XDECREF(phrase);
    }
    return phrases;
}

/* How far a search goes: up to so many words all shifts are tried, up to others so many. */
typedef struct {
    int all_up_to, up_to, tried;
} Reach;

/* Return edits, characters of the output, and phrases; NULL and an exception if that fails. */
static PyObject *compare_texts(const Texts *texts, Reach reach)
{
    const Py_ssize_t wanted = texts->ends[0], size = texts->ends[1];
    const Py_ssize_t words = size / 2 + 2; /* at most, with two texts */
    Table table = {.slots = 2};
    while (table.slots < 2 * (uint32_t)(size + 2))
        table.slots *= 2;
    Memory memory = {.pieces = malloc((size_t)(3 * size + 12 * (words + 1) + table.slots) *
                                      sizeof *memory.pieces)};
    if (!memory.pieces)
        return PyErr_NoMemory();
    memory.next = memory.pieces;
    Search search = {.known = 0};
    search.all.points = (uint32_t *)take(&memory, size);
    int32_t **const pieces[] = {
        &search.all.starts, &search.all.ends, &search.all.numbers, &search.first,
        &search.words, &search.moved, &search.best, &search.last,
        &search.before, &search.runs, &search.runs_behind, &search.counts,
    };
    for (size_t n = 0; n < sizeof pieces / sizeof *pieces; n++)
        *pieces[n] = take(&memory, words + 1);
    table.entries = take(&memory, table.slots);
    memset(table.entries, -1, table.slots * sizeof *table.entries);

    search.theirs = add_text(&search.all, texts->points, wanted);
    search.ours = add_text(&search.all, texts->points + wanted, size - wanted);
    number_words(&search, table);
    copy_words(search.words, search.all.numbers + search.theirs, search.ours);
    const int32_t longer = search.ours > search.theirs ? search.ours : search.theirs;
    int failed = 0;
    if (longer <= reach.up_to) {
        memset(table.entries, 0, table.slots * sizeof *table.entries);
        failed = shift_words(&search, table.entries,
                             longer <= reach.all_up_to ? INT32_MAX : reach.tried) < 0;
    }
    const int32_t edits = failed ? -1 : edits_after(&search, memory, table);
    PyObject *phrases = edits < 0 ? NULL : moved_phrases(&search), *result = NULL;
    if (phrases) {
        const int32_t start = search.theirs ? search.all.ends[search.theirs - 1] : 0;
        result = Py_BuildValue("(iiO)", (int)edits, (int)(search.all.size - start), phrases);
        Py_DECREF(phrases);
    }
    free(memory.pieces);
    return result;
}

PyObject *spanjury_character_edits(PyObject *module, PyObject *args)
{
    PyObject *texts, *result = NULL;
    Reach reach;
    Texts read = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "O!(iii):character_edits", &PyList_Type, &texts, &reach.all_up_to,
                          &reach.up_to, &reach.tried))
        return NULL;
    if (PyList_Size(texts) != 2 || reach.tried < 0) {
        PyErr_SetString(PyExc_ValueError, "two texts are compared, and shifts are counted");
        return NULL;
    }
    if (!spanjury_read_texts(texts, 0, 2, &read)) {
        if (read.ends[0] > MOST_POINTS || read.ends[1] - read.ends[0] > MOST_POINTS)
            PyErr_SetString(PyExc_ValueError, "the texts are too long");
        else
            result = compare_texts(&read, reach);
    }
    spanjury_free_texts(&read);
    return result;
}
