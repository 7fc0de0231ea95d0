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

#include <stdlib.h>
#include <string.h>

#include "base/gstcuvfilter.h"
#include "gstldpindex.h"
#include "gstldpmatches.h"
#include "retrieval/retrieval.h"
#include "shared/gstldpmeta.h"
#include "gstcuvstructure.h"

GST_DEBUG_CATEGORY_STATIC (ldp_retrieve_debug);
#define GST_CAT_DEFAULT ldp_retrieve_debug

typedef struct {
  GstLdpRegionChoice choice; /* must be the first field */
  gint k;
  gint orientations; /* how many, CUV_LDP_UPRIGHT .. */
  gdouble threshold, share;
  gint gpu_memory_limit; /* MiB, 0 = half of the free memory */
  gint refresh_interval; /* milliseconds, 0 = never */
  gboolean thumbnails;
  gchar *path;        /* path of the index */
  GstLdpIndex *index; /* loaded from there */
} Settings;

typedef struct {
  guint64 entries, entries_on_cpu;
  guint regions, matches;
  gdouble describe_us, match_us;
} Statistics;

G_DECLARE_FINAL_TYPE (
    GstLdpRetrieve, gst_ldp_retrieve, GST, LDP_RETRIEVE, GstCuvFilter)
GST_ELEMENT_REGISTER_DECLARE (ldpretrieve)

struct _GstLdpRetrieve {
  GstCuvFilter parent;

  GstCuvSettings settings; /* Settings */
  Statistics counts;       /* under the object lock */

  /* used by the streaming thread only */
  CuvLdpRetrieval *retrieval;
  gboolean reported_size;    /* reported that thumbnails were dropped */
  gboolean reported_regions; /* reported that regions were ignored */
  GArray *regions;           /* GstLdpRegion, of the last analysed frame */
  GstLdpMatches matches;
};

#define gst_ldp_retrieve_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstLdpRetrieve, gst_ldp_retrieve,
    GST_TYPE_CUV_FILTER,
    GST_DEBUG_CATEGORY_INIT (
        ldp_retrieve_debug, "ldpretrieve", 0, "pictures of similar texture"))
GST_ELEMENT_REGISTER_DEFINE (
    ldpretrieve, "ldpretrieve", GST_RANK_NONE, gst_ldp_retrieve_get_type ())

/* ---- settings ---- */

#define AT(field) G_STRUCT_OFFSET (Settings, field)

GST_CUV_DEFINE_ENUM (orientations_get_type, "GstLdpOrientations",
    { CUV_LDP_UPRIGHT, "As they are", "upright" },
    { CUV_LDP_MIRRORED, "As they are and mirrored", "mirrored" },
    { CUV_LDP_ALL_ORIENTATIONS,
        "Also turned by 90, 180 and 270 degrees, and these mirrored", "all" })

static gchar *
load_index (gpointer settings)
{
  Settings *self = settings;
  gchar *problem = NULL;
  GstLdpIndex *index;

  if (self->path == NULL || *self->path == '\0')
    return g_strdup ("set index to a file that ldpindexsink wrote");
  index = gst_ldp_index_load (self->path, &problem);
  if (index == NULL)
    return problem;
  if (self->index != NULL)
    g_boxed_free (gst_ldp_index_get_type (), self->index);
  self->index = index;
  return NULL;
}

/**
 * GstLdpRetrieve:index:
 *
 * Every entry is checked when the index is loaded. If a file that is set while
 * playing cannot be loaded, the old index stays in use.
 *
 * Since: 0.1
 */
/**
 * GstLdpRetrieve:share:
 *
 * If the GPU is r times as fast as the CPU, both take the same time when the
 * GPU compares r / (1 + r) of the entries: -1 measures r.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "index", "Index",
      "Index file, written by ldpindexsink, to compare frames with",
      .offset = AT (path), .type = G_TYPE_STRING, .parse = load_index,
      .is_file = TRUE },
  GST_LDP_REGION_SETTINGS,
  { "k", "K",
      "Maximum number of matches to publish for each frame or region; the best "
      "are kept",
      .offset = AT (k), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_LDP_MAX_MATCHES, .value = 5 },
  { "threshold", "Threshold", "Minimum similarity of a match, 0 to 1",
      .offset = AT (threshold), .type = G_TYPE_DOUBLE, .maximum = 1 },
  { "orientations", "Orientations",
      "Orientations in which frames are compared, each by a comparison of its "
      "own; the most similar one counts",
      .offset = AT (orientations), .get_type = orientations_get_type,
      .value = CUV_LDP_MIRRORED },
  { "share", "Share",
      "Fraction of the index, 0 to 1, that the CPU compares while the GPU "
      "compares the rest (-1 = automatic, so that both take the same time; "
      "only for frames in CUDA memory)",
      .offset = AT (share), .type = G_TYPE_DOUBLE, .minimum = -1,
      .maximum = 1 },
  { "gpu-memory-limit", "GPU memory limit",
      "MiB of GPU memory to use: entries that do not fit are copied to the GPU "
      "for each frame (0 = half of the free memory)",
      .offset = AT (gpu_memory_limit), .type = G_TYPE_UINT,
      .maximum = G_MAXINT },
  { "refresh-interval", "Refresh interval",
      "Milliseconds between checks for entries that other processes append (0 "
      "= never)",
      .offset = AT (refresh_interval), .type = G_TYPE_UINT, .maximum = G_MAXINT,
      .value = 1000 },
  { "thumbnails", "Thumbnails",
      "Publish the thumbnails of matches, for visionoverlay to show",
      .offset = AT (thumbnails), .type = G_TYPE_BOOLEAN, .value = TRUE },
};

static const GstCuvOwnedField owned[] = {
  { AT (index), gst_ldp_index_get_type },
};

static const GstCuvSettingsTable settings_table = {
  GST_CUV_SETTINGS (Settings, list),
  GST_CUV_OWNED_FIELDS (owned),
};

/* ---- preparing ---- */

static const Settings *
in_force (GstLdpRetrieve *self)
{
  return self->settings.in_force;
}

static gchar *
explain_failure (GstLdpRetrieve *self, const Settings *s,
    const GstCuvFrame *frame, const gchar *error)
{
  self->settings.is_resource_problem = TRUE;
  if (!frame->cuda)
    return g_strdup_printf ("Cannot compare with the %" G_GUINT64_FORMAT
                            " entries of index '%s': %s. Free "
                            "some memory, or use a smaller index",
        s->index->n_entries, s->path, error);
  return g_strdup_printf (
      "Index '%s' cannot be copied to the GPU: %s. gpu-memory-limit is %d MiB: "
      "set another value (0 = half of the free memory), or free GPU memory",
      s->path, error, s->gpu_memory_limit);
}

/* The retrieval in use is freed first: there may not be room for both. */
static gchar *
gst_ldp_retrieve_configure (
    GstCuvFilter *filter, gconstpointer settings, const GstCuvFrame *frame)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  const Settings *s = settings;
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
  return self->retrieval != NULL ? NULL
                                 : explain_failure (self, s, frame, error);
}

/* Includes entries that were appended. Returns FALSE after an element error. */
static gboolean
refresh (GstLdpRetrieve *self, const CuvProcessor *processor)
{
  const Settings *s = in_force (self);
  GstLdpIndex *index = s->index;
  const gchar *error = NULL;

  if (gst_ldp_index_refresh (
          index, s->path, s->refresh_interval, GST_ELEMENT (self))
      && !index->lost)
    error = cuv_ldp_retrieval_set_entries (
        self->retrieval, index->n_entries, processor);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Not enough memory for the %" G_GUINT64_FORMAT
       " entries of index '%s': %s. Lower gpu-memory-limit (%d MiB), so that "
       "fewer of them are stored on the GPU.",
          index->n_entries, s->path, error, s->gpu_memory_limit),
      (NULL));
  return FALSE;
}

/* ---- analysing ---- */

static const CuvLdpIndexInfo *
index_info (GstLdpRetrieve *self)
{
  return cuv_ldp_index_info (in_force (self)->index->file);
}

/* Posts an error if a descriptor from upstream has other parameters, because
 * otherwise it would be ignored silently. */
static gboolean
check_descriptors (GstLdpRetrieve *self, GstBuffer *buffer)
{
  const CuvLdpIndexInfo *index = index_info (self);
  GstLdpDescriptors described;
  CuvLdpIndexInfo info;
  gchar *problem;
  char *difference;

  if (!gst_ldp_meta_read (buffer, &described, &problem)) {
    if (problem != NULL)
      GST_WARNING_OBJECT (self, "%s", problem);
    g_free (problem);
    return TRUE;
  }
  if (memcmp (&described.layout, &index->layout, sizeof index->layout) == 0)
    return TRUE;
  cuv_ldp_index_info_init (&info, &described.layout.params,
      described.layout.width, described.layout.height, index->thumbnail_width,
      index->thumbnail_height);
  cuv_ldp_index_check_same (index, &info, in_force (self)->path, &difference);
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("The parameters of ldpdescriptor differ from those of the index: "
       "%s, or remove ldpdescriptor.",
          difference),
      (NULL));
  free (difference);
  return FALSE;
}

static const gchar *
retrieve (GstLdpRetrieve *self, const GstLdpRegion *region,
    const GstCuvFrame *frame, const CuvProcessor *processor, Statistics *counts)
{
  const Settings *s = in_force (self);
  CuvLdpQuery query = { .frame = frame->frame,
    .rect = gst_ldp_region_rect (region),
    .k = s->k,
    .threshold = s->threshold,
    .orientations = s->orientations,
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
  Statistics counts = { .entries = index->lost ? 0 : index->n_entries,
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
  gst_ldp_regions_limit (self->regions, &index_info (self)->layout,
      GST_ELEMENT (self), &self->reported_regions);
  error = retrieve_all (self, frame, &processor);
  report_size (self);
  return error == NULL || gst_cuv_frame_failed (frame, error);
}

/* ---- publishing ---- */

static guint
gst_ldp_retrieve_change (GstCuvFilter *filter)
{
  return GST_LDP_RETRIEVE (filter)->matches.best_hash;
}

static void
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
    gst_cuv_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
  if (message != NULL)
    gst_ldp_matches_list (&self->matches, message);
}

static void
gst_ldp_retrieve_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  Statistics counts;

  GST_OBJECT_LOCK (self);
  counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_cuv_structure_set (stats, "entries", G_TYPE_UINT64, counts.entries,
      "entries-on-cpu", G_TYPE_UINT64, counts.entries_on_cpu, "regions",
      G_TYPE_UINT, counts.regions, "matches", G_TYPE_UINT, counts.matches,
      "microseconds-describe", G_TYPE_DOUBLE, counts.describe_us,
      "microseconds-match", G_TYPE_DOUBLE, counts.match_us, NULL);
}

/* ---- states ---- */

static void
gst_ldp_retrieve_clear_stats (GstCuvFilter *filter)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);

  self->reported_size = self->reported_regions = FALSE;
  GST_OBJECT_LOCK (self);
  self->counts = (Statistics){ 0 };
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ldp_retrieve_close (GstCuvFilter *filter)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);

  g_clear_pointer (&self->retrieval, cuv_ldp_retrieval_free);
  gst_ldp_matches_begin (&self->matches, 0);
}

/* ---- class ---- */

static void
gst_ldp_retrieve_finalize (GObject *object)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (object);

  gst_ldp_matches_clear (&self->matches);
  g_array_unref (self->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static const GstCuvFilterInfo info = { "Texture retrieval",
  "Finds pictures of similar texture in an index, on the CPU or with CUDA",
  &settings_table, .configure = gst_ldp_retrieve_configure,
  .close = gst_ldp_retrieve_close, .analyse = gst_ldp_retrieve_analyse,
  .publish = gst_ldp_retrieve_publish, .change = gst_ldp_retrieve_change,
  .add_stats = gst_ldp_retrieve_add_stats,
  .clear_stats = gst_ldp_retrieve_clear_stats };

static void
gst_ldp_retrieve_class_init (GstLdpRetrieveClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_ldp_retrieve_finalize;
  gst_cuv_filter_class_install (GST_CUV_FILTER_CLASS (klass), &info);
}

static void
gst_ldp_retrieve_init (GstLdpRetrieve *self)
{
  gst_cuv_settings_init (&self->settings, self, &settings_table);
  gst_ldp_matches_init (&self->matches);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
