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
#include "gstldpdescriptor.h"

#include <string.h>

#include "describer.h"
#include "shared/gstldpmeta.h"
#include "shared/gstldpparameters.h"
#if HAVE_CUDA
#include "cuv-cuda.h"
#endif

GST_DEBUG_CATEGORY_STATIC (ldp_descriptor_debug);
#define GST_CAT_DEFAULT ldp_descriptor_debug

enum {
  PROP_0,
  PROP_DRAW,
  PROP_REGION,
  PROP_OBJECT_CLASS,
  PROP_PARAMETERS,
};

typedef struct {
  GstLdpParameters parameters;
  GstLdpRegionChoice choice;
  gint draw; /* CUV_LDP_DIRECTIONS: nothing */
} Values;

struct _GstLdpDescriptor {
  GstCuvFilter parent;

  Values settings; /* under the object lock, with the next */
  guint n_regions;

  /* of the streaming thread */
  CuvDescriber *describer;
  Values values; /* in force */
  gboolean have_values;
  gboolean warned; /* about ignored regions, with this layout */
  GArray *regions; /* GstLdpRegion, of the last analysed frame */
  GBytes *counts;  /* of the regions */
};

#define gst_ldp_descriptor_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstLdpDescriptor, gst_ldp_descriptor, GST_TYPE_CUV_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    ldpdescriptor, "ldpdescriptor", GST_RANK_NONE, GST_TYPE_LDP_DESCRIPTOR)

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* ---- preparing ---- */

static Values
get_settings (GstLdpDescriptor *self)
{
  Values values;

  GST_OBJECT_LOCK (self);
  values = self->settings;
  GST_OBJECT_UNLOCK (self);
  return values;
}

/* Controllers may ask at every frame: what is there already costs nothing. */
static gchar *
use_values (GstCuvFilter *filter, gconstpointer asked, const GstCuvFrame *frame)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const Values *values = asked;
  CuvLdpLayout layout;
  gchar *problem = gst_ldp_region_choice_layout (&values->choice,
      &values->parameters, frame->frame.width, frame->frame.height, &layout);
  const gchar *failure;
  CuvDescriber *describer;

  if (problem != NULL
      || cuv_describer_is_for (self->describer, &layout, frame->cuda))
    return problem;
  describer = cuv_describer_new (
      &layout, &frame->frame, frame->cuda, frame->stream, &failure);
  if (describer == NULL)
    return g_strdup (failure);
  cuv_describer_free (self->describer);
  self->describer = describer;
  self->warned = FALSE;
  return NULL;
}

static gboolean
gst_ldp_descriptor_prepare (GstCuvFilter *filter, const GstCuvFrame *frame)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const Values values = get_settings (self);

  return gst_cuv_filter_prepare_values (filter,
      &(GstCuvFilterValues){
          use_values, &self->values, sizeof values, &self->have_values },
      &values, frame);
}

/* ---- analysing ---- */

static gboolean
gst_ldp_descriptor_writes (GstCuvFilter *filter)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);

  /* of values that are refused those before stay in force */
  return get_settings (self).draw != CUV_LDP_DIRECTIONS
      || (self->have_values && self->values.draw != CUV_LDP_DIRECTIONS);
}

static const gchar *
describe (GstLdpDescriptor *self, guint i, const GstCuvFrame *frame,
    gint n_threads, gconstpointer *counts)
{
  const CuvLdpRect rect =
      gst_ldp_region_rect (&g_array_index (self->regions, GstLdpRegion, i));

  return cuv_describer_run (
      self->describer, &frame->frame, &rect, frame->stream, n_threads, counts);
}

/* Returns NULL, or the problem. */
static const gchar *
describe_all (GstLdpDescriptor *self, const GstCuvFrame *frame, gint n_threads)
{
  const CuvLdpLayout *layout = &self->describer->layout;
  const gsize size =
      cuv_ldp_n_counts (layout) * (gsize) cuv_ldp_count_size (layout);
  const gchar *problem = NULL;
  guint8 *all;

  g_clear_pointer (&self->counts, g_bytes_unref);
  all = g_try_malloc (MAX (size * self->regions->len, 1));
  if (all == NULL)
    problem =
        "out of memory for the counts: use fewer blocks, bins or directions";
  for (guint i = 0; i < self->regions->len && problem == NULL; i++) {
    gconstpointer counts;

    problem = describe (self, i, frame, n_threads, &counts);
    if (problem == NULL)
      memcpy (all + i * size, counts, size);
  }
  self->counts = g_bytes_new_take (all, all ? size * self->regions->len : 0);
  return problem;
}

/* Regions may overlap, so all are described before the first is drawn. */
static const gchar *
draw_all (GstLdpDescriptor *self, const GstCuvFrame *frame, gint n_threads)
{
  const gchar *problem = NULL;
  gconstpointer counts;

  for (guint i = 0; i < self->regions->len && problem == NULL; i++) {
    if (self->regions->len > 1)
      problem = describe (self, i, frame, n_threads, &counts);
    if (problem == NULL)
      problem =
          cuv_describer_draw (self->describer, self->values.draw, n_threads);
  }
  return problem;
}

static gboolean
gst_ldp_descriptor_analyse (
    GstCuvFilter *filter, const GstCuvFrame *frame, gint n_threads)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const gchar *problem;

  gst_ldp_regions_collect (self->regions, frame->video.buffer,
      &self->values.choice,
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self)));
  gst_ldp_regions_limit (self->regions, &self->describer->layout,
      GST_ELEMENT (self), &self->warned);
  problem = describe_all (self, frame, n_threads);
  if (problem == NULL && frame->writable
      && self->values.draw != CUV_LDP_DIRECTIONS)
    problem = draw_all (self, frame, n_threads);
  if (problem != NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
        ("The %s failed: %s.", frame->cuda ? "GPU" : "CPU", problem), (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->n_regions = self->regions->len;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- publishing ---- */

static guint
gst_ldp_descriptor_publish (GstCuvFilter *filter, GstBuffer *buffer,
    GstStructure *message, GstClockTime age)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  const GstVideoInfo *info =
      gst_cuv_transform_in_info (GST_CUV_TRANSFORM (self));
  GstStructure *table = gst_ldp_meta_add (buffer,
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info),
      &self->describer->layout, (const GstLdpRegion *) self->regions->data,
      self->regions->len, self->counts);

  if (age > 0)
    gst_structure_set (table, "age", G_TYPE_UINT64, age, NULL);
  if (message != NULL)
    gst_structure_set (
        message, "regions", G_TYPE_UINT, self->regions->len, NULL);
  return self->regions->len;
}

static void
gst_ldp_descriptor_add_stats (GstCuvFilter *filter, GstStructure *stats)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (filter);
  guint n_regions;

  GST_OBJECT_LOCK (self);
  n_regions = self->n_regions;
  GST_OBJECT_UNLOCK (self);
  gst_structure_set (stats, "regions", G_TYPE_UINT, n_regions, NULL);
#if HAVE_CUDA
  gst_structure_set (
      stats, "gpu-bytes", G_TYPE_UINT64, (guint64) cuv_cuda_allocated (), NULL);
#endif
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

static gboolean
gst_ldp_descriptor_start (GstBaseTransform *trans)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (trans);

  self->have_values = FALSE;
  GST_OBJECT_LOCK (self);
  self->n_regions = 0;
  GST_OBJECT_UNLOCK (self);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->start (trans);
}

static void
gst_ldp_descriptor_leave_context (GstCuvTransform *transform)
{
  g_clear_pointer (
      &GST_LDP_DESCRIPTOR (transform)->describer, cuv_describer_free);
  GST_CUV_TRANSFORM_CLASS (parent_class)->leave_context (transform);
}

static gboolean
gst_ldp_descriptor_stop (GstBaseTransform *trans)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (trans);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);

  /* what no CUDA context has freed */
  g_clear_pointer (&self->describer, cuv_describer_free);
  g_clear_pointer (&self->counts, g_bytes_unref);
  g_array_set_size (self->regions, 0);
  return ok;
}

/* ---- properties ---- */

static GType
draw_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_LDP_DIRECTIONS, "Leave the frame as it is", "none" },
    { 0, "Codes at 0 degrees", "code-0" },
    { 1, "Codes at 45 degrees", "code-45" },
    { 2, "Codes at 90 degrees", "code-90" },
    { 3, "Codes at 135 degrees", "code-135" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstLdpDraw", values);
}

static void
gst_ldp_descriptor_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (object);
  Values *settings = &self->settings;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  if (id >= PROP_PARAMETERS)
    changed = gst_cuv_value_store (
        gst_ldp_parameters_place (&settings->parameters, id - PROP_PARAMETERS),
        value);
  else if (id == PROP_DRAW)
    changed = gst_cuv_value_store (&settings->draw, value);
  else
    changed =
        gst_ldp_region_choice_set (&settings->choice, id - PROP_REGION, value);
  GST_OBJECT_UNLOCK (self);
  /* controllers set properties at every frame: only a change is work */
  if (changed)
    gst_cuv_filter_request_prepare (GST_CUV_FILTER (self));
}

static void
gst_ldp_descriptor_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstLdpDescriptor *self = GST_LDP_DESCRIPTOR (object);
  Values *settings = &self->settings;

  GST_OBJECT_LOCK (self);
  if (id >= PROP_PARAMETERS)
    gst_cuv_value_fetch (
        gst_ldp_parameters_place (&settings->parameters, id - PROP_PARAMETERS),
        value);
  else if (id == PROP_DRAW)
    gst_cuv_value_fetch (&settings->draw, value);
  else
    gst_ldp_region_choice_get (&settings->choice, id - PROP_REGION, value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ldp_descriptor_finalize (GObject *object)
{
  g_array_unref (GST_LDP_DESCRIPTOR (object)->regions);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ldp_descriptor_class_init (GstLdpDescriptorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstCuvTransformClass *transform_class = GST_CUV_TRANSFORM_CLASS (klass);
  GstCuvFilterClass *filter_class = GST_CUV_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (ldp_descriptor_debug, "ldpdescriptor", 0,
      "texture by local derivative patterns");
  object_class->set_property = gst_ldp_descriptor_set_property;
  object_class->get_property = gst_ldp_descriptor_get_property;
  object_class->finalize = gst_ldp_descriptor_finalize;
  trans_class->start = GST_DEBUG_FUNCPTR (gst_ldp_descriptor_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ldp_descriptor_stop);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ldp_descriptor_query);
  transform_class->leave_context = gst_ldp_descriptor_leave_context;
  filter_class->prepare = gst_ldp_descriptor_prepare;
  filter_class->analyse = gst_ldp_descriptor_analyse;
  filter_class->writes = gst_ldp_descriptor_writes;
  filter_class->publish = gst_ldp_descriptor_publish;
  filter_class->add_stats = gst_ldp_descriptor_add_stats;
  g_object_class_install_property (object_class, PROP_DRAW,
      g_param_spec_enum ("draw", "Draw",
          "Codes to draw over the described regions", draw_get_type (),
          CUV_LDP_DIRECTIONS, GST_CUV_PARAM_LIVE));
  gst_ldp_region_choice_install (object_class, PROP_REGION);
  gst_ldp_parameters_install (object_class, PROP_PARAMETERS);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Texture descriptor",
      "Filter/Analyzer/Video",
      "Describes texture by local derivative patterns, on the CPU or with CUDA",
      "The gst-cuvision authors");
}

static void
gst_ldp_descriptor_init (GstLdpDescriptor *self)
{
  gst_ldp_parameters_reset (&self->settings.parameters);
  self->settings.draw = CUV_LDP_DIRECTIONS;
  self->regions = g_array_new (FALSE, FALSE, sizeof (GstLdpRegion));
}
