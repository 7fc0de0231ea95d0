/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for a frame's images, which detectors on the GPU share. */
#include "config.h"
#include "waldboost-versions.h"

#if HAVE_CUDA
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "waldboost/waldboost.h"

enum { AT_ONCE = 4, N_DETECTORS = AT_ONCE + 2 };

static const ModelKind kind = { "cascade", CUV_FEATURE_LBP, CUV_SUM_STAGES,
  CUV_BLOCK_SUM, 1, 24, 0, 3, 3, 1, 0, 0.6 };

typedef struct {
  CuvWaldboostCuda *cuda;
  CuvFrame frame;
  void *stream;
  CuvWaldboostResult result;
  bool failed;
  /* for a thread */
  pthread_t thread;
  sem_t submitted, collects;
} Detector;

static void
submit (Detector *self)
{
  self->failed =
      cuv_waldboost_cuda_submit (self->cuda, &self->frame, self->stream) != 0;
}

static void
collect (Detector *self)
{
  self->failed |= cuv_waldboost_cuda_collect (self->cuda, &self->result) != 0;
}

/* Checks that several open detectors share their images: each has little more
 * than room for hits of its own. */
static void
check_memory (const CuvWaldboostModel *model, const CuvWaldboostParams *params)
{
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (model, params, 1920, 1080);
  const size_t before = cuv_cuda_allocated ();
  const size_t hits = CUV_WALDBOOST_MAX_HITS * sizeof (CuvWaldboostHit);
  CuvWaldboostCuda *detectors[N_DETECTORS];
  size_t one = 0, all;

  cuv_check_case ("memory of %d detectors", N_DETECTORS);
  for (int i = 0; i < N_DETECTORS; i++) {
    detectors[i] =
        cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1);
    CUV_CHECK (detectors[i] != NULL, ": %s", cuv_cuda_error ());
    one = i == 0 ? cuv_cuda_allocated () - before : one;
  }
  all = cuv_cuda_allocated () - before;
  CUV_CHECK ((all - one) / (N_DETECTORS - 1) < hits + hits / 2,
      ": one %zu, all %zu", one, all);
  for (int i = 0; i < N_DETECTORS; i++)
    cuv_waldboost_cuda_free (detectors[i]);
  CUV_CHECK (cuv_cuda_allocated () == before);
  cuv_waldboost_plan_free (plan);
}

/* Lets each allocation of a new detector fail in turn. Returns their number. */
static int
count_failures (const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  const size_t before = cuv_cuda_allocated ();
  int n = 0;

  for (;; n++) {
    CuvWaldboostCuda *detector;

    cuv_cuda_fail_allocation (n);
    detector = cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1);
    cuv_cuda_fail_allocation (-1);
    if (detector != NULL) {
      cuv_waldboost_cuda_free (detector);
      return n;
    }
    CUV_CHECK (strstr (cuv_cuda_error (), "out of memory") != NULL, ": %s",
        cuv_cuda_error ());
    CUV_CHECK (cuv_cuda_allocated () == before);
  }
}

/* Checks the number of allocations. The first detector also allocates images:
 * grey and pictures. */
static void
check_out_of_memory (
    const CuvWaldboostModel *model, const CuvWaldboostPlan *plan)
{
  CuvWaldboostCuda *first;

  cuv_check_case ("out of memory");
  CUV_CHECK (count_failures (model, plan) == 6);
  first = cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1);
  CUV_CHECK (count_failures (model, plan) == 4);
  cuv_waldboost_cuda_free (first);
}

/* Checks that one thread may submit to any number of detectors before it
 * collects. */
static void
check_one_thread (Detector *detectors)
{
  cuv_check_case ("%d frames of one thread at once", N_DETECTORS);
  for (int i = 0; i < N_DETECTORS; i++)
    submit (&detectors[i]);
  for (int i = 0; i < N_DETECTORS; i++)
    collect (&detectors[i]);
}

/* Returns false if the semaphore is not posted in time. */
static bool
wait_for (sem_t *semaphore, long milliseconds)
{
  struct timespec end;

  clock_gettime (CLOCK_REALTIME, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000;
  end.tv_sec += end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  return sem_timedwait (semaphore, &end) == 0;
}

static void *
run_thread (void *data)
{
  Detector *self = data;

  submit (self);
  sem_post (&self->submitted);
  sem_wait (&self->collects);
  collect (self);
  return NULL;
}

static void
start_thread (Detector *self)
{
  sem_init (&self->submitted, 0, 0);
  sem_init (&self->collects, 0, 0);
  CUV_CHECK (pthread_create (&self->thread, NULL, run_thread, self) == 0);
}

/* Checks that, if too many threads submit, one of them waits until another one
 * has collected. */
static void
check_threads (Detector *detectors)
{
  Detector *last = &detectors[AT_ONCE];
  bool waits;

  cuv_check_case ("%d threads at once", AT_ONCE + 1);
  for (int i = 0; i <= AT_ONCE; i++) {
    start_thread (&detectors[i]);
    if (i < AT_ONCE)
      sem_wait (&detectors[i].submitted);
  }
  waits = !wait_for (&last->submitted, 50);
  CUV_CHECK (waits);
  sem_post (&detectors[0].collects);
  if (waits)
    sem_wait (&last->submitted);
  for (int i = 1; i <= AT_ONCE; i++)
    sem_post (&detectors[i].collects);
  for (int i = 0; i <= AT_ONCE; i++)
    pthread_join (detectors[i].thread, NULL);
}

/* Checks that threads that wait submit in the order in which they came. */
static void
check_order (Detector *detectors)
{
  Detector *waiting = &detectors[AT_ONCE];

  cuv_check_case ("order of %d threads that wait", N_DETECTORS - AT_ONCE);
  for (int i = 0; i < N_DETECTORS; i++) {
    start_thread (&detectors[i]);
    if (i < AT_ONCE)
      sem_wait (&detectors[i].submitted);
    else
      CUV_CHECK (!wait_for (&detectors[i].submitted, 50));
  }
  for (int i = 0; i < N_DETECTORS - AT_ONCE; i++) {
    sem_post (&detectors[i].collects);
    CUV_CHECK (wait_for (&waiting[i].submitted, 60000));
  }
  for (int i = N_DETECTORS - AT_ONCE; i < N_DETECTORS; i++)
    sem_post (&detectors[i].collects);
  for (int i = 0; i < N_DETECTORS; i++)
    pthread_join (detectors[i].thread, NULL);
}

/* Checks that a thread that lacks memory for its large frame waits until others
 * have collected, and that a thread that arrives later waits for only one of
 * them. */
static void
check_waits (Detector *detectors, Detector *large)
{
  Detector *fourth = &detectors[AT_ONCE - 1], *last = &detectors[AT_ONCE];
  const size_t before = cuv_cuda_allocated ();

  cuv_check_case ("a small frame behind a large one that waits");
  for (int i = 0; i < AT_ONCE - 1; i++) {
    start_thread (&detectors[i]);
    sem_wait (&detectors[i].submitted);
  }
  cuv_cuda_fail_allocation (0);
  start_thread (large);
  for (int i = 0; i < 10000 && cuv_cuda_allocated () == before; i++)
    nanosleep (&(struct timespec){ .tv_nsec = 1000000 }, NULL);
  CUV_CHECK (!wait_for (&large->submitted, 50));
  cuv_cuda_fail_allocation (-1);
  start_thread (fourth);
  sem_wait (&fourth->submitted);
  start_thread (last);
  CUV_CHECK (!wait_for (&last->submitted, 50));
  sem_post (&detectors[0].collects);
  CUV_CHECK (wait_for (&last->submitted, 60000));
  for (int i = 1; i <= AT_ONCE; i++)
    sem_post (&detectors[i].collects);
  sem_post (&large->collects);
  for (int i = 0; i <= AT_ONCE; i++)
    pthread_join (detectors[i].thread, NULL);
  pthread_join (large->thread, NULL);
  CUV_CHECK (!large->failed);
}

/* Checks that freeing a detector without collecting does not change the images
 * of another detector. */
static void
check_uncollected (Detector *detectors)
{
  cuv_check_case ("a frame that is not collected");
  submit (&detectors[1]);
  cuv_waldboost_cuda_free (detectors[1].cuda);
  detectors[1].cuda = NULL;
  submit (&detectors[0]);
  collect (&detectors[0]);
}

static void
check_large (const CuvWaldboostModel *model, const CuvWaldboostParams *params,
    Detector *detectors)
{
  CuvCheckFrame host =
      cuv_check_frame_new ("GRAY8", 240, 180, CUV_CHECK_TEXTURE);
  CuvWaldboostPlan *plan = cuv_waldboost_plan_new (model, params, 240, 180);
  Detector large = { .stream = cuv_check_stream_new () };
  void *memory;

  large.frame = cuv_check_to_device (&host, &memory);
  cuv_check_stream_wait (cuv_check_stream);
  large.cuda = cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1);
  CUV_CHECK (large.cuda != NULL, ": %s", cuv_cuda_error ());
  check_waits (detectors, &large);
  cuv_waldboost_cuda_free (large.cuda);
  cuv_check_stream_free (large.stream);
  cuv_check_device_free (memory);
  cuv_waldboost_plan_free (plan);
  cuv_check_frame_free (&host);
}

/* Checks that a new plan drops a frame that was not collected, whose images are
 * too small for the next frame. */
static void
check_new_plan (const CuvWaldboostModel *model,
    const CuvWaldboostParams *params, const CuvWaldboostPlan *plan,
    Detector *self)
{
  CuvWaldboostPlan *small = cuv_waldboost_plan_new (model, params, 40, 30);
  const size_t before = cuv_cuda_allocated ();
  const CuvFrame frame = self->frame;
  size_t needed;

  cuv_check_case ("a new plan before a frame is collected");
  self->cuda = cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, plan }, 1);
  needed = cuv_cuda_allocated () - before;
  cuv_waldboost_cuda_free (self->cuda);
  self->cuda =
      cuv_waldboost_cuda_new (&(CuvWaldboostSearch){ model, small }, 1);
  self->frame.width = 40;
  self->frame.height = 30;
  submit (self);
  CUV_CHECK (!self->failed);
  self->frame = frame;
  CUV_CHECK (cuv_waldboost_cuda_set_plans (
                 self->cuda, &(CuvWaldboostSearch){ .plan = plan })
      == 0);
  submit (self);
  CUV_CHECK (cuv_cuda_allocated () - before == needed);
  collect (self);
  cuv_waldboost_plan_free (small);
}

static void
check_results (const Detector *detectors, int n, const CuvWaldboostPlan *plan,
    const CuvWaldboostResult *expected)
{
  for (int i = 0; i < n; i++) {
    if (CUV_CHECK (!detectors[i].failed))
      check_equal ("C, CUDA", plan, expected, &detectors[i].result);
  }
}

CUV_CHECKS_CUDA (check_shared_images)
{
  const CuvWaldboostParams params = { .scan = CUV_SCAN_OPENCV,
    .scale_factor = 1.1 };
  CuvCheckFrame host =
      cuv_check_frame_new ("GRAY8", 120, 90, CUV_CHECK_TEXTURE);
  RandomModel *random = random_model (&kind, &host.frame);
  CuvWaldboostPlan *plan =
      cuv_waldboost_plan_new (&random->model, &params, 120, 90);
  CuvWaldboostResult expected =
      run_reference (&random->model, plan, &host.frame);
  Detector detectors[N_DETECTORS] = { 0 };
  void *memory;
  CuvFrame frame = cuv_check_to_device (&host, &memory);

  cuv_check_stream_wait (cuv_check_stream);
  check_out_of_memory (&random->model, plan);
  check_memory (&random->model, &params);
  detectors[0].frame = frame;
  detectors[0].stream = cuv_check_stream_new ();
  check_new_plan (&random->model, &params, plan, &detectors[0]);
  check_results (detectors, 1, plan, &expected);
  cuv_waldboost_cuda_free (detectors[0].cuda);
  cuv_check_stream_free (detectors[0].stream);
  for (int i = 0; i < N_DETECTORS; i++) {
    detectors[i].cuda = cuv_waldboost_cuda_new (
        &(CuvWaldboostSearch){ &random->model, plan }, 1);
    detectors[i].frame = frame;
    detectors[i].stream = cuv_check_stream_new ();
    CUV_CHECK (detectors[i].cuda != NULL, ": %s", cuv_cuda_error ());
  }
  check_one_thread (detectors);
  check_results (detectors, N_DETECTORS, plan, &expected);
  check_threads (detectors);
  check_results (detectors, AT_ONCE + 1, plan, &expected);
  check_order (detectors);
  check_results (detectors, N_DETECTORS, plan, &expected);
  check_large (&random->model, &params, detectors);
  check_results (detectors, AT_ONCE + 1, plan, &expected);
  check_uncollected (detectors);
  check_results (detectors, 1, plan, &expected);
  for (int i = 0; i < N_DETECTORS; i++) {
    cuv_waldboost_cuda_free (detectors[i].cuda);
    cuv_check_stream_free (detectors[i].stream);
  }
  cuv_check_device_free (memory);
  free_result (&expected);
  cuv_waldboost_plan_free (plan);
  free (random);
  cuv_check_frame_free (&host);
}

#endif
