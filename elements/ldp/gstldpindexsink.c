/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ldpindexsink
 * @title: ldpindexsink
 * @short_description: writes texture descriptors of frames to an index
 *
 * Appends each frame to a file of descriptors (local derivative patterns), with
 * a name and a thumbnail. Descriptors attached by ldpdescriptor are stored,
 * region by region; other frames are described here, on the CPU or, in CUDA
 * memory, on the GPU. If the process is killed, all entries appended before are
 * kept.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src num-buffers=100 ! videoconvert ! ldpindexsink
 * location=pictures.ldp
 * ]| Stores 100 frames of a camera.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstldpindexsink.h"

#include <string.h>

#include "describer.h"
#include "gstcuvframe.h"
#include "gstldpdescriptor.h"
#include "indexsink/gstldpentries.h"
#include "indexsink/gstldpnamer.h"
#include "shared/gstldpmeta.h"

GST_DEBUG_CATEGORY_STATIC (ldp_index_sink_debug);
#define GST_CAT_DEFAULT ldp_index_sink_debug

enum { PROP_0, PROP_CUDA_DEVICE_ID, PROP_STATS };

typedef struct {
  guint64 frames, written, entries, bytes;
  guint64 timed;          /* frames processed */
  GstClockTime last, sum; /* processing time */
  const gchar *device;
} Counts;

struct _GstLdpIndexSink {
  GstBaseSink parent;
  GstCuvContext context;

  GstLdpIndexSettings settings; /* under the object lock, with the next */
  Counts counts;

  /* of the streaming thread */
  GstLdpIndexSettings running; /* copy of the settings at the start */
  GstVideoInfo info;
  CuvDescriber *describer;
  GArray *regions; /* GstLdpRegion */
  gboolean given;  /* frames are described upstream, not here */
  const gchar *device;
  GstClockTime time; /* of the last frame */
  gint64 progress;   /* monotonic time of the last message */
  gchar *name;       /* of the last entry */
  GstLdpEntries entries;
  gboolean warned; /* about ignored regions */
  GstLdpNamer namer;
};

#define gst_ldp_index_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstLdpIndexSink, gst_ldp_index_sink,
    GST_TYPE_BASE_SINK, G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DEFINE (
    ldpindexsink, "ldpindexsink", GST_RANK_NONE, GST_TYPE_LDP_INDEX_SINK)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* Takes ownership of the text. */
static void
post_settings_error (GstLdpIndexSink *self, gchar *problem)
{
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s.", problem), (NULL));
  g_free (problem);
}

/* ---- entries ---- */

/* Appends one of the n regions of a frame. If n > 1, its id is added to the
 * name.
 */
static gboolean
append (GstLdpIndexSink *self, gconstpointer counts, GstBuffer *buffer,
    const gchar *frame_name, guint n, gint32 id, const CuvLdpRect *rect)
{
  gchar *name =
      n > 1 ? g_strdup_printf ("%s#%d", frame_name, id) : g_strdup (frame_name);

  if (!gst_ldp_entries_append (
          &self->entries, counts, name, &self->info, buffer, rect)) {
    g_free (name);
    return FALSE;
  }
  g_free (self->name);
  self->name = name;
  GST_OBJECT_LOCK (self);
  self->counts.written++;
  self->counts.bytes += self->entries.info.stride;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- frames described upstream ---- */

static gboolean
write_given (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name,
    const GstLdpDescriptors *given)
{
  gboolean ok = gst_ldp_entries_ensure (
      &self->entries, &self->running, &given->layout, "ldpdescriptor");

  self->device = "none";
  for (guint i = 0; ok && i < given->n_regions; i++) {
    GstLdpRegion region;
    CuvLdpRect rect;

    memcpy (&region, given->regions + i * sizeof region, sizeof region);
    rect = gst_ldp_region_rect_in (
        &region, given->width, given->height, &self->info);
    ok = append (self, given->counts + i * given->size, buffer, name,
        given->n_regions, region.id, &rect);
  }
  return ok;
}

/* ---- frames described here ---- */

/* Returns NULL, or the problem. */
static const gchar *
describe_mapped (GstLdpIndexSink *self, const GstCuvFrame *frame,
    const CuvLdpRect *rect, gint n_threads, gconstpointer *counts)
{
  const CuvLdpLayout *layout = &self->entries.info.layout;
  const gchar *problem;

  if (!cuv_describer_is_for (self->describer, layout, frame->cuda)) {
    /* device memory can only be freed while its context is current */
    if (!frame->cuda)
      gst_cuv_context_close (&self->context);
    g_clear_pointer (&self->describer, cuv_describer_free);
    self->describer = cuv_describer_new (
        layout, &frame->frame, frame->cuda, frame->stream, &problem);
  }
  return self->describer == NULL
      ? problem
      : cuv_describer_run (self->describer, &frame->frame, rect, frame->stream,
          n_threads, counts);
}

/* The counts, valid until the next run; NULL after an error. */
static gconstpointer
describe (GstLdpIndexSink *self, GstBuffer *buffer, const CuvLdpRect *rect,
    gint n_threads)
{
  gconstpointer counts = NULL;
  const gchar *problem;
  GstCuvFrame frame;

  if (!gst_cuv_frame_map (
          &frame, &self->context, &self->info, buffer, GST_MAP_READ))
    return NULL;
  self->device = frame.cuda ? "cuda" : "cpu";
  problem = describe_mapped (self, &frame, rect, n_threads, &counts);
  gst_cuv_frame_unmap (&frame);
  if (problem == NULL)
    return counts;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("The %s failed: %s.", frame.cuda ? "GPU" : "CPU", problem), (NULL));
  return NULL;
}

static gboolean
ensure_own_index (GstLdpIndexSink *self, const GstLdpRegionChoice *choice)
{
  CuvLdpLayout layout;
  gchar *problem = gst_ldp_region_choice_layout (choice,
      &self->running.parameters, GST_VIDEO_INFO_WIDTH (&self->info),
      GST_VIDEO_INFO_HEIGHT (&self->info), &layout);

  if (problem == NULL)
    return gst_ldp_entries_ensure (
        &self->entries, &self->running, &layout, "ldpindexsink");
  post_settings_error (self, problem);
  return FALSE;
}

static gboolean
write_own (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name)
{
  GstLdpRegionChoice choice;
  gint n_threads;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  choice = self->settings.choice;
  n_threads = self->settings.n_threads;
  GST_OBJECT_UNLOCK (self);
  ok = ensure_own_index (self, &choice);
  gst_ldp_regions_collect (self->regions, buffer, &choice, &self->info);
  if (ok)
    gst_ldp_regions_limit (self->regions, &self->entries.info.layout,
        GST_ELEMENT (self), &self->warned);
  for (guint i = 0; ok && i < self->regions->len; i++) {
    const GstLdpRegion *region =
        &g_array_index (self->regions, GstLdpRegion, i);
    const CuvLdpRect rect = gst_ldp_region_rect (region);
    gconstpointer counts = describe (self, buffer, &rect, n_threads);

    ok = counts != NULL
        && append (
            self, counts, buffer, name, self->regions->len, region->id, &rect);
  }
  return ok;
}

/* ---- progress ---- */

static GstClockTime
in_segment (GstLdpIndexSink *self,
    guint64 (*convert) (const GstSegment *, GstFormat, guint64))
{
  const GstSegment *segment = &GST_BASE_SINK (self)->segment;

  return segment->format != GST_FORMAT_TIME
      ? GST_CLOCK_TIME_NONE
      : convert (segment, GST_FORMAT_TIME, self->time);
}

static void
post_progress (GstLdpIndexSink *self)
{
  Counts counts;

  if (self->running.progress_interval == 0)
    return;
  self->progress = g_get_monotonic_time ();
  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("ldpindexsink", "entries", G_TYPE_UINT64,
              counts.entries, "written", G_TYPE_UINT64, counts.written, "bytes",
              G_TYPE_UINT64, counts.bytes, "name", G_TYPE_STRING, self->name,
              "stream-time", G_TYPE_UINT64,
              in_segment (self, gst_segment_to_stream_time), "running-time",
              G_TYPE_UINT64, in_segment (self, gst_segment_to_running_time),
              NULL)));
}

static void
count_frame (GstLdpIndexSink *self, GstClockTime took)
{
  GST_OBJECT_LOCK (self);
  self->counts.entries = cuv_ldp_index_writer_n_entries (self->entries.writer);
  self->counts.device = self->device;
  self->counts.timed++;
  self->counts.last = took;
  self->counts.sum += took;
  GST_OBJECT_UNLOCK (self);
  if (g_get_monotonic_time () - self->progress
      >= self->running.progress_interval * G_TIME_SPAN_MILLISECOND)
    post_progress (self);
}

/* ---- a frame ---- */

static gchar *
next_name (GstLdpIndexSink *self)
{
  gchar *name, *problem;
  guint64 n;

  GST_OBJECT_LOCK (self);
  n = self->counts.frames++;
  GST_OBJECT_UNLOCK (self);
  name = gst_ldp_namer_next (&self->namer, GST_BASE_SINK_PAD (self),
      self->running.entry_name, (guint64) self->running.start_index, n,
      &problem);
  if (name == NULL)
    GST_ELEMENT_ERROR (self, STREAM, DECODE, ("%s.", problem), (NULL));
  g_free (problem);
  return name;
}

/* Frames without a descriptor, or with a held one, are skipped if upstream
 * describes frames. */
static gboolean
write_frame (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name)
{
  const GstClockTime start = gst_util_get_timestamp ();
  GstLdpDescriptors given;
  gchar *problem;
  gboolean is_given = gst_ldp_meta_read (buffer, &given, &problem), ok;

  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s.", problem), (NULL));
    g_free (problem);
    return FALSE;
  }
  self->given |= is_given;
  if (is_given ? given.age > 0 : self->given)
    return TRUE;
  ok = is_given ? write_given (self, buffer, name, &given)
                : write_own (self, buffer, name);
  if (ok)
    count_frame (self, gst_util_get_timestamp () - start);
  return ok;
}

static GstFlowReturn
gst_ldp_index_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);
  gchar *name = next_name (self);
  gboolean ok;

  self->time = GST_BUFFER_PTS (buffer);
  ok = name != NULL && write_frame (self, buffer, name);
  g_free (name);
  return ok ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* ---- events and queries ---- */

static void
finish (GstLdpIndexSink *self)
{
  const gboolean none = self->counts.frames == 0;
  gchar *left = gst_ldp_namer_left (&self->namer);

  if (self->entries.writer != NULL)
    post_progress (self);
  else if (none || self->given)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("%s. Nothing was written to the index.",
            none ? "No frame arrived: check that the source can be read"
                 : "No frame arrived with a descriptor of its own: let frames "
                   "keep their metadata, or remove ldpdescriptor"),
        (NULL));
  if (left != NULL)
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("No frame was decoded from %s: replace or remove it.", left), (NULL));
  g_free (left);
}

static gboolean
gst_ldp_index_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_TAG)
    gst_ldp_namer_take_tags (&self->namer, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    finish (self);
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

static gboolean
gst_ldp_index_sink_query (GstBaseSink *sink, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT
      && gst_cuv_context_query (&GST_LDP_INDEX_SINK (sink)->context, query))
    return TRUE;
  if (!GST_BASE_SINK_CLASS (parent_class)->query (sink, query))
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    gst_cuv_query_cuda_first (query);
  return TRUE;
}

static gboolean
gst_ldp_index_sink_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL)
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return gst_cuv_context_propose_pool (
      &GST_LDP_INDEX_SINK (sink)->context, query);
}

/* Asked before the first frame: it may lack its descriptor, and one made here
 * could have other parameters than those that follow. */
static gboolean
is_described_upstream (GstLdpIndexSink *self)
{
  GstQuery *query = gst_query_new_custom (
      GST_QUERY_CUSTOM, gst_structure_new_empty (GST_LDP_QUERY_DESCRIBED));
  const gboolean yes = gst_pad_peer_query (GST_BASE_SINK_PAD (self), query);

  gst_query_unref (query);
  return yes;
}

static gboolean
gst_ldp_index_sink_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);
  const gchar *problem = NULL;

  if (!gst_video_info_from_caps (&self->info, caps))
    return FALSE;
  if (gst_cuv_caps_is_cuda (caps))
    problem = gst_cuv_cuda_format_problem (&self->info);
  if (problem != NULL)
    GST_ELEMENT_ERROR (
        self, STREAM, FORMAT, ("%s.", problem), ("%" GST_PTR_FORMAT, caps));
  self->given |= is_described_upstream (self);
  return problem == NULL;
}

/* ---- states ---- */

static void
gst_ldp_index_sink_set_context (GstElement *element, GstContext *context)
{
  gst_cuv_context_set_context (&GST_LDP_INDEX_SINK (element)->context, context);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

static void
leave_context (GstElement *element)
{
  g_clear_pointer (
      &GST_LDP_INDEX_SINK (element)->describer, cuv_describer_free);
}

static gboolean
gst_ldp_index_sink_start (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);
  gchar *problem;

  GST_OBJECT_LOCK (self);
  gst_ldp_index_settings_copy (&self->settings, &self->running);
  self->counts = (Counts){ .device = "none" };
  GST_OBJECT_UNLOCK (self);
  self->given = self->warned = FALSE;
  self->time = GST_CLOCK_TIME_NONE;
  self->progress = g_get_monotonic_time ();
  problem = gst_ldp_index_settings_check (&self->running);
  gst_ldp_namer_start (&self->namer);
  if (problem == NULL)
    return gst_cuv_context_check_device (&self->context);
  post_settings_error (self, problem);
  return FALSE;
}

static gboolean
gst_ldp_index_sink_stop (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  gst_cuv_context_close (&self->context);
  g_clear_pointer (&self->describer, cuv_describer_free);
  g_clear_pointer (&self->name, g_free);
  gst_ldp_namer_stop (&self->namer);
  return gst_ldp_entries_close (&self->entries);
}

/* ---- properties ---- */

static void
gst_ldp_index_sink_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_CUDA_DEVICE_ID)
    g_atomic_int_set (&self->context.device_id, g_value_get_int (value));
  else
    gst_ldp_index_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
new_stats (const Counts *counts)
{
  return gst_structure_new ("stats", "frames", G_TYPE_UINT64, counts->frames,
      "written", G_TYPE_UINT64, counts->written, "entries", G_TYPE_UINT64,
      counts->entries, "bytes", G_TYPE_UINT64, counts->bytes, "device",
      G_TYPE_STRING, counts->device, "microseconds", G_TYPE_UINT64,
      counts->last / GST_USECOND, "microseconds-mean", G_TYPE_UINT64,
      counts->timed > 0 ? counts->sum / counts->timed / GST_USECOND : 0, NULL);
}

static void
gst_ldp_index_sink_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_CUDA_DEVICE_ID)
    g_value_set_int (value, g_atomic_int_get (&self->context.device_id));
  else if (id == PROP_STATS)
    g_value_take_boxed (value, new_stats (&self->counts));
  else
    gst_ldp_index_settings_get (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ldp_index_sink_finalize (GObject *object)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (object);

  gst_cuv_context_close (&self->context);
  gst_ldp_index_settings_clear (&self->settings);
  gst_ldp_index_settings_clear (&self->running);
  g_array_unref (self->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device",
          "CUDA device to use if the frame does not determine it (-1 = any)",
          -1, G_MAXINT, -1,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY
              | G_PARAM_STATIC_STRINGS));
  /**
   * GstLdpIndexSink:stats:
   *
   * Since the start: frames that came, entries written and their bytes
   * (guint64); entries of the whole file; device: where the last frame was
   * described, cuda, cpu or, if not here, none; microseconds and
   * microseconds-mean (guint64) that frames took.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_ldp_index_settings_install (klass);
}

static void
gst_ldp_index_sink_class_init (GstLdpIndexSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (ldp_index_sink_debug, "ldpindexsink", 0,
      "an index of local derivative patterns");
  object_class->set_property = gst_ldp_index_sink_set_property;
  object_class->get_property = gst_ldp_index_sink_get_property;
  object_class->finalize = gst_ldp_index_sink_finalize;
  element_class->set_context =
      GST_DEBUG_FUNCPTR (gst_ldp_index_sink_set_context);
  sink_class->start = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_stop);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_set_caps);
  sink_class->event = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_event);
  sink_class->query = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_query);
  sink_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_ldp_index_sink_propose_allocation);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_ldp_index_sink_render);
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Texture index sink",
      "Sink/File/Video",
      "Writes local derivative pattern descriptors of frames to an index",
      "The gst-cuvision authors");
}

static void
gst_ldp_index_sink_init (GstLdpIndexSink *self)
{
  gst_cuv_context_init (&self->context, GST_ELEMENT (self), leave_context);
  self->entries.element = GST_ELEMENT (self);
  gst_ldp_index_settings_init (&self->settings);
  self->counts.device = "none";
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  /* the last sample would keep a frame alive, possibly on the GPU */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
