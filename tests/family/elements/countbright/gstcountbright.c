/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-countbright
 * @title: countbright
 * @short_description: counts bright pixels
 *
 * Counts the pixels whose grey value is above the threshold and attaches the
 * count as a table "brightness". Works on the CPU and, for frames in CUDA
 * memory, on the GPU, with the same result.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc ! countbright threshold=200 message=on-change
 * ! fakesink
 * ]| Prints the count whenever it changes.
 */
#include "config.h"
#include "backend.h"
#include "base/gstcuvfilter.h"
#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

typedef struct {
  gint threshold;
} GstCountBrightSettings;

struct _GstCountBright {
  GstCuvFilter parent;

  GstCuvSettings settings; /* GstCountBrightSettings */

  /* used by the streaming thread */
  CuvBackend backend;
  guint64 count; /* count of the last analysed frame */
};

#define GST_TYPE_COUNT_BRIGHT (gst_count_bright_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCountBright, gst_count_bright, GST, COUNT_BRIGHT, GstCuvFilter)
G_DEFINE_FINAL_TYPE (GstCountBright, gst_count_bright, GST_TYPE_CUV_FILTER)
GST_ELEMENT_REGISTER_DECLARE (countbright)
GST_ELEMENT_REGISTER_DEFINE (
    countbright, "countbright", GST_RANK_NONE, GST_TYPE_COUNT_BRIGHT)

static const GstCuvSetting list[] = {
  { "threshold", "Threshold", "Pixels with a grey value above it are counted",
      .offset = G_STRUCT_OFFSET (GstCountBrightSettings, threshold),
      .type = G_TYPE_INT, .maximum = 255, .value = 128 },
};
static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (GstCountBrightSettings, list),
};

/* The backend depends only on where frames are. */
static gchar *
gst_count_bright_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstCountBright *self = GST_COUNT_BRIGHT (filter);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvBackend backend = { 0 };
  const gchar *error;

  if (self->backend.klass != NULL
      && self->backend.on_device == processor.on_device)
    return NULL;
  error = cuv_backend_open (&backend, &cuv_countbright_backend_classes, NULL,
      &frame->frame, &processor);
  if (error != NULL)
    return g_strdup (error);
  cuv_backend_close (&self->backend);
  self->backend = backend;
  return NULL;
}

static void
gst_count_bright_close (GstCuvFilter *filter)
{
  cuv_backend_close (&GST_COUNT_BRIGHT (filter)->backend);
}

static gboolean
gst_count_bright_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstCountBright *self = GST_COUNT_BRIGHT (filter);
  const GstCountBrightSettings *settings = self->settings.in_force;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  CuvCountbrightJob job = { &frame->frame, settings->threshold, 0 };
  const gchar *error = cuv_backend_run (&self->backend, &job, &processor);

  if (error != NULL)
    return gst_cuv_frame_failed (frame, error);
  self->count = job.count;
  return TRUE;
}

static guint
gst_count_bright_change (GstCuvFilter *filter)
{
  return (guint) GST_COUNT_BRIGHT (filter)->count;
}

static void
gst_count_bright_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  static const GstCuvColumn columns[] = { { "count", GST_CUV_TYPE_U64 } };
  GstCountBright *self = GST_COUNT_BRIGHT (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GstStructure *values = gst_cuv_meta_add_table (buffer, "brightness", 1,
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info),
      "none", columns, G_N_ELEMENTS (columns), &self->count, 1);

  if (age > 0)
    gst_cuv_structure_set (values, "age", G_TYPE_UINT64, age, NULL);
  if (message != NULL)
    gst_cuv_structure_set (message, "count", G_TYPE_UINT64, self->count, NULL);
}

static const GstCuvFilterInfo info = { "Bright pixel counter",
  "Counts bright pixels, on the CPU or with CUDA", &table,
  .configure = gst_count_bright_configure, .close = gst_count_bright_close,
  .analyse = gst_count_bright_analyse, .publish = gst_count_bright_publish,
  .change = gst_count_bright_change };

static void
gst_count_bright_class_init (GstCountBrightClass *klass)
{
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_count_bright_init (GstCountBright *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
}
