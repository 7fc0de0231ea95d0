/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-houghlines
 * @title: houghlines
 * @short_description: finds straight lines with the Hough transform
 *
 * Finds edges with Canny's detector, lets each edge vote for all lines through
 * it, in rho and theta or in parallel coordinates, and attaches the lines with
 * the most votes as metadata; or segments, where adjacent edges have the same
 * direction. Works on the CPU and, for frames in CUDA memory, on the GPU, with
 * the same result. The frame is neither copied nor changed unless draw is set.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert !
 * houghlines threshold=120 max-lines=20 ! visionoverlay ! videoconvert !
 * autovideosink
 * ]| Shows a video with its 20 clearest lines.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gsthoughlines.h"

#include "backend.h"
#include "gstcuvmeta.h"
#include "gsthoughlinessettings.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (hough_lines_debug);
#define GST_CAT_DEFAULT hough_lines_debug

struct _GstHoughLines {
  GstCuvFilter parent;

  GstCuvSettings settings; /* GstHoughLinesSettings */

  /* from the last analysed frame; written under the object lock */
  CuvHoughResult counts; /* without its arrays */
  gint method;           /* CuvHoughMethod or GST_HOUGH_PCLINES */

  /* used by the streaming thread only */
  CuvHoughDetector *detector;
  GArray *lines; /* CuvLine, of the last analysed frame */
};

#define gst_hough_lines_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstHoughLines, gst_hough_lines,
    GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (hough_lines_debug, "houghlines", 0,
        "lines found by the Hough transform"))
GST_ELEMENT_REGISTER_DEFINE (
    houghlines, "houghlines", GST_RANK_NONE, GST_TYPE_HOUGH_LINES)

static void
warn_of_settings (
    GstHoughLines *self, const GstHoughLinesSettings *s, const CuvFrame *frame)
{
  gchar *radians = gst_hough_lines_radians (s);

  if (radians != NULL)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", radians), (NULL));
  g_free (radians);
  if (self->detector->backend.klass == NULL)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("roi '%s' lies outside the frame, which is %dx%d. No lines will be "
         "found; set a roi inside the frame, or none to analyse the whole "
         "frame.",
            s->roi, frame->width, frame->height),
        (NULL));
}

static gchar *
check_size (const GstHoughLinesSettings *s, const CuvFrame *frame)
{
  const CuvRoi area = cuv_roi_in_frame (&s->area, frame->width, frame->height);
  const gint width = area.right - area.left, height = area.bottom - area.top;

  if (MAX (width, height) <= CUV_HOUGH_MAX_SIZE)
    return NULL;
  return g_strdup_printf (
      "the area to analyse is %dx%d, but each side may have at most %d pixels: "
      "scale the frame down, or set roi to a part of it",
      width, height, CUV_HOUGH_MAX_SIZE);
}

static gchar *
gst_hough_lines_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);
  const GstHoughLinesSettings *s = settings;
  const CuvHoughConfig config = gst_hough_lines_config (s);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvHoughDetector *detector;
  const gchar *error;
  gchar *problem;

  if (cuv_hough_detector_matches (
          self->detector, &config, &s->area, &frame->frame, &processor))
    return NULL;
  problem = gst_hough_lines_check_config (s);
  if (problem == NULL)
    problem = check_size (s, &frame->frame);
  if (problem != NULL)
    return problem;
  detector = cuv_hough_detector_new (
      &config, &s->area, &frame->frame, &processor, &error);
  if (detector == NULL)
    return gst_cuv_filter_open_problem (filter, frame, error);
  cuv_hough_detector_free (self->detector);
  self->detector = detector;
  warn_of_settings (self, s, &frame->frame);
  return NULL;
}

static gboolean
gst_hough_lines_writes (gconstpointer settings)
{
  return ((const GstHoughLinesSettings *) settings)->draw
      != CUV_HOUGH_DRAW_NONE;
}

static void
gst_hough_lines_count (GstHoughLines *self, const CuvHoughResult *result)
{
  const GstHoughLinesSettings *s = self->settings.in_force;

  GST_OBJECT_LOCK (self);
  self->counts = *result;
  self->counts.peaks = NULL;
  self->counts.segments = NULL;
  self->counts.line_segments = NULL;
  self->method =
      s->method == GST_HOUGH_PCLINES ? s->method : (gint) result->method;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_hough_lines_submit (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);
  const CuvHoughParams params =
      gst_hough_lines_params (self->settings.in_force);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);

  return cuv_hough_detector_submit (
      self->detector, &frame->frame, &params, &processor);
}

static gboolean
gst_hough_lines_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);
  const GstHoughLinesSettings *s = self->settings.in_force;
  const CuvHoughParams params = gst_hough_lines_params (s);
  const CuvHoughDraw draw = frame->writable ? s->draw : CUV_HOUGH_DRAW_NONE;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  CuvHoughResult result;
  const gchar *error = cuv_hough_detector_run (
      self->detector, &frame->frame, &params, draw, &processor, &result);

  g_array_set_size (self->lines, 0);
  if (error != NULL)
    return gst_cuv_frame_failed (frame, error);
  g_array_append_vals (
      self->lines, self->detector->lines, (guint) self->detector->n_lines);
  gst_hough_lines_count (self, &result);
  return TRUE;
}

static const GstCuvColumn columns[] = {
  { "rho", GST_CUV_TYPE_F32 },
  { "theta", GST_CUV_TYPE_F32 },
  { "votes", GST_CUV_TYPE_U32 },
  { "x1", GST_CUV_TYPE_F32 },
  { "y1", GST_CUV_TYPE_F32 },
  { "x2", GST_CUV_TYPE_F32 },
  { "y2", GST_CUV_TYPE_F32 },
};

static void
attach_lines (GstHoughLines *self, GstBuffer *buffer, GstClockTime age)
{
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GstStructure *table = gst_cuv_meta_add_table (buffer, "lines", 1,
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info),
      "segments", columns, G_N_ELEMENTS (columns), self->lines->data,
      self->lines->len);

  gst_cuv_structure_set (table, "edges", G_TYPE_UINT64,
      (guint64) self->counts.n_edges, "lines_found", G_TYPE_UINT,
      (guint) self->counts.n_found, NULL);
  if (self->counts.n_segments_found > 0)
    gst_cuv_structure_set (table, "segments_found", G_TYPE_UINT,
        (guint) self->counts.n_segments_found, NULL);
  if (age > 0)
    gst_cuv_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
}

static void
list_lines (const GArray *lines, GstStructure *message)
{
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < lines->len; i++) {
    const CuvLine *line = &g_array_index (lines, CuvLine, i);
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value,
        gst_cuv_structure_new ("line", "rho", G_TYPE_DOUBLE,
            (gdouble) line->rho, "theta", G_TYPE_DOUBLE, (gdouble) line->theta,
            "votes", G_TYPE_UINT, line->votes, "x1", G_TYPE_DOUBLE,
            (gdouble) line->x1, "y1", G_TYPE_DOUBLE, (gdouble) line->y1, "x2",
            G_TYPE_DOUBLE, (gdouble) line->x2, "y2", G_TYPE_DOUBLE,
            (gdouble) line->y2, NULL));
    gst_value_list_append_and_take_value (&list, &value);
  }
  gst_cuv_structure_take_value (message, "lines", &list);
}

static guint
gst_hough_lines_change (GstCuvFilter *filter)
{
  return GST_HOUGH_LINES (filter)->lines->len;
}

static void
gst_hough_lines_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);

  attach_lines (self, buffer, age);
  if (message != NULL)
    list_lines (self->lines, message);
}

static void
gst_hough_lines_reset (GstCuvFilter *filter)
{
  g_array_set_size (GST_HOUGH_LINES (filter)->lines, 0);
}

static void
gst_hough_lines_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);
  const CuvHoughResult *counts = &self->counts;

  GST_OBJECT_LOCK (self);
  gst_cuv_structure_set (stats, "method", G_TYPE_STRING,
      gst_hough_lines_method_nick (self->method), "edges", G_TYPE_UINT64,
      (guint64) counts->n_edges, "votes", G_TYPE_UINT64,
      (guint64) counts->n_votes, "lines", G_TYPE_UINT, (guint) counts->n_peaks,
      "lines-found", G_TYPE_UINT, (guint) counts->n_found, "segments",
      G_TYPE_UINT, (guint) counts->n_segments, "segments-found", G_TYPE_UINT,
      (guint) counts->n_segments_found, "microseconds-edges", G_TYPE_DOUBLE,
      (gdouble) counts->edges_us, "microseconds-votes", G_TYPE_DOUBLE,
      (gdouble) counts->votes_us, "microseconds-peaks", G_TYPE_DOUBLE,
      (gdouble) counts->peaks_us, NULL);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_hough_lines_clear_stats (GstCuvFilter *filter)
{
  GstHoughLines *self = GST_HOUGH_LINES (filter);

  GST_OBJECT_LOCK (self);
  self->counts = (CuvHoughResult){ 0 };
  self->method = CUV_HOUGH_AUTO;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_hough_lines_close (GstCuvFilter *filter)
{
  g_clear_pointer (
      &GST_HOUGH_LINES (filter)->detector, cuv_hough_detector_free);
}

static void
gst_hough_lines_finalize (GObject *object)
{
  GstHoughLines *self = GST_HOUGH_LINES (object);

  g_array_unref (self->lines);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const GstCuvFilterInfo info = { "Line detector",
  "Finds lines with the Hough transform, on the CPU or with CUDA",
  &gst_hough_lines_settings, .configure = gst_hough_lines_configure,
  .close = gst_hough_lines_close, .submit = gst_hough_lines_submit,
  .quick = TRUE, .analyse = gst_hough_lines_analyse,
  .writes = gst_hough_lines_writes, .publish = gst_hough_lines_publish,
  .change = gst_hough_lines_change, .reset = gst_hough_lines_reset,
  .add_stats = gst_hough_lines_add_stats,
  .clear_stats = gst_hough_lines_clear_stats };

static void
gst_hough_lines_class_init (GstHoughLinesClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_hough_lines_finalize;
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_hough_lines_init (GstHoughLines *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_hough_lines_settings);
  self->lines = g_array_sized_new (
      FALSE, FALSE, sizeof (CuvLine), CUV_HOUGH_MAX_SEGMENTS);
}
