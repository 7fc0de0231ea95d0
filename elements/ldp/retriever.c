/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "retriever.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#if HAVE_CUDA
#include "ldp/ldp.h"
#include "ldp/match.h"
#endif

/* Both halves are timed one after the other in the first runs in which the CPU
 * is to help as much as it can, and in one of so many. */
enum { FIRST_TIMED = 3, TIMED_EVERY = 100 };

struct _CuvRetriever {
  CuvLdpIndex *index;
  size_t max_bytes;
  CuvDescriber *describer;
  CuvLdpMatcher *matcher;
  struct _CuvLdpMatchCuda *cuda;
  uint32_t *counts; /* the query's, */
  uint8_t *query;   /* and packed */
  uint64_t n_entries;
  double *similarities;
  CuvLdpMatch *matches; /* room for max_matches */
  int max_matches;
  int n_threads;         /* of a run */
  int n_timed, n_since;  /* runs that were timed, and since the last */
  double cpu_us, gpu_us; /* for an entry */
};

static double
now_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static const CuvLdpIndexInfo *
info_of (const CuvRetriever *self)
{
  return cuv_ldp_index_info (self->index);
}

/* ---- new and free ---- */

static bool
init_memory (CuvRetriever *self)
{
  const CuvLdpLayout *layout = &info_of (self)->layout;

  self->matcher = cuv_ldp_matcher_new (layout);
  self->counts = malloc (cuv_ldp_n_counts (layout) * sizeof *self->counts);
  self->query = malloc (info_of (self)->descriptor_size);
  return self->matcher != NULL && self->counts != NULL && self->query != NULL;
}

#if HAVE_CUDA
static const char *
open_cuda (CuvRetriever *self)
{
  self->cuda = cuv_ldp_match_cuda_new (cuv_ldp_matcher_packed (self->matcher),
      info_of (self)->stride, self->max_bytes, cuv_ldp_copy_entries,
      &self->n_threads);
  return self->cuda != NULL ? NULL : cuv_cuda_error ();
}
#endif

/* The first launch loads the kernels. */
static const char *
warm_up (CuvRetriever *self, const CuvFrame *frame, void *stream)
{
  const CuvLdpRect all = { 0, 0, frame->width, frame->height };
  const CuvRetrieval how = { .k = 1 };
  CuvRetrieved retrieved;

  return cuv_retriever_run (self, frame, &all, &how, stream, 0, &retrieved);
}

static const char *
open_retriever (CuvRetriever *self, uint64_t n, const CuvFrame *frame,
    bool on_device, void *stream)
{
  const char *problem = NULL;

  if (!init_memory (self))
    return "out of memory";
  self->describer = cuv_describer_new (
      &info_of (self)->layout, frame, on_device, stream, &problem);
#if HAVE_CUDA
  if (problem == NULL && on_device)
    problem = open_cuda (self);
#endif
  if (problem == NULL)
    problem = cuv_retriever_set_entries (self, n, stream);
  return problem != NULL || !on_device ? problem
                                       : warm_up (self, frame, stream);
}

CuvRetriever *
cuv_retriever_new (CuvLdpIndex *index, uint64_t n, const CuvFrame *frame,
    bool on_device, size_t max_bytes, void *stream, const char **problem)
{
  CuvRetriever *self = calloc (1, sizeof *self);

  *problem = "out of memory";
  if (self == NULL)
    return NULL;
  self->index = index;
  self->max_bytes = max_bytes;
  *problem = open_retriever (self, n, frame, on_device, stream);
  if (*problem == NULL)
    return self;
  cuv_retriever_free (self);
  return NULL;
}

void
cuv_retriever_free (CuvRetriever *self)
{
  if (self == NULL)
    return;
#if HAVE_CUDA
  cuv_ldp_match_cuda_free (self->cuda);
#endif
  cuv_describer_free (self->describer);
  cuv_ldp_matcher_free (self->matcher);
  free (self->counts);
  free (self->query);
  free (self->similarities);
  free (self->matches);
  free (self);
}

bool
cuv_retriever_is_for (const CuvRetriever *self, const CuvLdpIndex *index,
    bool on_device, size_t max_bytes)
{
  return self != NULL && self->index == index
      && self->describer->on_device == on_device
      && self->max_bytes == max_bytes;
}

/* ---- the index ---- */

static const uint8_t *
entry (const CuvRetriever *self, uint64_t i)
{
  return cuv_ldp_index_descriptor (self->index, 0) + i * info_of (self)->stride;
}

const char *
cuv_retriever_set_entries (CuvRetriever *self, uint64_t n, void *stream)
{
  double *more = realloc (self->similarities, (n + 1) * sizeof *more);

  if (more != NULL)
    self->similarities = more;
#if HAVE_CUDA
  if (self->cuda != NULL
      && cuv_ldp_match_cuda_set_entries (self->cuda, entry (self, 0),
             more != NULL ? (int64_t) n : 0, (int64_t) self->n_entries, stream)
          != 0) {
    self->n_entries = 0;
    return cuv_cuda_error ();
  }
#endif
  self->n_entries = more != NULL ? n : 0;
  return more != NULL ? NULL : "out of memory";
}

/* ---- a run ---- */

static void
pack_query (CuvRetriever *self, const void *counts)
{
  const CuvLdpLayout *layout = &info_of (self)->layout;

  cuv_ldp_convert_counts (layout, counts, self->counts);
  cuv_ldp_index_pack (layout, self->counts, self->query);
}

/* Compares the query with entries from `first` on. */
static void
match_on_cpu (CuvRetriever *self, uint64_t first, int n_threads)
{
  if (first < self->n_entries)
    cuv_ldp_matcher_run (self->matcher, self->query, entry (self, first),
        info_of (self)->stride, self->n_entries - first, n_threads,
        self->similarities + first);
}

static const char *
run_cpu (CuvRetriever *self, const CuvFrame *frame, const CuvLdpRect *rect,
    int n_threads, CuvRetrieved *retrieved)
{
  const double start = now_us ();
  const void *counts;
  const char *problem = cuv_describer_run (
      self->describer, frame, rect, NULL, n_threads, &counts);
  double described;

  if (problem != NULL)
    return problem;
  pack_query (self, counts);
  described = now_us ();
  match_on_cpu (self, 0, n_threads);
  retrieved->n_on_cpu = self->n_entries;
  retrieved->describe_us = (float) (described - start);
  retrieved->match_us = (float) (now_us () - described);
  return NULL;
}

#if HAVE_CUDA
/* How many entries the GPU compares: with one that is r times as fast as the
 * CPU, r / (1 + r) of them. Who is timed has one at least. */
static uint64_t
n_on_gpu (const CuvRetriever *self, const CuvRetrieval *how, bool timed)
{
  const uint64_t n = self->n_entries;
  double share = how->share;
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

static bool
is_timed (CuvRetriever *self, const CuvRetrieval *how)
{
  if (how->share >= 0 || self->n_entries < 2
      || (self->n_timed >= FIRST_TIMED && ++self->n_since < TIMED_EVERY))
    return false;
  self->n_timed++;
  self->n_since = 0;
  return true;
}

/* What the times before say counts as much as this one. */
static void
learn (double *us, double took, uint64_t n)
{
  if (n > 0)
    *us = *us > 0 ? (*us + took / (double) n) / 2 : took / (double) n;
}

static const char *
start_on_gpu (CuvRetriever *self, uint64_t n, void *stream)
{
  const struct _CuvLdpCuda *described = self->describer->cuda;

  if (n == 0)
    return NULL;
  return cuv_ldp_match_cuda_submit_counts (self->cuda,
             cuv_ldp_cuda_counts (described),
             cuv_ldp_count_size (&info_of (self)->layout), (int64_t) n, stream)
          == 0
      ? NULL
      : cuv_cuda_error ();
}

static const char *
end_on_gpu (CuvRetriever *self, uint64_t n)
{
  return n == 0
          || cuv_ldp_match_cuda_collect (self->cuda, self->similarities) == 0
      ? NULL
      : cuv_cuda_error ();
}

/* The first n entries on the GPU, the others on the CPU: at the same time,
 * unless they are to be timed. */
static const char *
match_on_both (
    CuvRetriever *self, uint64_t n, bool timed, void *stream, int n_threads)
{
  const double start = now_us ();
  const char *problem = start_on_gpu (self, n, stream);
  double between;

  if (problem == NULL && timed)
    problem = end_on_gpu (self, n);
  between = now_us ();
  if (problem == NULL)
    match_on_cpu (self, n, n_threads);
  if (problem == NULL && timed) {
    learn (&self->gpu_us, between - start, n);
    learn (&self->cpu_us, now_us () - between, self->n_entries - n);
  }
  return problem != NULL || timed ? problem : end_on_gpu (self, n);
}

/* Only what the CPU compares is brought to it. */
static const char *
run_cuda (CuvRetriever *self, const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvRetrieval *how, void *stream, int n_threads,
    CuvRetrieved *retrieved)
{
  const bool timed = is_timed (self, how);
  const uint64_t n = n_on_gpu (self, how, timed);
  const double start = now_us ();
  const char *problem = NULL;
  const void *counts;
  double described;

  if (cuv_ldp_cuda_submit (self->describer->cuda, frame, rect, stream) != 0)
    return cuv_cuda_error ();
  if (n < self->n_entries) {
    counts = cuv_ldp_cuda_collect (self->describer->cuda);
    if (counts == NULL)
      return cuv_cuda_error ();
    pack_query (self, counts);
  }
  described = now_us ();
  problem = self->n_entries > 0
      ? match_on_both (self, n, timed, stream, n_threads)
      : cuv_ldp_cuda_wait (self->describer->cuda) == 0 ? NULL
                                                       : cuv_cuda_error ();
  retrieved->n_on_cpu = self->n_entries - n;
  retrieved->describe_us = (float) (described - start);
  retrieved->match_us = (float) (now_us () - described);
  return problem;
}
#endif

static const char *
run (CuvRetriever *self, const CuvFrame *frame, const CuvLdpRect *rect,
    const CuvRetrieval *how, void *stream, int n_threads,
    CuvRetrieved *retrieved)
{
#if HAVE_CUDA
  if (self->cuda != NULL)
    return run_cuda (self, frame, rect, how, stream, n_threads, retrieved);
#endif
  return run_cpu (self, frame, rect, n_threads, retrieved);
}

static bool
reserve_matches (CuvRetriever *self, int k)
{
  CuvLdpMatch *more = self->matches;

  if (k <= self->max_matches)
    return true;
  more = realloc (more, (size_t) k * sizeof *more);
  if (more == NULL)
    return false;
  self->matches = more;
  self->max_matches = k;
  return true;
}

const char *
cuv_retriever_run (CuvRetriever *self, const CuvFrame *frame,
    const CuvLdpRect *rect, const CuvRetrieval *how, void *stream,
    int n_threads, CuvRetrieved *retrieved)
{
  const char *problem;

  self->n_threads = n_threads;
  *retrieved = (CuvRetrieved){ 0 };
  if (!reserve_matches (self, how->k))
    return "out of memory";
  problem = run (self, frame, rect, how, stream, n_threads, retrieved);
  if (problem != NULL)
    return problem;
  retrieved->matches = self->matches;
  retrieved->n_matches = (int) cuv_ldp_best (self->similarities,
      self->n_entries, how->threshold, (size_t) how->k, self->matches);
  return NULL;
}
