/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "probe.h"

typedef struct {
  GstCuvFilterClass parent_class;
} CuvProbeClass;

GType cuv_probe_get_type (void);
G_DEFINE_TYPE (CuvProbe, cuv_probe, GST_TYPE_CUV_FILTER)

/* gst_util_get_timestamp() replaces GStreamer's, with which the base class
 * times an analysis: this stopwatch advances by takes_us, whatever else runs on
 * the machine. */
static GstClockTime stopwatch = GST_SECOND;

CUV_API GstClockTime
gst_util_get_timestamp (void)
{
  return stopwatch;
}

GString *cuv_probe_calls;

static void
list_call (const CuvProbe *self, const gchar *call)
{
  if (self->letter != 0)
    g_string_append_printf (cuv_probe_calls, "%s %c, ", call, self->letter);
}

typedef struct {
  gint number;
  gboolean writes;
} Settings;

static const GstCuvSetting list[] = {
  { "number", "Number", "For changes", .type = G_TYPE_INT, .maximum = 9 },
  { "writes", "Writes", "Whether analyse inverts luma",
      .offset = G_STRUCT_OFFSET (Settings, writes), .type = G_TYPE_BOOLEAN },
};

static const GstCuvSettingsTable table = {
  GST_CUV_SETTINGS (Settings, list),
};

static gchar *
cuv_probe_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  CuvProbe *self = (CuvProbe *) filter;

  self->n_configure++;
  list_call (self, "configure");
  return NULL;
}

static gboolean
cuv_probe_submit (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  CuvProbe *self = (CuvProbe *) filter;

  if (self->submits)
    list_call (self, "submit");
  return self->submits;
}

static gboolean
cuv_probe_writes (gconstpointer settings)
{
  return ((const Settings *) settings)->writes;
}

static void
invert (const CuvFrame *frame)
{
  const CuvComponent *luma = &frame->component[0];

  for (gint y = 0; y < frame->height; y++)
    for (gint x = 0; x < frame->width; x++)
      luma->data[y * luma->stride + x * luma->step] ^= 255;
}

static gboolean
cuv_probe_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  CuvProbe *self = (CuvProbe *) filter;
  const gboolean writes = cuv_probe_writes (self->settings.in_force);

  list_call (self, "analyse");
  self->n_analyse++;
  self->cuda = frame->cuda;
  self->luma = 0;
  for (gint y = 0; y < frame->frame.height && !frame->cuda; y++)
    for (gint x = 0; x < frame->frame.width; x++)
      self->luma += cuv_frame_grey (&frame->frame, x, y);
  /* the frame after `writes` was cleared had been made writable before */
  fail_unless_equals_int (frame->writable, writes || self->wrote);
  self->wrote = writes;
  if (writes && !frame->cuda)
    invert (&frame->frame);
  stopwatch += self->takes_us * GST_USECOND;
  if (self->sleeps)
    g_usleep (self->takes_us);
  if (self->fail)
    GST_ELEMENT_ERROR (self, STREAM, FAILED, ("probe fails."), (NULL));
  return !self->fail;
}

static guint
cuv_probe_change (GstCuvFilter *filter)
{
  return ((CuvProbe *) filter)->change;
}

static void
cuv_probe_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  CuvProbe *self = (CuvProbe *) filter;
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (
          buffer, "probe", 0, 0, 1, 1);

  list_call (self, "publish");
  roi->id = (gint) self->n_analyse;
  self->published = buffer;
  self->n_publish++;
  self->age = age;
  if (message == NULL)
    return;
  self->n_messages++;
  gst_structure_set (message, "analysis", G_TYPE_UINT, self->n_analyse, NULL);
}

static void
cuv_probe_reset (GstCuvFilter *filter)
{
  ((CuvProbe *) filter)->n_reset++;
}

static void
cuv_probe_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  gst_structure_set (stats, "own", G_TYPE_UINT64, (guint64) 42, NULL);
}

static const GstCuvFilterInfo info = { "Probe", "Test", &table,
  .configure = cuv_probe_configure, .submit = cuv_probe_submit,
  .analyse = cuv_probe_analyse, .writes = cuv_probe_writes,
  .publish = cuv_probe_publish, .change = cuv_probe_change,
  .reset = cuv_probe_reset, .add_stats = cuv_probe_add_stats };

static void
cuv_probe_class_init (CuvProbeClass *klass)
{
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
cuv_probe_init (CuvProbe *self)
{
  gst_cuv_settings_init (&self->settings, self, &table);
  self->takes_us = 1000;
}

static void
quick_class_init (gpointer klass, gpointer data)
{
  static GstCuvFilterInfo quick;

  quick = info;
  quick.quick = TRUE;
  GST_CUV_FILTER_CLASS (klass)->info = &quick;
}

static GType
subtype (const gchar *name, GClassInitFunc class_init)
{
  return g_type_register_static_simple (cuv_probe_get_type (), name,
      sizeof (CuvProbeClass), class_init, sizeof (CuvProbe), NULL, 0);
}

void
cuv_probe_register (void)
{
  static gboolean done = FALSE;

  if (!done)
    done = gst_element_register (
               NULL, "cuvprobe", GST_RANK_NONE, cuv_probe_get_type ())
        && gst_element_register (
            NULL, "cuvprobeb", GST_RANK_NONE, subtype ("CuvProbeB", NULL))
        && gst_element_register (
            NULL, "cuvprobec", GST_RANK_NONE, subtype ("CuvProbeC", NULL))
        && gst_element_register (NULL, "cuvquickprobe", GST_RANK_NONE,
            subtype ("CuvQuickProbe", quick_class_init));
  fail_unless (done);
}

GstHarness *
cuv_probe_harness (CuvProbe **probe)
{
  GstHarness *h;

  cuv_probe_register ();
  h = gst_harness_new ("cuvprobe");
  *probe = (CuvProbe *) h->element;
  cuv_harness_caps (h, "NV12", 64, 48);
  return h;
}

GstBuffer *
cuv_probe_frame (guint n)
{
  GstBuffer *buffer = cuv_frame_new ("NV12", 64, 48);

  GST_BUFFER_PTS (buffer) = n * FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = FRAME_TIME;
  return buffer;
}

gboolean
cuv_probe_push (GstHarness *h, guint n, guint *analysis)
{
  GstBuffer *in = cuv_probe_frame (n), *out;
  GstMemory *memory = gst_buffer_peek_memory (in, 0);
  GstVideoRegionOfInterestMeta *roi;

  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_try_pull (h);
  fail_unless (out != NULL, "frame %u is dropped", n);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory, "frame is copied");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), n * FRAME_TIME);
  roi = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  if (roi != NULL && analysis != NULL)
    *analysis = (guint) roi->id;
  gst_buffer_unref (out);
  return roi != NULL;
}
