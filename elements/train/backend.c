/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend.h"
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/feature-chooser.h"
#if HAVE_CUDA
#include "train/feature-chooser.h"
#include "train/tree-chooser.h"
#endif

typedef struct {
  const CuvTrainFeatures *features;
  int32_t capacity;
  size_t max_bytes;
} Config;

typedef struct {
  const CuvTrainSet *set;
  int32_t version;
  int32_t feature; /* result: the chosen feature */
} Job;

/* ---- CPU ---- */

static const char *
train_open_cpu (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const Config *config = data;

  *state = cuv_train_feature_chooser_new (config->features, config->capacity);
  return *state != NULL ? NULL : "out of memory";
}

static const char *
train_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  Job *job = data;

  job->feature =
      cuv_train_feature_chooser_run (state, job->set, processor->n_threads);
  return NULL;
}

static void
train_close_cpu (void *state)
{
  cuv_train_feature_chooser_free (state);
}

static const CuvBackendClass cpu = { train_open_cpu, train_run_cpu,
  train_close_cpu };

/* ---- CUDA ---- */

#if HAVE_CUDA
typedef struct {
  CuvFeatureChooserCuda *choose;
  int32_t version; /* version of the codes on the device, 0: none uploaded */
} Cuda;

static const char *
train_open_cuda (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const Config *config = data;
  Cuda *self = calloc (1, sizeof *self);

  *state = self;
  if (self == NULL)
    return "out of memory";
  self->choose = cuv_feature_chooser_cuda_new (config->features->n,
      config->features->n_codes, config->features->cascade, config->capacity,
      config->max_bytes);
  return self->choose != NULL ? NULL : cuv_cuda_error ();
}

/* Uploads all codes once, then only those of negatives, as codes of positives
 * do not change. */
static bool
upload_codes (Cuda *self, const Job *job, const CuvProcessor *processor)
{
  const CuvTrainSet *set = job->set;
  const int32_t first = self->version == 0 ? 0 : set->n_positives;

  if (self->version != job->version
      && cuv_feature_chooser_cuda_set_codes (self->choose, set->codes,
             set->pitch, first, set->n, processor->stream)
          != 0)
    return false;
  self->version = job->version;
  return true;
}

static const char *
train_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  Cuda *self = state;
  Job *job = data;
  const CuvTrainSet *set = job->set;

  if (upload_codes (self, job, processor)
      && cuv_feature_chooser_cuda_run (self->choose, set->weights, set->n,
             set->n_positives, &job->feature, processor->stream)
          == 0)
    return NULL;
  return cuv_cuda_error ();
}

static void
train_close_cuda (void *state)
{
  Cuda *self = state;

  cuv_feature_chooser_cuda_free (self->choose);
  free (self);
}

static const CuvBackendClass cuda = { train_open_cuda, train_run_cuda,
  train_close_cuda };
static const CuvBackendClasses classes = { &cpu, &cuda };
#else
static const CuvBackendClasses classes = { &cpu, NULL };
#endif

/* ---- CPU or CUDA ---- */

const char *
cuv_train_backend_open (CuvBackend *self, const CuvTrainFeatures *features,
    int32_t capacity, size_t max_bytes, const CuvProcessor *processor)
{
  const Config config = { features, capacity, max_bytes };

  return cuv_backend_open (self, &classes, &config, NULL, processor);
}

const char *
cuv_train_backend_choose (CuvBackend *self, const CuvTrainSet *set,
    int32_t version, int32_t *feature, const CuvProcessor *processor)
{
  Job job = { set, version, 0 };
  const char *problem = cuv_backend_run (self, &job, processor);

  *feature = job.feature;
  return problem;
}

/* ---- trees on channels ---- */

typedef struct {
  const CuvTrainSet *set;
  int32_t n_features;
} TreesConfig;

typedef struct {
  CuvTrainSet *set;
  const int32_t *features;
  int32_t n_features;
  int depth;
  CuvTrainTree *tree; /* result */
} TreeJob;

static const char *
trees_run_cpu (void *state, void *data, const CuvProcessor *processor)
{
  const TreeJob *job = data;

  return cuv_train_tree (job->set, job->features, job->n_features, job->depth,
             processor->n_threads, job->tree)
      ? NULL
      : "out of memory";
}

static const CuvBackendClass trees_cpu = { NULL, trees_run_cpu, NULL };

#if HAVE_CUDA
static const char *
trees_open_cuda (void **state, const void *data, const CuvFrame *frame,
    const CuvProcessor *processor)
{
  const TreesConfig *config = data;
  const CuvTrainSet *set = config->set;
  const CuvTreeSamples samples = { set->n, set->n_positives, config->n_features,
    set->codes, set->pitch };

  *state = cuv_tree_chooser_cuda_new (&samples, processor->stream);
  return *state != NULL ? NULL : cuv_cuda_error ();
}

/* The GPU chooses features and thresholds; the CPU divides the samples once
 * more, for the leaves. */
static const char *
trees_run_cuda (void *state, void *data, const CuvProcessor *processor)
{
  const TreeJob *job = data;
  CuvTrainTree *tree = job->tree;
  CuvTreeNodes nodes;

  if (cuv_tree_chooser_cuda_run (state, job->set->weights, job->features,
          job->n_features, job->depth, &nodes, processor->stream)
      != 0)
    return cuv_cuda_error ();
  memset (tree, 0, sizeof *tree); /* all its bytes are saved */
  for (int i = 0; i < (1 << job->depth) - 1; i++) {
    tree->feature[i] = nodes.feature[i];
    tree->threshold[i] = (uint8_t) nodes.threshold[i];
  }
  return cuv_train_tree_again (job->set, job->depth, tree) ? NULL
                                                           : "out of memory";
}

static void
trees_close_cuda (void *state)
{
  cuv_tree_chooser_cuda_free (state);
}

static const CuvBackendClass trees_cuda = { trees_open_cuda, trees_run_cuda,
  trees_close_cuda };
static const CuvBackendClasses trees_classes = { &trees_cpu, &trees_cuda };
#else
static const CuvBackendClasses trees_classes = { &trees_cpu, NULL };
#endif

const char *
cuv_train_trees_open (CuvBackend *self, const CuvTrainSet *set,
    int32_t n_features, const CuvProcessor *processor)
{
  const TreesConfig config = { set, n_features };

  return cuv_backend_open (self, &trees_classes, &config, NULL, processor);
}

const char *
cuv_train_trees_learn (CuvBackend *self, CuvTrainSet *set,
    const int32_t *features, int32_t n_features, int depth, CuvTrainTree *tree,
    const CuvProcessor *processor)
{
  TreeJob job = { set, features, n_features, depth, tree };

  return cuv_backend_run (self, &job, processor);
}

/* ---- the device ---- */

const char *
cuv_train_probe_cuda (void)
{
#if HAVE_CUDA
  return cuv_cuda_probe () == 0 ? NULL : cuv_cuda_error ();
#else
  return "this build has no CUDA kernels";
#endif
}
