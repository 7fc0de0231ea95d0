/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "descriptor-harness.h"

#include <string.h>

#include "context/gstcuvframe.h"
#include "gstcuvmeta.h"

/* ---- harness ---- */

CuvLive
run_new (const gchar *properties, const gchar *format, gint width, gint height)
{
  return cuv_live_new ("ldpdescriptor", properties, format, width, height);
}

GstBuffer *
run_frame (CuvLive *self)
{
  GstBuffer *frame = cuv_frame_new (self->format, self->width, self->height);

  GST_BUFFER_PTS (frame) = self->n++ * GST_SECOND / 25;
  return frame;
}

void
run_check_quiet (CuvLive *self)
{
  gchar *warning = pop_problem (self->bus, GST_MESSAGE_WARNING);
  gchar *error = pop_problem (self->bus, GST_MESSAGE_ERROR);

  fail_if (warning != NULL || error != NULL, "%s%s", warning, error);
}

GstVideoRegionOfInterestMeta *
add_region (GstBuffer *frame, const gchar *label, GstLdpRegion region)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_add_video_region_of_interest_meta (
          frame, label, region.x, region.y, region.width, region.height);

  roi->id = region.id;
  return roi;
}

/* ---- the reference ---- */

Kind
default_kind (gint width, gint height)
{
  return (Kind){
    { .order = 3, .grid = 8, .directions = 15 },
    width,
    height,
  };
}

static CuvLdpLayout
layout_of (const Kind *kind)
{
  CuvLdpLayout layout;
  const char *wrong =
      cuv_ldp_layout_init (&layout, &kind->params, kind->width, kind->height);

  fail_if (wrong != NULL, "%s", wrong);
  return layout;
}

static void
map (const CuvLive *self, GstBuffer *buffer, GstMapFlags flags,
    GstCuvFrame *frame)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, gst_video_format_from_string (self->format),
      self->width, self->height);
  fail_unless (gst_cuv_frame_map (frame, NULL, &info, buffer, flags));
}

static guint8 *
picture_of (const GstCuvFrame *frame, const CuvLdpLayout *layout,
    const CuvLdpRect *rect)
{
  guint8 *picture = g_malloc ((gsize) layout->width * (gsize) layout->height);

  cuv_ldp_resize (&frame->frame, rect, layout->width, layout->height, picture);
  return picture;
}

static void
check_counts (const CuvLive *self, const CuvLdpLayout *layout,
    const GstLdpRegion *region, GstBuffer *in, const guint8 *counts)
{
  const gsize n = cuv_ldp_n_counts (layout);
  const gsize size = (gsize) cuv_ldp_count_size (layout);
  const CuvLdpRect rect = gst_ldp_region_rect (region);
  g_autofree guint32 *wanted = g_new (guint32, n);
  GstCuvFrame frame;
  g_autofree guint8 *picture = NULL;

  map (self, in, GST_MAP_READ, &frame);
  picture = picture_of (&frame, layout, &rect);
  gst_cuv_frame_unmap (&frame);
  cuv_ldp_describe (layout, picture, wanted);
  for (gsize i = 0; i < n; i++) {
    guint32 count = 0;

    memcpy (&count, counts + i * size, size); /* little-endian */
    fail_unless (count == wanted[i], "%s, region %d: count %zu is %u, not %u",
        self->format, region->id, i, count, wanted[i]);
  }
}

void
check_described (const CuvLive *self, GstBuffer *out, GstBuffer *in,
    const Kind *kind, const GstLdpRegion *regions, guint n_regions)
{
  const CuvLdpLayout layout = layout_of (kind);
  GstLdpDescriptors found;
  gpointer state = NULL;
  GstCuvTable table;
  gchar *problem;

  fail_unless (gst_ldp_meta_read (out, &found, &problem), "%s", problem);
  fail_unless (memcmp (&found.layout, &layout, sizeof layout) == 0);
  fail_unless_equals_int (found.n_regions, n_regions);
  fail_unless (n_regions == 0
      || memcmp (found.regions, regions, n_regions * sizeof *regions) == 0);
  for (guint i = 0; i < n_regions; i++)
    check_counts (
        self, &layout, &regions[i], in, found.counts + i * found.size);

  fail_unless (gst_cuv_meta_next_table (out, &state, &table));
  fail_unless_equals_string (table.kind, "ldp");
  fail_unless_equals_string (table.key, "descriptor");
  fail_unless_equals_string (table.shape, "none");
  fail_unless_equals_int (table.width, self->width);
  fail_unless_equals_int (table.height, self->height);
  fail_if (gst_cuv_meta_next_table (out, &state, &table), "two tables");
}

void
check_next (CuvLive *self, const Kind *kind)
{
  const GstLdpRegion all = { -1, 0, 0, (guint32) self->width,
    (guint32) self->height };
  g_autoptr (GstBuffer) in = run_frame (self);
  g_autoptr (GstBuffer) out = cuv_live_push (self, gst_buffer_copy_deep (in));

  check_described (self, out, in, kind, &all, 1);
}

void
draw_codes (const CuvLive *self, GstBuffer *buffer, const Kind *kind,
    GstLdpRegion region, gint direction)
{
  const CuvLdpLayout layout = layout_of (kind);
  const CuvLdpRect rect = gst_ldp_region_rect (&region);
  GstCuvFrame frame;
  g_autofree guint8 *picture = NULL;

  map (self, buffer, GST_MAP_READWRITE, &frame);
  picture = picture_of (&frame, &layout, &rect);
  cuv_ldp_draw (&frame.frame, &rect, &layout, picture, direction);
  gst_cuv_frame_unmap (&frame);
}

void
check_same_pixels (const CuvLive *self, GstBuffer *a, GstBuffer *b)
{
  fail_unless (cuv_frames_equal (self->format, self->width, self->height, a, b),
      "%s", self->format);
}
