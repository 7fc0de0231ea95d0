/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-waldboostdetect
 * @title: waldboostdetect
 * @short_description: detects objects with a boosted classifier
 *
 * Slides a window over the frame at many sizes and evaluates a boosted
 * classifier at each position: an OpenCV cascade, a WaldBoost model of BUT FIT
 * or a WBDetector of opencv_contrib. Returns exactly the boxes of OpenCV, on
 * the CPU and, for frames in CUDA memory, on the GPU. The frame is neither
 * copied nor changed: boxes are attached as GstVideoRegionOfInterestMeta.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=film.avi ! decodebin ! videoconvert !
 * waldboostdetect model=lbpcascade_frontalface.xml ! visionoverlay !
 * videoconvert ! autovideosink
 * ]| Shows a film with its faces boxed.
 * |[
 * gst-launch-1.0 filesrc location=film.avi ! decodebin ! videoconvert !
 * waldboostdetect model=lbpcascade_frontalface.xml !
 * waldboostdetect model=haarcascade_eye.xml inference-region=roi-list
 * object-class=frontalface ! visionpublish ! fakesink
 * ]| Looks for eyes in faces.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstwaldboostdetect.h"

#include <string.h>

#include "gstwaldboostcounts.h"
#include "gstwaldboostwish.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

GST_DEBUG_CATEGORY_STATIC (waldboost_detect_debug);
#define GST_CAT_DEFAULT waldboost_detect_debug

struct _GstWaldboostDetect {
  GstCuvFilter parent;

  GstWaldboostSettings settings; /* under the object lock, as are counts */
  GstWaldboostCounts counts;

  /* of the streaming thread */
  CuvScanner scanner;
  CuvWaldboostGrouper *grouper;
  GArray *regions;         /* GstWaldboostRegion, of the current frame */
  GArray *objects;         /* GstWaldboostObject */
  GstWaldboostWish wish;   /* the last that could be met: in force */
  GstWaldboostCounts work; /* of the current frame */
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

static gboolean
scanner_is_for (const CuvScanner *scanner, const GstCuvFrame *frame)
{
  return scanner->plan != NULL && scanner->on_device == frame->cuda
      && scanner->frame_width == frame->frame.width
      && scanner->frame_height == frame->frame.height;
}

static gboolean
cannot_prepare (
    GstWaldboostDetect *self, const GstCuvFrame *frame, const gchar *problem)
{
  return gst_cuv_filter_cannot_prepare (
      GST_CUV_FILTER (self), scanner_is_for (&self->scanner, frame), problem);
}

/* NULL, or what went wrong; then the scanner before stays. */
static const gchar *
make_scanner (GstWaldboostDetect *self, const GstWaldboostWish *wish,
    const GstCuvFrame *frame)
{
  CuvScanner scanner = { 0 };
  const gchar *problem = cuv_scanner_init (&scanner, wish->model, &wish->params,
      &wish->roi, &frame->frame, frame->cuda, frame->stream);

  if (problem != NULL) {
    cuv_scanner_clear (&scanner);
    return problem;
  }
  cuv_scanner_clear (&self->scanner);
  self->scanner = scanner;
  gst_waldboost_wish_warn_if_empty (wish, GST_ELEMENT (self), &self->scanner);
  return NULL;
}

/* Settings that contradict each other: what was in force before them stays, for
 * frames of another size, too. */
static gboolean
prepare_as_before (GstWaldboostDetect *self, const GstCuvFrame *frame,
    const gchar *contradiction)
{
  const gchar *problem = NULL;

  if (self->wish.model != NULL && !scanner_is_for (&self->scanner, frame))
    problem = make_scanner (self, &self->wish, frame);
  return cannot_prepare (
      self, frame, problem != NULL ? problem : contradiction);
}

static gboolean
gst_waldboost_detect_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  GstWaldboostWish wish;
  const gchar *problem;
  gchar *contradiction;
  gboolean ok = TRUE;

  gst_waldboost_wish_init (&wish, &self->settings);
  contradiction = gst_waldboost_wish_problem (&wish);
  if (contradiction != NULL) {
    ok = prepare_as_before (self, frame, contradiction);
    g_free (contradiction);
  } else if ((problem = make_scanner (self, &wish, frame)) != NULL) {
    ok = cannot_prepare (self, frame, problem);
  } else {
    GstWaldboostWish before = self->wish;

    self->wish = wish;
    wish = before;
  }
  gst_waldboost_wish_clear (&wish);
  return ok;
}

/* ---- analysing ---- */

/* Settings that do not need prepare(). */
typedef struct {
  CuvGrouping grouping;
  GstWaldboostRegionMode region_mode;
  GQuark object_class;
  guint max_objects;
  gdouble threshold;
} Tunables;

static Tunables
get_tunables (GstWaldboostDetect *self)
{
  const GstWaldboostSettings *settings = &self->settings;
  Tunables tunables;

  GST_OBJECT_LOCK (self);
  tunables = (Tunables){ settings->grouping, settings->region_mode,
    settings->object_class, settings->max_objects, settings->threshold };
  GST_OBJECT_UNLOCK (self);
  return tunables;
}

/* Appends the boxes above the threshold, in frame coordinates. */
static void
keep_objects (GstWaldboostDetect *self, const CuvWaldboostBox *boxes, gint n,
    gint parent_id, gdouble threshold)
{
  for (gint i = 0; i < n; i++) {
    GstWaldboostObject object = { boxes[i], parent_id };

    object.box.x += self->scanner.x;
    object.box.y += self->scanner.y;
    if (!(gst_waldboost_confidence (&self->wish.origin, boxes[i].score)
            < threshold))
      g_array_append_val (self->objects, object);
  }
}

/* Searches a region, NULL = the frame or roi. */
static gboolean
search (GstWaldboostDetect *self, const GstCuvFrame *frame,
    const GstWaldboostRegion *region, gint n_threads, const Tunables *tunables)
{
  const CuvWaldboostBox *boxes = NULL;
  CuvWaldboostResult result;
  const gchar *problem;
  GstClockTime start;
  gint n;

  problem = cuv_scanner_run (&self->scanner, &frame->frame,
      region != NULL ? &region->place : NULL, frame->stream, n_threads,
      &result);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The scan on the %s failed: %s.", frame->cuda ? "GPU" : "CPU",
            problem),
        (NULL));
    return FALSE;
  }
  start = gst_util_get_timestamp ();
  n = cuv_waldboost_group (self->grouper, self->scanner.plan,
      &tunables->grouping, result.hits, result.n_hits, &boxes);
  if (n < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory grouping %d windows.", result.n_hits), (NULL));
    return FALSE;
  }
  self->work.group_us +=
      (gdouble) (gst_util_get_timestamp () - start) / GST_USECOND;
  gst_waldboost_counts_add (&self->work, &result);
  self->work.levels += self->scanner.n_levels;
  keep_objects (
      self, boxes, n, region != NULL ? region->id : -1, tunables->threshold);
  if (result.overflow > 0)
    GST_WARNING_OBJECT (self, "%d windows beyond the limit of %d were lost",
        result.overflow, CUV_WALDBOOST_MAX_HITS);
  return TRUE;
}

static gboolean
search_regions (GstWaldboostDetect *self, const GstCuvFrame *frame,
    gint n_threads, const Tunables *tunables)
{
  gst_waldboost_collect_regions (
      self->regions, frame->video.buffer, tunables->object_class);
  self->work.regions = self->regions->len;
  for (guint i = 0; i < self->regions->len; i++) {
    if (!search (self, frame,
            &g_array_index (self->regions, GstWaldboostRegion, i), n_threads,
            tunables))
      return FALSE;
  }
  return TRUE;
}

static gint
by_score (gconstpointer a, gconstpointer b)
{
  const GstWaldboostObject *p = a, *q = b;

  return (p->box.score < q->box.score) - (p->box.score > q->box.score);
}

static gboolean
gst_waldboost_detect_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);
  Tunables tunables = get_tunables (self);

  gst_waldboost_counts_begin (&self->work, self->scanner.plan);
  g_array_set_size (self->objects, 0);
  if (!(tunables.region_mode == GST_WALDBOOST_ROI_LIST
              ? search_regions (self, frame, n_threads, &tunables)
              : search (self, frame, NULL, n_threads, &tunables)))
    return FALSE;
  if (tunables.max_objects > 0 && self->objects->len > tunables.max_objects) {
    g_array_sort (self->objects, by_score);
    g_array_set_size (self->objects, tunables.max_objects);
  }
  self->work.objects = self->objects->len;
  GST_OBJECT_LOCK (self);
  gst_waldboost_counts_copy (&self->counts, &self->work);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- publishing ---- */

static guint
gst_waldboost_detect_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (filter);

  gst_waldboost_collect_regions (self->regions, buffer, 0);
  gst_waldboost_attach_objects (self->objects, self->regions,
      &self->wish.origin, buffer,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)), message, age);
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

  GST_OBJECT_LOCK (self);
  gst_waldboost_counts_to_stats (&self->counts, stats);
  GST_OBJECT_UNLOCK (self);
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

  self->work.lost = 0;
  gst_waldboost_counts_begin (&self->work, &(CuvWaldboostPlan){ 0 });
  GST_OBJECT_LOCK (self);
  gst_waldboost_counts_copy (&self->counts, &self->work);
  GST_OBJECT_UNLOCK (self);
  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans)
      || !gst_waldboost_settings_start (&self->settings))
    return FALSE; /* stop() is not called after a failed start() */
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

  cuv_scanner_clear (
      &self->scanner); /* on the CPU; leave_context() frees the rest */
  g_clear_pointer (&self->grouper, cuv_waldboost_grouper_free);
  gst_waldboost_wish_clear (&self->wish);
  gst_waldboost_settings_stop (&self->settings);
  return ok;
}

/* From a tracker downstream without a target. */
static gboolean
gst_waldboost_detect_src_event (GstBaseTransform *trans, GstEvent *event)
{
  if (gst_cuv_event_is_request_analysis (event))
    gst_cuv_filter_request_analysis (GST_CUV_FILTER (trans));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (trans, event);
}

/* ---- properties ---- */

static void
gst_waldboost_detect_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  gst_waldboost_settings_set (
      &GST_WALDBOOST_DETECT (object)->settings, id, value);
}

static void
gst_waldboost_detect_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  gst_waldboost_settings_get (
      &GST_WALDBOOST_DETECT (object)->settings, id, value);
}

static void
gst_waldboost_detect_finalize (GObject *object)
{
  GstWaldboostDetect *self = GST_WALDBOOST_DETECT (object);

  gst_waldboost_settings_clear (&self->settings);
  gst_waldboost_counts_clear (&self->counts);
  gst_waldboost_counts_clear (&self->work);
  gst_waldboost_wish_clear (&self->wish);
  g_array_unref (self->regions);
  g_array_unref (self->objects);
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
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_waldboost_detect_src_event);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_waldboost_detect_stop);
  transform_class->leave_context = gst_waldboost_detect_leave_context;
  filter_class->prepare = gst_waldboost_detect_prepare;
  filter_class->analyse = gst_waldboost_detect_analyse;
  filter_class->publish = gst_waldboost_detect_publish;
  filter_class->reset = gst_waldboost_detect_reset;
  filter_class->add_stats = gst_waldboost_detect_add_stats;
  gst_waldboost_properties_install (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Boosted object detector", "Filter/Analyzer/Video",
      "Detects objects with a boosted classifier, on the CPU or with CUDA",
      "The gst-cuvision authors");
}

static void
gst_waldboost_detect_init (GstWaldboostDetect *self)
{
  gst_waldboost_settings_init (&self->settings, GST_CUV_FILTER (self));
  gst_waldboost_counts_init (&self->counts);
  gst_waldboost_counts_init (&self->work);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstWaldboostRegion));
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstWaldboostObject));
}
