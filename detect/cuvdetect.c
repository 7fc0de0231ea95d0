/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of cuvdetect.h, on the detector of detector.h. */
#include "config.h"
#include "cuvdetect.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include "cuvrgb.h"
#include "detector.h"
#include "model/file.h"
#include "weights.h"

struct CuvDetect {
  int n_models;
  const CuvWaldboostModel *models[CUV_DETECT_MAX_MODELS];
  CuvDetectOptions options;
  CuvWaldboostParams params;
  CuvGrouping grouping;
  CuvDetector *detector; /* for pictures like the last one, or NULL */
  GArray *found;         /* CuvDetection */
  double *weights;       /* of a model's hits; NULL without this option */
};

/* text: NULL = no error. */
static void
set_error (char **error, const char *text)
{
  if (error != NULL)
    *error = text != NULL ? strdup (text) : NULL;
}

/* ---- models ---- */

static CuvDetectModel *
as_public (const CuvWaldboostModel *model)
{
  return (CuvDetectModel *) (gpointer) model;
}

static const CuvWaldboostModel *
as_model (const CuvDetectModel *model)
{
  return (const CuvWaldboostModel *) (gconstpointer) model;
}

CuvDetectModel *
cuv_detect_model_load (const char *name, char **error)
{
  GError *problem = NULL;
  const CuvWaldboostModel *model =
      cuv_model_load (name != NULL ? name : "", NULL, &problem);

  set_error (error, problem != NULL ? problem->message : NULL);
  g_clear_error (&problem);
  return as_public (model);
}

CuvDetectModel *
cuv_detect_model_parse (const void *bytes, size_t size, char **error)
{
  char *problem = NULL;
  const CuvWaldboostModel *model =
      cuv_model_parse (bytes, size, NULL, &problem);

  if (error != NULL)
    *error = problem;
  else
    free (problem);
  return as_public (model);
}

void
cuv_detect_model_free (CuvDetectModel *model)
{
  cuv_model_unref (as_model (model));
}

void
cuv_detect_model_window (const CuvDetectModel *model, int *width, int *height)
{
  *width = model != NULL ? as_model (model)->window_width : 0;
  *height = model != NULL ? as_model (model)->window_height : 0;
}

/* ---- options ---- */

static const CuvDetectOptions default_options = { .scale_factor = 1.1,
  .upscale = 1,
  .min_neighbors = 3,
  .nms_iou = CUV_NMS_IOU,
  .nms_inside = CUV_NMS_INSIDE };

/* Programs compiled with another version have fewer or more fields. */
void
cuv_detect_options_init (CuvDetectOptions *options, size_t size)
{
  memset (options, 0, size);
  memcpy (options, &default_options, MIN (size, sizeof *options));
  options->size = size;
}

/* Returns the options, with defaults for fields that the program does not
 * know. */
static CuvDetectOptions
complete_options (const CuvDetectOptions *options)
{
  CuvDetectOptions all = default_options;

  all.size = sizeof all;
  if (options != NULL)
    memcpy (&all, options, MIN (options->size, sizeof all));
  return all;
}

/* Returns what is wrong with the options, or NULL. */
static const char *
options_problem (const CuvDetectOptions *o)
{
  if (o->size < G_STRUCT_OFFSET (CuvDetectOptions, scale_factor)
      || o->size > sizeof *o)
    return "options.size is not a size of CuvDetectOptions that this version "
           "knows: call cuv_detect_options_init()";
  if (!(o->scale_factor >= CUV_WALDBOOST_MIN_SCALE_FACTOR))
    return "scale_factor is below 1.001";
  if (!(o->upscale >= 1 && o->upscale <= CUV_WALDBOOST_MAX_UPSCALE))
    return "upscale is not from 1 to 8";
  if (o->min_width < 0 || o->min_height < 0 || o->max_width < 0
      || o->max_height < 0)
    return "a limit of the objects' size is negative";
  if (o->n_rotations < 0 || o->n_rotations > CUV_DETECT_MAX_ROTATIONS)
    return "n_rotations is not from 0 to 12";
  for (int i = 0; i < o->n_rotations; i++) {
    if (o->rotations[i] < -180 || o->rotations[i] > 180)
      return "a rotation is not from -180 to 180 degrees";
  }
  if ((o->left != 0 || o->top != 0 || o->right != 0 || o->bottom != 0)
      && (o->left < 0 || o->top < 0 || o->right <= o->left
          || o->bottom <= o->top))
    return "the part to search is empty or has a negative coordinate";
  if ((unsigned) o->grouping > CUV_DETECT_GROUP_NMS)
    return "grouping is not a value of CuvDetectGrouping";
  if (o->weights != 0 && (o->n_rotations > 0 || o->upscale != 1))
    return "weights are computed without rotations and upscale only";
  if (o->min_neighbors < 0)
    return "min_neighbors is negative";
  if (!(o->nms_iou >= 0 && o->nms_iou <= 1 && o->nms_inside >= 0
          && o->nms_inside <= 1))
    return "nms_iou or nms_inside is not from 0 to 1";
  return o->n_threads < 0 ? "n_threads is negative" : NULL;
}

static void
use_options (CuvDetect *self, const CuvDetectOptions *o)
{
  CuvWaldboostParams *params = &self->params;

  self->options = *o;
  if (o->n_rotations == 0) {
    self->options.n_rotations = 1;
    self->options.rotations[0] = 0;
  }
  params->scale_factor = o->scale_factor;
  params->upscale = o->upscale;
  params->min_width = o->min_width;
  params->min_height = o->min_height;
  params->max_width = o->max_width;
  params->max_height = o->max_height;
  params->rgb = cuv_rgb_matrix (0.299, 0.114, true);
  self->grouping = (CuvGrouping){ .method = (CuvGroupingMethod) o->grouping,
    .min_neighbours = o->min_neighbors,
    .nms_iou = o->nms_iou,
    .nms_inside = o->nms_inside };
}

/* ---- pictures ---- */

/* Where the samples of a component are: in which plane, the offset and the step
 * in bytes, and log2 of the pixels that share one. */
typedef struct {
  int plane, offset, step, sub;
} Samples;

static const struct {
  CuvModel model;
  int n;
  Samples of[3];
} formats[] = {
  [CUV_DETECT_GREY] = { CUV_MODEL_GREY, 1, { { 0, 0, 1, 0 } } },
  [CUV_DETECT_RGB] = { CUV_MODEL_RGB, 3,
      { { 0, 0, 3, 0 }, { 0, 1, 3, 0 }, { 0, 2, 3, 0 } } },
  [CUV_DETECT_BGR] = { CUV_MODEL_RGB, 3,
      { { 0, 2, 3, 0 }, { 0, 1, 3, 0 }, { 0, 0, 3, 0 } } },
  [CUV_DETECT_RGBA] = { CUV_MODEL_RGB, 3,
      { { 0, 0, 4, 0 }, { 0, 1, 4, 0 }, { 0, 2, 4, 0 } } },
  [CUV_DETECT_BGRA] = { CUV_MODEL_RGB, 3,
      { { 0, 2, 4, 0 }, { 0, 1, 4, 0 }, { 0, 0, 4, 0 } } },
  [CUV_DETECT_NV12] = { CUV_MODEL_YUV, 3,
      { { 0, 0, 1, 0 }, { 1, 0, 2, 1 }, { 1, 1, 2, 1 } } },
  [CUV_DETECT_I420] = { CUV_MODEL_YUV, 3,
      { { 0, 0, 1, 0 }, { 1, 0, 1, 1 }, { 2, 0, 1, 1 } } },
};

static CuvFrame
frame_of (const CuvDetectPicture *picture)
{
  CuvFrame frame = { .model = formats[picture->format].model,
    .width = picture->width,
    .height = picture->height,
    .n_components = formats[picture->format].n };

  for (int i = 0; i < frame.n_components; i++) {
    const Samples *s = &formats[picture->format].of[i];

    frame.component[i] =
        (CuvComponent){ (uint8_t *) picture->planes[s->plane] + s->offset,
          (int32_t) picture->strides[s->plane], s->step, s->sub, s->sub };
  }
  return frame;
}

static const char *
picture_problem (const CuvDetectPicture *picture)
{
  if (picture == NULL)
    return "the picture is NULL";
#if !HAVE_CUDA
  if (picture->on_device)
    return "this build of libcuvdetect has no CUDA kernels";
#endif
  if ((unsigned) picture->format >= G_N_ELEMENTS (formats))
    return "format is not a value of CuvDetectFormat";
  if (picture->width < 1 || picture->height < 1)
    return "the picture's width or height is below 1";
  for (int i = 0; i < formats[picture->format].n; i++) {
    const int plane = formats[picture->format].of[i].plane;

    if (picture->planes[plane] == NULL)
      return "a plane of the picture is NULL";
    if (picture->strides[plane] < G_MININT32
        || picture->strides[plane] > G_MAXINT32)
      return "a stride exceeds 32 bits";
  }
  return NULL;
}

/* Returns why an enlarged or rotated picture cannot be searched, or NULL. */
static const char *
size_problem (const CuvDetect *self, const CuvFrame *frame, const CuvRoi *roi)
{
  const CuvRoi part = cuv_roi_in_frame (roi, frame->width, frame->height);

  for (int i = 0; i < self->options.n_rotations; i++) {
    CuvWaldboostParams params = self->params;
    int width = part.right - part.left, height = part.bottom - part.top;

    params.rotation = self->options.rotations[i];
    if (!cuv_waldboost_picture_size (&params, &width, &height))
      return "the picture is too large with this upscale and rotation: at most "
             "32767 pixels a side, and 2^26 in all";
  }
  return NULL;
}

/* ---- detection ---- */

static const char *
models_problem (
    CuvDetectModel *const *models, int n, const CuvDetectOptions *options)
{
  if (n < 1 || n > CUV_DETECT_MAX_MODELS)
    return "the number of models is not from 1 to 16";
  for (int i = 0; i < n; i++) {
    if (models == NULL || models[i] == NULL)
      return "a model is NULL";
    if (options->weights != 0
        && as_model (models[i])->arithmetic != CUV_SUM_STAGES)
      return "weights are computed for OpenCV's cascades only: this model "
             "has no stages";
  }
  return NULL;
}

static CuvDetect *
new_detect (bool weights)
{
  CuvDetect *self = calloc (1, sizeof *self);

  if (self != NULL && weights) {
    self->weights = calloc (CUV_WALDBOOST_MAX_HITS, sizeof *self->weights);
    if (self->weights == NULL) {
      free (self);
      return NULL;
    }
  }
  return self;
}

CuvDetect *
cuv_detect_new (CuvDetectModel *const *models, int n,
    const CuvDetectOptions *options, char **error)
{
  const CuvDetectOptions all = complete_options (options);
  const char *problem = options_problem (&all);
  CuvDetect *self = NULL;

  if (problem == NULL)
    problem = models_problem (models, n, &all);
  if (problem == NULL) {
    self = new_detect (all.weights != 0);
    problem = self == NULL ? "out of memory" : NULL;
  }
  set_error (error, problem);
  if (self == NULL)
    return NULL;
  use_options (self, &all);
  for (int i = 0; i < n; i++)
    self->models[self->n_models++] = cuv_model_ref (as_model (models[i]));
  self->found = g_array_new (FALSE, FALSE, sizeof (CuvDetection));
  return self;
}

void
cuv_detect_free (CuvDetect *detect)
{
  if (detect == NULL)
    return;
  cuv_detector_free (detect->detector);
  for (int i = 0; i < detect->n_models; i++)
    cuv_model_unref (detect->models[i]);
  g_array_unref (detect->found);
  free (detect->weights);
  free (detect);
}

/* Makes a detector for the picture, unless the last one was like it. Returns
 * NULL, or an error. */
static const char *
open_detect (
    CuvDetect *self, const CuvFrame *frame, const CuvProcessor *processor)
{
  const CuvDetectOptions *o = &self->options;
  const CuvDetectorConfig config = { self->models, self->n_models,
    &self->params, o->n_rotations, o->rotations,
    { o->left, o->top, o->right, o->bottom } };
  const char *error;

  if (cuv_detector_matches (self->detector, &config, frame, processor))
    return NULL;
  cuv_detector_free (self->detector);
  self->detector = NULL;
  error = size_problem (self, frame, &config.roi);
  if (error == NULL)
    self->detector = cuv_detector_new (&config, frame, processor, &error);
  return error;
}

/* Computes the weights of a cascade's hits. Returns false if memory runs out.
 */
static bool
weigh_hits (CuvDetect *self, int model, const CuvFrame *frame)
{
  const CuvFrame area = cuv_frame_crop (frame, &self->detector->of[0]->area);

  return cuv_detect_weights_of (self->models[model],
      self->detector->of[0]->plans[model], &area,
      &self->detector->results[0][model], self->weights);
}

static const char *
append_found (CuvDetect *self, int model, const CuvFrame *frame)
{
  const bool weights = self->options.weights != 0;
  const CuvWaldboostBox *boxes;
  const int n = weights && !weigh_hits (self, model, frame)
      ? -1
      : cuv_detector_group (
          self->detector, model, &self->grouping, self->weights, &boxes);

  for (int i = 0; i < n; i++) {
    const CuvDetection detection = { boxes[i].x + self->detector->of[0]->x,
      boxes[i].y + self->detector->of[0]->y, boxes[i].width, boxes[i].height,
      model, boxes[i].rotation, boxes[i].neighbours, boxes[i].score,
      boxes[i].weight, weights ? self->models[model]->n_stages : 0, 0 };

    g_array_append_val (self->found, detection);
  }
  return n < 0 ? "out of memory" : NULL;
}

/* Searches a picture that has no problem. Returns NULL, or an error. */
static const char *
search (CuvDetect *self, const CuvDetectPicture *picture)
{
  const CuvProcessor processor = { picture->on_device != 0, picture->stream,
    self->options.n_threads };
  const CuvFrame frame = frame_of (picture);
  const char *problem = self->options.weights != 0 && picture->on_device
      ? "weights are computed for pictures in host memory only: copy the "
        "picture there"
      : open_detect (self, &frame, &processor);

  if (problem == NULL)
    problem = cuv_detector_scan (
        self->detector, &frame, &(CuvDetectorPart){ 0 }, &processor);
  for (int i = 0; i < self->n_models && problem == NULL; i++)
    problem = append_found (self, i, &frame);
  return problem;
}

int
cuv_detect_run (CuvDetect *detect, const CuvDetectPicture *picture,
    const CuvDetection **found, char **error)
{
  const char *problem = detect == NULL || found == NULL
      ? "detect or found is NULL"
      : picture_problem (picture);

  if (problem == NULL) {
    g_array_set_size (detect->found, 0);
    problem = search (detect, picture);
  }
  set_error (error, problem);
  if (problem != NULL)
    return -1;
  *found = (const CuvDetection *) (gconstpointer) detect->found->data;
  return (int) detect->found->len;
}

int
cuv_detect_lost (const CuvDetect *detect)
{
  const CuvDetector *detector = detect != NULL ? detect->detector : NULL;
  int lost = 0;

  for (int i = 0; detector != NULL && i < detector->n_rotations; i++) {
    for (int k = 0; k < detector->n_models; k++)
      lost += detector->results[i][k].overflow;
  }
  return lost;
}

/* ---- grouping ---- */

static bool
is_small (int coordinate)
{
  return coordinate >= -(1 << 28) && coordinate <= 1 << 28;
}

/* Returns what is wrong with the arguments of cuv_detect_group(), or NULL. */
static const char *
group_problem (const CuvDetection *boxes, int n, double eps)
{
  if (n < 0 || (n > 0 && boxes == NULL))
    return "the number of boxes is negative, or boxes is NULL";
  if (!(eps >= -(1 << 20) && eps <= 1 << 20))
    return "eps is not from -2^20 to 2^20";
  for (int i = 0; i < n; i++) {
    if (!is_small (boxes[i].x) || !is_small (boxes[i].y)
        || !is_small (boxes[i].width) || !is_small (boxes[i].height))
      return "a coordinate of a box is not from -2^28 to 2^28";
  }
  return NULL;
}

/* Groups n boxes of `in`, and writes the groups to `out`. */
static int
group_into (CuvDetection *out, const CuvGrouping *grouping,
    const CuvWaldboostBox *in, int n)
{
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  const CuvWaldboostBox *groups;
  const int n_groups = grouper == NULL
      ? -1
      : cuv_waldboost_group_boxes (grouper, grouping, in, n, &groups);

  for (int i = 0; i < n_groups; i++)
    out[i] = (CuvDetection){ .x = groups[i].x,
      .y = groups[i].y,
      .width = groups[i].width,
      .height = groups[i].height,
      .neighbors = groups[i].neighbours };
  cuv_waldboost_grouper_free (grouper);
  return n_groups;
}

int
cuv_detect_group (
    CuvDetection *boxes, int n, int min_neighbors, double eps, char **error)
{
  const CuvGrouping grouping = {
    .method = CUV_GROUPING_EPS, .min_neighbours = min_neighbors, .eps = eps
  };
  const char *problem = group_problem (boxes, n, eps);
  CuvWaldboostBox *in =
      problem == NULL ? calloc ((size_t) n + 1, sizeof *in) : NULL;
  int n_groups = -1;

  for (int i = 0; i < n && in != NULL; i++)
    in[i] = (CuvWaldboostBox){ .x = boxes[i].x,
      .y = boxes[i].y,
      .width = boxes[i].width,
      .height = boxes[i].height,
      .neighbours = 1 };
  if (in != NULL)
    n_groups = group_into (boxes, &grouping, in, n);
  free (in);
  if (problem == NULL && n_groups < 0)
    problem = "out of memory";
  set_error (error, problem);
  return n_groups;
}
