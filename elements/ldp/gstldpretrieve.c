/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ldpretrieve
 * @title: ldpretrieve
 * @short_description: finds pictures of like texture in an index
 *
 * Describes each frame, or each region of interest, as the pictures of an index
 * were described (local derivative patterns), compares it with all of them by
 * histogram intersection, and publishes the most alike with their names. On the
 * CPU and, for frames in CUDA memory, on the GPU. The frame is neither copied
 * nor changed.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! ldpretrieve index=pictures.ldp !
 * visionoverlay ! videoconvert ! autovideosink
 * ]| Shows a camera's picture, and those of an index that look most like it.
 *
 * Since: 0.1
 */
#include "config.h"
#include "gstldpretrieve.h"

#include <stdlib.h>
#include <string.h>

#include "gstldpmatches.h"
#include "gstldpmeta.h"
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

  GstLdpRetrieveSettings settings; /* under the object lock, as are counts */
  Counts counts;

  /* of the streaming thread */
  CuvLdpIndex *index;
  CuvRetriever *retriever;
  GstLdpRetrieveValues values;
  gint64 refreshed; /* monotonic time */
  GArray *regions;  /* GstLdpRegion, of the last analysed frame */
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

/* NULL, or what went wrong; then the retriever before stays. */
static const gchar *
use_index (GstLdpRetrieve *self, CuvLdpIndex *index, const GstCuvFrame *frame)
{
  const gchar *problem;
  CuvRetriever *retriever;

  if (cuv_retriever_is_for (
          self->retriever, index, frame->cuda, max_bytes (&self->values)))
    return NULL;
  retriever = cuv_retriever_new (index, &frame->frame, frame->cuda,
      max_bytes (&self->values), frame->stream, &problem);
  if (retriever == NULL)
    return problem;
  cuv_retriever_free (self->retriever);
  self->retriever = retriever;
  self->refreshed = g_get_monotonic_time ();
  return NULL;
}

/* A new index is in force from here on. */
static gboolean
gst_ldp_retrieve_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstLdpRetrieve *self = GST_LDP_RETRIEVE (filter);
  CuvLdpIndex *index = gst_ldp_retrieve_settings_take_index (&self->settings);
  const gboolean in_force = self->retriever != NULL;
  CuvLdpIndex *other = index != NULL ? index : self->index;
  const gchar *problem;

  self->values = gst_ldp_retrieve_settings_values (&self->settings);
  problem = use_index (self, other, frame);
  if (problem != NULL) {
    cuv_ldp_index_free (index);
    return gst_cuv_filter_cannot_prepare (filter,
        in_force
            && cuv_retriever_is_for (self->retriever, self->index, frame->cuda,
                max_bytes (&self->values)),
        problem);
  }
  if (index != NULL) {
    cuv_ldp_index_free (self->index);
    self->index = index;
  }
  return TRUE;
}

/* ---- what others append ---- */

static void
look_for_more (GstLdpRetrieve *self)
{
  char *problem = NULL;
  guint64 i = cuv_ldp_index_n_entries (self->index);

  if (!cuv_ldp_index_refresh (self->index, &problem))
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("The index cannot be refreshed: %s.", problem), (NULL));
  free (problem);
  for (; i < cuv_ldp_index_n_entries (self->index); i++) {
    if (!cuv_ldp_index_check_entry (self->index, i))
      GST_ELEMENT_WARNING (self, RESOURCE, READ,
          ("Entry %" G_GUINT64_FORMAT " of the index is damaged.", i), (NULL));
  }
}

/* FALSE after an element error. */
static gboolean
refresh (GstLdpRetrieve *self, const GstCuvFrame *frame)
{
  const gint64 now = g_get_monotonic_time ();
  const gchar *failure;

  if (self->values.refresh_interval == 0
      || now - self->refreshed < self->values.refresh_interval * 1000)
    return TRUE;
  self->refreshed = now;
  look_for_more (self);
  failure = cuv_retriever_refresh (self->retriever, frame->stream);
  if (failure == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("The index of %" G_GUINT64_FORMAT " entries cannot be used: %s.",
          cuv_ldp_index_n_entries (self->index), failure),
      (NULL));
  return FALSE;
}

/* ---- analysing ---- */

/* The parameters in words; free() them. */
static char *
describe_shape (GstLdpRetrieve *self, const CuvLdpShape *shape)
{
  const CuvLdpIndexInfo *index = cuv_ldp_index_info (self->index);
  CuvLdpIndexInfo info;

  cuv_ldp_index_info_init (&info, &shape->params, shape->width, shape->height,
      index->thumbnail_width, index->thumbnail_height);
  return cuv_ldp_index_info_text (&info);
}

/* Whoever described the frame in another way expects that to be compared. */
static gboolean
check_descriptors (GstLdpRetrieve *self, GstBuffer *buffer)
{
  const CuvLdpShape *shape = &cuv_ldp_index_info (self->index)->shape;
  GstLdpDescriptors described;
  gchar *problem;
  char *texts[2];

  if (!gst_ldp_meta_read (buffer, &described, &problem)) {
    if (problem != NULL)
      GST_WARNING_OBJECT (self, "%s", problem);
    g_free (problem);
    return TRUE;
  }
  if (memcmp (&described.shape, shape, sizeof *shape) == 0)
    return TRUE;
  texts[0] = describe_shape (self, &described.shape);
  texts[1] = describe_shape (self, shape);
  GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
      ("The frame was described with other parameters (%s) than the index "
       "(%s): give ldpdescriptor those of the index, or leave it out.",
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
  Counts counts = { .entries = cuv_ldp_index_n_entries (self->index),
    .regions = self->regions->len };
  const gchar *problem = NULL;

  gst_ldp_matches_begin (&self->matches);
  for (guint i = 0; i < self->regions->len && problem == NULL; i++)
    problem = retrieve (self, &g_array_index (self->regions, GstLdpRegion, i),
        frame, n_threads, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  return problem;
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
  problem = retrieve_all (self, frame, n_threads);
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
  gst_ldp_retrieve_settings_stop (&self->settings);
  gst_ldp_matches_begin (&self->matches);
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
      ldp_retrieve_debug, "ldpretrieve", 0, "pictures of like texture");
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
      "Finds pictures of like texture in an index, on the CPU or with CUDA",
      "The gst-cuvision authors");
}

static void
gst_ldp_retrieve_init (GstLdpRetrieve *self)
{
  gst_ldp_retrieve_settings_init (&self->settings, GST_CUV_FILTER (self));
  gst_ldp_matches_init (&self->matches);
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
