/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-waldboostdetect
 * @title: waldboostdetect
 * @short_description: detects objects with a boosted cascade
 *
 * Slides a window over the frame at many sizes and asks a boosted classifier at
 * each place. Finds exactly the boxes that OpenCV's CascadeClassifier finds, on
 * the CPU and, for frames in CUDA memory, on the GPU. The frame is neither
 * copied nor changed: boxes are attached as GstVideoRegionOfInterestMeta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.avi ! decodebin ! videoconvert !
 * waldboostdetect model=lbpcascade_frontalface.xml ! visionoverlay !
 * videoconvert ! autovideosink
 * ]| Shows a film with its faces boxed.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstwaldboostdetect.h"

#include <math.h>
#include <string.h>

#include "gstcuvmeta.h"
#include "modelfile.h"
#include "scanner.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

GST_DEBUG_CATEGORY_STATIC (waldboost_detect_debug);
#define GST_CAT_DEFAULT waldboost_detect_debug

#define DEFAULT_SCALE_FACTOR 1.1
#define DEFAULT_MIN_NEIGHBORS 3
#define DEFAULT_SIZE 0
#define DEFAULT_THRESHOLD 0.0
#define DEFAULT_MAX_OBJECTS 0

enum {
  PROP_0,
  PROP_MODEL,
  PROP_LABEL,
  PROP_SCALE_FACTOR,
  PROP_MIN_NEIGHBORS,
  PROP_MIN_SIZE_WIDTH,
  PROP_MIN_SIZE_HEIGHT,
  PROP_MAX_SIZE_WIDTH,
  PROP_MAX_SIZE_HEIGHT,
  PROP_THRESHOLD,
  PROP_ROI,
  PROP_MAX_OBJECTS,
};

typedef struct {
  guint64 windows, stage_0, lost;
  guint hits, objects, levels;
} Counts;

struct _GstWaldboostDetect {
  GstCuvFilter parent;

  /* under the object lock */
  gchar *model_name, *label, *roi_text;
  const CuvWaldboostModel *model; /* loaded while started */
  gchar *model_label;
  CuvWaldboostParams params;
  CuvRoi roi;
  guint min_neighbors, max_objects;
  gdouble threshold;
  gboolean started;
  Counts counts;

  /* of the streaming thread */
  CuvScanner scanner;
  CuvWaldboostGrouper *grouper;
  GArray *objects; /* CuvWaldboostBox, of the last analysis */
  gchar *objects_label;
  gchar *objects_model;
};

#define gst_waldboost_detect_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstWaldboostDetect, gst_waldboost_detect, GST_TYPE_CUV_FILTER)
GST_ELEMENT_REGISTER_DEFINE (waldboostdetect, "waldboostdetect", GST_RANK_NONE,
    GST_TYPE_WALDBOOST_DETECT)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* ---- preparing ---- */

/* NULL, or the pair of limits that leave no size. */
static const gchar *
contradiction (const CuvWaldboostParams *params)
{
  if (params->max_width > 0 && params->min_width > params->max_width)
    return "min-size-width is above max-size-width";
  if (params->max_height > 0 && params->min_height > params->max_height)
    return "min-size-height is above max-size-height";
  return NULL;
}

/* While playing, a change that cannot be made leaves all as it is; at the start
 * or for new caps there is nothing to go on with. */
static gboolean
cannot_prepare (
    GstWaldboostDetect *self, const GstCuvFrame *frame, const gchar *problem)
{
  const CuvScanner *old = &self->scanner;

  if (old->plan != NULL && old->on_device == frame->cuda
      && old->frame_width == frame->frame.width
      && old->frame_height == frame->frame.height) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s: the settings before stay in force.", problem), (NULL));
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem),
      ("Size limits of 0 are no limits. Smaller frames, a roi or a larger "
       "min-size-width need less memory."));
  return FALSE;
}

static void
warn_if_empty (GstWaldboostDetect *self, const CuvWaldboostParams *params)
{
  const CuvScanner *scanner = &self->scanner;

  if (scanner->plan->n_levels > 0)
    return;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("No window fits: the model's is %dx%d, the part of the frame to look at "
       "%dx%d, min-size %dx%d, max-size %dx%d. No objects will be found; use "
       "larger frames, a larger roi or other size limits.",
          scanner->model->window_width, scanner->model->window_height,
          scanner->plan->width, scanner->plan->height, params->min_width,
          params->min_height, params->max_width, params->max_height),
      (NULL));
}

static gboolean
gst_waldboost_detect_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const CuvWaldboostModel *model;
  CuvScanner scanner = { 0 };
  CuvWaldboostParams params;
  const gchar *problem;
  CuvRoi roi;

  GST_OBJECT_LOCK (self);
  model = cuv_model_ref (self->model);
  params = self->params;
  roi = self->roi;
  GST_OBJECT_UNLOCK (self);
  problem = contradiction (&params);
  if (problem == NULL)
    problem = cuv_scanner_init (&scanner, model, &params, &roi, &frame->frame,
        frame->cuda, frame->stream);
  cuv_model_unref (model);
  if (problem != NULL) {
    cuv_scanner_clear (&scanner);
    return cannot_prepare (self, frame, problem);
  }
  cuv_scanner_clear (&self->scanner);
  self->scanner = scanner;
  warn_if_empty (self, &params);
  return TRUE;
}

/* ---- analysing ---- */

static gdouble
confidence_of (gfloat score)
{
  return 1.0 / (1.0 + exp (-(gdouble) score));
}

static gint
by_score (gconstpointer a, gconstpointer b)
{
  const CuvWaldboostBox *p = a, *q = b;

  return (p->score < q->score) - (p->score > q->score);
}

/* Keeps the boxes that are to be published, in frame coordinates. */
static void
keep_objects (GstWaldboostDetect *self, const CuvWaldboostBox *boxes, gint n,
    gdouble threshold, guint max_objects)
{
  g_array_set_size (self->objects, 0);
  for (gint i = 0; i < n; i++) {
    CuvWaldboostBox box = boxes[i];

    if (confidence_of (box.score) < threshold)
      continue;
    box.x += self->scanner.x;
    box.y += self->scanner.y;
    g_array_append_val (self->objects, box);
  }
  if (max_objects > 0 && self->objects->len > max_objects) {
    g_array_sort (self->objects, by_score);
    g_array_set_size (self->objects, max_objects);
  }
}

static gboolean
gst_waldboost_detect_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const CuvWaldboostBox *boxes = NULL;
  CuvWaldboostResult result;
  guint min_neighbors, max_objects;
  const gchar *problem;
  gdouble threshold;
  gint n;

  GST_OBJECT_LOCK (self);
  min_neighbors = self->min_neighbors;
  max_objects = self->max_objects;
  threshold = self->threshold;
  g_free (self->objects_label);
  self->objects_label =
      g_strdup (self->label != NULL ? self->label : self->model_label);
  g_free (self->objects_model);
  self->objects_model = g_path_get_basename (self->model_name);
  GST_OBJECT_UNLOCK (self);

  problem = cuv_scanner_run (
      &self->scanner, &frame->frame, frame->stream, n_threads, &result);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, FAILED, ("The GPU failed: %s.", problem), (NULL));
    return FALSE;
  }
  n = cuv_waldboost_group (self->grouper, self->scanner.plan, result.hits,
      result.n_hits, (gint) min_neighbors, &boxes);
  if (n < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory to group %d windows.", result.n_hits), (NULL));
    return FALSE;
  }
  keep_objects (self, boxes, n, threshold, max_objects);
  if (result.overflow > 0)
    GST_WARNING_OBJECT (self, "%d windows more than the %d that fit were lost",
        result.overflow, CUV_WALDBOOST_MAX_HITS);

  GST_OBJECT_LOCK (self);
  self->counts.levels = self->scanner.plan->n_levels;
  self->counts.windows = result.windows;
  self->counts.stage_0 = result.stage_0;
  self->counts.lost += result.overflow;
  self->counts.hits = result.n_hits;
  self->counts.objects = self->objects->len;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- publishing ---- */

static void
append_object (GValue *list, const CuvWaldboostBox *box, const gchar *label)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value,
      gst_structure_new ("object", "label", G_TYPE_STRING, label, "x",
          G_TYPE_UINT, (guint) box->x, "y", G_TYPE_UINT, (guint) box->y,
          "width", G_TYPE_UINT, (guint) box->width, "height", G_TYPE_UINT,
          (guint) box->height, "confidence", G_TYPE_DOUBLE,
          confidence_of (box->score), "score", G_TYPE_DOUBLE,
          (gdouble) box->score, NULL));
  gst_value_list_append_and_take_value (list, &value);
}

static GstStructure *
detection_extra (
    GstWaldboostDetect *self, const CuvWaldboostBox *box, GstClockTime age)
{
  GstStructure *extra = gst_structure_new ("detection", "score", G_TYPE_DOUBLE,
      (gdouble) box->score, "neighbors", G_TYPE_INT, (gint) box->neighbours,
      "model_name", G_TYPE_STRING, self->objects_model, NULL);

  if (age > 0)
    gst_structure_set (extra, "age", G_TYPE_UINT64, age, NULL);
  return extra;
}

static guint
gst_waldboost_detect_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < self->objects->len; i++) {
    const CuvWaldboostBox *box =
        &g_array_index (self->objects, CuvWaldboostBox, i);

    gst_cuv_meta_add_object (buffer, info, self->objects_label, box->x, box->y,
        box->width, box->height, confidence_of (box->score),
        detection_extra (self, box, age));
    if (message != NULL)
      append_object (&list, box, self->objects_label);
  }
  if (message != NULL)
    gst_structure_take_value (message, "objects", &list);
  else
    g_value_unset (&list);
  return self->objects->len;
}

static void
gst_waldboost_detect_reset (GstCuvFilter *filter)
{
  g_array_set_size (GST_WALDBOOST_DETECT (filter)->objects, 0);
}

static void
gst_waldboost_detect_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (stats, "levels", G_TYPE_UINT, counts.levels, "windows",
      G_TYPE_UINT64, counts.windows, "windows-after-stage-0", G_TYPE_UINT64,
      counts.stage_0, "windows-accepted", G_TYPE_UINT, counts.hits,
      "windows-lost", G_TYPE_UINT64, counts.lost, "objects", G_TYPE_UINT,
      counts.objects, NULL);
#if HAVE_CUDA
  gst_structure_set (
      stats, "gpu-bytes", G_TYPE_UINT64, (guint64) cuv_cuda_allocated (), NULL);
#endif
}

/* ---- states ---- */

/* Takes the model under its name; the object lock is held. */
static void
take_model (
    GstWaldboostDetect *self, const CuvWaldboostModel *model, const gchar *name)
{
  cuv_model_unref (self->model);
  self->model = model;
  g_free (self->model_label);
  self->model_label = cuv_model_label (name);
}

static gboolean
load_at_start (GstWaldboostDetect *self, const gchar *name)
{
  const CuvWaldboostModel *model;
  GError *error = NULL;

  if (name == NULL || *name == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("No model. Set the property model, for example to "
         "lbpcascade_frontalface.xml of the package opencv-data."),
        (NULL));
    return FALSE;
  }
  model = cuv_model_load (name, &error);
  if (model == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot load model: %s.", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  take_model (self, model, name);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_waldboost_detect_start (GstBaseTransform *trans)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (trans);
  gchar *name, *roi_text;
  gboolean roi_ok;

  GST_OBJECT_LOCK (self);
  name = g_strdup (self->model_name);
  roi_text = g_strdup (self->roi_text);
  roi_ok = cuv_roi_parse (self->roi_text, &self->roi);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  if (!roi_ok)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("roi is '%s': it takes four pixel coordinates left,top,right,bottom "
         "with left < right and top < bottom.",
            roi_text),
        (NULL));
  g_free (roi_text);
  if (!roi_ok || !load_at_start (self, name)) {
    g_free (name);
    return FALSE;
  }
  g_free (name);
  if (self->grouper == NULL)
    self->grouper = cuv_waldboost_grouper_new ();
  GST_OBJECT_LOCK (self);
  self->started = TRUE;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static void
gst_waldboost_detect_leave_context (GstCuvTransform *transform)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (transform);

  cuv_scanner_clear (&self->scanner);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_waldboost_detect_stop (GstBaseTransform *trans)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (trans);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);

  cuv_scanner_clear (&self->scanner); /* what no CUDA context has freed */
  g_clear_pointer (&self->grouper, cuv_waldboost_grouper_free);
  GST_OBJECT_LOCK (self);
  self->started = FALSE;
  g_clear_pointer (&self->model, cuv_model_unref);
  GST_OBJECT_UNLOCK (self);
  return ok;
}

/* ---- properties ---- */

static void
set_roi (GstWaldboostDetect *self, const gchar *text)
{
  gboolean ok;
  CuvRoi roi;

  ok = cuv_roi_parse (text, &roi);
  GST_OBJECT_LOCK (self);
  if (ok || !self->started) { /* start() looks again, and can fail */
    g_free (self->roi_text);
    self->roi_text = g_strdup (text);
  }
  if (ok)
    self->roi = roi;
  GST_OBJECT_UNLOCK (self);
  if (ok)
    gst_cuv_filter_request_prepare (GST_CUV_FILTER (self));
  else
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("roi '%s' is not left,top,right,bottom in pixels: the old one stays.",
            text),
        (NULL));
}

/* Loads in the caller's thread, so the stream goes on with the old model until
 * the new one is there, or if it cannot be loaded. */
static void
set_model (GstWaldboostDetect *self, const gchar *name)
{
  const CuvWaldboostModel *model = NULL;
  GError *error = NULL;
  gboolean started;

  GST_OBJECT_LOCK (self);
  started = self->started;
  GST_OBJECT_UNLOCK (self);
  if (started)
    model = cuv_model_load (name != NULL ? name : "", &error);
  if (error != NULL) {
    GST_ELEMENT_WARNING (self, RESOURCE, OPEN_READ,
        ("Cannot load model, the old one stays: %s.", error->message), (NULL));
    g_error_free (error);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->model_name);
  self->model_name = g_strdup (name);
  if (model != NULL)
    take_model (self, model, name);
  GST_OBJECT_UNLOCK (self);
  gst_cuv_filter_request_prepare (GST_CUV_FILTER (self));
}

/* Where an unsigned property is kept; *shapes if the plan depends on it. */
static gpointer
uint_setting (GstWaldboostDetect *self, guint id, gboolean *shapes)
{
  *shapes = id != PROP_MIN_NEIGHBORS && id != PROP_MAX_OBJECTS;
  switch (id) {
    case PROP_MIN_NEIGHBORS:
      return &self->min_neighbors;
    case PROP_MIN_SIZE_WIDTH:
      return &self->params.min_width;
    case PROP_MIN_SIZE_HEIGHT:
      return &self->params.min_height;
    case PROP_MAX_SIZE_WIDTH:
      return &self->params.max_width;
    case PROP_MAX_SIZE_HEIGHT:
      return &self->params.max_height;
    case PROP_MAX_OBJECTS:
      return &self->max_objects;
    default:
      return NULL;
  }
}

static void
gst_waldboost_detect_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);
  gboolean shapes = FALSE, changed = TRUE;
  guint *setting;

  if (id == PROP_MODEL) {
    set_model (self, g_value_get_string (value));
    return;
  }
  if (id == PROP_ROI) {
    set_roi (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_LABEL) {
    g_free (self->label);
    self->label = g_value_dup_string (value);
  } else if (id == PROP_THRESHOLD) {
    self->threshold = g_value_get_double (value);
  } else if (id == PROP_SCALE_FACTOR) {
    changed = self->params.scale_factor != g_value_get_double (value);
    self->params.scale_factor = g_value_get_double (value);
    shapes = TRUE;
  } else if ((setting = uint_setting (self, id, &shapes)) != NULL) {
    changed = *setting != g_value_get_uint (value);
    *setting = g_value_get_uint (value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
  /* controllers set properties at every frame: only a change is work */
  if (shapes && changed)
    gst_cuv_filter_request_prepare (GST_CUV_FILTER (self));
}

static void
gst_waldboost_detect_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);
  gboolean shapes;
  guint *setting;

  GST_OBJECT_LOCK (self);
  if (id == PROP_MODEL)
    g_value_set_string (value, self->model_name);
  else if (id == PROP_LABEL)
    g_value_set_string (value, self->label);
  else if (id == PROP_ROI)
    g_value_set_string (value, self->roi_text);
  else if (id == PROP_THRESHOLD)
    g_value_set_double (value, self->threshold);
  else if (id == PROP_SCALE_FACTOR)
    g_value_set_double (value, self->params.scale_factor);
  else if ((setting = uint_setting (self, id, &shapes)) != NULL)
    g_value_set_uint (value, *setting);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_waldboost_detect_finalize (GObject *object)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  g_array_unref (self->objects);
  g_free (self->objects_label);
  g_free (self->objects_model);
  g_free (self->model_name);
  g_free (self->model_label);
  g_free (self->label);
  g_free (self->roi_text);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

/* name, what it is, most, default */
static const struct {
  guint id;
  const gchar *name, *nick, *blurb;
  guint maximum, value;
} uint_properties[] = {
  { PROP_MIN_NEIGHBORS, "min-neighbors", "Minimum neighbors",
      "An object is a group of more windows than this (0 = no grouping)",
      G_MAXINT, DEFAULT_MIN_NEIGHBORS },
  { PROP_MIN_SIZE_WIDTH, "min-size-width", "Minimum size width",
      "Least width of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MIN_SIZE_HEIGHT, "min-size-height", "Minimum size height",
      "Least height of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_SIZE_WIDTH, "max-size-width", "Maximum size width",
      "Most width of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_SIZE_HEIGHT, "max-size-height", "Maximum size height",
      "Most height of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_OBJECTS, "max-objects", "Maximum objects",
      "Most objects to publish for a frame, the surest first (0 = all)",
      G_MAXINT, DEFAULT_MAX_OBJECTS },
};

static void
install_properties (GObjectClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (uint_properties); i++)
    g_object_class_install_property (klass, uint_properties[i].id,
        g_param_spec_uint (uint_properties[i].name, uint_properties[i].nick,
            uint_properties[i].blurb, 0, uint_properties[i].maximum,
            uint_properties[i].value, GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:model:
   *
   * An OpenCV cascade file (XML) with LBP features. A bare name is looked for
   * in the working folder, in CUV_MODEL_PATH and in OpenCV's own folders.
   * While playing, a file that cannot be loaded leaves the old model in force.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MODEL,
      g_param_spec_string ("model", "Model",
          "Cascade file, a path or a bare name", NULL, GST_CUV_PARAM_LIVE));
  g_object_class_install_property (klass, PROP_LABEL,
      g_param_spec_string ("label", "Label",
          "Label of the objects (default: the model's file name without "
          "extension, lbpcascade_ and haarcascade_)",
          NULL, GST_CUV_PARAM_LIVE));
  g_object_class_install_property (klass, PROP_SCALE_FACTOR,
      g_param_spec_double ("scale-factor", "Scale factor",
          "Ratio of window sizes from one level to the next", 1.01, 10.0,
          DEFAULT_SCALE_FACTOR, GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:threshold:
   *
   * The lowest confidence that is published. Confidence is 1 / (1 + exp (-s)),
   * s the last stage's sum minus its threshold, the largest of a group:
   * accepted windows have s >= 0, so values up to 0.5 let all pass.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_THRESHOLD,
      g_param_spec_double ("threshold", "Threshold",
          "Lowest confidence to publish", 0.0, 1.0, DEFAULT_THRESHOLD,
          GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:roi:
   *
   * The part of the frame to look at; right and bottom are exclusive, and it is
   * cut to the frame. Only its windows cost work.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_ROI,
      g_param_spec_string ("roi", "Region of interest",
          "Part of the frame to look at: left,top,right,bottom in pixels "
          "(default: all)",
          NULL, GST_CUV_PARAM_LIVE));
}

static void
gst_waldboost_detect_class_init (GstWaldboostDetectClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);
  GstCuvFilterClass *filter_class = GST_CUV_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      waldboost_detect_debug, "waldboostdetect", 0, "boosted detection");
  object_class->set_property = gst_waldboost_detect_set_property;
  object_class->get_property = gst_waldboost_detect_get_property;
  object_class->finalize = gst_waldboost_detect_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_waldboost_detect_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_waldboost_detect_stop);
  transform_class->leave_context = gst_waldboost_detect_leave_context;
  filter_class->prepare = gst_waldboost_detect_prepare;
  filter_class->analyse = gst_waldboost_detect_analyse;
  filter_class->publish = gst_waldboost_detect_publish;
  filter_class->reset = gst_waldboost_detect_reset;
  filter_class->add_stats = gst_waldboost_detect_add_stats;
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Boosted object detector", "Filter/Analyzer/Video",
      "Detects objects with a boosted cascade, on the CPU or with CUDA",
      "The gst-cuvision authors");
}

static void
gst_waldboost_detect_init (GstWaldboostDetect *self)
{
  self->params.scale_factor = DEFAULT_SCALE_FACTOR;
  self->min_neighbors = DEFAULT_MIN_NEIGHBORS;
  self->threshold = DEFAULT_THRESHOLD;
  self->max_objects = DEFAULT_MAX_OBJECTS;
  self->objects = g_array_new (FALSE, FALSE, sizeof (CuvWaldboostBox));
}
