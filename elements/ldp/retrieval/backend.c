/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Retrieves similar pictures on the CPU, with CUDA, or on both. */
#include "config.h"
#include "retrieval/retrieval.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/ldp-cpu.h"
#include "cuvtime.h"
#if HAVE_CUDA
#include "ldp/ldp.h"
#include "ldp/match.h"
#endif

typedef struct {
  const CuvLdpIndexInfo *info;
  size_t max_bytes;
} RetrievalConfig;

/* Without a query, the job replaces the entries; the first n_old stay the same.
 */
typedef struct {
  CuvLdpQuery *query;
  const uint8_t *entries;
  uint64_t n, n_old;
  double *similarities;
} RetrievalJob;

/* ---- on the CPU ---- */

typedef struct {
  const CuvLdpIndexInfo *info;
  CuvLdpMatcher *matcher;
  uint32_t *counts; /* counts of the query */
  uint8_t *packed;  /* counts of each orientation, packed as in the index */
  int n_packed;     /* orientations that fit into packed */
  CuvLdpCpu *descriptor; /* NULL: the GPU describes the query */
} CpuRetrieval;

/* Makes room for the query's orientations. Returns false if out of memory. */
static bool
reserve_packed (CpuRetrieval *self, int orientations)
{
  uint8_t *more;

  if (orientations <= self->n_packed)
    return true;
  more = realloc (
      self->packed, (size_t) orientations * self->info->descriptor_size);
  if (more == NULL)
    return false;
  self->packed = more;
  self->n_packed = orientations;
  return true;
}

static bool
init_retrieval (CpuRetrieval *self, const CuvLdpIndexInfo *info)
{
  const size_t n = cuv_ldp_n_counts (&info->layout);

  self->info = info;
  self->matcher = cuv_ldp_matcher_new (&info->layout);
  self->counts = malloc (n * sizeof *self->counts);
  return self->matcher != NULL && self->counts != NULL
      && reserve_packed (self, 1);
}

static void
clear_retrieval (CpuRetrieval *self)
{
  cuv_ldp_cpu_free (self->descriptor);
  cuv_ldp_matcher_free (self->matcher);
  free (self->counts);
  free (self->packed);
}

static uint8_t *
packed_at (const CpuRetrieval *self, int orientation)
{
  return self->packed + (size_t) orientation * self->info->descriptor_size;
}

/* Packs the counts of an orientation, for which there is room. */
static void
set_query_picture (CpuRetrieval *self, int orientation, const void *counts)
{
  cuv_ldp_convert_counts (&self->info->layout, counts, self->counts);
  cuv_ldp_index_pack (
      &self->info->layout, self->counts, packed_at (self, orientation));
}

/* Compares the query with the entries from `first` on. */
static void
compare_from (
    CpuRetrieval *self, const RetrievalJob *job, uint64_t first, int n_threads)
{
  CuvLdpPackedQuery queries[CUV_LDP_ALL_ORIENTATIONS];
  const int n = job->query->orientations;

  for (int i = 0; i < n; i++)
    queries[i] =
        (CuvLdpPackedQuery){ packed_at (self, i), job->similarities, i > 0 };
  if (first < job->n)
    cuv_ldp_matcher_run (self->matcher, queries, n, job->entries,
        self->info->stride, first, job->n, n_threads);
}

static bool
describe_query (CpuRetrieval *self, const CuvLdpQuery *query, int n_threads)
{
  if (!reserve_packed (self, query->orientations))
    return false;
  for (int i = 0; i < query->orientations; i++) {
    const void *counts = i > 0
        ? cuv_ldp_cpu_run_turned (self->descriptor, i, n_threads)
        : cuv_ldp_cpu_run (
            self->descriptor, &query->frame, &query->rect, n_threads);

    if (counts == NULL)
      return false;
    set_query_picture (self, i, counts);
  }
  return true;
}

static const char *
open_retrieval_cpu (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const RetrievalConfig *config = data;
  CpuRetrieval *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL || !init_retrieval (self, config->info))
    return "out of memory";
  self->descriptor = cuv_ldp_cpu_new (&config->info->layout);
  return self->descriptor != NULL ? NULL : "out of memory";
}

static const char *
run_retrieval_cpu (void *state, void *data, const CuvProcessor *processor)
{
  CpuRetrieval *self = state;
  const RetrievalJob *job = data;
  CuvLdpQuery *query = job->query;
  struct timespec start;

  if (query == NULL)
    return NULL;
  clock_gettime (CLOCK_MONOTONIC, &start);
  if (!describe_query (self, query, processor->n_threads))
    return "out of memory";
  query->describe_us = cuv_microseconds_since (&start);
  compare_from (self, job, 0, processor->n_threads);
  query->n_on_cpu = job->n;
  query->match_us = cuv_microseconds_since (&start);
  return NULL;
}

static void
close_retrieval_cpu (void *state)
{
  clear_retrieval (state);
  free (state);
}

static const CuvBackendClass retrieval_cpu = { open_retrieval_cpu,
  run_retrieval_cpu, close_retrieval_cpu };

/* ---- with CUDA ---- */

#if HAVE_CUDA
/* With share = -1, CPU and GPU are timed one after the other in the first
 * FIRST_TIMED runs and then in every TIMED_EVERY-th; in all others they work at
 * the same time. */
enum { FIRST_TIMED = 3, TIMED_EVERY = 100 };

typedef struct {
  CpuRetrieval cpu;
  CuvLdpCuda *descriptor;
  CuvLdpMatchCuda *match;
  int n_threads;         /* threads of the current run */
  int n_timed;           /* runs that were timed */
  int n_since;           /* runs since the last timed one */
  double cpu_us, gpu_us; /* mean time per entry */
} CudaRetrieval;

static bool
is_timed (CudaRetrieval *self, const RetrievalJob *job)
{
  if (job->query->share >= 0 || job->n < 2
      || (self->n_timed >= FIRST_TIMED && ++self->n_since < TIMED_EVERY))
    return false;
  self->n_timed++;
  self->n_since = 0;
  return true;
}

/* Returns how many entries the GPU compares: if it is r times as fast as the
 * CPU, r / (1 + r) of them. Both get at least one when they are timed. */
static uint64_t
n_on_gpu (const CudaRetrieval *self, const RetrievalJob *job, bool timed)
{
  const uint64_t n = job->n;
  double share = job->query->share;
  uint64_t on_cpu;

  if (share < 0)
    share =
        self->cpu_us > 0 ? self->gpu_us / (self->gpu_us + self->cpu_us) : 0.5;
  on_cpu = (uint64_t) llround ((double) n * fmin (share, 1.0));
  if (timed && on_cpu == 0)
    on_cpu = 1;
  if (timed && on_cpu == n)
    on_cpu = n - 1;
  return n - on_cpu;
}

/* Updates the moving average of the time per entry; the last time has weight
 * 1/2. n > 0. */
static void
update_time (double *mean_us, double us, uint64_t n)
{
  *mean_us = *mean_us > 0 ? (*mean_us + us / (double) n) / 2 : us / (double) n;
}

/* Compares the first n entries on the GPU, the others on the CPU; at the same
 * time unless both are timed. Returns 0 or -1. */
static int
match (CudaRetrieval *self, const RetrievalJob *job, uint64_t n, bool timed,
    void *stream)
{
  struct timespec start;
  double gpu_us;

  clock_gettime (CLOCK_MONOTONIC, &start);
  if (n > 0
      && cuv_ldp_match_cuda_submit (
             self->match, job->query->orientations, (int64_t) n, stream)
          != 0)
    return -1;
  if (timed && cuv_ldp_match_cuda_collect (self->match, job->similarities) != 0)
    return -1;
  gpu_us = cuv_microseconds_since (&start);
  compare_from (&self->cpu, job, n, self->n_threads);
  if (timed) {
    update_time (&self->gpu_us, gpu_us, n);
    update_time (&self->cpu_us, cuv_microseconds_since (&start), job->n - n);
    return 0;
  }
  return n > 0 ? cuv_ldp_match_cuda_collect (self->match, job->similarities)
               : 0;
}

/* Sets an orientation of the query; for_cpu: sets it on the host, too. */
static int
set_orientation (CudaRetrieval *self, const CuvLdpQuery *query, int orientation,
    bool for_cpu, void *stream)
{
  CuvLdpCuda *described = orientation > 0
      ? cuv_ldp_cuda_submit_turned (self->descriptor, orientation)
      : cuv_ldp_cuda_submit (
            self->descriptor, &query->frame, &query->rect, stream)
          == 0
      ? self->descriptor
      : NULL;
  const void *counts;

  if (described == NULL
      || cuv_ldp_match_cuda_set_query (self->match, orientation,
             cuv_ldp_cuda_counts (described),
             cuv_ldp_count_size (&self->cpu.info->layout), stream)
          != 0)
    return -1;
  if (!for_cpu)
    return 0;
  counts = cuv_ldp_cuda_collect (described);
  if (counts == NULL)
    return -1;
  set_query_picture (&self->cpu, orientation, counts);
  return 0;
}

/* Copies the counts to the host only if the CPU compares entries. */
static int
run_query (CudaRetrieval *self, const RetrievalJob *job, void *stream)
{
  CuvLdpQuery *query = job->query;
  const bool timed = is_timed (self, job);
  const uint64_t n = n_on_gpu (self, job, timed);
  struct timespec start;
  int failed;

  clock_gettime (CLOCK_MONOTONIC, &start);
  for (int i = 0; i < query->orientations; i++) {
    if (set_orientation (self, query, i, n < job->n, stream) != 0) {
      cuv_ldp_cuda_wait (self->descriptor); /* the GPU still reads the frame */
      return -1;
    }
  }
  query->describe_us = cuv_microseconds_since (&start);
  failed = job->n > 0 ? match (self, job, n, timed, stream)
                      : cuv_ldp_cuda_wait (self->descriptor);
  query->n_on_cpu = job->n - n;
  query->match_us = cuv_microseconds_since (&start);
  return failed;
}

static const char *
run_retrieval_cuda (void *state, void *data, const CuvProcessor *processor)
{
  CudaRetrieval *self = state;
  const RetrievalJob *job = data;
  int failed;

  self->n_threads = processor->n_threads;
  if (job->query != NULL
      && !reserve_packed (&self->cpu, job->query->orientations))
    return "out of memory";
  failed = job->query != NULL
      ? run_query (self, job, processor->stream)
      : cuv_ldp_match_cuda_set_entries (self->match, job->entries,
          (int64_t) job->n, (int64_t) job->n_old, processor->stream);
  return failed ? cuv_cuda_error () : NULL;
}

static const char *
open_retrieval_cuda (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const RetrievalConfig *config = data;
  CudaRetrieval *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL || !init_retrieval (&self->cpu, config->info))
    return "out of memory";
  self->descriptor = cuv_ldp_cuda_new (&config->info->layout);
  if (self->descriptor != NULL)
    self->match = cuv_ldp_match_cuda_new (
        cuv_ldp_matcher_packed (self->cpu.matcher), config->info->stride,
        config->max_bytes, cuv_ldp_copy_entries, &self->n_threads);
  return self->match != NULL ? NULL : cuv_cuda_error ();
}

static void
close_retrieval_cuda (void *state)
{
  CudaRetrieval *self = state;

  cuv_ldp_match_cuda_free (self->match);
  cuv_ldp_cuda_free (self->descriptor);
  clear_retrieval (&self->cpu);
  free (self);
}

static const CuvBackendClass retrieval_cuda = { open_retrieval_cuda,
  run_retrieval_cuda, close_retrieval_cuda };
static const CuvBackendClasses retrievals = { &retrieval_cpu, &retrieval_cuda };
#else
static const CuvBackendClasses retrievals = { &retrieval_cpu, NULL };
#endif

/* ---- retrieval ---- */

struct _CuvLdpRetrieval {
  const CuvLdpIndex *index;
  size_t max_bytes;
  CuvBackend backend;
  uint64_t n_entries;
  bool failed;                              /* replacing the entries failed */
  double *similarities;                     /* similarity to each entry */
  CuvLdpMatch matches[CUV_LDP_MAX_MATCHES]; /* results of the last query */
};

/* Runs a query of the whole frame, because the first launch loads the
 * kernels. */
static const char *
warm_up (
    CuvLdpRetrieval *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  CuvLdpQuery query = { .frame = *frame,
    .rect = { 0, 0, frame->width, frame->height },
    .k = 1,
    .orientations = CUV_LDP_UPRIGHT };

  return processor->on_device ? cuv_ldp_retrieval_run (self, &query, processor)
                              : NULL;
}

CuvLdpRetrieval *
cuv_ldp_retrieval_new (const CuvLdpIndex *index, uint64_t n, size_t max_bytes,
    const CuvFrame *frame, const CuvProcessor *processor, const char **error)
{
  const RetrievalConfig config = { cuv_ldp_index_info (index), max_bytes };
  CuvLdpRetrieval *self = calloc (1, sizeof *self);

  *error = "out of memory";
  if (self == NULL)
    return NULL;
  self->index = index;
  self->max_bytes = max_bytes;
  *error =
      cuv_backend_open (&self->backend, &retrievals, &config, frame, processor);
  if (*error == NULL)
    *error = cuv_ldp_retrieval_set_entries (self, n, processor);
  if (*error == NULL)
    *error = warm_up (self, frame, processor);
  if (*error == NULL)
    return self;
  cuv_ldp_retrieval_free (self);
  return NULL;
}

void
cuv_ldp_retrieval_free (CuvLdpRetrieval *self)
{
  if (self == NULL)
    return;
  cuv_backend_close (&self->backend);
  free (self->similarities);
  free (self);
}

bool
cuv_ldp_retrieval_matches (const CuvLdpRetrieval *self,
    const CuvLdpIndex *index, size_t max_bytes, const CuvProcessor *processor)
{
  return self != NULL && !self->failed && self->index == index
      && self->max_bytes == max_bytes
      && self->backend.on_device == processor->on_device;
}

static const char *
run_job (CuvLdpRetrieval *self, CuvLdpQuery *query, uint64_t n,
    const CuvProcessor *processor)
{
  RetrievalJob job = { query, cuv_ldp_index_descriptor (self->index, 0), n,
    self->n_entries, self->similarities };

  return cuv_backend_run (&self->backend, &job, processor);
}

const char *
cuv_ldp_retrieval_set_entries (
    CuvLdpRetrieval *self, uint64_t n, const CuvProcessor *processor)
{
  double *more = realloc (self->similarities, (n + 1) * sizeof *more);
  const char *error;

  if (more != NULL)
    self->similarities = more;
  error = run_job (self, NULL, more != NULL ? n : 0, processor);
  if (error == NULL && more == NULL)
    error = "out of memory";
  self->n_entries = error == NULL ? n : 0;
  self->failed = error != NULL;
  return error;
}

const char *
cuv_ldp_retrieval_run (
    CuvLdpRetrieval *self, CuvLdpQuery *query, const CuvProcessor *processor)
{
  const char *error = run_job (self, query, self->n_entries, processor);

  if (error != NULL)
    return error;
  query->matches = self->matches;
  query->n_matches = (int) cuv_ldp_best (self->similarities, self->n_entries,
      query->threshold, (size_t) query->k, self->matches);
  return NULL;
}
