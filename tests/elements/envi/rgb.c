/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralrgb: choice of bands, pixel values, invalid input. */
#include "cuvelements.h"

#include <math.h>

#include "spectral/gstcuvspectralheader.h"
#include "gstspectralrgbbands.h"

enum { WIDTH = 20, HEIGHT = 10, PIXELS = WIDTH * HEIGHT, BANDS = 5 };

#define CAPS                                                                   \
  "video/x-spectral,format=F32LE,width=20,height=10,bands=5,interleave=bsq,"   \
  "framerate=10/1"
#define NM ",wavelengths=(double)<440,460,545,640,900>"

/* Returns a sample; band b has values from -100 in steps of b + 1, in a mixed
 * order. */
static gfloat
sample (gint pixel, gint band)
{
  return (gfloat) ((band + 1) * (pixel * 77 % PIXELS) - 100);
}

static GstBuffer *
cube_new (gfloat offset)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, sizeof (gfloat) * PIXELS * BANDS, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gint i = 0; i < PIXELS * BANDS; i++)
    ((gfloat *) map.data)[i] = sample (i % PIXELS, i / PIXELS) + offset;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstHarness *
harness_new (const gchar *settings, const gchar *caps)
{
  g_autofree gchar *line = g_strconcat ("spectralrgb ", settings, NULL);
  GstElement *element = gst_parse_launch (line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
push (GstHarness *h, GstBuffer *in, guint8 pixels[4 * PIXELS])
{
  g_autoptr (GstBuffer) out = NULL;

  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless_equals_uint64 (
      gst_buffer_extract (out, 0, pixels, 4 * PIXELS), 4 * PIXELS);
}

static gint
band_in_stats (GstHarness *h, const gchar *name)
{
  GstStructure *stats;
  gint value = 0;

  g_object_get (h->element, "stats", &stats, NULL);
  gst_structure_get_int (stats, name, &value);
  gst_structure_free (stats);
  return value;
}

/* ---- bands ---- */

static void
expect_bands (const gchar *text, const gchar *header, const gchar *fields,
    const gchar *expected)
{
  g_autofree gchar *description = g_strconcat (CAPS, fields, NULL);
  GstCaps *caps = gst_caps_from_string (description);
  GstCuvSpectralInfo info;
  CuvRgbBands bands;
  gchar *problem, *found;

  fail_unless (gst_cuv_spectral_info_from_caps (&info, caps, &problem));
  problem = gst_spectral_rgb_bands (text, &info, header, &bands);
  found = problem != NULL ? g_strdup (problem)
                          : g_strdup_printf ("%d,%d,%d", bands.band[0] + 1,
                              bands.band[1] + 1, bands.band[2] + 1);
  fail_unless (strstr (found, expected) != NULL, "%s: %s", text, found);
  g_free (found);
  g_free (problem);
  gst_caps_unref (caps);
}

CUV_TEST (bands_are_chosen)
{
  static const gchar *const bad = ",bad-bands=(int)<2>";

  expect_bands ("5,1,3", NULL, "", "5,1,3");
  expect_bands (" 640nm , 0.55um,2", NULL, NM, "4,3,2");
  expect_bands ("auto", NULL, NM, "4,3,1");
  expect_bands ("auto", NULL, "", "1,2,3");
  expect_bands ("auto", "ENVI\ndefault bands = {5, 4, 2}\n", NM, "5,4,2");
  expect_bands ("auto", "ENVI\ndefault bands = 2\n", NM, "2,2,2");
  expect_bands ("auto", "ENVI\ndefault bands = {6, 4, 2}\n", NM, "4,3,1");
  expect_bands ("auto", "ENVI\ndefault bands = {x}\n", "", "1,2,3");
  expect_bands ("580nm,580nm,580nm", NULL, NM ",bad-bands=(int)<2>", "4,4,4");
  expect_bands ("auto", NULL, bad, "1,2,4");
  expect_bands ("auto", NULL, ",bad-bands=(int)<0,1,4>", "3,3,3");
  expect_bands ("auto", "ENVI\ndefault bands = {5, 3, 2}\n", bad, "1,2,4");
  expect_bands ("6,1,1", NULL, "", "asks for band 6, but the cube has 5");
  expect_bands ("650nm,1,1", NULL, "", "caps have no wavelengths");
  expect_bands ("1,2", NULL, "", "expected auto, or three");
  expect_bands ("1.5,2,3", NULL, "", "expected auto, or three");
  expect_bands ("0,2,3", NULL, "", "expected auto, or three");
  expect_bands ("650m,2,3", NULL, "", "expected auto, or three");
}

CUV_TEST (default_bands_of_the_header)
{
  static const gchar text[] = "ENVI\ndefault bands = {5, 4, 2}\n";
  g_autoptr (GstHarness) h = harness_new ("", CAPS NM);
  GBytes *bytes = g_bytes_new_static (text, strlen (text));
  const GstCuvSpectralInfo info = {
    .width = WIDTH, .height = HEIGHT, .bands = BANDS
  };
  guint8 pixels[4 * PIXELS];
  GstBuffer *in = cube_new (0);

  gst_cuv_spectral_header_add (in, &info, NULL, bytes);
  push (h, in, pixels);
  fail_unless (band_in_stats (h, "red") == 5 && band_in_stats (h, "green") == 4
      && band_in_stats (h, "blue") == 2);
  push (h, cube_new (0), pixels);
  fail_unless (band_in_stats (h, "red") == 4 && band_in_stats (h, "green") == 3
      && band_in_stats (h, "blue") == 1);
  g_bytes_unref (bytes);
}

/* ---- bytes ---- */

static guint8
expected_byte (gfloat value, gfloat low, gfloat high)
{
  const gdouble y = (value - low) * 255.0 / (high - low) + 0.5;

  return (guint8) CLAMP (floor (y), 0, 255);
}

/* Of 200 sorted values the 4th and the 197th are the 2 % percentiles. */
CUV_TEST (percentiles_are_black_and_white)
{
  g_autoptr (GstHarness) h = harness_new ("bands=1,3,5", CAPS);
  guint8 pixels[4 * PIXELS];

  push (h, cube_new (0), pixels);
  for (gint p = 0; p < PIXELS; p++) {
    for (gint c = 0; c < 3; c++) {
      const gint band = 2 * c;
      const gfloat low = (gfloat) ((band + 1) * 3 - 100);
      const gfloat high = (gfloat) ((band + 1) * 196 - 100);

      fail_unless_equals_int (
          pixels[4 * p + c], expected_byte (sample (p, band), low, high));
    }
    fail_unless_equals_int (pixels[4 * p + 3], 255);
  }
}

CUV_TEST (integer_samples_are_exact)
{
  static const gchar *const formats[] = { "U8", "U16LE" };

  for (gint i = 0; i < 2; i++) {
    gchar *caps = g_strdup_printf ("video/x-spectral,format=%s,width=20,"
                                   "height=10,bands=1,interleave=bip",
        formats[i]);
    GstHarness *h = harness_new ("percentile=0", caps);
    guint8 samples[2 * PIXELS] = { 0 }, pixels[4 * PIXELS];

    for (gint p = 0; p < PIXELS; p++)
      samples[p * (i + 1)] = (guint8) (10 + p);
    push (
        h, gst_buffer_new_memdup (samples, (gsize) (PIXELS * (i + 1))), pixels);
    for (gint p = 0; p < PIXELS; p++)
      for (gint c = 0; c < 3; c++)
        fail_unless_equals_int (
            pixels[4 * p + c], expected_byte ((gfloat) p, 0, PIXELS - 1));
    gst_harness_teardown (h);
    g_free (caps);
  }
}

CUV_TEST (missing_samples_are_black)
{
  g_autoptr (GstHarness) h =
      harness_new ("bands=1,2,3", CAPS ",ignore-value=(double)-9999");
  guint8 pixels[4 * PIXELS];
  GstBuffer *in = cube_new (0);
  const gfloat nothing[] = { NAN, -9999, INFINITY };

  for (gsize i = 0; i < 3; i++)
    gst_buffer_fill (
        in, sizeof (gfloat) * (i * PIXELS + 50 + i), &nothing[i], 4);
  push (h, in, pixels);
  for (gint p = 50; p < 53; p++)
    fail_unless (memcmp (&pixels[4 * p], "\0\0\0\377", 4) == 0);
  in = cube_new (0);
  gst_buffer_memset (in, 0, 0xff, gst_buffer_get_size (in)); /* NaN */
  push (h, in, pixels);
  for (gint p = 0; p < PIXELS; p++)
    fail_unless (memcmp (&pixels[4 * p], "\0\0\0\377", 4) == 0);
}

/* Band 4 is the nearest to 650 nm, but has no sample: the next one is shown. */
CUV_TEST (bands_without_valid_samples_are_not_chosen)
{
  g_autoptr (GstHarness) h = harness_new ("percentile=0", CAPS NM);
  GstBus *bus = cuv_harness_watch (h);
  guint8 pixels[4 * PIXELS];
  GstBuffer *in = cube_new (0);

  gst_harness_set_src_caps_str (h,
      CAPS ",wavelengths=(double)<440,620,545,640,900>,ignore-value=(double)0");
  gst_buffer_memset (
      in, sizeof (gfloat) * 3 * PIXELS, 0, sizeof (gfloat) * PIXELS);
  push (h, in, pixels);
  expect_problem (bus, GST_MESSAGE_WARNING, "Band 4 (counted from 1) has no");
  fail_unless_equals_int (band_in_stats (h, "red"), 2);
  fail_unless_equals_int (
      pixels[0], expected_byte (sample (0, 1), sample (0, 1), 298));
  in = cube_new (0);
  gst_buffer_memset (in, 0, 0, gst_buffer_get_size (in));
  push (h, in, pixels);
  expect_problem (bus, GST_MESSAGE_WARNING, "A frame has no valid pixel");
  in = cube_new (0);
  gst_buffer_memset (in, 0, 0, gst_buffer_get_size (in));
  push (h, in, pixels);
  expect_no_warning (bus);
  cuv_harness_unwatch (h, bus);
}

/* The second cube is brighter by the whole range: the limits move by a tenth of
 * that, and fully after a flush. */
CUV_TEST (limits_change_smoothly)
{
  g_autoptr (GstHarness) h = harness_new ("bands=1,1,1 percentile=0", CAPS);
  guint8 pixels[4 * PIXELS];

  push (h, cube_new (0), pixels);
  push (h, cube_new (199), pixels);
  for (gint p = 0; p < PIXELS; p++)
    fail_unless (ABS (pixels[4 * p]
                     - expected_byte (sample (p, 0) + 199, -80.1f, 118.9f))
        <= 1);
  cuv_harness_flush (h);
  push (h, cube_new (199), pixels);
  for (gint p = 0; p < PIXELS; p++)
    fail_unless_equals_int (
        pixels[4 * p], expected_byte (sample (p, 0), -100, 99));
}

/* ---- bad input ---- */

CUV_TEST (invalid_input_is_reported)
{
  g_autoptr (GstHarness) h = harness_new ("", CAPS);
  GstBus *bus = cuv_harness_watch (h);
  g_autofree gchar *text = NULL;

  g_object_set (h->element, "bands", "1,2", NULL);
  expect_problem (bus, GST_MESSAGE_WARNING, "bands '1,2' is invalid");
  g_object_get (h->element, "bands", &text, NULL);
  fail_unless_equals_string (text, "auto");
  g_object_set (h->element, "bands", "1,2,6", NULL);
  fail_unless_equals_int (gst_harness_push (h, cube_new (0)), GST_FLOW_ERROR);
  expect_problem (bus, GST_MESSAGE_ERROR, "asks for band 6");
  g_object_set (h->element, "bands", "auto", NULL);
  fail_unless (gst_harness_push (h, gst_buffer_new_allocate (NULL, 9, NULL))
      != GST_FLOW_OK);
  expect_problem (bus, GST_MESSAGE_ERROR, "A buffer has 9 bytes");
  cuv_harness_unwatch (h, bus);
}
