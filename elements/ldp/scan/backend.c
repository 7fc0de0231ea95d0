/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares packed descriptors with a part of an index, on the CPU or with CUDA.
 */
#include "config.h"
#include "scan/scan.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cpu/ldp-match.h"

typedef struct {
  const CuvLdpIndexInfo *info;
  const uint8_t *entries;
  uint64_t n;
  size_t max_bytes;
} Config;

typedef struct {
  const CuvLdpPackedQuery *queries;
  int n_queries;
} Job;

/* ---- CPU ---- */

/* The first n_copied descriptors are copied, without names and thumbnails
 * between them: the copies are up to four times as fast to read as the mapped
 * file. */
typedef struct {
  Config config;
  CuvLdpMatcher *matcher;
  uint8_t *copy;
  size_t pitch; /* bytes from one of the copies to the next */
  uint64_t n_copied;
} Cpu;

enum { HUGE_PAGE = 2 << 20, ALIGNMENT = 64 };

static size_t
align (size_t bytes, size_t to)
{
  return (bytes + to - 1) / to * to;
}

/* Removes the file's pages from the process's memory; the system keeps them as
 * long as there is room. */
static void
drop_pages (const Cpu *self)
{
  const size_t page = (size_t) sysconf (_SC_PAGESIZE);
  const uintptr_t from = align ((uintptr_t) self->config.entries, page);
  const uintptr_t to = (uintptr_t) (self->config.entries
                           + self->n_copied * self->config.info->stride)
      / page * page;

  if (to > from)
    madvise ((void *) from, to - from, MADV_DONTNEED);
}

/* Allocates in pages of 2 MiB where these are filled, so that many small files
 * take no more memory than their size. */
static uint8_t *
ldp_scan_allocate (size_t bytes)
{
  const size_t in_huge_pages = bytes / HUGE_PAGE * HUGE_PAGE;
  void *memory;

  if (posix_memalign (&memory, in_huge_pages > 0 ? HUGE_PAGE : ALIGNMENT, bytes)
      != 0)
    return NULL;
  if (in_huge_pages > 0)
    madvise (memory, in_huge_pages, MADV_HUGEPAGE);
  return memory;
}

/* Copies descriptors out of the file; none if memory runs out. */
static void
copy_entries (Cpu *self, int n_threads)
{
  const Config *config = &self->config;
  const size_t size = config->info->descriptor_size;

  self->pitch = align (size, ALIGNMENT);
  self->n_copied = config->max_bytes / self->pitch;
  if (self->n_copied > config->n)
    self->n_copied = config->n;
  if (self->n_copied > 0)
    self->copy = ldp_scan_allocate (self->n_copied * self->pitch);
  if (self->copy == NULL) {
    self->n_copied = 0;
    return;
  }
  cuv_ldp_copy_entries (&n_threads, self->copy, self->pitch, config->entries,
      config->info->stride, size, (int64_t) self->n_copied);
  drop_pages (self);
}

static const char *
ldp_scan_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  Cpu *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL)
    return "out of memory";
  self->config = *(const Config *) config;
  self->matcher = cuv_ldp_matcher_new (&self->config.info->layout);
  if (self->matcher == NULL)
    return "out of memory";
  copy_entries (self, processor->n_threads);
  return NULL;
}

static const char *
ldp_scan_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  Cpu *self = state;
  const Job *job = data;
  const Config *config = &self->config;

  cuv_ldp_matcher_run (self->matcher, job->queries, job->n_queries, self->copy,
      self->pitch, 0, self->n_copied, processor->n_threads);
  cuv_ldp_matcher_run (self->matcher, job->queries, job->n_queries,
      config->entries, config->info->stride, self->n_copied, config->n,
      processor->n_threads);
  return NULL;
}

static void
ldp_scan_close_cpu (void *state)
{
  Cpu *self = state;

  cuv_ldp_matcher_free (self->matcher);
  free (self->copy);
  free (self);
}

static const CuvBackendClass cpu = { ldp_scan_open_cpu, ldp_scan_run_cpu,
  ldp_scan_close_cpu };

/* ---- CUDA ---- */

#if HAVE_CUDA
#include "ldp/match.h"

typedef struct {
  CuvLdpMatcher *matcher; /* only its weights are used */
  CuvLdpMatchCuda *match;
  int64_t n;
  int n_threads; /* threads that copy entries that do not fit in device memory
                  */
} Cuda;

/* Runs a query, because the first one loads the kernels. */
static const char *
prepare (Cuda *self, const Config *config, const CuvProcessor *processor)
{
  double similarity;

  self->n = (int64_t) config->n;
  self->n_threads = processor->n_threads;
  self->match = cuv_ldp_match_cuda_new (cuv_ldp_matcher_packed (self->matcher),
      config->info->stride, config->max_bytes, cuv_ldp_copy_entries,
      &self->n_threads);
  if (self->match == NULL
      || cuv_ldp_match_cuda_set_entries (
             self->match, config->entries, self->n, 0, processor->stream)
          != 0
      || cuv_ldp_match_cuda_submit_packed (
             self->match, config->entries, 1, processor->stream)
          != 0
      || cuv_ldp_match_cuda_collect (self->match, &similarity) != 0)
    return cuv_cuda_error ();
  return NULL;
}

static const char *
ldp_scan_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  Cuda *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL)
    return "out of memory";
  self->matcher =
      cuv_ldp_matcher_new (&((const Config *) config)->info->layout);
  return self->matcher != NULL ? prepare (self, config, processor)
                               : "out of memory";
}

/* Sets a query and the variants that follow it, at most n. Returns how many
 * were set, or -1. */
static int
set_queries (Cuda *self, const CuvLdpPackedQuery *queries, int n,
    const CuvProcessor *processor)
{
  int i = 0;

  do {
    if (cuv_ldp_match_cuda_set_packed (
            self->match, i, queries[i].packed, processor->stream)
        != 0)
      return -1;
  } while (++i < n && queries[i].is_variant);
  return i;
}

static const char *
ldp_scan_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  Cuda *self = state;
  const Job *job = data;

  self->n_threads = processor->n_threads;
  for (int i = 0; i < job->n_queries;) {
    const CuvLdpPackedQuery *query = &job->queries[i];
    const int n = set_queries (self, query, job->n_queries - i, processor);

    if (n < 0
        || cuv_ldp_match_cuda_submit (
               self->match, n, self->n, processor->stream)
            != 0
        || cuv_ldp_match_cuda_collect (self->match, query->similarities) != 0)
      return cuv_cuda_error ();
    i += n;
  }
  return NULL;
}

static void
ldp_scan_close_cuda (void *state)
{
  Cuda *self = state;

  cuv_ldp_match_cuda_free (self->match);
  cuv_ldp_matcher_free (self->matcher);
  free (self);
}

static const CuvBackendClass cuda = { ldp_scan_open_cuda, ldp_scan_run_cuda,
  ldp_scan_close_cuda };
static const CuvBackendClasses classes = { &cpu, &cuda };

const char *
cuv_ldp_scan_probe_cuda (void)
{
  return cuv_cuda_probe () == 0 ? NULL : cuv_cuda_error ();
}

const char *
cuv_ldp_scan_set_device (int number, int *n_devices)
{
  *n_devices = cuv_cuda_set_device (number);
  return *n_devices > 0 ? NULL : cuv_cuda_error ();
}

size_t
cuv_ldp_scan_free_memory (void)
{
  return cuv_cuda_free_memory ();
}
#else
static const CuvBackendClasses classes = { &cpu, NULL };

const char *
cuv_ldp_scan_probe_cuda (void)
{
  return "this build has no CUDA kernels";
}

const char *
cuv_ldp_scan_set_device (int number, int *n_devices)
{
  *n_devices = 0;
  return cuv_ldp_scan_probe_cuda ();
}

size_t
cuv_ldp_scan_free_memory (void)
{
  return 0;
}
#endif

/* ---- CPU or CUDA ---- */

struct _CuvLdpScan {
  CuvBackend backend;
};

CuvLdpScan *
cuv_ldp_scan_new (const CuvLdpIndex *index, uint64_t first, uint64_t n,
    size_t max_bytes, const CuvProcessor *processor, const char **error)
{
  const Config config = { cuv_ldp_index_info (index),
    cuv_ldp_index_descriptor (index, first), n, max_bytes };
  CuvLdpScan *self = calloc (1, sizeof *self);

  *error = self != NULL
      ? cuv_backend_open (&self->backend, &classes, &config, NULL, processor)
      : "out of memory";
  if (*error == NULL)
    return self;
  cuv_ldp_scan_free (self);
  return NULL;
}

void
cuv_ldp_scan_free (CuvLdpScan *self)
{
  if (self == NULL)
    return;
  cuv_backend_close (&self->backend);
  free (self);
}

const char *
cuv_ldp_scan_run (CuvLdpScan *self, const CuvLdpPackedQuery *queries,
    int n_queries, const CuvProcessor *processor)
{
  Job job = { queries, n_queries };

  return cuv_backend_run (&self->backend, &job, processor);
}
