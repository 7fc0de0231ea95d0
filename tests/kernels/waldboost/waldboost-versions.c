/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "waldboost-versions.h"
#include "cpu/waldboost-cpu.h"
#include "cuvcpu.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- results ---- */

CuvWaldboostResult
copy_result (const CuvWaldboostResult *result, const CuvWaldboostPlan *plan)
{
  CuvWaldboostResult copy = *result;
  size_t hits = result->n_hits * sizeof *result->hits;
  size_t survivors = plan->n_segments * sizeof *result->survivors;

  copy.hits = memcpy (malloc (hits + 1), result->hits, hits);
  copy.survivors =
      memcpy (malloc (survivors + 1), result->survivors, survivors);
  return copy;
}

void
free_result (CuvWaldboostResult *result)
{
  free ((void *) result->hits);
  free ((void *) result->survivors);
}

/* Returns a value that %llu can print. */
static unsigned long long
as_llu (uint64_t value)
{
  return value;
}

static void
check_equal_hit (
    const char *what, const CuvWaldboostHit *a, const CuvWaldboostHit *b)
{
  CUV_CHECK (memcmp (a, b, sizeof *a) == 0,
      " %s: level %d at %d, %d: %g; level %d at %d, %d: %g", what, a->level,
      a->x, a->y, a->score, b->level, b->x, b->y, b->score);
}

void
check_equal (const char *what, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *a, const CuvWaldboostResult *b)
{
  int n = a->n_hits < b->n_hits ? a->n_hits : b->n_hits, i = 0, s = 0;

  CUV_CHECK (
      a->n_hits == b->n_hits, " %s: %d and %d", what, a->n_hits, b->n_hits);
  CUV_CHECK (a->overflow == b->overflow, " %s: %d and %d", what, a->overflow,
      b->overflow);
  CUV_CHECK (a->windows == b->windows, " %s: %llu and %llu", what,
      as_llu (a->windows), as_llu (b->windows));
  CUV_CHECK (a->weak == b->weak, " %s: %llu and %llu", what, as_llu (a->weak),
      as_llu (b->weak));
  while (i < n - 1 && memcmp (&a->hits[i], &b->hits[i], sizeof *a->hits) == 0)
    i++;
  if (n > 0)
    check_equal_hit (what, &a->hits[i], &b->hits[i]);
  while (s < plan->n_segments - 1 && a->survivors[s] == b->survivors[s])
    s++;
  CUV_CHECK (a->survivors[s] == b->survivors[s],
      " %s: of segment %d: %llu and %llu", what, s, as_llu (a->survivors[s]),
      as_llu (b->survivors[s]));
}

/* Checks invariants of results: survivors never increase, the last survivors
 * are the hits, and times are plausible. */
static void
check_consistent (
    const CuvWaldboostPlan *plan, const CuvWaldboostResult *result)
{
  uint64_t before = result->windows;
  uint64_t hits = (uint64_t) result->n_hits + (uint64_t) result->overflow;
  bool falling = true;

  for (int s = 0; s < plan->n_segments; s++) {
    falling = falling && result->survivors[s] <= before;
    before = result->survivors[s];
  }
  CUV_CHECK (falling);
  CUV_CHECK (before == hits, ": %llu and %llu", as_llu (before), as_llu (hits));
  CUV_CHECK (result->pyramid_us >= 0 && result->pyramid_us < 1e8
          && result->scan_us >= 0 && result->scan_us < 1e8,
      ": %g and %g us", result->pyramid_us, result->scan_us);
}

/* ---- a version ---- */

typedef struct {
  CuvCheckVersion version;
  void *state; /* a CuvWaldboostCpu or CuvWaldboostCuda; NULL after a failure */
  CuvFrame frame;
  void *memory;
} Run;

static Run
run_new (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *frame, const CuvCheckVersion *version)
{
  Run self = { .version = *version };

  self.frame = cuv_check_lend (frame, &self.memory);
  self.state = CUV_CHECK_ON (
      (void *) cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1),
      cuv_waldboost_cpu_new (model, plan));
  CUV_CHECK (self.state != NULL, ": %s", cuv_check_error ());
  return self;
}

static void
run_clear (Run *self)
{
  CUV_CHECK_ON (cuv_waldboost_cuda_free (self->state),
      cuv_waldboost_cpu_free (self->state));
  cuv_check_device_free (self->memory);
}

static void
run_check (
    Run *self, const CuvWaldboostPlan *plan, const CuvWaldboostResult *expected)
{
  static bool busy;
  CuvWaldboostResult result;
  char what[40];

  cuv_gpu_set_busy (busy); /* chooses other launches */
  busy = !busy;
  if (self->state == NULL
      || !CUV_CHECK_RUN (cuv_waldboost_cuda_submit (
                             self->state, &self->frame, cuv_check_stream),
          cuv_waldboost_cpu_run (
              self->state, &self->frame, self->version.n_threads, &result))
      || !CUV_CHECK_RUN (cuv_waldboost_cuda_collect (self->state, &result), 0))
    return;
  snprintf (what, sizeof what, "C, %s with %d threads", self->version.name,
      self->version.n_threads);
  check_equal (what, plan, expected, &result);
  check_consistent (plan, &result);
}

static bool
run_set_plan (Run *self, const CuvWaldboostPlan *plan)
{
  return self->state != NULL
      && CUV_CHECK (CUV_CHECK_ON (cuv_waldboost_cuda_set_plans (self->state,
                                      &(CuvWaldboostSearch){ .plan = plan })
                            == 0,
                        cuv_waldboost_cpu_set_plan (self->state, plan)),
          ": %s", cuv_check_error ());
}

CuvWaldboostResult
run_reference (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvFrame *frame)
{
  CuvWaldboostCpu *cpu;
  CuvWaldboostResult result;

  cuv_cpu_set_mask (0);
  cpu = cuv_waldboost_cpu_new (model, plan);
  cuv_waldboost_cpu_run (cpu, frame, 1, &result);
  result = copy_result (&result, plan);
  check_consistent (plan, &result);
  cuv_waldboost_cpu_free (cpu);
  cuv_cpu_set_mask (~0u);
  return result;
}

/* ---- rearrangements ---- */

/* Checks all rearrangements with all block sizes, for one list of segments. */
static void
check_rearrangements (Run *run, const CuvWaldboostModel *model,
    CuvWaldboostParams params, const CuvFrame *frame)
{
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (model, &params, frame->width, frame->height);
  CuvWaldboostResult expected = run_reference (model, plan, frame);

  for (int r = CUV_REARRANGE_AUTO; r <= CUV_REARRANGE_BALLOT; r++) {
    for (int size = 8; size <= 32; size *= 2) {
      CuvWaldboostPlan *other;

      if (cuv_check_options.few && cuv_check_below (8) != 0)
        continue;
      params.rearrangement = r;
      params.block_size = size;
      other =
          cuv_waldboost_plan_new (model, &params, frame->width, frame->height);
      cuv_check_case ("%d x %d, rearrangement %d, blocks of %d, %d segments "
                      "from %d",
          frame->width, frame->height, r, size, plan->n_segments,
          plan->segment_end[0]);
      if (run_set_plan (run, other))
        run_check (run, other, &expected);
      cuv_waldboost_plan_free (other);
    }
  }
  free_result (&expected);
  cuv_waldboost_plan_free (plan);
}

static void
check_segments (const CuvWaldboostModel *model, const CuvWaldboostPlan *first,
    CuvWaldboostParams params, const CuvCheckFrame *frame)
{
  static const struct {
    int n;
    int32_t end[8];
  } lists[] = { { 0, { 0 } }, { 1, { 1 } }, { 2, { 1, 8 } },
    { 7, { 2, 3, 5, 7, 11, 40, 100 } }, { 1, { MAX_WEAK } } };
  Run run = run_new (model, first, frame, &(CuvCheckVersion){ "CUDA", 0 });
  bool large = (int64_t) first->width * first->height > 100000;

  for (size_t i = 0; i < sizeof lists / sizeof *lists; i += 1 + 2 * large) {
    params.n_segments = lists[i].n;
    memcpy (params.segment_end, lists[i].end, sizeof lists[i].end);
    check_rearrangements (&run, model, params, &frame->frame);
  }
  run_clear (&run);
}

/* ---- one scan ---- */

void
check_versions (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *frame, const CuvWaldboostResult *expected)
{
  static const int threads[] = { 2, 3, 8, 0 };
  const bool small = (int64_t) frame->frame.width * frame->frame.height < 10000;

  for (CuvCheckVersion v = { 0 }; cuv_check_next (&v);) {
    Run run;

    if (cuv_check_options.cuda ? plan->n_levels == 0
                               : !small && strcmp (v.name, "C") == 0)
      continue;
    run = run_new (model, plan, frame, &v);
    run.version.n_threads = 1;
    for (int i = 0; i < 2; i++) { /* the second must not depend on the first */
      run_check (&run, plan, expected);
      run.version.n_threads = threads[cuv_check_below (4)];
    }
    run_clear (&run);
  }
}

int
check_scan (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    const CuvCheckFrame *frame, bool with_oracle)
{
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (
      model, params, frame->frame.width, frame->frame.height);
  CuvWaldboostResult expected = run_reference (model, plan, &frame->frame);
  int n_hits = expected.n_hits;

  if (with_oracle) {
    CuvWaldboostResult oracle = oracle_scan (model, plan, &frame->frame);

    check_equal ("oracle, C", plan, &oracle, &expected);
    free_result (&oracle);
  }
  check_versions (model, plan, frame, &expected);
  CUV_CHECK (cuv_check_guards_intact (frame));
  if (cuv_check_options.cuda && plan->n_levels > 0
      && model->arithmetic != CUV_SUM_STAGES)
    check_segments (model, plan, *params, frame);
  free_result (&expected);
  cuv_waldboost_plan_free (plan);
  return n_hits;
}

/* ---- changes of plan ---- */

static size_t
allocated (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* Growing and shrinking frames, of different formats and with different scans.
 */
static const struct {
  const char *format;
  int width, height;
  CuvScan scan;
} changes[] = { { "GRAY8", 60, 50, CUV_SCAN_DENSE },
  { "RGB", 200, 150, CUV_SCAN_DENSE }, { "NV12", 40, 90, CUV_SCAN_DENSE },
  { "GRAY8", 10, 10, CUV_SCAN_DENSE }, { "NV12", 150, 100, CUV_SCAN_OPENCV },
  { "RGB", 200, 150, CUV_SCAN_DENSE }, { "YUY2", 100, 80, CUV_SCAN_WBD },
  { "RGB", 200, 150, CUV_SCAN_DENSE } };
#define N_CHANGES (sizeof changes / sizeof *changes)
#define LARGEST 1

static void
check_change (Run *run, const CuvWaldboostPlan *plan,
    const CuvCheckFrame *frame, const CuvWaldboostResult *expected,
    bool may_allocate)
{
  const size_t before = CUV_CHECK_ON (cuv_cuda_allocated (), allocated ());

  if (!run_set_plan (run, plan))
    return;
  CUV_CHECK (may_allocate
      || CUV_CHECK_ON (cuv_cuda_allocated (), allocated ()) == before);
  cuv_check_device_free (run->memory);
  run->frame = cuv_check_lend (frame, &run->memory);
  run_check (run, plan, expected);
}

static void
check_changes (const ModelKind *kind)
{
  CuvCheckFrame frames[N_CHANGES];
  CuvWaldboostPlan *plans[N_CHANGES];
  RandomModel *random = NULL;
  Run run;

  for (size_t i = 0; i < N_CHANGES; i++) {
    CuvWaldboostParams params = { .scan = changes[i].scan,
      .scale_factor = 1.1 };
    CuvWaldboostResult expected;

    cuv_check_case ("%s, change of plan %zu", kind->name, i);
    frames[i] = cuv_check_frame_new (changes[i].format, changes[i].width,
        changes[i].height, CUV_CHECK_TEXTURE);
    if (random == NULL)
      random = random_model (kind, &frames[0].frame);
    plans[i] = cuv_waldboost_plan_new (
        &random->model, &params, changes[i].width, changes[i].height);
    expected = run_reference (&random->model, plans[i], &frames[i].frame);
    if (i == 0)
      run = run_new (
          &random->model, plans[i], &frames[i], &(CuvCheckVersion){ "", 2 });
    if (!cuv_check_options.cuda || plans[i]->n_levels > 0)
      check_change (&run, plans[i], &frames[i], &expected,
          i <= LARGEST || changes[i].scan != CUV_SCAN_DENSE);
    free_result (&expected);
  }
  run_clear (&run);
  for (size_t i = 0; i < N_CHANGES; i++) {
    cuv_waldboost_plan_free (plans[i]);
    cuv_check_frame_free (&frames[i]);
  }
  free (random);
}

void
check_changes_of_plan (void)
{
  static const ModelKind kinds[] = {
    { "LBP", CUV_FEATURE_LBP, CUV_SUM_FIXED, CUV_BLOCK_SUM, 0, 14, 2, 60, 1, 1,
        0, 0.9 },
    { "Haar cascade", CUV_FEATURE_HAAR, CUV_SUM_STAGES, CUV_BLOCK_SUM, 0, 14, 0,
        4, 5, 3, 1, 0.6 },
  };

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    check_changes (&kinds[i]);
}
