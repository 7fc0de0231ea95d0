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
#include "gstwaldboostsettings.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

GST_DEBUG_CATEGORY_STATIC (waldboost_detect_debug);
#define GST_CAT_DEFAULT waldboost_detect_debug

typedef struct {
  guint64 windows, stage_0, lost;
  guint hits, objects, levels;
} Counts;

struct _GstWaldboostDetect {
  GstCuvFilter parent;

  GstWaldboostSettings settings; /* under the object lock, as is counts */
  Counts counts;

  /* of the streaming thread */
  CuvScanner scanner;
  CuvWaldboostGrouper *grouper;
  GArray *objects; /* CuvWaldboostBox, of the last analysis */
  gchar *objects_label;
  gchar *model_label, *model_file; /* of the model that the scanner has */
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

/* NULL, or the pair of limits that leave no size, and what to do. */
static const gchar *
contradiction (const CuvWaldboostParams *params)
{
  if (params->max_width > 0 && params->min_width > params->max_width)
    return "min-size-width is above max-size-width: lower the one, or raise "
           "the other or set it to 0, no limit";
  if (params->max_height > 0 && params->min_height > params->max_height)
    return "min-size-height is above max-size-height: lower the one, or raise "
           "the other or set it to 0, no limit";
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
        ("%s. Until then the settings before stay in force.", problem), (NULL));
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
  return FALSE;
}

/* "WxH", or "none" for a size that limits nothing. */
static void
format_limit (gchar *text, gsize size, gint width, gint height)
{
  if (width == 0 && height == 0)
    g_strlcpy (text, "none", size);
  else
    g_snprintf (text, size, "%dx%d", width, height);
}

static void
warn_if_empty (GstWaldboostDetect *self, const CuvWaldboostParams *params)
{
  const CuvScanner *scanner = &self->scanner;
  gchar least[32], most[32];

  if (scanner->plan->n_levels > 0)
    return;
  if (scanner->plan->width == 0 || scanner->plan->height == 0) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("roi lies outside the frame, which is %dx%d. No objects will be "
         "found.",
            scanner->frame_width, scanner->frame_height),
        (NULL));
    return;
  }
  format_limit (least, sizeof least, params->min_width, params->min_height);
  format_limit (most, sizeof most, params->max_width, params->max_height);
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("No window fits: the model's is %dx%d, the part of the frame to look at "
       "%dx%d, limits are min-size %s, max-size %s. No objects will be found; "
       "use larger frames, a larger roi or other size limits.",
          scanner->model->window_width, scanner->model->window_height,
          scanner->plan->width, scanner->plan->height, least, most),
      (NULL));
}

static gboolean
gst_waldboost_detect_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const CuvWaldboostModel *model;
  CuvScanner scanner = { 0 };
  CuvWaldboostParams params;
  gchar *label, *file;
  const gchar *problem;
  CuvRoi roi;

  GST_OBJECT_LOCK (self);
  model = cuv_model_ref (self->settings.model);
  label = g_strdup (self->settings.model_label);
  file = g_path_get_basename (self->settings.model_name);
  params = self->settings.params;
  roi = self->settings.roi;
  GST_OBJECT_UNLOCK (self);
  problem = contradiction (&params);
  if (problem == NULL)
    problem = cuv_scanner_init (&scanner, model, &params, &roi, &frame->frame,
        frame->cuda, frame->stream);
  cuv_model_unref (model);
  if (problem != NULL) {
    cuv_scanner_clear (&scanner);
    g_free (label);
    g_free (file);
    return cannot_prepare (self, frame, problem);
  }
  cuv_scanner_clear (&self->scanner);
  self->scanner = scanner;
  g_free (self->model_label);
  self->model_label = label;
  g_free (self->model_file);
  self->model_file = file;
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
  CuvGrouping grouping = { 0 };
  CuvWaldboostResult result;
  guint min_neighbors, max_objects;
  const gchar *problem;
  gdouble threshold;
  gint n;

  GST_OBJECT_LOCK (self);
  min_neighbors = self->settings.min_neighbors;
  max_objects = self->settings.max_objects;
  threshold = self->settings.threshold;
  g_free (self->objects_label);
  self->objects_label = g_strdup (
      self->settings.label != NULL ? self->settings.label : self->model_label);
  GST_OBJECT_UNLOCK (self);

  problem = cuv_scanner_run (
      &self->scanner, &frame->frame, frame->stream, n_threads, &result);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, FAILED, ("The GPU failed: %s.", problem), (NULL));
    return FALSE;
  }
  grouping.min_neighbours = (gint) min_neighbors;
  n = cuv_waldboost_group (self->grouper, self->scanner.plan, &grouping,
      result.hits, result.n_hits, &boxes);
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
  self->counts.stage_0 = result.survivors ? result.survivors[0] : 0;
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
      "model_name", G_TYPE_STRING, self->model_file, NULL);

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
  gint id = gst_cuv_meta_next_id (buffer);
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < self->objects->len; i++) {
    const CuvWaldboostBox *box =
        &g_array_index (self->objects, CuvWaldboostBox, i);

    gst_cuv_meta_add_object (buffer, info, id + (gint) i, self->objects_label,
        box->x, box->y, box->width, box->height, confidence_of (box->score),
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

static gboolean
gst_waldboost_detect_start (GstBaseTransform *trans)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (trans);

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans)
      || !gst_waldboost_settings_start (&self->settings))
    return FALSE; /* stop() will not be called */
  self->grouper = cuv_waldboost_grouper_new ();
  if (self->grouper != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (
      self, RESOURCE, NO_SPACE_LEFT, ("No memory to start."), (NULL));
  gst_waldboost_settings_stop (&self->settings);
  return FALSE;
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
  gst_waldboost_settings_stop (&self->settings);
  return ok;
}

/* ---- properties ---- */

static void
gst_waldboost_detect_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  if (!gst_waldboost_settings_set (&self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_waldboost_detect_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  if (!gst_waldboost_settings_get (&self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_waldboost_detect_finalize (GObject *object)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  gst_waldboost_settings_clear (&self->settings);
  g_array_unref (self->objects);
  g_free (self->objects_label);
  g_free (self->model_label);
  g_free (self->model_file);
  G_OBJECT_CLASS (parent_class)->finalize (object);
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
  gst_waldboost_settings_install (object_class);
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
  gst_waldboost_settings_init (&self->settings, GST_CUV_FILTER (self));
  self->objects = g_array_new (FALSE, FALSE, sizeof (CuvWaldboostBox));
}
