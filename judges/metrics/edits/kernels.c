/* The module `kernels`: what takes longest in EED and CharacTER, in C.

   It is optional: native.py says what its functions promise, and who calls them has the same
   values without it. Only Python's limited interface is used, so that one wheel serves all
   versions. Nothing of Python is touched while the interpreter's lock is released. */

#include "kernels.h"

static int measure(PyObject *list, Py_ssize_t from, Texts *texts)
{
    const Py_ssize_t most = PY_SSIZE_T_MAX / (Py_ssize_t)sizeof *texts->points - 1;
    Py_ssize_t total = 0;
    for (Py_ssize_t n = 0; n < texts->count; n++) {
        PyObject *text = PyList_GetItem(list, from + n);
        const Py_ssize_t size = text ? PyUnicode_GetLength(text) : -1;
        if (size < 0)
            return -1;
        if (size > most - total) {
            PyErr_NoMemory();
            return -1;
        }
        texts->ends[n] = total += size;
    }
    return 0;
}

int spanjury_read_texts(PyObject *list, Py_ssize_t from, Py_ssize_t to, Texts *texts)
{
    *texts = (Texts){.count = to - from};
    texts->ends = PyMem_Calloc((size_t)texts->count + 1, sizeof *texts->ends);
    if (!texts->ends) {
        PyErr_NoMemory();
        return -1;
    }
    if (measure(list, from, texts) < 0)
        return -1;
    const Py_ssize_t total = text_start(texts, texts->count);
    texts->points = PyMem_Calloc((size_t)total + 1, sizeof *texts->points);
    if (!texts->points) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t n = 0; n < texts->count; n++) {
        const Py_ssize_t start = text_start(texts, n), size = texts->ends[n] - start;
        if (size && !PyUnicode_AsUCS4(PyList_GetItem(list, from + n), texts->points + start, size, 0))
            return -1;
    }
    return 0;
}

void spanjury_free_texts(Texts *texts)
{
    PyMem_Free(texts->points);
    PyMem_Free(texts->ends);
}

static PyMethodDef functions[] = {
    {"eed_costs", spanjury_eed_costs, METH_VARARGS, NULL},
    {"character_edits", spanjury_character_edits, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kernels",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit_kernels(void)
{
    return PyModuleDef_Init(&definition);
}
