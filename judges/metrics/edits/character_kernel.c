/* CharacTER: edits of characters, after a search for shifts that leave fewer words to edit. */

#include "character_search.h"

#define MOST_POINTS (1 << 14) /* of a text, so that no size overflows and no table is large */

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
