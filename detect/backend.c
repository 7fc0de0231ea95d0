/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "channels/frame.h"
#include "cpu/waldboost-cpu.h"
#include "model/model.h"
#if HAVE_CUDA
#include "waldboost/waldboost.h"
#endif

/* A pass, as the config of its backend. */
typedef struct {
  const CuvWaldboostDetector *detector;
  const CuvWaldboostPass *pass;
} Config;

typedef struct {
  Config config;
  CuvFrame frame;        /* cropped to the size of the plans */
  const CuvFrame *whole; /* without cropping */
  int x, y;              /* where the part begins */
  const CuvRoi *regions; /* relative to x, y; NULL: all windows */
  int n_regions;
  bool new_plans;              /* plans differ from those of the previous job */
  bool submitted;              /* the job was submitted before */
  CuvWaldboostResult *results; /* for each model of the pass; NULL: submits */
} Job;

/* ---- the models of a pass ---- */

static const CuvWaldboostModel *
model_of (const Config *config)
{
  return config->detector->models[config->pass->index[0]];
}

/* Returns the plan by which a model of the pass is searched for. */
static const CuvWaldboostPlan *
plan_of (const Config *config, int i)
{
  const CuvWaldboostPass *pass = config->pass;

  return pass->cut != NULL ? &pass->cut->plan
                           : config->detector->plans[pass->index[i]];
}

static void
make_searches (const Config *config, CuvWaldboostSearch *searches)
{
  const CuvWaldboostDetector *detector = config->detector;

  for (int i = 0; i < config->pass->n; i++)
    searches[i] =
        (CuvWaldboostSearch){ detector->models[config->pass->index[i]],
          plan_of (config, i) };
}

/* ---- CPU ---- */

static const char *
waldboost_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  *state = cuv_waldboost_cpu_new (model_of (config), plan_of (config, 0));
  return *state != NULL ? NULL : "out of memory";
}

static const char *
waldboost_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;

  if (job->new_plans
      && !cuv_waldboost_cpu_set_plan (state, plan_of (&job->config, 0)))
    return "out of memory";
  cuv_waldboost_cpu_run (
      state, &job->frame, processor->n_threads, job->results);
  return NULL;
}

static void
waldboost_close_cpu (void *state)
{
  cuv_waldboost_cpu_free (state);
}

static const CuvBackendClass cpu = { waldboost_open_cpu, waldboost_run_cpu,
  waldboost_close_cpu };

/* ---- CPU, models on channels ---- */

static const char *
channels_open_cpu (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvWaldboostSearch searches[CUV_WALDBOOST_MAX_MODELS];

  make_searches (config, searches);
  *state =
      cuv_channels_frame_new (searches, ((const Config *) config)->pass->n);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
channels_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;
  CuvWaldboostSearch searches[CUV_WALDBOOST_MAX_MODELS];

  make_searches (&job->config, searches);
  if (job->new_plans && !cuv_channels_frame_set_plans (state, searches))
    return "out of memory";
  return cuv_channels_frame_run (state, job->whole, job->x, job->y,
             &job->config.detector->params.rgb, processor->n_threads,
             job->results)
      ? NULL
      : "out of memory";
}

static void
channels_close_cpu (void *state)
{
  cuv_channels_frame_free (state);
}

static const CuvBackendClass channels_cpu = { channels_open_cpu,
  channels_run_cpu, channels_close_cpu };

/* ---- CUDA ---- */

#if HAVE_CUDA
static int
waldboost_submit_cuda (void *state, const Job *job, void *stream)
{
  const CuvWaldboostPart part = { job->x, job->y, job->frame.width,
    job->frame.height, &job->config.detector->params.rgb };

  return model_of (&job->config)->channels != NULL
      ? cuv_waldboost_cuda_submit_part (state, job->whole, &part, stream)
      : cuv_waldboost_cuda_submit (state, &job->frame, stream);
}

static const char *
waldboost_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const Job *job = data;
  CuvWaldboostSearch searches[CUV_WALDBOOST_MAX_MODELS];
  int failed = 0;

  make_searches (&job->config, searches);
  if (job->new_plans)
    failed = cuv_waldboost_cuda_set_plans (state, searches);
  if (!failed && !job->submitted)
    failed = waldboost_submit_cuda (state, job, processor->stream);
  if (!failed && job->results != NULL)
    failed = cuv_waldboost_cuda_collect (state, job->results);
  return failed ? cuv_cuda_error () : NULL;
}

static const char *
waldboost_open_cuda (void **state, const void *config, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvWaldboostSearch searches[CUV_WALDBOOST_MAX_MODELS];
  CuvWaldboostResult results[CUV_WALDBOOST_MAX_MODELS];
  Job job = { *(const Config *) config, .frame = *frame, .whole = frame,
    .results = results };

  make_searches (config, searches);
  *state = cuv_waldboost_cuda_new (searches, job.config.pass->n);
  return *state != NULL ? waldboost_run_cuda (*state, &job, processor)
                        : cuv_cuda_error ();
}

static void
waldboost_close_cuda (void *state)
{
  cuv_waldboost_cuda_free (state);
}

static const CuvBackendClass cuda = { waldboost_open_cuda, waldboost_run_cuda,
  waldboost_close_cuda };
static const CuvBackendClasses classes = { &cpu, &cuda };
static const CuvBackendClasses channels_classes = { &channels_cpu, &cuda };
#else
static const CuvBackendClasses classes = { &cpu, NULL };
static const CuvBackendClasses channels_classes = { &channels_cpu, NULL };
#endif

/* ---- plans of a pass ---- */

typedef CuvWaldboostPlan *Plans[CUV_WALDBOOST_MAX_MODELS];

static void
free_plans (Plans plans, int n)
{
  for (int i = 0; i < n; i++) {
    cuv_waldboost_plan_free (plans[i]);
    plans[i] = NULL;
  }
}

/* Returns false if memory runs out. */
static bool
make_plans (const CuvWaldboostDetector *self, const CuvWaldboostPass *pass,
    int width, int height, Plans plans)
{
  for (int i = 0; i < pass->n; i++) {
    plans[i] = cuv_waldboost_plan_new (
        self->models[pass->index[i]], &self->params, width, height);
    if (plans[i] == NULL) {
      free_plans (plans, i);
      return false;
    }
  }
  return true;
}

static bool
have_levels (const Plans plans, int n)
{
  bool have = false;

  for (int i = 0; i < n; i++)
    have = have || plans[i]->n_levels > 0;
  return have;
}

static int
count_levels (const CuvWaldboostPlan *plan)
{
  int n = 0;

  for (int i = 0; i < plan->n_levels; i++)
    n += plan->levels[i].n_x > 0 && plan->levels[i].n_y > 0;
  return n;
}

/* Puts plans in force, and frees those in force so far if they are others. */
static void
use_plans (
    CuvWaldboostDetector *self, CuvWaldboostPass *pass, const Plans plans)
{
  for (int i = 0; i < pass->n; i++) {
    const int index = pass->index[i];

    if (self->plans[index] != plans[i]) {
      cuv_waldboost_plan_free (self->plans[index]);
      pass->has_plans = false;
    }
    self->plans[index] = plans[i];
    self->n_levels[index] = count_levels (plans[i]);
  }
}

static void
drop_cut (CuvWaldboostPass *pass)
{
  if (pass->cut != NULL)
    pass->has_plans = false;
  cuv_waldboost_cut_free (pass->cut);
  pass->cut = NULL;
}

/* Cuts the plan of a pass to the regions of a job if that can be done and saves
 * work. Returns false if memory runs out. */
static bool
cut_plan (CuvWaldboostDetector *self, CuvWaldboostPass *pass, const Job *job)
{
  const int index = pass->index[0];
  const CuvWaldboostPlan *plan = self->plans[index];

  drop_cut (pass);
  if (job->regions == NULL || self->models[index]->channels != NULL
      || plan->turn.degrees != 0)
    return true;
  pass->cut = cuv_waldboost_cut_new (plan, job->regions, job->n_regions);
  if (pass->cut == NULL)
    return false;
  pass->has_plans = false;
  if (!cuv_waldboost_cut_saves_work (pass->cut))
    drop_cut (pass);
  else
    self->n_levels[index] = count_levels (&pass->cut->plan);
  return true;
}

/* ---- new and free ---- */

/* Returns whether models share a pass. On the CPU, models with different sizes
 * of blocks share a part of the work, too. */
static bool
can_share (const CuvWaldboostDetector *self, const CuvWaldboostModel *a,
    const CuvWaldboostModel *b)
{
  return a->channels != NULL && b->channels != NULL
      && (!self->on_device
          || a->channels->trees.shrink == b->channels->trees.shrink);
}

/* Returns the pass that a model shares, or a new one. */
static CuvWaldboostPass *
pass_of (CuvWaldboostDetector *self, const CuvWaldboostModel *model)
{
  for (int i = 0; i < self->n_passes; i++) {
    CuvWaldboostPass *pass = &self->passes[i];

    if (can_share (self, self->models[pass->index[0]], model))
      return pass;
  }
  return &self->passes[self->n_passes++];
}

static void
choose_passes (CuvWaldboostDetector *self)
{
  for (int i = 0; i < self->n_models; i++) {
    CuvWaldboostPass *pass = pass_of (self, self->models[i]);

    pass->index[pass->n++] = i;
  }
}

static const char *
open_backend (CuvWaldboostDetector *self, CuvWaldboostPass *pass,
    const CuvFrame *part, const CuvProcessor *processor)
{
  const Config config = { self, pass };
  const bool in_channels = model_of (&config)->channels != NULL;

  pass->has_plans = true;
  return cuv_backend_open (&pass->backend,
      in_channels ? &channels_classes : &classes, &config, part, processor);
}

/* Opens a pass. A pass without levels is opened later, by the first region that
 * has levels: as boxes are rounded, a region may have a level of a size that
 * the frame lacks. */
static const char *
open_pass (CuvWaldboostDetector *self, CuvWaldboostPass *pass,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  const CuvFrame part = cuv_frame_crop (frame, &self->area);
  Plans plans;

  if (!make_plans (self, pass, part.width, part.height, plans))
    return "out of memory";
  use_plans (self, pass, plans);
  return have_levels (plans, pass->n)
      ? open_backend (self, pass, &part, processor)
      : NULL;
}

static const char *
open_detector (CuvWaldboostDetector *self, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const char *error = NULL;

  choose_passes (self);
  for (int i = 0; i < self->n_passes && error == NULL; i++)
    error = open_pass (self, &self->passes[i], frame, processor);
  return error;
}

CuvWaldboostDetector *
cuv_waldboost_detector_new (const CuvWaldboostModel *const *models,
    int n_models, const CuvWaldboostParams *params, const CuvRoi *roi,
    const CuvFrame *frame, const CuvProcessor *processor, const char **error)
{
  CuvWaldboostDetector *self = calloc (1, sizeof *self);

  *error = "out of memory";
  if (self == NULL)
    return NULL;
  self->n_models = n_models;
  for (int i = 0; i < n_models; i++)
    self->models[i] = cuv_model_ref (models[i]);
  /* memcpy copies padding, too */
  memcpy (&self->params, params, sizeof *params);
  self->area = cuv_roi_in_frame (roi, frame->width, frame->height);
  self->x = self->area.left;
  self->y = self->area.top;
  self->frame_width = frame->width;
  self->frame_height = frame->height;
  self->on_device = processor->on_device;
  *error = open_detector (self, frame, processor);
  if (*error == NULL)
    return self;
  cuv_waldboost_detector_free (self);
  return NULL;
}

static void
close_passes (CuvWaldboostDetector *self)
{
  for (int i = 0; i < self->n_passes; i++) {
    cuv_backend_close (&self->passes[i].backend);
    drop_cut (&self->passes[i]);
  }
}

void
cuv_waldboost_detector_free (CuvWaldboostDetector *self)
{
  if (self == NULL)
    return;
  close_passes (self);
  free_plans (self->plans, self->n_models);
  for (int i = 0; i < self->n_models; i++)
    cuv_model_unref (self->models[i]);
  free (self);
}

bool
cuv_waldboost_detector_matches (const CuvWaldboostDetector *self,
    const CuvWaldboostModel *const *models, int n_models,
    const CuvWaldboostParams *params, const CuvRoi *roi, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  CuvRoi area = cuv_roi_in_frame (roi, frame->width, frame->height);

  return self != NULL && self->on_device == processor->on_device
      && !self->failed && self->n_models == n_models
      && memcmp (self->models, models, (size_t) n_models * sizeof *models) == 0
      && self->frame_width == frame->width
      && self->frame_height == frame->height
      && memcmp (&area, &self->area, sizeof area) == 0
      && memcmp (params, &self->params, sizeof *params) == 0;
}

/* ---- a run ---- */

/* Chooses plans for a part of this size: those in force or new ones; plans[0]
 * is NULL if no window fits. Returns NULL, or an error. */
static const char *
choose_plans (const CuvWaldboostDetector *self, const CuvWaldboostPass *pass,
    const CuvFrame *part, Plans plans)
{
  const CuvWaldboostPlan *now = self->plans[pass->index[0]];
  const bool same = part->width == now->width && part->height == now->height;

  plans[0] = NULL;
  if (part->width == 0 || part->height == 0)
    return NULL;
  for (int i = 0; i < pass->n; i++)
    plans[i] = self->plans[pass->index[i]];
  if (!same && !make_plans (self, pass, part->width, part->height, plans))
    return "out of memory";
  if (have_levels (plans, pass->n))
    return NULL;
  if (!same)
    free_plans (plans, pass->n);
  plans[0] = NULL;
  return NULL;
}

/* Makes hits of the detector's plan of those that the backend found, and drops
 * those that are not centred in a region. */
static void
restore_hits (const CuvWaldboostPass *pass, const CuvWaldboostPlan *plan,
    const Job *job, CuvWaldboostResult *result)
{
  CuvWaldboostHit *hits = (CuvWaldboostHit *) result->hits;

  if (pass->cut != NULL)
    result->n_hits =
        cuv_waldboost_cut_restore (pass->cut, hits, result->n_hits);
  else if (job->regions != NULL)
    result->n_hits = cuv_waldboost_keep_centred (
        plan, job->regions, job->n_regions, hits, result->n_hits);
}

static const char *
run_backend (CuvWaldboostDetector *self, CuvWaldboostPass *pass, Job *job,
    const CuvProcessor *processor)
{
  const char *error = NULL;

  job->config = (Config){ self, pass };
  job->new_plans = pass->backend.klass != NULL && !pass->has_plans;
  job->submitted = self->submitted;
  self->submitted = false;
  if (pass->backend.klass == NULL)
    error = open_backend (self, pass, &job->frame, processor);
  pass->has_plans = true;
  return error != NULL ? error
                       : cuv_backend_run (&pass->backend, job, processor);
}

/* Writes the results of all models of a pass if the window of one of them
 * fits. */
static const char *
run_pass (CuvWaldboostDetector *self, CuvWaldboostPass *pass, Job job,
    const CuvProcessor *processor, CuvWaldboostResult *results)
{
  CuvWaldboostResult own[CUV_WALDBOOST_MAX_MODELS];
  Plans plans;
  const char *error = choose_plans (self, pass, &job.frame, plans);

  if (error != NULL || plans[0] == NULL)
    return error;
  use_plans (self, pass, plans);
  if (!cut_plan (self, pass, &job))
    return "out of memory";
  if (pass->cut != NULL && pass->cut->plan.n_levels == 0)
    return NULL;
  if (pass->cut != NULL)
    job.frame = cuv_frame_crop (&job.frame, &pass->cut->part);
  job.results = own;
  error = run_backend (self, pass, &job, processor);
  for (int i = 0; i < pass->n && error == NULL; i++) {
    const int index = pass->index[i];

    restore_hits (pass, self->plans[index], &job, &own[i]);
    results[index] = own[i];
  }
  return error;
}

static const char *
run_passes (CuvWaldboostDetector *self, const Job *job,
    const CuvProcessor *processor, CuvWaldboostResult *results)
{
  const char *error = NULL;

  self->x = job->x;
  self->y = job->y;
  memset (results, 0, (size_t) self->n_models * sizeof *results);
  memset (self->n_levels, 0, sizeof self->n_levels);
  for (int i = 0; i < self->n_passes && error == NULL; i++)
    error = run_pass (self, &self->passes[i], *job, processor, results);
  /* the detector is unusable after a failed change of plans */
  if (error != NULL) {
    self->failed = true;
    close_passes (self);
  }
  return error;
}

static Job
new_job (const CuvFrame *frame, const CuvRoi *part)
{
  return (Job){ .frame = cuv_frame_crop (frame, part),
    .whole = frame,
    .x = part->left,
    .y = part->top };
}

/* Whether the backend is open with plans for the whole of this part. */
static bool
is_planned (const CuvWaldboostDetector *self, const CuvFrame *part)
{
  const CuvWaldboostPass *pass = &self->passes[0];

  return self->n_passes == 1 && pass->backend.klass != NULL && pass->has_plans
      && pass->cut == NULL && part->width == self->plans[0]->width
      && part->height == self->plans[0]->height
      && have_levels (self->plans, pass->n);
}

bool
cuv_waldboost_detector_submit (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvProcessor *processor)
{
  Job job = new_job (frame, &self->area);

  job.config = (Config){ self, &self->passes[0] };
  self->submitted = self->on_device && is_planned (self, &job.frame)
      && cuv_backend_run (&self->passes[0].backend, &job, processor) == NULL;
  return self->submitted;
}

const char *
cuv_waldboost_detector_run (CuvWaldboostDetector *self, const CuvFrame *frame,
    const CuvRoi *region, const CuvProcessor *processor,
    CuvWaldboostResult *results)
{
  const CuvRoi part =
      region != NULL ? cuv_roi_intersect (region, &self->area) : self->area;
  const Job job = new_job (frame, &part);

  return run_passes (self, &job, processor, results);
}

const char *
cuv_waldboost_detector_run_centred (CuvWaldboostDetector *self,
    const CuvFrame *frame, const CuvRoi *regions, int n_regions,
    const CuvProcessor *processor, CuvWaldboostResult *results)
{
  Job job = new_job (frame, &self->area);

  job.regions = regions;
  job.n_regions = n_regions;
  return run_passes (self, &job, processor, results);
}
