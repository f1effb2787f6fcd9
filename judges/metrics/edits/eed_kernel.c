/* EED: the cost of reading outputs as their references, and how often places are missed. */

#include "kernels.h"
#include <string.h>
#ifdef __GNUC__ /* and clang; elsewhere one pair is compared at a time */
#define HAS_VECTORS
#if defined(__x86_64__) && !defined(_WIN32) /* the processor is asked as the program runs */
#define HAS_AVX2
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
#endif

#define AT_ONCE 64 /* pairs that are copied */
#define MOST_LANES 16
#define WIDE_LANES 4
#define ALIGNED 32 /* bytes of a vector */
#define EFFORT 2.0 /* times as long a bundle takes, at most, as one pair of its extent */

typedef struct {
    int64_t edit, jump, deletion, insertion;
} EedCosts;

typedef struct {
    const uint32_t *output, *reference;
    Py_ssize_t output_size, reference_size;
    int is_wide; /* has characters or costs that 16 bits do not hold */
} Pair;

typedef struct {
    int64_t cost, missed;
} EedResult;

static int32_t lower(int32_t one, int32_t other)
{
    return one < other ? one : other;
}

static int64_t missed(uint32_t visits)
{
    return visits ? (int64_t)visits - 1 : 1;
}

/* Compare one pair. Of each place of the output `above` holds the least cost of reading up to
   it as the reference's characters so far; a jump lowers all of them to `clip` when a row is
   read again. */
static void compare_single(const Pair *pair, const EedCosts *costs, void *scratch,
                           EedResult *result)
{
    const int32_t edit = (int32_t)costs->edit, deletion = (int32_t)costs->deletion;
    const int32_t insertion = (int32_t)costs->insertion;
    const Py_ssize_t size = pair->output_size;
    int32_t *above = scratch, clip = INT32_MAX;
    uint32_t *visits = (uint32_t *)(above + size + 1);
    memset(scratch, 0, ((size_t)size + 1) * (sizeof *above + sizeof *visits));
    for (Py_ssize_t at = 1; at <= size; at++)
        above[at] = edit;
    for (Py_ssize_t row = 0; row < pair->reference_size; row++) {
        const uint32_t sign = pair->reference[row];
        Py_ssize_t nearest = 0;
        int32_t corner = lower(above[0], clip), left = corner + edit, least = left;
        above[0] = left;
        for (Py_ssize_t at = 1; at <= size; at++) {
            const int32_t up = lower(above[at], clip);
            const int32_t changed = corner + (pair->output[at - 1] == sign ? 0 : edit);
            left = lower(lower(changed, up + insertion), left + deletion);
            above[at] = left;
            corner = up;
            nearest = left < least ? at : nearest;
            least = lower(left, least);
        }
        visits[nearest]++;
        clip = sign == ' ' ? least + (int32_t)costs->jump : INT32_MAX;
    }
    result->cost = lower(above[size], clip);
    for (Py_ssize_t at = 0; at <= size; at++)
        result->missed += missed(visits[at]);
}

typedef struct {
    Py_ssize_t longest, shortest, rows; /* outputs, and the longest reference */
} Extent;

static Extent extent_of(const Pair *pairs, int used)
{
    Extent extent = {pairs->output_size, pairs->output_size, pairs->reference_size};
    for (const Pair *pair = pairs + 1; pair < pairs + used; pair++) {
        if (pair->output_size > extent.longest)
            extent.longest = pair->output_size;
        if (pair->output_size < extent.shortest)
            extent.shortest = pair->output_size;
        if (pair->reference_size > extent.rows)
            extent.rows = pair->reference_size;
    }
    return extent;
}

#ifdef HAS_VECTORS
#define BUNDLE compare_narrow
#define CELL int16_t
#define LANES 8
#define TARGET
#ifdef __SSE2__
#define MINIMUM(one, other) (VECTOR) _mm_min_epi16((__m128i)(one), (__m128i)(other))
#endif
#include "eed_lanes.h"

#define BUNDLE compare_wide
#define CELL int32_t
#define LANES WIDE_LANES
#define TARGET
#include "eed_lanes.h"
#endif

#ifdef HAS_AVX2
#define BUNDLE compare_narrow_avx2
#define CELL int16_t
#define LANES 16
#define TARGET __attribute__((target("avx2")))
#define MINIMUM(one, other) (VECTOR) _mm256_min_epi16((__m256i)(one), (__m256i)(other))
#include "eed_lanes.h"
#endif

/* Return how many pairs are compared at once where 16 bits are enough. */
static int narrow_lanes(void)
{
#ifdef HAS_AVX2
    if (__builtin_cpu_supports("avx2"))
        return 16;
#endif
    return 8;
}

static int64_t larger(int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/* What no cost of a pair in a bundle with such lengths exceeds, nor any sum on the way there. */
static int64_t highest_cost(const EedCosts *costs, Py_ssize_t longest, Py_ssize_t rows)
{
    const int64_t dearest = larger(larger(costs->edit, costs->insertion), costs->deletion);
    return larger(costs->jump + dearest * ((int64_t)rows + 3), (int64_t)longest + 1);
}

static int is_wide(const Pair *pair, const EedCosts *costs)
{
    uint32_t bits = 0;
    for (Py_ssize_t at = 0; at < pair->output_size; at++)
        bits |= pair->output[at];
    for (Py_ssize_t at = 0; at < pair->reference_size; at++)
        bits |= pair->reference[at];
    return bits > UINT16_MAX ||
           highest_cost(costs, pair->output_size, pair->reference_size) > INT16_MAX;
}

/* Return how many of the pairs are compared at once, the first one among them. */
static int bundled(const Pair *pairs, Py_ssize_t count)
{
#ifdef HAS_VECTORS
    const int lanes = pairs->is_wide ? WIDE_LANES : narrow_lanes();
    double cells = 0.0;
    int used = 0;
    for (; used < lanes && used < count && pairs[used].is_wide == pairs->is_wide; used++)
        cells += (double)pairs[used].output_size * (double)pairs[used].reference_size;
    const Extent extent = extent_of(pairs, used);
    return EFFORT * (double)extent.longest * (double)extent.rows < cells ? used : 1;
#else
    (void)pairs, (void)count;
    return 1;
#endif
}

static void compare(const Pair *pairs, int used, const EedCosts *costs, void *scratch,
                    EedResult *results)
{
    if (used == 1)
        compare_single(pairs, costs, scratch, results);
#ifdef HAS_VECTORS
    else if (pairs->is_wide)
        compare_wide(pairs, used, costs, scratch, results);
#ifdef HAS_AVX2
    else if (narrow_lanes() == 16)
        compare_narrow_avx2(pairs, used, costs, scratch, results);
#endif
    else
        compare_narrow(pairs, used, costs, scratch, results);
#endif
}

static int compared(const Pair *pairs, int used, const EedCosts *costs, EedResult *results)
{
    const int is_narrow = used > 1 && !pairs->is_wide;
    const size_t lanes = used == 1 ? 1 : is_narrow ? (size_t)narrow_lanes() : WIDE_LANES;
    /* Of each place and lane a cost, a character and a count of visits. */
    const size_t each = sizeof(uint32_t) + 2 * (is_narrow ? sizeof(int16_t) : sizeof(int32_t));
    const size_t places = (size_t)extent_of(pairs, used).longest + 1;
    char *memory = PyMem_Malloc(places * lanes * each + ALIGNED);
    if (!memory) {
        PyErr_NoMemory();
        return -1;
    }
    void *scratch = memory + (ALIGNED - (uintptr_t)memory % ALIGNED);
    Py_BEGIN_ALLOW_THREADS
    compare(pairs, used, costs, scratch, results);
    Py_END_ALLOW_THREADS
    PyMem_Free(memory);
    return PyErr_CheckSignals();
}

static int append(PyObject *list, const EedResult *result, const Pair *pair)
{
    PyObject *entry = Py_BuildValue("(LLn)", (long long)result->cost, (long long)result->missed,
                                    pair->reference_size);
    const int failed = !entry || PyList_Append(list, entry) < 0;
    Py_XDECREF(entry);
    return failed ? -1 : 0;
}

/* Look at pairs of texts; -1 and an exception if their costs are too high to be counted. */
static int set_pairs(Pair *pairs, const Texts *outputs, const Texts *references,
                     const EedCosts *costs)
{
    for (Py_ssize_t n = 0; n < outputs->count; n++) {
        const Py_ssize_t ours = text_start(outputs, n), theirs = text_start(references, n);
        pairs[n] = (Pair){
            .output = outputs->points + ours,
            .reference = references->points + theirs,
            .output_size = outputs->ends[n] - ours,
            .reference_size = references->ends[n] - theirs,
        };
        if (highest_cost(costs, pairs[n].output_size, pairs[n].reference_size) > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "the costs are too high for texts as long");
            return -1;
        }
        pairs[n].is_wide = is_wide(pairs + n, costs);
    }
    return 0;
}

/* Append to a list what comes out for a few pairs; -1 and an exception if that fails. */
static int compare_texts(PyObject *found, const Texts *outputs, const Texts *references,
                         const EedCosts *costs)
{
    Pair pairs[AT_ONCE];
    if (set_pairs(pairs, outputs, references, costs) < 0)
        return -1;
    for (Py_ssize_t n = 0; n < outputs->count;) {
        EedResult results[MOST_LANES] = {{0, 0}};
        const int used = bundled(pairs + n, outputs->count - n);
        if (compared(pairs + n, used, costs, results) < 0)
            return -1;
        for (int lane = 0; lane < used; lane++)
            if (append(found, results + lane, pairs + n + lane) < 0)
                return -1;
        n += used;
    }
    return 0;
}

static PyObject *compare_lists(PyObject *outputs, PyObject *references, const EedCosts *costs)
{
    const Py_ssize_t count = PyList_Size(outputs);
    PyObject *found = PyList_New(0);
    for (Py_ssize_t from = 0; found && from < count; from += AT_ONCE) {
        const Py_ssize_t to = count - from < AT_ONCE ? count : from + AT_ONCE;
        Texts ours = {0}, theirs = {0};
        if (spanjury_read_texts(outputs, from, to, &ours) < 0 ||
            spanjury_read_texts(references, from, to, &theirs) < 0 ||
            spanjury_set_apart(&ours) < 0 || spanjury_set_apart(&theirs) < 0 ||
            compare_texts(found, &ours, &theirs, costs) < 0)
            Py_CLEAR(found);
        spanjury_free_texts(&ours);
        spanjury_free_texts(&theirs);
    }
    return found;
}

PyObject *spanjury_eed_costs(PyObject *module, PyObject *args)
{
    PyObject *outputs, *references;
    int edit, jump, deletion, insertion;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!(iiii):eed_costs", &PyList_Type, &outputs, &PyList_Type,
                          &references, &edit, &jump, &deletion, &insertion))
        return NULL;
    if (edit < 0 || jump < 0 || deletion < 0 || insertion < 0) {
        PyErr_SetString(PyExc_ValueError, "costs are not negative");
        return NULL;
    }
    if (PyList_Size(outputs) != PyList_Size(references)) {
        PyErr_SetString(PyExc_ValueError, "each output has one reference");
        return NULL;
    }
    const EedCosts costs = {edit, jump, deletion, insertion};
    return compare_lists(outputs, references, &costs);
}
