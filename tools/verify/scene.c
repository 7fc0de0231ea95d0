/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws frames and spectral cubes. Only integers are computed, so that every
 * machine draws the same. A frame has a textured background, a turned
 * chessboard, which moves slowly, a textured box and a bright bar, which move
 * faster, and a little noise. */
#include "verify.h"

#include <gst/video/video.h>

guint
verify_scatter (guint seed, gint x, gint y)
{
  guint32 h = seed * 2654435769u + 12345u;

  h = (h ^ (guint32) x) * 1664525u + 1013904223u;
  h = (h ^ h >> 15 ^ (guint32) y) * 1664525u + 1013904223u;
  h = (h ^ h >> 13) * 1664525u + 1013904223u;
  return h >> 16;
}

/* Returns a smooth texture, 0 to 255, that varies over 1 << bits pixels. */
static gint
texture (guint seed, gint x, gint y, gint bits)
{
  const gint side = 1 << bits, fx = x & (side - 1), fy = y & (side - 1);
  const gint cx = x >> bits, cy = y >> bits;
  const gint top = (gint) (verify_scatter (seed, cx, cy) & 255) * (side - fx)
      + (gint) (verify_scatter (seed, cx + 1, cy) & 255) * fx;
  const gint bottom =
      (gint) (verify_scatter (seed, cx, cy + 1) & 255) * (side - fx)
      + (gint) (verify_scatter (seed, cx + 1, cy + 1) & 255) * fx;

  return (top * (side - fy) + bottom * fy) >> (2 * bits);
}

/* Returns the value of a chessboard's square, or -1 beside the board. It is
 * turned by the angle of a triangle with the sides 3, 4 and 5. */
static gint
board (gint x, gint y)
{
  const gint across = (4 * x + 3 * y) / 5 + 48, down = (4 * y - 3 * x) / 5 + 48;

  if (across < 0 || across >= 96 || down < 0 || down >= 96)
    return -1;
  return ((across >> 4) + (down >> 4)) & 1 ? 225 : 25;
}

/* Returns a component's value, 0 to 255, at a pixel of frame i. */
static gint
scene (guint component, gint x, gint y, gint i)
{
  const gint noise =
      (gint) (verify_scatter (component + 90 + (guint) i * 4, x, y) & 3);
  const gint square = board (x - 90 - i, y - 90);
  const gint box_x = x - 30 - 5 * i, box_y = y - 150 - i;
  const guint seed = component * 16;

  if (square >= 0)
    return square + noise;
  if (box_x >= 0 && box_x < 44 && box_y >= 0 && box_y < 36)
    return (texture (seed + 1, box_x, box_y, 2) * 15 >> 4) + noise;
  if (x - 3 * y / 8 >= 200 + 4 * i && x - 3 * y / 8 < 208 + 4 * i)
    return 240 + noise;
  return 60 + (texture (seed + 2, x, y, 5) >> 2)
      + (texture (seed + 3, x, y, 3) >> 3) + noise;
}

/* ---- video ---- */

static void
draw_component (GstVideoFrame *frame, guint component, gint i)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const gint width = GST_VIDEO_FRAME_COMP_WIDTH (frame, component);
  const gint height = GST_VIDEO_FRAME_COMP_HEIGHT (frame, component);
  const gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component);

  for (gint y = 0; y < height; y++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, component)
        + y * GST_VIDEO_FRAME_COMP_STRIDE (frame, component);

    for (gint x = 0; x < width; x++)
      row[x * step] = (guint8) scene (component,
          x << GST_VIDEO_FORMAT_INFO_W_SUB (format, component),
          y << GST_VIDEO_FORMAT_INFO_H_SUB (format, component), i);
  }
}

static GstBuffer *
draw_video (const GstCaps *caps, guint i)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_from_caps (&info, caps);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 0, info.size); /* padding */
  gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE);
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
    draw_component (&frame, c, (gint) i);
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* ---- spectral cubes ---- */

/* Returns a sample, 1 to 255. Neighbouring bands are alike, as in spectra. */
static gint
cube_sample (gint x, gint y, gint band, gint i)
{
  const gint a = scene (0, x, y, i), b = scene (1, y, x, i);
  const gint hill = 16 - ABS (band - 8);

  return 1 + (a * hill + b * (16 - hill) + 4 * (band & 3)) / 18;
}

/* Writes the samples in the order bip. References of samples of 16 bits are
 * brighter than those of 8 bits. */
static GstBuffer *
draw_cube (const GstStructure *structure, guint i)
{
  const gchar *format = gst_structure_get_string (structure, "format");
  const gsize size = g_str_equal (format, "U8") ? 1
      : g_str_equal (format, "U16LE")           ? 2
                                                : 4;
  gint width, height, bands, band, pixel;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_structure_get (structure, "width", G_TYPE_INT, &width, "height",
      G_TYPE_INT, &height, "bands", G_TYPE_INT, &bands, NULL);
  buffer = gst_buffer_new_allocate (
      NULL, (gsize) width * (gsize) height * (gsize) bands * size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize n = 0; n < map.size / size; n++) {
    band = (gint) n % bands;
    pixel = (gint) n / bands;
    const gint value =
        cube_sample (pixel % width, pixel / width, band, (gint) i);

    if (size == 1)
      map.data[n] = (guint8) value;
    else if (size == 2)
      ((guint16 *) map.data)[n] = (guint16) (value * 64 + 256);
    else
      ((gfloat *) map.data)[n] = (gfloat) value / 256;
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

GstBuffer *
verify_scene_draw (const GstCaps *caps, guint i)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  GstBuffer *buffer = gst_structure_has_name (structure, "video/x-raw")
      ? draw_video (caps, i)
      : draw_cube (structure, i);

  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 25;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
  return buffer;
}
