/* Texts as code points, and the functions of the module `kernels`. */

#ifndef SPANJURY_KERNELS_H
#define SPANJURY_KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>

/* Texts one after another: text n is [ends[n - 1], ends[n]), the first one begins at 0. */
typedef struct {
    uint32_t *points;
    Py_ssize_t *ends;
    Py_ssize_t count;
} Texts;

static inline Py_ssize_t text_start(const Texts *texts, Py_ssize_t n)
{
    return n ? texts->ends[n - 1] : 0;
}

/* Copy texts of a list, from one place up to another; -1 and an exception if that fails. In any
   case they are to be freed. */
int spanjury_read_texts(PyObject *list, Py_ssize_t from, Py_ssize_t to, Texts *texts);
void spanjury_free_texts(Texts *texts);

/* Put texts as _spaced in eed.py leaves them in their place; -1 and an exception if that fails. */
int spanjury_set_apart(Texts *texts);

/* Whether str.split splits at a character. */
static inline int spanjury_is_space(uint32_t point)
{
    if (point < 0x80)
        return point == ' ' || (point >= 0x09 && point <= 0x0d) || (point >= 0x1c && point <= 0x1f);
    return point == 0x85 || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000;
}

PyObject *spanjury_eed_costs(PyObject *module, PyObject *args);
PyObject *spanjury_character_edits(PyObject *module, PyObject *args);

#endif
