/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "shared/gstldpregions.h"

#include "gstcuvmeta.h"

/* ---- settings ---- */

GType
gst_ldp_region_kind_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_LDP_FRAME, "The whole frame", "frame" },
    { GST_LDP_ROI_LIST, "Each region of interest of the frame", "roi-list" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstLdpRegionKind", values);
}

gchar *
gst_ldp_region_choice_parse (gpointer settings)
{
  GstLdpRegionChoice *self = settings;

  self->object_class = self->label != NULL && *self->label != '\0'
      ? g_quark_from_string (self->label)
      : 0;
  return NULL;
}

gchar *
gst_ldp_region_choice_layout (const GstLdpRegionChoice *self,
    const GstLdpParameters *parameters, gint width, gint height,
    CuvLdpLayout *layout)
{
  if (self->kind == GST_LDP_ROI_LIST
      && (parameters->width == 0 || parameters->height == 0))
    return g_strdup_printf (
        "descriptor-width is %d and descriptor-height %d, but regions "
        "(region=roi-list) differ in size: set both above 0",
        parameters->width, parameters->height);
  return gst_ldp_parameters_layout (parameters, width, height, layout);
}

/* ---- regions ---- */

static void
collect_rois (GArray *regions, GstBuffer *buffer, GQuark object_class,
    const GstVideoInfo *info)
{
  const GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  CuvRoi part;

  while ((roi = gst_cuv_meta_next_region (
              buffer, &state, object_class, info, &part))
      != NULL) {
    const GstLdpRegion region = { roi->id, (guint32) part.left,
      (guint32) part.top, (guint32) (part.right - part.left),
      (guint32) (part.bottom - part.top) };

    if (regions->len < GST_LDP_MAX_REGIONS)
      g_array_append_val (regions, region);
  }
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
    collect_rois (regions, buffer, choice->object_class, info);
}

void
gst_ldp_regions_limit (GArray *regions, const CuvLdpLayout *layout,
    GstElement *element, gboolean *warned)
{
  const guint n = regions->len, most = gst_ldp_max_regions (layout);

  if (n <= most)
    return;
  g_array_set_size (regions, most);
  if (!*warned)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        ("The %u regions of a frame, each described at %dx%d pixels, exceed %d "
         "pixels per frame or their counts 1024 MB: only the first %u are "
         "described. Lower descriptor-width and descriptor-height, or use "
         "fewer blocks, bins or directions.",
            n, layout->width, layout->height, CUV_LDP_MAX_PIXELS, most),
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
scale (guint64 start, guint64 size, guint64 from, gint to, gint32 *first,
    gint32 *n)
{
  const gint32 end = (gint32) ((start + size) * (guint64) to / from);

  *first = (gint32) (start * (guint64) to / from);
  *n = MAX (end - *first, 1);
}

CuvLdpRect
gst_ldp_region_rect_in (const GstLdpRegion *self, guint width, guint height,
    const GstVideoInfo *info)
{
  CuvLdpRect rect;

  scale (self->x, self->width, width, GST_VIDEO_INFO_WIDTH (info), &rect.x,
      &rect.width);
  scale (self->y, self->height, height, GST_VIDEO_INFO_HEIGHT (info), &rect.y,
      &rect.height);
  return rect;
}
