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

#include "backend.h"
#include "context/gstcuvframe.h"
#include "gstldpdescriptor.h"
#include "indexsink/gstldpentries.h"
#include "indexsink/gstldpnamer.h"
#include "shared/gstldpmeta.h"

GST_DEBUG_CATEGORY_STATIC (ldp_index_sink_debug);
#define GST_CAT_DEFAULT ldp_index_sink_debug

typedef struct {
  guint64 frames, written, entries, bytes;
  guint64 timed;          /* frames processed */
  GstClockTime last, sum; /* processing time */
  const gchar *device;
} Counts;

struct _GstLdpIndexSink {
  GstBaseSink parent;
  GstCuvContext context;

  GstCuvSettings settings; /* GstLdpIndexSettings */
  Counts counts;           /* under the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  CuvLdpDescriptor descriptor;
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

/* Those of the start: all entries of an index are of one kind. */
static const GstLdpIndexSettings *
in_force (GstLdpIndexSink *self)
{
  return self->settings.in_force;
}

/* Only these may change while playing. */
static GstLdpRegionChoice
pending_choice (GstLdpIndexSink *self, gint *n_threads)
{
  const GstLdpIndexSettings *pending;
  GstLdpRegionChoice choice;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  choice = pending->choice;
  choice.label = NULL; /* it may be freed meanwhile */
  *n_threads = pending->n_threads;
  GST_OBJECT_UNLOCK (self);
  return choice;
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
      &self->entries, in_force (self), &given->layout, "ldpdescriptor");

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

static const gchar *
describe_mapped (GstLdpIndexSink *self, const GstCuvFrame *frame,
    const CuvLdpRect *rect, gint n_threads, gconstpointer *counts)
{
  const CuvLdpLayout *layout = &self->entries.info.layout;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  CuvLdpDescription description = { frame->frame, *rect, CUV_LDP_DIRECTIONS,
    NULL };
  const gchar *error = NULL;

  if (!cuv_ldp_descriptor_matches (&self->descriptor, layout, &processor)) {
    /* device memory can only be freed while its context is current */
    if (!frame->cuda)
      gst_cuv_context_close (&self->context);
    error = cuv_ldp_descriptor_open (
        &self->descriptor, layout, &frame->frame, &processor);
  }
  if (error == NULL)
    error =
        cuv_ldp_descriptor_run (&self->descriptor, &description, &processor);
  *counts = description.counts;
  return error;
}

/* The counts, valid until the next run; NULL after an error. */
static gconstpointer
describe (GstLdpIndexSink *self, GstBuffer *buffer, const CuvLdpRect *rect,
    gint n_threads)
{
  gconstpointer counts;
  const gchar *error;
  GstCuvFrame frame;

  if (!gst_cuv_frame_map (
          &frame, &self->context, &self->info, buffer, GST_MAP_READ))
    return NULL;
  self->device = frame.cuda ? "cuda" : "cpu";
  error = describe_mapped (self, &frame, rect, n_threads, &counts);
  gst_cuv_frame_unmap (&frame);
  if (error == NULL)
    return counts;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("The %s failed: %s.", frame.cuda ? "GPU" : "CPU", error), (NULL));
  return NULL;
}

static gboolean
ensure_own_index (GstLdpIndexSink *self, const GstLdpRegionChoice *choice)
{
  const GstLdpIndexSettings *s = in_force (self);
  CuvLdpLayout layout;
  gchar *problem = gst_ldp_region_choice_layout (choice, &s->parameters,
      GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info),
      &layout);

  if (problem == NULL)
    return gst_ldp_entries_ensure (&self->entries, s, &layout, "ldpindexsink");
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

static gboolean
write_own (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name)
{
  gint n_threads;
  const GstLdpRegionChoice choice = pending_choice (self, &n_threads);
  gboolean ok = ensure_own_index (self, &choice);

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

  if (in_force (self)->progress_interval == 0)
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
      >= in_force (self)->progress_interval * G_TIME_SPAN_MILLISECOND)
    post_progress (self);
}

/* ---- a frame ---- */

static gchar *
next_name (GstLdpIndexSink *self)
{
  const GstLdpIndexSettings *s = in_force (self);
  const gboolean has_pattern = s->entry_name != NULL && *s->entry_name != '\0';
  gchar *name, *problem;
  guint64 n;

  GST_OBJECT_LOCK (self);
  n = self->counts.frames++;
  GST_OBJECT_UNLOCK (self);
  name = gst_ldp_namer_next (&self->namer, GST_BASE_SINK_PAD (self),
      has_pattern ? s->entry_name : NULL, (guint64) s->start_index, n,
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

/* The context must know the device before the start. */
static void
choose_device (GstLdpIndexSink *self)
{
  const GstLdpIndexSettings *pending;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  g_atomic_int_set (&self->context.device_id, pending->cuda_device_id);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ldp_index_sink_set_context (GstElement *element, GstContext *context)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (element);

  choose_device (self);
  gst_cuv_context_set_context (&self->context, context);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

static void
leave_context (GstElement *element)
{
  cuv_ldp_descriptor_close (&GST_LDP_INDEX_SINK (element)->descriptor);
}

static gboolean
gst_ldp_index_sink_start (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ .device = "none" };
  GST_OBJECT_UNLOCK (self);
  self->given = self->warned = FALSE;
  self->time = GST_CLOCK_TIME_NONE;
  self->progress = g_get_monotonic_time ();
  gst_ldp_namer_start (&self->namer);
  choose_device (self);
  return gst_cuv_settings_start (&self->settings)
      && gst_cuv_settings_apply (&self->settings, NULL, NULL)
      && gst_cuv_context_check_device (&self->context);
}

static gboolean
gst_ldp_index_sink_stop (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  gst_cuv_context_close (&self->context);
  cuv_ldp_descriptor_close (&self->descriptor);
  g_clear_pointer (&self->name, g_free);
  gst_ldp_namer_stop (&self->namer);
  gst_cuv_settings_stop (&self->settings);
  return gst_ldp_entries_close (&self->entries);
}

/* ---- class ---- */

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

void
gst_ldp_index_sink_get_stats (GstElement *element, GValue *value)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (element);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value, new_stats (&counts));
}

static void
gst_ldp_index_sink_finalize (GObject *object)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (object);

  gst_cuv_context_close (&self->context);
  gst_cuv_settings_clear (&self->settings);
  g_array_unref (self->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ldp_index_sink_class_init (GstLdpIndexSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (ldp_index_sink_debug, "ldpindexsink", 0,
      "an index of local derivative patterns");
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
  gst_cuv_settings_class_install (object_class, &gst_ldp_index_settings,
      G_STRUCT_OFFSET (GstLdpIndexSink, settings));
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
  gst_cuv_settings_init (&self->settings, self, &gst_ldp_index_settings);
  self->counts.device = "none";
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  /* the last sample would keep a frame alive, possibly on the GPU */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
