/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the versions of an algorithm and times them, in one program.
 *
 * cuvcheck.c           parts of a program, checks, frames
 * cuvcheck-versions.c  C, SIMD and CUDA in one loop, device memory, times
 * cuvhooks.c           functions that the libraries call: cuvhooks.h */
#ifndef CUV_CHECK_H
#define CUV_CHECK_H

#include "config.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cuv-frame.h"
#include "cuvhooks.h"

/* Options of the command line. */
typedef struct {
  bool cpu, cuda, bench;
  bool few; /* CUV_CHECK_FEW is set, for emulators and valgrind: fewer cases,
             * and benchmarks on the CPU run once, to count instructions */
  uint64_t seed;
} CuvCheckOptions;
extern CuvCheckOptions cuv_check_options;

/* A program consists of checks, CUV_CHECKS_CPU (name) { ... } and so on, and
 * benchmarks. The main() of this folder runs the checks or, with --bench, the
 * benchmarks of the processor that the command line names, --cpu or --cuda, in
 * the order of their definition, and each with the same random numbers. */
typedef struct _CuvCheckPart CuvCheckPart;
struct _CuvCheckPart {
  const char *name;
  void (*run) (void);
  bool cpu, cuda, bench;
  CuvCheckPart *next;
};
void cuv_check_register (CuvCheckPart *part);

/* Parses --cpu, --cuda, --bench, --seed N, --only PART, runs the parts, prints
 * "N passed, N failed" and returns the exit status; 77 for --cuda without a
 * device. */
int cuv_check_main (int argc, char **argv);

#define CUV_CHECKS(name) CUV_CHECK_PART (name, true, true, false)
#define CUV_CHECKS_CPU(name) CUV_CHECK_PART (name, true, false, false)
#define CUV_CHECKS_CUDA(name) CUV_CHECK_PART (name, false, true, false)
#define CUV_BENCH(name) CUV_CHECK_PART (name, true, true, true)
#define CUV_BENCH_CPU(name) CUV_CHECK_PART (name, true, false, true)
#define CUV_BENCH_CUDA(name) CUV_CHECK_PART (name, false, true, true)

#define CUV_CHECK_PART(name, cpu, cuda, bench)                                 \
  static void name (void);                                                     \
  static void __attribute__ ((constructor)) register_##name (void)             \
  {                                                                            \
    static CuvCheckPart part = { #name, name, cpu, cuda, bench, NULL };        \
                                                                               \
    cuv_check_register (&part);                                                \
  }                                                                            \
  static void name (void)

/* Names the case that the next checks belong to; printed when one fails. */
void cuv_check_case (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* Counts a check. If it fails, prints the case, the seed, the condition and the
 * text, which begins with ": ". */
#define CUV_CHECK(condition, ...)                                              \
  cuv_check_that ((condition), __FILE__, __LINE__, #condition " " __VA_ARGS__)
bool cuv_check_that (bool ok, const char *file, int line, const char *format,
    ...) __attribute__ ((format (printf, 4, 5)));

/* ---- versions ---- */

/* A version of an algorithm, to compare with the C reference: C and SIMD with
 * --cpu, the GPU with --cuda. A family selects C or SIMD when it is opened.
 * Checks and benchmarks have one body for all versions. */
typedef struct {
  const char *name; /* "C", "SIMD" or "CUDA"; NULL before the first */
  int n_threads;    /* random, for the CPU; 0: one per processor */
} CuvCheckVersion;

/* for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) */
bool cuv_check_next (CuvCheckVersion *self);
enum { CUV_CHECK_MAX_VERSIONS = 2 };

/* Evaluates `gpu` with --cuda, otherwise `other`. A build without CUDA compiles
 * only `other`. */
#if HAVE_CUDA
#define CUV_CHECK_ON(gpu, other) (cuv_check_options.cuda ? (gpu) : (other))
#else
#define CUV_CHECK_ON(gpu, other) (other)
#endif

/* Evaluates `gpu` with --cuda, and checks that it is 0; otherwise `other`. */
#define CUV_CHECK_RUN(gpu, other)                                              \
  CUV_CHECK (CUV_CHECK_ON ((gpu) == 0, ((void) (other), true)), ": %s",        \
      cuv_check_error ())

/* Returns whether kernels are emulated, which makes them slow: tests then omit
 * most large inputs. */
bool cuv_check_is_emulated (void);

/* Returns why a call failed: on the GPU the text of cuv_cuda_error(). */
const char *cuv_check_error (void);

/* ---- inputs ---- */

/* Return random numbers, reproducible from the seed. */
uint32_t cuv_check_random (void);
uint32_t cuv_check_below (uint32_t n);

typedef enum {
  CUV_CHECK_NOISE,   /* independent bytes */
  CUV_CHECK_BLACK,   /* all 0 */
  CUV_CHECK_WHITE,   /* all 255 */
  CUV_CHECK_TEXTURE, /* noise in several octaves: like a photograph */
  CUV_CHECK_N_FILLS,
} CuvCheckFill;

/* The formats that frames come in; the names are GStreamer's. */
extern const char *const cuv_check_formats[];

/* A frame in host memory with padded rows and guard bytes around its planes. */
typedef struct {
  CuvFrame frame;
  uint8_t *memory;
  size_t size;
} CuvCheckFrame;

CuvCheckFrame cuv_check_frame_new (
    const char *format, int width, int height, CuvCheckFill fill);

CuvCheckFrame cuv_check_frame_copy (const CuvCheckFrame *self);

/* Returns the input of --bench: the binary PGM file that CUV_BENCH_PICTURE
 * names, or a texture of 1920 x 1080 pixels. */
CuvCheckFrame cuv_check_bench_picture (void);

/* Reads the pixels of a grey picture; free() them. Fails a check and returns
 * NULL if the file is not a binary 8-bit PGM. */
uint8_t *cuv_check_read_pgm (const char *path, int *width, int *height);

/* Returns whether the bytes outside the pixels are unchanged. */
bool cuv_check_guards_intact (const CuvCheckFrame *self);
void cuv_check_frame_free (CuvCheckFrame *self);

/* Returns the frame as a version reads it: with --cuda a copy in device memory,
 * which cuv_check_take_back() copies back and frees, and
 * cuv_check_device_free() only frees; otherwise the frame itself, with *memory
 * NULL. All copies to the device may still be under way on cuv_check_stream
 * when a function returns: work on other streams has to wait for them. */
CuvFrame cuv_check_lend (const CuvCheckFrame *self, void **memory);
void cuv_check_take_back (CuvCheckFrame *self, void *memory);

/* Like cuv_check_lend(), for size bytes of other data. */
void *cuv_check_lend_data (const void *data, size_t size, void **memory);

/* Copies all bytes of a frame to new device memory. Chooses at random whether
 * the GPU seems to be busy, unless something is timed. */
CuvFrame cuv_check_to_device (const CuvCheckFrame *self, void **memory);
void cuv_check_device_free (void *memory); /* NULL is allowed */

/* cuv_check_upload() copies bytes to new device memory; free that with
 * cuv_check_device_free(). cuv_check_download() copies bytes back. */
void *cuv_check_upload (const void *data, size_t size);
void cuv_check_download (void *data, const void *memory, size_t size);
void *cuv_check_pinned_new (size_t size);
void cuv_check_pinned_free (void *memory);
extern void *cuv_check_stream; /* for all parts; NULL without --cuda */
void *cuv_check_stream_new (void);
void cuv_check_stream_free (void *stream);
void cuv_check_stream_wait (void *stream);

/* Returns whether --bench times this shape: if CUV_BENCH_SHAPE names it or is
 * unset. */
bool cuv_check_wants (const char *shape);

/* Return the median time of func in microseconds, for --bench. Device work is
 * timed by events on the stream: cuv_check_time_device() times single calls,
 * including launch latency, cuv_check_time_stream() queued calls. */
double cuv_check_time (void (*func) (void *data), void *data);
double cuv_check_time_device (
    void (*func) (void *data), void *data, void *stream);
double cuv_check_time_stream (
    void (*func) (void *data), void *data, void *stream);

/* Prints one line of JSON: name, microseconds, ns per pixel and, if bytes > 0,
 * GB/s. */
void cuv_check_report (double microseconds, double pixels, double bytes,
    const char *name, ...) __attribute__ ((format (printf, 4, 5)));

/* Times func and reports the time: with --cuda by cuv_check_time_device(), for
 * which func queues work on cuv_check_stream, otherwise by cuv_check_time(). */
void cuv_check_bench (void (*func) (void *data), void *data, double pixels,
    double bytes, const char *name, ...)
    __attribute__ ((format (printf, 5, 6)));

#endif
