/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "shared/gstldpregions.h"

#include "gstcuvmeta.h"
#include "gstcuvstructure.h"

/* ---- parameters ---- */

GType
gst_ldp_directions_get_type (void)
{
  static gsize type = 0;
  static const GFlagsValue values[] = {
    { CUV_LDP_0, "To the right", "0" },
    { CUV_LDP_45, "Up and to the right", "45" },
    { CUV_LDP_90, "Upwards", "90" },
    { CUV_LDP_135, "Up and to the left", "135" },
    { 0, NULL, NULL },
  };

  return gst_cuv_flags_register (&type, "GstLdpDirections", values);
}

const GEnumValue gst_ldp_border_values[] = {
  { CUV_LDP_VALID,
      "Pixels whose code depends on pixels outside are not counted", "valid" },
  { CUV_LDP_REPLICATE, "The border pixels are replicated outside the picture",
      "replicate" },
  { 0, NULL, NULL },
};

const GEnumValue gst_ldp_bins_values[] = {
  { CUV_LDP_BINS_256, "One for each code", "256" },
  { CUV_LDP_BINS_UNIFORM,
      "59: one for each code whose bits change at most twice around the "
      "pixel, one for all others",
      "uniform" },
  { CUV_LDP_BINS_LEVELS, "As many as the property levels, of equal width",
      "levels" },
  { 0, NULL, NULL },
};

GType
gst_ldp_border_get_type (void)
{
  static gsize type = 0;

  return gst_cuv_enum_register (&type, "GstLdpBorder", gst_ldp_border_values);
}

GType
gst_ldp_bins_get_type (void)
{
  static gsize type = 0;

  return gst_cuv_enum_register (&type, "GstLdpBins", gst_ldp_bins_values);
}

enum { MAX_MEGABYTES = 1024 }; /* limit on the counts of a frame */

static guint64
count_bytes (const CuvLdpLayout *layout)
{
  return (guint64) cuv_ldp_n_counts (layout)
      * (guint64) cuv_ldp_count_size (layout);
}

/* Rejects tiny blocks, which would need gigabytes of counts. */
static gchar *
check_memory (const CuvLdpLayout *layout)
{
  const guint64 megabytes = count_bytes (layout) >> 20;
  const gboolean by_block = layout->params.block > 0;

  if (megabytes < MAX_MEGABYTES)
    return NULL;
  return g_strdup_printf (
      "%s %d makes %d x %d blocks with %" G_GUINT64_FORMAT
      " MB of counts, which must be below %d MB: %s it, or use fewer bins or "
      "directions",
      by_block ? "block" : "grid",
      by_block ? layout->params.block : layout->params.grid, layout->columns,
      layout->rows, megabytes, MAX_MEGABYTES, by_block ? "raise" : "lower");
}

/* ---- choice of regions ---- */

GST_CUV_DEFINE_PUBLIC_ENUM (gst_ldp_region_kind_get_type, "GstLdpRegionKind",
    { GST_LDP_FRAME, "The whole frame", "frame" },
    { GST_LDP_ROI_LIST, "Each region of interest of the frame", "roi-list" })

gchar *
gst_ldp_region_choice_parse (gpointer settings)
{
  GstLdpRegionChoice *self = settings;

  self->object_class = self->label != NULL && *self->label != '\0'
      ? gst_cuv_quark (self->label)
      : 0;
  return NULL;
}

gchar *
gst_ldp_region_choice_layout (const GstLdpRegionChoice *self,
    const GstLdpParameters *parameters, gint width, gint height,
    CuvLdpLayout *layout)
{
  const gchar *problem;

  if (self->kind == GST_LDP_ROI_LIST
      && (parameters->width == 0 || parameters->height == 0))
    return g_strdup_printf (
        "descriptor-width is %d and descriptor-height %d, but regions "
        "(region=roi-list) differ in size: set both above 0",
        parameters->width, parameters->height);
  problem = cuv_ldp_layout_init (layout, &parameters->params,
      parameters->width > 0 ? parameters->width : width,
      parameters->height > 0 ? parameters->height : height);
  return problem != NULL ? g_strdup (problem) : check_memory (layout);
}

/* ---- regions ---- */

static void
collect_objects (GArray *regions, GstBuffer *buffer, GQuark object_class,
    const GstVideoInfo *info)
{
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  CuvRoi part;

  gst_cuv_objects_read (objects, buffer);
  for (guint i = 0; i < objects->len; i++) {
    const GstCuvObject *object = &g_array_index (objects, GstCuvObject, i);

    if (gst_cuv_object_in_frame (object, object_class, info, &part)) {
      const GstLdpRegion region = { object->id, (guint32) part.left,
        (guint32) part.top, (guint32) (part.right - part.left),
        (guint32) (part.bottom - part.top) };

      g_array_append_val (regions, region);
    }
  }
  g_array_unref (objects);
}

void
gst_ldp_regions_collect (GArray *regions, GstBuffer *buffer,
    const GstLdpRegionChoice *choice, const GstVideoInfo *info)
{
  const GstLdpRegion frame = { -1, 0, 0, (guint32) GST_VIDEO_INFO_WIDTH (info),
    (guint32) GST_VIDEO_INFO_HEIGHT (info) };

  g_array_set_size (regions, 0);
  if (choice->kind == GST_LDP_FRAME)
    g_array_append_val (regions, frame);
  else
    collect_objects (regions, buffer, choice->object_class, info);
}

/* Returns the maximum number of regions within the limit, at least 1. */
static guint
find_max_regions (const CuvLdpLayout *layout)
{
  const guint64 pixels = (guint64) layout->width * (guint64) layout->height;
  const guint64 by_memory =
      (((guint64) MAX_MEGABYTES << 20) - 1) / count_bytes (layout);

  return (guint) MIN (
      GST_LDP_MAX_REGIONS, MIN (by_memory, CUV_LDP_MAX_PIXELS / pixels));
}

void
gst_ldp_regions_limit (GArray *regions, const CuvLdpLayout *layout,
    GstElement *element, gboolean *warned)
{
  const guint n = regions->len, max_n = find_max_regions (layout);

  if (n <= max_n)
    return;
  g_array_set_size (regions, max_n);
  if (!*warned)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        ("Only the first %u of %u regions of a frame are described: the limit "
         "is %d regions, %d pixels in all (each region takes %dx%d) or "
         "1024 MB of counts. Select regions by object-class, lower "
         "descriptor-width and descriptor-height, or use fewer blocks, bins or "
         "directions.",
            max_n, n, GST_LDP_MAX_REGIONS, CUV_LDP_MAX_PIXELS, layout->width,
            layout->height),
        (NULL));
  *warned = TRUE;
}

CuvLdpRect
gst_ldp_region_rect (const GstLdpRegion *self)
{
  return (CuvLdpRect){ (gint32) self->x, (gint32) self->y, (gint32) self->width,
    (gint32) self->height };
}

/* Scales an interval from an axis of `from` pixels to one of `to`; at least one
 * pixel remains. */
static void
gst_ldp_regions_scale (guint64 start, guint64 size, guint64 from, gint to,
    gint32 *first, gint32 *n)
{
  const gint32 end = (gint32) ((start + size) * (guint64) to / from);

  *first = (gint32) (start * (guint64) to / from);
  *n = MAX (end - *first, 1);
}

CuvLdpRect
gst_ldp_region_scale_rect (const GstLdpRegion *self, guint width, guint height,
    const GstVideoInfo *info)
{
  CuvLdpRect rect;

  gst_ldp_regions_scale (self->x, self->width, width,
      GST_VIDEO_INFO_WIDTH (info), &rect.x, &rect.width);
  gst_ldp_regions_scale (self->y, self->height, height,
      GST_VIDEO_INFO_HEIGHT (info), &rect.y, &rect.height);
  return rect;
}
