/* EED: punctuation set apart as _spaced in eed.py does it, character by character. */

#include "kernels.h"
#include <string.h>

static const char *const TITLES[] = {"Dr", "Jr", "Prof", "Rev", "Gen", "Mr", "Mt", "Mrs", "Ms"};
static const char *const ABBREVIATIONS[][2] = {
    {"e . g .", "e.g."}, {"i . e .", "i.e."}, {"U . S .", "U.S."}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int has(const uint32_t *points, const char *text, Py_ssize_t size)
{
    for (Py_ssize_t at = 0; at < size; at++)
        if (points[at] != (uint32_t)text[at])
            return 0;
    return 1;
}

/* Whether a character is a decimal digit; -1 and an exception if that fails. */
static int is_digit(uint32_t point)
{
    if (point < 0x80)
        return point >= '0' && point <= '9';
    PyObject *character = PyUnicode_FromOrdinal((int)point);
    PyObject *answer = character ? PyObject_CallMethod(character, "isdecimal", NULL) : NULL;
    const int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(character);
    return is;
}

/* Part words, and the marks behind them, by one blank each; return the length. */
static Py_ssize_t part(uint32_t *into, const uint32_t *points, Py_ssize_t size)
{
    Py_ssize_t kept = 0;
    int is_apart = 0;
    for (Py_ssize_t at = 0; at < size; at++) {
        const uint32_t point = points[at];
        if (spanjury_is_space(point)) {
            is_apart = 1;
            continue;
        }
        is_apart |= point == '.' || point == ',' || point == '!' || point == '?';
        if (is_apart && kept)
            into[kept++] = ' ';
        is_apart = 0;
        into[kept++] = point;
    }
    return kept;
}

/* Close the gaps in numbers, in place; return the length, or -1 and an exception. */
static Py_ssize_t join_numbers(uint32_t *points, Py_ssize_t size)
{
    Py_ssize_t kept = 0;
    for (Py_ssize_t at = 0; at < size;) {
        const uint32_t *from = points + at;
        if (size - at >= 5 && from[1] == ' ' && from[3] == ' ' &&
            (from[2] == '.' || from[2] == ',')) {
            const int left = is_digit(from[0]), right = left > 0 ? is_digit(from[4]) : left;
            if (left < 0 || right < 0)
                return -1;
            if (right) {
                const uint32_t number[] = {from[0], from[2], from[4]};
                memcpy(points + kept, number, sizeof number);
                kept += 3;
                at += 5;
                continue;
            }
        }
        points[kept++] = points[at++];
    }
    return kept;
}

static int ends_with_title(const uint32_t *points, Py_ssize_t size)
{
    for (size_t n = 0; n < COUNT(TITLES); n++) {
        const Py_ssize_t length = (Py_ssize_t)strlen(TITLES[n]);
        if (length <= size && has(points + size - length, TITLES[n], length))
            return 1;
    }
    return 0;
}

/* Close the gap between a title and its point, in place; return the length. */
static Py_ssize_t join_titles(uint32_t *points, Py_ssize_t size)
{
    Py_ssize_t kept = 0;
    for (Py_ssize_t at = 0; at < size; at++) {
        const int is_gap = points[at] == ' ' && at + 1 < size && points[at + 1] == '.';
        if (!is_gap || !ends_with_title(points, kept))
            points[kept++] = points[at];
    }
    return kept;
}

/* Replace one text by another that is not longer, in place; return the length. */
static Py_ssize_t replace(uint32_t *points, Py_ssize_t size, const char *const texts[2])
{
    const Py_ssize_t length = (Py_ssize_t)strlen(texts[0]);
    Py_ssize_t kept = 0;
    for (Py_ssize_t at = 0; at < size;) {
        if (points[at] != (uint32_t)texts[0][0] || size - at < length ||
            !has(points + at, texts[0], length)) {
            points[kept++] = points[at++];
            continue;
        }
        for (const char *other = texts[1]; *other; other++)
            points[kept++] = (uint32_t)*other;
        at += length;
    }
    return kept;
}

/* Set one text apart, a blank before it and one behind; return the length, or -1. */
static Py_ssize_t set_apart(uint32_t *into, const uint32_t *points, Py_ssize_t size)
{
    uint32_t *text = into + 1;
    Py_ssize_t kept = join_numbers(text, part(text, points, size));
    if (kept < 0)
        return -1;
    kept = join_titles(text, kept);
    for (size_t n = 0; n < COUNT(ABBREVIATIONS); n++)
        kept = replace(text, kept, ABBREVIATIONS[n]);
    into[0] = text[kept] = ' ';
    return kept + 2;
}

int spanjury_set_apart(Texts *texts)
{
    const Py_ssize_t total = text_start(texts, texts->count);
    Texts apart = {.count = texts->count};
    /* No text is more than twice as long then, but for the blanks around it. */
    apart.points = PyMem_Calloc((size_t)(total + texts->count) + 1, 2 * sizeof *apart.points);
    apart.ends = PyMem_Calloc((size_t)texts->count + 1, sizeof *apart.ends);
    int failed = !apart.points || !apart.ends;
    if (failed)
        PyErr_NoMemory();
    for (Py_ssize_t n = 0; !failed && n < texts->count; n++) {
        const Py_ssize_t start = text_start(texts, n), into = text_start(&apart, n);
        const Py_ssize_t size =
            set_apart(apart.points + into, texts->points + start, texts->ends[n] - start);
        failed = size < 0;
        apart.ends[n] = into + size;
    }
    spanjury_free_texts(texts);
    *texts = apart;
    return failed ? -1 : 0;
}
