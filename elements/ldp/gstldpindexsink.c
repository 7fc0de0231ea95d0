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

#include <gst/base/gstbasesink.h>
#include <string.h>

#include "backend.h"
#include "context/gstcuvframe.h"
#include "indexsink/gstldpentries.h"
#include "indexsink/gstldpnamer.h"
#include "shared/gstldpmeta.h"

GST_DEBUG_CATEGORY_STATIC (ldp_index_sink_debug);
#define GST_CAT_DEFAULT ldp_index_sink_debug

typedef struct {
  GstLdpRegionChoice choice; /* must be the first field */
  GstLdpParameters parameters;
  GstLdpOutput output;
  gint start_index, n_threads, cuda_device_id;
  gchar *entry_name;
} Settings;

G_DECLARE_FINAL_TYPE (
    GstLdpIndexSink, gst_ldp_index_sink, GST, LDP_INDEX_SINK, GstBaseSink)
GST_ELEMENT_REGISTER_DECLARE (ldpindexsink)

struct _GstLdpIndexSink {
  GstBaseSink parent;
  GstCuvContext context;

  GstCuvSettings settings; /* Settings */

  /* used by the streaming thread only */
  GstVideoInfo info;
  CuvLdpDescriptor descriptor;
  GArray *regions;             /* GstLdpRegion */
  gboolean described_upstream; /* frames are not described here */
  const gchar *device;         /* where the last frame was described */
  GstLdpEntries entries;
  gboolean warned; /* warned about ignored regions */
  GstLdpNamer namer;
};

#define gst_ldp_index_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstLdpIndexSink, gst_ldp_index_sink,
    GST_TYPE_BASE_SINK, G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DEFINE (
    ldpindexsink, "ldpindexsink", GST_RANK_NONE, gst_ldp_index_sink_get_type ())

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* ---- settings ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

static gchar *
gst_ldp_index_sink_check (gconstpointer settings)
{
  const Settings *self = settings;

  if (self->output.location == NULL || *self->output.location == '\0')
    return g_strdup ("location is not set: set it to the name of a file, as in "
                     "location=pictures.ldp");
  if ((self->output.thumbnail_width == 0)
      != (self->output.thumbnail_height == 0))
    return g_strdup_printf (
        "thumbnail-width is %d and thumbnail-height %d: set both above 0, or "
        "both to 0 for an index without thumbnails",
        self->output.thumbnail_width, self->output.thumbnail_height);
  return gst_ldp_name_check (self->entry_name);
}

static void
gst_ldp_index_sink_get_stats (GstElement *element, GValue *value)
{
  g_value_take_boxed (
      value, gst_ldp_entries_stats (&GST_LDP_INDEX_SINK (element)->entries));
}

/**
 * GstLdpIndexSink:stats:
 *
 * Since the start: frames received, entries written and their bytes (guint64);
 * entries of the whole file; device: where the last frame was described, cuda,
 * cpu, or none if that was upstream; microseconds and microseconds-mean
 * (guint64): processing time per frame.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:n-threads:
 *
 * Threads for work on the CPU, 0 = one per processor. The index is the same
 * for every number.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:location:
 *
 * The index: created if it does not exist, otherwise entries are appended.
 * Takes effect at the next start.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:entry-name:
 *
 * Name of the entries: text with at most one %d, or %05d, for the number of the
 * frame, counted from start-index, and %% for a percent sign. The default is
 * the title in the stream's tags since the previous frame, the name of the file
 * downstream of multifilesrc, otherwise %06d. Takes effect at the next start.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "cuda-device-id", "CUDA device",
      "CUDA device to use if the frame does not determine it (-1 = any)",
      .offset = AT (cuda_device_id), .type = G_TYPE_INT, .minimum = -1,
      .maximum = G_MAXINT, .value = -1, .at_start = TRUE },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_ldp_index_sink_get_stats },
  { "thumbnail-width", "Thumbnail width",
      "Width of the stored thumbnails in pixels (set width and height to 0 for "
      "no thumbnails)",
      .offset = AT (output.thumbnail_width), .type = G_TYPE_UINT,
      .maximum = CUV_LDP_INDEX_MAX_THUMBNAIL, .value = 64, .at_start = TRUE },
  { "thumbnail-height", "Thumbnail height",
      "Height of the stored thumbnails in pixels (set width and height to 0 "
      "for no thumbnails)",
      .offset = AT (output.thumbnail_height), .type = G_TYPE_UINT,
      .maximum = CUV_LDP_INDEX_MAX_THUMBNAIL, .value = 64, .at_start = TRUE },
  { "start-index", "Start index", "Number of the first frame in entry names",
      .offset = AT (start_index), .type = G_TYPE_INT, .maximum = G_MAXINT,
      .at_start = TRUE },
  { "progress-interval", "Progress interval",
      "Milliseconds between element messages about the progress, the last of "
      "which is posted at the end (0 = none)",
      .offset = AT (output.progress_interval), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 1000, .at_start = TRUE },
  { "sync-to-disk", "Sync to disk",
      "Wait until each entry is on the disk, so that a power loss does not "
      "lose it",
      .offset = AT (output.sync_to_disk), .type = G_TYPE_BOOLEAN,
      .at_start = TRUE },
  GST_LDP_PARAMETER_SETTINGS (AT (parameters), TRUE),
  GST_LDP_REGION_SETTINGS,
  { "n-threads", "Threads",
      "Number of threads for work on the CPU (0 = one per processor)",
      .offset = AT (n_threads), .type = G_TYPE_INT, .maximum = 1024,
      .no_controller = TRUE },
  { "location", "Location", "Index file to create or to append to",
      .offset = AT (output.location), .type = G_TYPE_STRING, .at_start = TRUE },
  { "entry-name", "Entry name",
      "Name of the entries, with %05d for the frame's number (default: the "
      "title in the stream's tags, or the file name, or else %06d)",
      .offset = AT (entry_name), .type = G_TYPE_STRING, .at_start = TRUE },
};

static const GstCuvSettingsTable settings_table = {
  GST_CUV_SETTINGS (Settings, list),
  .check = gst_ldp_index_sink_check,
};

/* Returns the choice of regions. It and the number of threads are the only
 * settings that may change while playing. */
static GstLdpRegionChoice
pending_choice (GstLdpIndexSink *self, gint *n_threads)
{
  const Settings *pending;
  GstLdpRegionChoice choice;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  choice = pending->choice;
  choice.label = NULL; /* another thread may free the label */
  *n_threads = pending->n_threads;
  GST_OBJECT_UNLOCK (self);
  return choice;
}

/* ---- frames described upstream ---- */

static gboolean
write_described (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name,
    const GstLdpDescriptors *descriptors)
{
  gboolean ok = gst_ldp_entries_open (&self->entries, &descriptors->layout);

  self->device = "none";
  for (guint i = 0; ok && i < descriptors->n_regions; i++) {
    GstLdpRegion region;
    CuvLdpRect rect;

    memcpy (&region, descriptors->regions + i * sizeof region, sizeof region);
    rect = gst_ldp_region_scale_rect (
        &region, descriptors->width, descriptors->height, &self->info);
    ok = gst_ldp_entries_append (&self->entries,
        descriptors->counts + i * descriptors->size, name,
        descriptors->n_regions, region.id, &self->info, buffer, &rect);
  }
  return ok;
}

/* ---- frames described here ---- */

static const gchar *
run_descriptor (GstLdpIndexSink *self, const GstCuvFrame *frame,
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
        cuv_backend_run (&self->descriptor.backend, &description, &processor);
  *counts = description.counts;
  return error;
}

/* Returns the counts, valid until the next run; NULL after an error. */
static gconstpointer
gst_ldp_index_sink_describe (GstLdpIndexSink *self, GstBuffer *buffer,
    const CuvLdpRect *rect, gint n_threads)
{
  gconstpointer counts;
  const gchar *error;
  GstCuvFrame frame;

  if (!gst_cuv_frame_map (
          &frame, &self->context, &self->info, buffer, GST_MAP_READ))
    return NULL;
  self->device = frame.cuda ? "cuda" : "cpu";
  error = run_descriptor (self, &frame, rect, n_threads, &counts);
  gst_cuv_frame_unmap (&frame);
  if (error == NULL)
    return counts;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("Describing a frame of %dx%d on the %s failed: %s. %s.",
          frame.frame.width, frame.frame.height, frame.cuda ? "GPU" : "CPU",
          error, gst_cuv_frame_remedy (&frame)),
      (NULL));
  return NULL;
}

static gboolean
ensure_index (GstLdpIndexSink *self, const GstLdpRegionChoice *choice)
{
  /* as set at the start: all entries of an index have the same parameters */
  const Settings *s = self->settings.in_force;
  CuvLdpLayout layout;
  gchar *problem = gst_ldp_region_choice_layout (choice, &s->parameters,
      GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info),
      &layout);

  if (problem == NULL)
    return gst_ldp_entries_open (&self->entries, &layout);
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s.", problem), (NULL));
  g_free (problem);
  return FALSE;
}

static gboolean
describe_and_write (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name)
{
  gint n_threads;
  const GstLdpRegionChoice choice = pending_choice (self, &n_threads);
  gboolean ok = ensure_index (self, &choice);

  gst_ldp_regions_collect (self->regions, buffer, &choice, &self->info);
  if (ok)
    gst_ldp_regions_limit (self->regions, &self->entries.info.layout,
        GST_ELEMENT (self), &self->warned);
  for (guint i = 0; ok && i < self->regions->len; i++) {
    const GstLdpRegion *region =
        &g_array_index (self->regions, GstLdpRegion, i);
    const CuvLdpRect rect = gst_ldp_region_rect (region);
    gconstpointer counts =
        gst_ldp_index_sink_describe (self, buffer, &rect, n_threads);

    ok = counts != NULL
        && gst_ldp_entries_append (&self->entries, counts, name,
            self->regions->len, region->id, &self->info, buffer, &rect);
  }
  return ok;
}

/* ---- a frame ---- */

static gchar *
next_name (GstLdpIndexSink *self)
{
  const Settings *s = self->settings.in_force;
  const gboolean has_pattern = s->entry_name != NULL && *s->entry_name != '\0';
  gchar *name, *problem;
  guint64 n;

  GST_OBJECT_LOCK (self);
  n = self->entries.statistics.frames++;
  GST_OBJECT_UNLOCK (self);
  name = gst_ldp_namer_next (&self->namer, GST_BASE_SINK_PAD (self),
      has_pattern ? s->entry_name : NULL, (guint64) s->start_index, n,
      &problem);
  if (name == NULL)
    GST_ELEMENT_ERROR (self, STREAM, DECODE, ("%s.", problem), (NULL));
  g_free (problem);
  return name;
}

/* Skips frames without a new descriptor if an element upstream describes
 * frames. */
static gboolean
write_frame (GstLdpIndexSink *self, GstBuffer *buffer, const gchar *name)
{
  const GstClockTime start = gst_util_get_timestamp ();
  GstLdpDescriptors descriptors;
  gchar *problem;
  gboolean is_described = gst_ldp_meta_read (buffer, &descriptors, &problem),
           ok;

  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s.", problem), (NULL));
    g_free (problem);
    return FALSE;
  }
  self->described_upstream |= is_described;
  if (is_described ? descriptors.age > 0 : self->described_upstream)
    return TRUE;
  ok = is_described ? write_described (self, buffer, name, &descriptors)
                    : describe_and_write (self, buffer, name);
  if (ok)
    gst_ldp_entries_count_frame (
        &self->entries, self->device, gst_util_get_timestamp () - start);
  return ok;
}

static GstFlowReturn
gst_ldp_index_sink_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);
  gchar *name = next_name (self);
  gboolean ok;

  self->entries.time = GST_BUFFER_PTS (buffer);
  ok = name != NULL && write_frame (self, buffer, name);
  g_free (name);
  return ok ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* ---- events and queries ---- */

static void
report_end (GstLdpIndexSink *self)
{
  const gboolean none = self->entries.statistics.frames == 0;
  gchar *file = gst_ldp_namer_find_undecoded (&self->namer);

  if (self->entries.writer != NULL)
    gst_ldp_entries_post_progress (&self->entries);
  else if (none || self->described_upstream)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("%s. Nothing was written to the index.",
            none ? "No frame arrived: check that the source produces frames"
                 : "Frames arrived, but none with a new descriptor from the "
                   "ldpdescriptor upstream: remove elements after it that drop "
                   "metadata, or remove ldpdescriptor, so that this sink "
                   "describes the frames"),
        (NULL));
  if (file != NULL)
    GST_ELEMENT_WARNING (self, STREAM, DECODE,
        ("No frame was decoded from %s: replace or remove it.", file), (NULL));
  g_free (file);
}

static gboolean
gst_ldp_index_sink_event (GstBaseSink *sink, GstEvent *event)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_TAG)
    gst_ldp_namer_add_tags (&self->namer, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    report_end (self);
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

/* Asks upstream whether frames come with descriptors. Looking at the first
 * frame would not do: it may lack a descriptor that later frames have, and one
 * computed here could have other parameters than theirs. */
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

  if (!gst_cuv_frame_accept_caps (GST_ELEMENT (sink), caps, &self->info))
    return FALSE;
  self->described_upstream |= is_described_upstream (self);
  return TRUE;
}

/* ---- states ---- */

/* The CUDA context has to know the device before the element starts. */
static void
choose_device (GstLdpIndexSink *self)
{
  const Settings *pending;

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
  cuv_backend_close (&GST_LDP_INDEX_SINK (element)->descriptor.backend);
}

static gboolean
gst_ldp_index_sink_start (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);
  const Settings *s;

  gst_ldp_entries_start (&self->entries);
  self->described_upstream = self->warned = FALSE;
  gst_ldp_namer_start (&self->namer);
  choose_device (self);
  if (!gst_cuv_settings_start (&self->settings)
      || !gst_cuv_settings_apply (&self->settings, NULL, NULL)
      || !gst_cuv_context_check_device (&self->context))
    return FALSE;
  s = self->settings.in_force;
  self->entries.output = &s->output;
  return TRUE;
}

static gboolean
gst_ldp_index_sink_stop (GstBaseSink *sink)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (sink);

  gst_cuv_context_close (&self->context);
  cuv_backend_close (&self->descriptor.backend);
  gst_ldp_namer_stop (&self->namer);
  gst_cuv_settings_stop (&self->settings);
  return gst_ldp_entries_close (&self->entries);
}

/* ---- class ---- */

static void
gst_ldp_index_sink_finalize (GObject *object)
{
  GstLdpIndexSink *self = GST_LDP_INDEX_SINK (object);

  gst_cuv_context_close (&self->context);
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
  gst_cuv_settings_class_install (object_class, &settings_table);
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
  self->entries.statistics.device = "none";
  gst_cuv_settings_init (&self->settings, self, &settings_table);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  /* the last sample would keep a frame alive, possibly on the GPU */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
