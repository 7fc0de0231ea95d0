/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ldpdescriptor
 * @title: ldpdescriptor
 * @short_description: describes texture by local derivative patterns
 *
 * Encodes, for each pixel and four directions, which of its eight neighbours
 * have a grey value derivative of the same sign, and counts these codes block
 * by block (local derivative patterns, Zhang et al. 2010). The histograms are
 * published as metadata, which ldpindexsink stores. Runs on the CPU and, for
 * frames in CUDA memory, on the GPU, with the same result. The frame is neither
 * copied nor changed, unless draw is set.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! ldpdescriptor draw=code-0 !
 * videoconvert ! autovideosink
 * ]| Shows the codes of a camera's pixels.
 *
 * Since: 0.1
 */
#include "config.h"

#include <string.h>

#include "backend.h"
#include "base/gstcuvfilter.h"
#include "shared/gstldpmeta.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (ldp_descriptor_debug);
#define GST_CAT_DEFAULT ldp_descriptor_debug

typedef struct {
  GstLdpRegionChoice choice; /* must be the first field */
  GstLdpParameters parameters;
  gint draw; /* direction of the codes to draw, CUV_LDP_DIRECTIONS: none */
} Settings;

G_DECLARE_FINAL_TYPE (
    GstLdpDescriptor, gst_ldp_descriptor, GST, LDP_DESCRIPTOR, GstCuvFilter)
GST_ELEMENT_REGISTER_DECLARE (ldpdescriptor)

struct _GstLdpDescriptor {
  GstCuvFilter parent;

  GstCuvSettings settings; /* Settings */
  guint n_regions;         /* under the object lock */

  /* used by the streaming thread only */
  CuvLdpDescriptor descriptor;
  gboolean warned; /* warned about ignored regions with this layout */
  GArray *regions; /* GstLdpRegion, of the last analysed frame */
  GBytes *counts;  /* counts of the regions */
};

#define gst_ldp_descriptor_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstLdpDescriptor, gst_ldp_descriptor,
    GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (ldp_descriptor_debug, "ldpdescriptor", 0,
        "texture by local derivative patterns"))
GST_ELEMENT_REGISTER_DEFINE (ldpdescriptor, "ldpdescriptor", GST_RANK_NONE,
    gst_ldp_descriptor_get_type ())

/* ---- settings ---- */

GST_CUV_DEFINE_ENUM (draw_get_type, "GstLdpDraw",
    { CUV_LDP_DIRECTIONS, "Leave the frame as it is", "none" },
    { 0, "Codes at 0 degrees", "code-0" },
    { 1, "Codes at 45 degrees", "code-45" },
    { 2, "Codes at 90 degrees", "code-90" },
    { 3, "Codes at 135 degrees", "code-135" })

static const GstCuvSetting list[] = {
  { "draw", "Draw", "Codes to draw over the described regions",
      .offset = G_STRUCT_OFFSET (Settings, draw), .get_type = draw_get_type,
      .value = CUV_LDP_DIRECTIONS },
  GST_LDP_REGION_SETTINGS,
  GST_LDP_PARAMETER_SETTINGS (G_STRUCT_OFFSET (Settings, parameters), FALSE),
};

static const GstCuvSettingsTable settings_table = {
  GST_CUV_SETTINGS (Settings, list),
};

static gchar *
gst_ldp_descriptor_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const Settings *s = settings;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  CuvLdpLayout layout;
  gchar *problem = gst_ldp_region_choice_layout (&s->choice, &s->parameters,
      frame->frame.width, frame->frame.height, &layout);

  if (problem != NULL
      || cuv_ldp_descriptor_matches (&self->descriptor, &layout, &processor))
    return problem;
  self->warned = FALSE;
  return gst_cuv_filter_open_problem (filter, frame,
      cuv_ldp_descriptor_open (
          &self->descriptor, &layout, &frame->frame, &processor));
}

/* ---- analysing ---- */

static gboolean
gst_ldp_descriptor_writes (gconstpointer settings)
{
  return ((const Settings *) settings)->draw != CUV_LDP_DIRECTIONS;
}

/* Describes region i and copies its counts to `to`, unless that is NULL. */
static const gchar *
gst_ldp_descriptor_describe (GstLdpDescriptor *self, guint i,
    const GstCuvFrame *frame, const CuvProcessor *processor, gint draw,
    guint8 *to, gsize size)
{
  CuvLdpDescription description = { .frame = frame->frame,
    .rect =
        gst_ldp_region_rect (&g_array_index (self->regions, GstLdpRegion, i)),
    .draw = draw };
  const gchar *error =
      cuv_backend_run (&self->descriptor.backend, &description, processor);

  if (error == NULL && to != NULL)
    memcpy (to, description.counts, size);
  return error;
}

/* Regions may overlap, so all are described before the first is drawn. */
static const gchar *
describe_all (GstLdpDescriptor *self, const GstCuvFrame *frame,
    const CuvProcessor *processor)
{
  const CuvLdpLayout *layout = &self->descriptor.layout;
  const Settings *s = self->settings.in_force;
  const gint draw = frame->writable ? s->draw : CUV_LDP_DIRECTIONS;
  const guint n = self->regions->len;
  const gsize size =
      cuv_ldp_n_counts (layout) * (gsize) cuv_ldp_count_size (layout);
  const gchar *error = NULL;
  guint8 *all;

  g_clear_pointer (&self->counts, g_bytes_unref);
  all = g_try_malloc (MAX (size * n, 1));
  if (all == NULL)
    error = cuv_ldp_problem ("out of memory for %zu MB of counts: use fewer "
                             "blocks, bins or directions",
        size * n >> 20);
  for (guint i = 0; i < n && error == NULL; i++)
    error = gst_ldp_descriptor_describe (self, i, frame, processor,
        n == 1 ? draw : CUV_LDP_DIRECTIONS, all + i * size, size);
  for (guint i = 0;
       n > 1 && draw != CUV_LDP_DIRECTIONS && i < n && error == NULL; i++)
    error =
        gst_ldp_descriptor_describe (self, i, frame, processor, draw, NULL, 0);
  self->counts = g_bytes_new_take (all, all != NULL ? size * n : 0);
  return error;
}

static gboolean
gst_ldp_descriptor_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  const Settings *s = self->settings.in_force;
  const gchar *error;

  gst_ldp_regions_collect (self->regions, frame->video.buffer, &s->choice,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)));
  gst_ldp_regions_limit (self->regions, &self->descriptor.layout,
      GST_ELEMENT (self), &self->warned);
  error = describe_all (self, frame, &processor);
  if (error != NULL)
    return gst_cuv_frame_failed (frame, error);
  GST_OBJECT_LOCK (self);
  self->n_regions = self->regions->len;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- publishing ---- */

static guint
gst_ldp_descriptor_change (GstCuvFilter *filter)
{
  return GST_LDP_DESCRIPTOR (filter)->regions->len;
}

static void
gst_ldp_descriptor_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GstStructure *table = gst_ldp_meta_add (buffer,
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info),
      &self->descriptor.layout, (const GstLdpRegion *) self->regions->data,
      self->regions->len, self->counts);

  if (age > 0)
    gst_cuv_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
  if (message != NULL)
    gst_cuv_structure_set (
        message, "regions", G_TYPE_UINT, self->regions->len, NULL);
}

static void
gst_ldp_descriptor_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  guint n_regions;

  GST_OBJECT_LOCK (self);
  n_regions = self->n_regions;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_structure_set (stats, "regions", G_TYPE_UINT, n_regions, NULL);
}

/* ---- queries ---- */

static gboolean
gst_ldp_descriptor_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  const GstStructure *asked = gst_query_get_structure (query);

  if (direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_CUSTOM
      && asked != NULL
      && gst_structure_has_name (asked, GST_LDP_QUERY_DESCRIBED))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->query (trans, direction, query);
}

/* ---- states ---- */

static void
gst_ldp_descriptor_clear_stats (GstCuvFilter *filter)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);

  GST_OBJECT_LOCK (self);
  self->n_regions = 0;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ldp_descriptor_close (GstCuvFilter *filter)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);

  cuv_backend_close (&self->descriptor.backend);
  g_clear_pointer (&self->counts, g_bytes_unref);
  g_array_set_size (self->regions, 0);
}

/* ---- class ---- */

static void
gst_ldp_descriptor_finalize (GObject *object)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (object);

  g_array_unref (self->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const GstCuvFilterInfo info = { "Texture descriptor",
  "Describes texture by local derivative patterns, on the CPU or with CUDA",
  &settings_table, .configure = gst_ldp_descriptor_configure,
  .close = gst_ldp_descriptor_close, .analyse = gst_ldp_descriptor_analyse,
  .writes = gst_ldp_descriptor_writes, .publish = gst_ldp_descriptor_publish,
  .change = gst_ldp_descriptor_change,
  .add_stats = gst_ldp_descriptor_add_stats,
  .clear_stats = gst_ldp_descriptor_clear_stats };

static void
gst_ldp_descriptor_class_init (GstLdpDescriptorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_ldp_descriptor_finalize;
  GST_BASE_TRANSFORM_CLASS (klass)->query =
      GST_DEBUG_FUNCPTR (gst_ldp_descriptor_query);
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_ldp_descriptor_init (GstLdpDescriptor *self)
{
  gst_cuv_settings_init (&self->settings, self, &settings_table);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
