/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ldpretrieve
 * @title: ldpretrieve
 * @short_description: finds pictures of similar texture in an index
 *
 * Describes each frame, or each region of interest, with the parameters of an
 * index (local derivative patterns), compares it with all entries by histogram
 * intersection, and publishes the most similar ones with their names. Runs on
 * the CPU and, for frames in CUDA memory, on the GPU. The frame is neither
 * copied nor changed.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! ldpretrieve index=pictures.ldp !
 * visionoverlay ! videoconvert ! autovideosink
 * ]| Shows the picture of a camera and the most similar ones of an index.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstldpretrieve.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "gstldpmatches.h"
#include "gstldpretrievesettings.h"
#include "shared/gstldpmeta.h"

GST_DEBUG_CATEGORY_STATIC (ldp_retrieve_debug);
#define GST_CAT_DEFAULT ldp_retrieve_debug

typedef struct {
  guint64 entries, entries_on_cpu;
  guint regions, matches;
  gdouble describe_us, match_us;
} Counts;

struct _GstLdpRetrieve {
  GstCuvFilter parent;

  GstCuvSettings settings; /* GstLdpRetrieveSettings */
  Counts counts;           /* under the object lock */

  /* of the streaming thread */
  CuvLdpRetrieval *retrieval;
  gboolean reported_size;    /* of thumbnails */
  gboolean reported_regions; /* ignored regions */
  GArray *regions;           /* GstLdpRegion, of the last analysed frame */
  GstLdpMatches matches;
};

#define gst_ldp_retrieve_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstLdpRetrieve, gst_ldp_retrieve, GST_TYPE_CUV_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    ldpretrieve, "ldpretrieve", GST_RANK_NONE, GST_TYPE_LDP_RETRIEVE)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* ---- preparing ---- */

static const GstLdpRetrieveSettings *
in_force (GstLdpRetrieve *self)
{
  return self->settings.in_force;
}

static gchar *
explain (const GstLdpRetrieveSettings *s, const GstCuvFrame *frame,
    const gchar *error)
{
  if (!frame->cuda)
    return g_strdup_printf ("The index cannot be used: %s", error);
  return g_strdup_printf (
      "The GPU cannot take the index: %s. gpu-memory-limit is %d MiB: set "
      "another (0 = half of what is free), or free some of its memory",
      error, s->gpu_memory_limit);
}

/* The retrieval in use is freed first: there may not be room for both. */
static gchar *
gst_ldp_retrieve_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  const GstLdpRetrieveSettings *s = settings;
  const GstLdpIndex *index = s->index;
  const gsize max_bytes = (gsize) s->gpu_memory_limit << 20;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  const gchar *error;

  if (index->lost
      || cuv_ldp_retrieval_matches (
          self->retrieval, index->file, max_bytes, &processor))
    return NULL;
  cuv_ldp_retrieval_free (self->retrieval);
  self->retrieval = cuv_ldp_retrieval_new (index->file, index->n_entries,
      max_bytes, &frame->frame, &processor, &error);
  return self->retrieval != NULL ? NULL : explain (s, frame, error);
}

/* Compares with entries that were appended. FALSE after an element error. */
static gboolean
refresh (GstLdpRetrieve *self, const CuvProcessor *processor)
{
  GstLdpIndex *index = in_force (self)->index;
  const gchar *error = NULL;

  if (gst_ldp_index_refresh (
          index, in_force (self)->refresh_interval, GST_ELEMENT (self))
      && !index->lost)
    error = cuv_ldp_retrieval_set_entries (
        self->retrieval, index->n_entries, processor);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Not enough memory for %" G_GUINT64_FORMAT " entries: %s. Lower "
       "gpu-memory-limit, so that fewer of them stay on the GPU.",
          index->n_entries, error),
      (NULL));
  return FALSE;
}

/* ---- analysing ---- */

static const CuvLdpIndexInfo *
info_of (GstLdpRetrieve *self)
{
  return cuv_ldp_index_info (in_force (self)->index->file);
}

/* The parameters as text; free() it. */
static char *
describe_layout (GstLdpRetrieve *self, const CuvLdpLayout *layout)
{
  const CuvLdpIndexInfo *index = info_of (self);
  CuvLdpIndexInfo info;

  cuv_ldp_index_info_init (&info, &layout->params, layout->width,
      layout->height, index->thumbnail_width, index->thumbnail_height);
  return cuv_ldp_index_info_text (&info);
}

/* A descriptor upstream with other parameters would be ignored silently. */
static gboolean
check_descriptors (GstLdpRetrieve *self, GstBuffer *buffer)
{
  const CuvLdpLayout *layout = &info_of (self)->layout;
  GstLdpDescriptors described;
  gchar *problem;
  char *texts[2];

  if (!gst_ldp_meta_read (buffer, &described, &problem)) {
    if (problem != NULL)
      GST_WARNING_OBJECT (self, "%s", problem);
    g_free (problem);
    return TRUE;
  }
  if (memcmp (&described.layout, layout, sizeof *layout) == 0)
    return TRUE;
  texts[0] = describe_layout (self, &described.layout);
  texts[1] = describe_layout (self, layout);
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("The frame was described with other parameters (%s) than the index "
       "(%s): set ldpdescriptor to those of the index, or remove it.",
          texts[0], texts[1]),
      (NULL));
  free (texts[0]);
  free (texts[1]);
  return FALSE;
}

static const gchar *
retrieve (GstLdpRetrieve *self, const GstLdpRegion *region,
    const GstCuvFrame *frame, const CuvProcessor *processor, Counts *counts)
{
  const GstLdpRetrieveSettings *s = in_force (self);
  CuvLdpQuery query = { .frame = frame->frame,
    .rect = gst_ldp_region_rect (region),
    .k = s->k,
    .threshold = s->threshold,
    .share = s->share };
  const gchar *error =
      cuv_ldp_retrieval_run (self->retrieval, &query, processor);

  if (error != NULL)
    return error;
  gst_ldp_matches_add (
      &self->matches, region, &query, s->index->file, s->thumbnails);
  counts->matches += (guint) query.n_matches;
  counts->entries_on_cpu += query.n_on_cpu;
  counts->describe_us += query.describe_us;
  counts->match_us += query.match_us;
  return NULL;
}

static const gchar *
retrieve_all (GstLdpRetrieve *self, const GstCuvFrame *frame,
    const CuvProcessor *processor)
{
  const GstLdpIndex *index = in_force (self)->index;
  Counts counts = { .entries = index->lost ? 0 : index->n_entries,
    .regions = self->regions->len };
  const gchar *error = NULL;

  gst_ldp_matches_begin (&self->matches, index->serial);
  for (guint i = 0; i < self->regions->len && !index->lost && error == NULL;
       i++)
    error = retrieve (self, &g_array_index (self->regions, GstLdpRegion, i),
        frame, processor, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  return error;
}

static void
report_size (GstLdpRetrieve *self)
{
  if (!self->matches.too_large || self->reported_size)
    return;
  self->reported_size = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      ("The thumbnails of %u matches take more than %d MB and are not "
       "published: lower k, or set thumbnails to false.",
          self->matches.rows->len, GST_LDP_MATCHES_MAX_PICTURES >> 20),
      (NULL));
}

static gboolean
gst_ldp_retrieve_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  GstBuffer *buffer = frame->video.buffer;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  const gchar *error;

  if (!check_descriptors (self, buffer) || !refresh (self, &processor))
    return FALSE;
  gst_ldp_regions_collect (self->regions, buffer, &in_force (self)->choice,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)));
  gst_ldp_regions_limit (self->regions, &info_of (self)->layout,
      GST_ELEMENT (self), &self->reported_regions);
  error = retrieve_all (self, frame, &processor);
  report_size (self);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("The %s failed: %s.", frame->cuda ? "GPU" : "CPU", error), (NULL));
  return FALSE;
}

/* ---- publishing ---- */

static guint
gst_ldp_retrieve_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GstStructure *table = gst_ldp_matches_attach (&self->matches, buffer,
      (guint) GST_VIDEO_INFO_WIDTH (info),
      (guint) GST_VIDEO_INFO_HEIGHT (info));

  if (age > 0)
    gst_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
  if (message != NULL)
    gst_ldp_matches_list (&self->matches, message);
  return self->matches.leaders;
}

static void
gst_ldp_retrieve_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  Counts counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (stats, "entries", G_TYPE_UINT64, counts.entries,
      "entries-on-cpu", G_TYPE_UINT64, counts.entries_on_cpu, "regions",
      G_TYPE_UINT, counts.regions, "matches", G_TYPE_UINT, counts.matches,
      "microseconds-describe", G_TYPE_DOUBLE, counts.describe_us,
      "microseconds-match", G_TYPE_DOUBLE, counts.match_us, NULL);
}

/* ---- states ---- */

static gboolean
gst_ldp_retrieve_start (GstBaseTransform *trans)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (trans);

  self->reported_size = self->reported_regions = FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Counts){ 0 };
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static void
gst_ldp_retrieve_leave_context (GstCuvTransform *transform)
{
  g_clear_pointer (
      &GST_LDP_RETRIEVE (transform)->retrieval, cuv_ldp_retrieval_free);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_ldp_retrieve_stop (GstBaseTransform *trans)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (trans);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);

  /* the parent has closed the CUDA context, which freed a retrieval on it */
  g_clear_pointer (&self->retrieval, cuv_ldp_retrieval_free);
  gst_ldp_matches_begin (&self->matches, 0);
  return ok;
}

/* ---- class ---- */

static void
gst_ldp_retrieve_finalize (GObject *object)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (object);

  gst_cuv_settings_clear (&self->settings);
  gst_ldp_matches_clear (&self->matches);
  g_array_unref (self->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ldp_retrieve_class_init (GstLdpRetrieveClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);
  GstCuvFilterClass *filter_class = GST_CUV_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      ldp_retrieve_debug, "ldpretrieve", 0, "pictures of similar texture");
  object_class->finalize = gst_ldp_retrieve_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_ldp_retrieve_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ldp_retrieve_stop);
  transform_class->leave_context = gst_ldp_retrieve_leave_context;
  filter_class->configure = gst_ldp_retrieve_configure;
  filter_class->analyse = gst_ldp_retrieve_analyse;
  filter_class->publish = gst_ldp_retrieve_publish;
  filter_class->add_stats = gst_ldp_retrieve_add_stats;
  gst_cuv_settings_class_install (object_class, &gst_ldp_retrieve_settings,
      G_STRUCT_OFFSET (GstLdpRetrieve, settings));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Texture retrieval",
      "Filter/Analyzer/Video",
      "Finds pictures of similar texture in an index, on the CPU or with CUDA",
      "The gst-cuvision authors");
}

static void
gst_ldp_retrieve_init (GstLdpRetrieve *self)
{
  gst_cuv_settings_init (&self->settings, self, &gst_ldp_retrieve_settings);
  gst_ldp_matches_init (&self->matches);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
