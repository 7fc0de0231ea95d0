/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-waldboostdetect
 * @title: waldboostdetect
 * @short_description: detects objects with a boosted classifier
 *
 * Slides a window over the frame at many sizes and evaluates a boosted
 * classifier at each position: an OpenCV cascade, a WaldBoost model of BUT FIT,
 * a WBDetector of opencv_contrib, or trees on channels of colour and gradients.
 * For OpenCV's models, returns exactly the boxes of OpenCV, on the CPU and, for
 * frames in CUDA memory, on the GPU. The frame is neither copied nor changed:
 * boxes are attached as GstVideoRegionOfInterestMeta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * waldboostdetect model=haarcascade_frontalface_alt2.xml ! visionoverlay !
 * videoconvert ! autovideosink
 * ]| Shows a video with boxes around faces.
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * waldboostdetect model=haarcascade_frontalface_alt2.xml !
 * waldboostdetect model=haarcascade_eye.xml inference-region=roi-list
 * object-class=frontalface_alt2 ! visionpublish ! fakesink
 * ]| Looks for eyes in faces.
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * waldboostdetect model=plates.xml,signs.xml label=plate,sign !
 * visionoverlay ! videoconvert ! autovideosink
 * ]| Looks for plates and signs.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstwaldboostdetect.h"

#include "gstcuvbudget.h"
#include "gstwaldboostcounts.h"
#include "gstwaldboostdetector.h"
#include "gstwaldboostsettings.h"

GST_DEBUG_CATEGORY_STATIC (waldboost_detect_debug);
#define GST_CAT_DEFAULT waldboost_detect_debug

struct _GstWaldboostDetect {
  GstCuvFilter parent;

  GstCuvSettings settings;   /* GstWaldboostSettings */
  GstWaldboostCounts counts; /* protected by the object lock; read for stats */

  /* used by the streaming thread only */
  CuvDetector *detector;
  GArray *present;     /* GstCuvObject: objects of the current frame */
  GstCuvBudget budget; /* limits the total area of a frame's regions */
  /* with roi-centers: regions, relative to roi, and their ids */
  GArray *areas, *area_ids; /* CuvRoi, gint */
  GArray *objects;          /* GstWaldboostObject */
  GstWaldboostCounts work;  /* counts of the current frame */
};

#define gst_waldboost_detect_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstWaldboostDetect, gst_waldboost_detect,
    GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (
        waldboost_detect_debug, "waldboostdetect", 0, "boosted detection"))
GST_ELEMENT_REGISTER_DEFINE (waldboostdetect, "waldboostdetect", GST_RANK_NONE,
    GST_TYPE_WALDBOOST_DETECT)

/* ---- preparing ---- */

static gchar *
gst_waldboost_detect_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const GstWaldboostSettings *s = settings;
  CuvDetector *detector;
  const gchar *error;
  gchar *problem;

  self->budget.warned = FALSE;
  if (gst_waldboost_detector_matches (self->detector, s, frame))
    return NULL;
  problem = gst_waldboost_size_problem (s, frame);
  if (problem != NULL)
    return problem;
  detector = gst_waldboost_detector_new (s, frame, &error);
  if (detector == NULL)
    return gst_cuv_filter_open_problem (filter, frame, error);
  cuv_detector_free (self->detector);
  self->detector = detector;
  gst_waldboost_detector_warn_if_empty (detector, s, GST_ELEMENT (self));
  return NULL;
}

/* ---- analysing ---- */

/* Returns the id of the first area in which the centre of a box lies, or -1. */
static gint
area_around (const GstWaldboostDetect *self, const CuvWaldboostBox *box)
{
  const gint x = box->x + box->width / 2, y = box->y + box->height / 2;

  for (guint i = 0; i < self->areas->len; i++) {
    const CuvRoi *area = &g_array_index (self->areas, CuvRoi, i);

    if (x >= area->left && x < area->right && y >= area->top
        && y < area->bottom)
      return g_array_index (self->area_ids, gint, i);
  }
  return -1;
}

/* Appends the boxes of a model whose confidence reaches the threshold, in frame
 * coordinates. */
static void
append_objects (GstWaldboostDetect *self, gint model,
    const CuvWaldboostBox *boxes, gint n, gint parent_id)
{
  const GstWaldboostSettings *s = self->settings.in_force;
  const GstWaldboostOrigin *origin = &s->origins->of[model];

  for (gint i = 0; i < n; i++) {
    GstWaldboostObject object = { boxes[i], parent_id, model };

    if (s->region_mode == GST_WALDBOOST_ROI_CENTERS)
      object.parent_id = area_around (self, &boxes[i]);
    object.box.x += self->detector->of[0]->x;
    object.box.y += self->detector->of[0]->y;
    if (!(gst_waldboost_confidence (origin, boxes[i].score) < s->threshold))
      g_array_append_val (self->objects, object);
  }
}

/* Adds the results of a scan to the counts. Returns the number of hits that
 * were lost. */
static gint
count_results (GstWaldboostDetect *self)
{
  const CuvDetector *detector = self->detector;
  gint lost = 0;

  for (gint i = 0; i < detector->n_rotations; i++) {
    for (gint k = 0; k < detector->n_models; k++) {
      lost += detector->results[i][k].overflow;
      gst_waldboost_counts_add (&self->work, k, &detector->results[i][k]);
      self->work.levels += (guint) detector->of[i]->n_levels[k];
    }
  }
  return lost;
}

/* Scans an area; NULL: the areas of self, or without areas the roi. */
static gboolean
scan (GstWaldboostDetect *self, const GstCuvFrame *frame, const CuvRoi *area,
    gint n_threads)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  const CuvDetectorPart part = { area,
    (const CuvRoi *) (gpointer) self->areas->data, (gint) self->areas->len };
  const gchar *problem =
      cuv_detector_scan (self->detector, &frame->frame, &part, &processor);
  gint lost;

  if (problem != NULL)
    return gst_cuv_frame_failed (frame, problem);
  lost = count_results (self);
  if (lost > 0)
    GST_WARNING_OBJECT (self,
        "%d accepted windows were lost, because the limit is %d per model; use "
        "a stricter model or a higher final-threshold, a smaller roi or a "
        "larger min-size",
        lost, CUV_WALDBOOST_MAX_HITS);
  return TRUE;
}

/* Makes objects of a model's hits in all rotations. */
static gboolean
group (GstWaldboostDetect *self, gint model, gint parent_id)
{
  const GstWaldboostSettings *s = self->settings.in_force;
  const GstClockTime start = gst_util_get_timestamp ();
  const CuvWaldboostBox *boxes = NULL;
  const gint n =
      cuv_detector_group (self->detector, model, &s->grouping, NULL, &boxes);

  if (n < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory: %" G_GUINT64_FORMAT " accepted windows cannot be "
         "grouped. Free memory, or use a smaller roi or a larger min-size.",
            self->work.of[model].accepted),
        (NULL));
    return FALSE;
  }
  self->work.group_us +=
      (gdouble) (gst_util_get_timestamp () - start) / GST_USECOND;
  append_objects (self, model, boxes, n, parent_id);
  return TRUE;
}

/* Searches an area. parent_id: id of the object whose area this is, or -1. */
static gboolean
search_area (GstWaldboostDetect *self, const GstCuvFrame *frame,
    const CuvRoi *area, gint parent_id, gint n_threads)
{
  const GstWaldboostSettings *s = self->settings.in_force;
  gboolean ok = scan (self, frame, area, n_threads);

  for (gint i = 0; i < s->models->n && ok; i++)
    ok = group (self, i, parent_id);
  return ok;
}

/* Limit of the total area of a frame's regions, in areas of the frame. */
#define REGION_FRAMES 16

static guint64
n_pixels (const CuvRoi *area)
{
  return (guint64) (area->right - area->left)
      * (guint64) (area->bottom - area->top);
}

/* Searches a region, or with roi-centers adds it to those in which the centres
 * of windows may lie. */
static gboolean
search_region (GstWaldboostDetect *self, const GstCuvFrame *frame,
    const CuvRoi *area, gint id, gint n_threads)
{
  const GstWaldboostSettings *s = self->settings.in_force;
  const CuvRoi *roi = &self->detector->of[0]->area;
  const CuvRoi in_roi = { area->left - roi->left, area->top - roi->top,
    area->right - roi->left, area->bottom - roi->top };

  if (s->region_mode == GST_WALDBOOST_ROI_LIST)
    return search_area (self, frame, area, id, n_threads);
  g_array_append_val (self->areas, in_roi);
  g_array_append_val (self->area_ids, id);
  return TRUE;
}

static gboolean
search_regions (
    GstWaldboostDetect *self, const GstCuvFrame *frame, gint n_threads)
{
  const GstWaldboostSettings *s = self->settings.in_force;
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  gboolean ok = TRUE;
  CuvRoi area;

  gst_cuv_objects_read (self->present, frame->video.buffer);
  gst_cuv_budget_begin (&self->budget,
      REGION_FRAMES * (guint64) frame->frame.width
          * (guint64) frame->frame.height);
  for (guint i = 0; i < self->present->len && ok; i++) {
    const GstCuvObject *object =
        &g_array_index (self->present, GstCuvObject, i);

    if (s->region_label != 0 && object->label != s->region_label)
      continue;
    self->work.regions++;
    if (gst_cuv_object_in_frame (object, 0, info, &area)
        && gst_cuv_budget_take (&self->budget, n_pixels (&area)))
      ok = search_region (self, frame, &area, object->id, n_threads);
  }
  gst_cuv_budget_end (&self->budget, GST_ELEMENT (self));
  if (ok && self->areas->len > 0)
    ok = search_area (self, frame, NULL, -1, n_threads);
  return ok;
}

static gint
by_score (gconstpointer a, gconstpointer b)
{
  const GstWaldboostObject *p = a, *q = b;

  return (p->box.score < q->box.score) - (p->box.score > q->box.score);
}

/* Publishes the counts of the current frame for stats. */
static void
report_counts (GstWaldboostDetect *self)
{
  GstWaldboostCounts before = self->counts;

  GST_OBJECT_LOCK (self);
  self->counts = self->work;
  GST_OBJECT_UNLOCK (self);
  self->work = before; /* reuses the arrays of the previous counts */
}

static gboolean
gst_waldboost_detect_submit (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const GstWaldboostSettings *s = self->settings.in_force;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);

  return s->region_mode == GST_WALDBOOST_FULL_FRAME
      && cuv_detector_submit (self->detector, &frame->frame, &processor);
}

static gboolean
gst_waldboost_detect_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const GstWaldboostSettings *s = self->settings.in_force;

  gst_waldboost_counts_begin (&self->work, s->origins,
      (const CuvWaldboostPlan *const *) self->detector->of[0]->plans,
      self->counts.lost);
  g_array_set_size (self->objects, 0);
  g_array_set_size (self->areas, 0);
  g_array_set_size (self->area_ids, 0);
  if (!(s->region_mode == GST_WALDBOOST_FULL_FRAME
              ? search_area (self, frame, NULL, -1, n_threads)
              : search_regions (self, frame, n_threads)))
    return FALSE;
  if (s->max_objects > 0 && self->objects->len > (guint) s->max_objects) {
    g_array_sort (self->objects, by_score);
    g_array_set_size (self->objects, (guint) s->max_objects);
  }
  for (guint i = 0; i < self->objects->len; i++)
    self->work.of[g_array_index (self->objects, GstWaldboostObject, i).model]
        .objects++;
  report_counts (self);
  return TRUE;
}

/* ---- publishing ---- */

static guint
gst_waldboost_detect_change (GstCuvFilter *filter)
{
  return GST_WALDBOOST_DETECT (filter)->objects->len;
}

static void
gst_waldboost_detect_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  const GstWaldboostSettings *s = self->settings.in_force;
  GstCuvWriter writer = { .buffer = buffer,
    .info = gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)),
    .metadata = s->metadata,
    .n_entries = 2 * self->objects->len };

  gst_waldboost_attach_objects (
      self->objects, self->present, s->origins, &writer, message, age);
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

  GST_OBJECT_LOCK (self);
  gst_waldboost_counts_to_stats (&self->counts, stats);
  GST_OBJECT_UNLOCK (self);
}

/* ---- states ---- */

static void
gst_waldboost_detect_clear_stats (GstCuvFilter *filter)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);

  gst_waldboost_counts_begin (&self->work, NULL, NULL, 0);
  report_counts (self);
}

static void
gst_waldboost_detect_close (GstCuvFilter *filter)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);

  g_clear_pointer (&self->detector, cuv_detector_free);
}

/* Handles an event that a tracker downstream sends when it has no target. */
static gboolean
gst_waldboost_detect_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (gst_cuv_event_is_request_analysis (event))
    gst_cuv_filter_request_analysis (GST_CUV_FILTER (trans));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (trans, event);
}

/* ---- class ---- */

static void
gst_waldboost_detect_finalize (GObject *object)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  gst_waldboost_counts_clear (&self->counts);
  gst_waldboost_counts_clear (&self->work);
  g_array_unref (self->present);
  g_array_unref (self->areas);
  g_array_unref (self->area_ids);
  g_array_unref (self->objects);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const GstCuvFilterInfo info = { "Boosted object detector",
  "Detects objects with a boosted classifier, on the CPU or with CUDA",
  &gst_waldboost_settings, .configure = gst_waldboost_detect_configure,
  .close = gst_waldboost_detect_close, .submit = gst_waldboost_detect_submit,
  .analyse = gst_waldboost_detect_analyse,
  .publish = gst_waldboost_detect_publish,
  .change = gst_waldboost_detect_change, .reset = gst_waldboost_detect_reset,
  .add_stats = gst_waldboost_detect_add_stats,
  .clear_stats = gst_waldboost_detect_clear_stats };

static void
gst_waldboost_detect_class_init (GstWaldboostDetectClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_waldboost_detect_finalize;
  GST_BASE_TRANSFORM_CLASS (klass)->src_event =
      GST_DEBUG_FUNCPTR (gst_waldboost_detect_src_event);
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_waldboost_detect_init (GstWaldboostDetect *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_waldboost_settings);
  gst_waldboost_counts_init (&self->counts);
  gst_waldboost_counts_init (&self->work);
  self->present = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  self->areas = g_array_new (FALSE, FALSE, sizeof (CuvRoi));
  self->area_ids = g_array_new (FALSE, FALSE, sizeof (gint));
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstWaldboostObject));
}
