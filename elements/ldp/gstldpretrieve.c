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

#include "gstldpmatches.h"
#include "shared/gstldpmeta.h"
#include "gstldpretrievesettings.h"
#include "retriever.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

GST_DEBUG_CATEGORY_STATIC (ldp_retrieve_debug);
#define GST_CAT_DEFAULT ldp_retrieve_debug

typedef struct {
  guint64 entries, entries_on_cpu;
  guint regions, matches;
  gdouble describe_us, match_us;
} Counts;

struct _GstLdpRetrieve {
  GstCuvFilter parent;

  GstLdpRetrieveSettings settings; /* under the object lock, with counts */
  Counts counts;

  /* of the streaming thread */
  CuvLdpIndex *index;   /* in force */
  CuvLdpIndex *pending; /* loaded, not in force yet */
  CuvRetriever *retriever;
  GstLdpRetrieveValues values;
  gint limit_in_force;    /* of gpu-memory-limit */
  guint n_indexes;        /* put in force so far */
  guint64 n_entries;      /* of the index with a valid checksum */
  guint64 damaged;        /* number of the first damaged entry, once reported */
  gboolean lost;          /* the index could not be refreshed */
  gboolean reported_size; /* of thumbnails */
  gboolean reported_regions; /* ignored regions */
  gboolean reported_file;    /* its replacement */
  gint64 refreshed;          /* monotonic time */
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

static gsize
max_bytes (const GstLdpRetrieveValues *values)
{
  return (gsize) values->gpu_memory_limit << 20;
}

/* NULL, or what went wrong: then there is no retriever. That of before goes
 * first, for there may not be room for both. */
static const gchar *
use_index (GstLdpRetrieve *self, CuvLdpIndex *index, guint64 n,
    const GstCuvFrame *frame)
{
  const gchar *problem = NULL;

  if (cuv_retriever_is_for (
          self->retriever, index, frame->cuda, max_bytes (&self->values)))
    return NULL;
  cuv_retriever_free (self->retriever);
  self->retriever = cuv_retriever_new (index, n, &frame->frame, frame->cuda,
      max_bytes (&self->values), frame->stream, &problem);
  return problem;
}

/* It is in force from here on. */
static void
take_index (GstLdpRetrieve *self, CuvLdpIndex *index)
{
  cuv_ldp_index_free (self->index);
  self->index = index;
  self->n_entries = cuv_ldp_index_n_entries (index);
  self->damaged = G_MAXUINT64;
  self->lost = FALSE;
  self->reported_file = FALSE;
  self->n_indexes++;
  self->refreshed = g_get_monotonic_time ();
}

/* What was in force before stays, if there is room for it again. An index that
 * was refused waits for other settings. */
static gboolean
prepare_as_before (
    GstLdpRetrieve *self, const GstCuvFrame *frame, const gchar *problem)
{
  gchar *text = frame->cuda
      ? g_strdup_printf (
          "The GPU cannot take the index: %s. gpu-memory-limit is %d MiB: set "
          "another (0 = half of what is free), or free some of its memory",
          problem, self->values.gpu_memory_limit)
      : g_strdup_printf ("The index cannot be used: %s", problem);
  gboolean in_force = self->index != NULL;

  self->values.gpu_memory_limit = self->limit_in_force;
  if (in_force && !self->lost)
    in_force = use_index (self, self->index, self->n_entries, frame) == NULL;
  in_force =
      gst_cuv_filter_cannot_prepare (GST_CUV_FILTER (self), in_force, text);
  g_free (text);
  return in_force;
}

static gboolean
gst_ldp_retrieve_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  CuvLdpIndex *loaded = gst_ldp_retrieve_settings_take_index (&self->settings);
  const gchar *problem;

  if (loaded != NULL) {
    cuv_ldp_index_free (self->pending);
    self->pending = loaded;
  }
  self->values = gst_ldp_retrieve_settings_values (&self->settings);
  if (self->pending == NULL && self->lost)
    return TRUE;
  problem = self->pending != NULL
      ? use_index (
          self, self->pending, cuv_ldp_index_n_entries (self->pending), frame)
      : use_index (self, self->index, self->n_entries, frame);
  if (problem != NULL)
    return prepare_as_before (self, frame, problem);
  if (self->pending != NULL)
    take_index (self, g_steal_pointer (&self->pending));
  self->limit_in_force = self->values.gpu_memory_limit;
  return TRUE;
}

/* ---- entries appended by other processes ---- */

enum { CHECK_US = 10000 }; /* per frame, for checking new entries */

/* Verifies checksums of new entries. Returns whether time ran out. */
static gboolean
check_new (GstLdpRetrieve *self)
{
  const gint64 end = g_get_monotonic_time () + CHECK_US;
  const guint64 n = cuv_ldp_index_n_entries (self->index);

  while (self->n_entries < n && g_get_monotonic_time () < end
      && cuv_ldp_index_check_entry (self->index, self->n_entries))
    self->n_entries++;
  return self->n_entries < n && g_get_monotonic_time () >= end;
}

static void
check_replaced (GstLdpRetrieve *self)
{
  if (self->reported_file || !cuv_ldp_index_is_replaced (self->index))
    return;
  self->reported_file = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, READ,
      ("The index file was replaced or removed: still using the old one until "
       "index is set again."),
      (NULL));
}

static void
refresh_index (GstLdpRetrieve *self)
{
  char *problem = NULL;
  gboolean more;

  self->lost = !cuv_ldp_index_refresh (self->index, &problem);
  if (self->lost)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("The index is no longer used: %s. Set index again when the file is "
         "complete.",
            problem),
        (NULL));
  free (problem);
  if (self->lost)
    return;
  check_replaced (self);
  more = check_new (self);
  if (more)
    self->refreshed = 0;
  else if (self->n_entries < cuv_ldp_index_n_entries (self->index)
      && self->n_entries != self->damaged) {
    self->damaged = self->n_entries;
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("Entry %" G_GUINT64_FORMAT " of the index is damaged: it and all "
         "entries after it are ignored. Restore the file from a copy, or "
         "index the pictures again.",
            self->damaged),
        (NULL));
  }
}

/* FALSE after an element error. */
static gboolean
refresh (GstLdpRetrieve *self, const GstCuvFrame *frame)
{
  const gint64 now = g_get_monotonic_time ();
  const gchar *failure = NULL;

  if (self->lost || self->values.refresh_interval == 0
      || now - self->refreshed
          < self->values.refresh_interval * G_TIME_SPAN_MILLISECOND)
    return TRUE;
  self->refreshed = now;
  refresh_index (self);
  if (!self->lost)
    failure = cuv_retriever_set_entries (
        self->retriever, self->n_entries, frame->stream);
  if (failure == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("Not enough memory for %" G_GUINT64_FORMAT " entries: %s. Lower "
       "gpu-memory-limit, so that fewer of them stay on the GPU.",
          self->n_entries, failure),
      (NULL));
  return FALSE;
}

/* ---- analysing ---- */

/* The parameters as text; free() it. */
static char *
describe_layout (GstLdpRetrieve *self, const CuvLdpLayout *layout)
{
  const CuvLdpIndexInfo *index = cuv_ldp_index_info (self->index);
  CuvLdpIndexInfo info;

  cuv_ldp_index_info_init (&info, &layout->params, layout->width,
      layout->height, index->thumbnail_width, index->thumbnail_height);
  return cuv_ldp_index_info_text (&info);
}

/* A descriptor upstream with other parameters would be ignored silently. */
static gboolean
check_descriptors (GstLdpRetrieve *self, GstBuffer *buffer)
{
  const CuvLdpLayout *layout = &cuv_ldp_index_info (self->index)->layout;
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
    const GstCuvFrame *frame, gint n_threads, Counts *counts)
{
  const CuvRetrieval how = { self->values.k, self->values.threshold,
    self->values.share };
  const CuvLdpRect rect = gst_ldp_region_rect (region);
  CuvRetrieved retrieved;
  const gchar *problem = cuv_retriever_run (self->retriever, &frame->frame,
      &rect, &how, frame->stream, n_threads, &retrieved);

  if (problem != NULL)
    return problem;
  gst_ldp_matches_add (
      &self->matches, region, &retrieved, self->index, self->values.thumbnails);
  counts->matches += (guint) retrieved.n_matches;
  counts->entries_on_cpu += retrieved.n_on_cpu;
  counts->describe_us += retrieved.describe_us;
  counts->match_us += retrieved.match_us;
  return NULL;
}

static const gchar *
retrieve_all (GstLdpRetrieve *self, const GstCuvFrame *frame, gint n_threads)
{
  Counts counts = { .entries = self->lost ? 0 : self->n_entries,
    .regions = self->regions->len };
  const gchar *problem = NULL;

  gst_ldp_matches_begin (&self->matches, self->n_indexes);
  for (guint i = 0; i < self->regions->len && !self->lost && problem == NULL;
       i++)
    problem = retrieve (self, &g_array_index (self->regions, GstLdpRegion, i),
        frame, n_threads, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  return problem;
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
  const gchar *problem;

  if (!check_descriptors (self, buffer) || !refresh (self, frame))
    return FALSE;
  gst_ldp_regions_collect (self->regions, buffer, &self->values.choice,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)));
  gst_ldp_regions_limit (self->regions,
      &cuv_ldp_index_info (self->index)->layout, GST_ELEMENT (self),
      &self->reported_regions);
  problem = retrieve_all (self, frame, n_threads);
  report_size (self);
  if (problem == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("The %s failed: %s.", frame->cuda ? "GPU" : "CPU", problem), (NULL));
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
#if HAVE_CUDA
  gst_structure_set (
      stats, "gpu-bytes", G_TYPE_UINT64, (guint64) cuv_cuda_allocated (), NULL);
#endif
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
  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans)
      && gst_ldp_retrieve_settings_start (&self->settings);
}

static void
gst_ldp_retrieve_leave_context (GstCuvTransform *transform)
{
  g_clear_pointer (
      &GST_LDP_RETRIEVE (transform)->retriever, cuv_retriever_free);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_ldp_retrieve_stop (GstBaseTransform *trans)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (trans);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);

  /* what no CUDA context has freed */
  g_clear_pointer (&self->retriever, cuv_retriever_free);
  g_clear_pointer (&self->index, cuv_ldp_index_free);
  g_clear_pointer (&self->pending, cuv_ldp_index_free);
  gst_ldp_retrieve_settings_stop (&self->settings);
  gst_ldp_matches_begin (&self->matches, 0);
  return ok;
}

/* ---- properties ---- */

static void
gst_ldp_retrieve_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  gst_ldp_retrieve_settings_set (
      &GST_LDP_RETRIEVE (object)->settings, id, value);
}

static void
gst_ldp_retrieve_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  gst_ldp_retrieve_settings_get (
      &GST_LDP_RETRIEVE (object)->settings, id, value);
}

static void
gst_ldp_retrieve_finalize (GObject *object)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (object);

  gst_ldp_retrieve_settings_clear (&self->settings);
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
  object_class->set_property = gst_ldp_retrieve_set_property;
  object_class->get_property = gst_ldp_retrieve_get_property;
  object_class->finalize = gst_ldp_retrieve_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_ldp_retrieve_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ldp_retrieve_stop);
  transform_class->leave_context = gst_ldp_retrieve_leave_context;
  filter_class->prepare = gst_ldp_retrieve_prepare;
  filter_class->analyse = gst_ldp_retrieve_analyse;
  filter_class->publish = gst_ldp_retrieve_publish;
  filter_class->add_stats = gst_ldp_retrieve_add_stats;
  gst_ldp_retrieve_settings_install (object_class);
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
  gst_ldp_retrieve_settings_init (&self->settings, GST_CUV_FILTER (self));
  gst_ldp_matches_init (&self->matches);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
