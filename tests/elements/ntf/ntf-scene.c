/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ntf-scene.h"

#include <string.h>

guint8
scene_sample (gint block, gint band)
{
  static const guint8 spectra[SCENE_TERMS][SCENE_BANDS] = {
    { 250, 240, 200, 120, 90, 40, 10 },
    { 10, 30, 90, 150, 90, 30, 10 },
    { 5, 5, 10, 20, 40, 60, 80 },
  };

  return spectra[block][band];
}

gint
scene_block (gint x, gint y)
{
  gint across = x * SCENE_TERMS / SCENE_WIDTH;
  gint down = y * SCENE_TERMS / SCENE_HEIGHT;

  return across == down ? across : -1;
}

GstHarness *
ntf_harness (const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf ("spectralntf %s", properties);
  g_autoptr (GstElement) element = gst_parse_launch (line, NULL);
  GstHarness *h;

  fail_unless (element != NULL, "%s", line);
  h = gst_harness_new_with_element (element, "sink", "src");
  return h;
}

void
ntf_set_cube_caps (GstHarness *h, const gchar *format, const gchar *interleave,
    const gchar *more)
{
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-spectral,format=%s,interleave=%s,width=(int)%d,height=(int)%d,"
      "bands=(int)%d,framerate=(fraction)10/1%s",
      format, interleave, SCENE_WIDTH, SCENE_HEIGHT, SCENE_BANDS, more);

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=RGBA");
  gst_harness_set_src_caps_str (h, caps);
}

gsize
ntf_offset (const gchar *interleave, gint x, gint y, gint band)
{
  if (strcmp (interleave, "bip") == 0)
    return (gsize) ((y * SCENE_WIDTH + x) * SCENE_BANDS + band);
  if (strcmp (interleave, "bil") == 0)
    return (gsize) ((y * SCENE_BANDS + band) * SCENE_WIDTH + x);
  return (gsize) ((band * SCENE_HEIGHT + y) * SCENE_WIDTH + x);
}

static void
put (guint8 *data, const gchar *format, gsize offset, gdouble value)
{
  guint16 word = GUINT16_TO_LE ((guint16) value);
  gfloat number = (gfloat) value;

  if (strcmp (format, "U8") == 0)
    data[offset] = (guint8) value;
  else if (strcmp (format, "U16LE") == 0)
    memcpy (data + 2 * offset, &word, 2);
  else
    memcpy (data + 4 * offset, &number, 4);
}

GstBuffer *
ntf_scene (const gchar *format, const gchar *interleave, gdouble gain)
{
  gsize size = SCENE_WIDTH * SCENE_HEIGHT * SCENE_BANDS
      * (strcmp (format, "U8") == 0           ? 1
              : strcmp (format, "U16LE") == 0 ? 2
                                              : 4);
  guint8 *data = g_malloc0 (size);

  for (gint y = 0; y < SCENE_HEIGHT; y++) {
    for (gint x = 0; x < SCENE_WIDTH; x++) {
      gint block = scene_block (x, y);

      for (gint band = 0; band < SCENE_BANDS && block >= 0; band++)
        put (data, format, ntf_offset (interleave, x, y, band),
            gain * scene_sample (block, band));
    }
  }
  return gst_buffer_new_wrapped (data, size);
}

GstBuffer *
ntf_push (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *picture;

  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  picture = gst_harness_try_pull (h);
  fail_unless (picture != NULL, "no picture");
  return picture;
}

void
ntf_pixel (GstBuffer *picture, gint width, gint x, gint y, guint8 rgb[3])
{
  fail_unless_equals_int (
      gst_buffer_extract (picture, (gsize) (4 * (y * width + x)), rgb, 3), 3);
}

GstCuvTable
ntf_table (GstBuffer *picture, const gchar *mode)
{
  gpointer state = NULL;
  GstCuvTable table;

  while (gst_cuv_meta_next_table (picture, &state, &table)) {
    if (strcmp (table.kind, "ntf") == 0
        && g_strcmp0 (gst_structure_get_string (table.structure, "mode"), mode)
            == 0)
      return table;
  }
  fail ("no table of mode %s", mode);
  return table;
}

gdouble
ntf_last_error (GstBuffer *picture)
{
  GstCuvTable table = ntf_table (picture, "errors");

  fail_unless (table.n_rows > 0);
  return gst_cuv_table_double (&table, table.n_rows - 1, 1);
}
