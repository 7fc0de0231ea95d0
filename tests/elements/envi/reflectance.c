/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spectralreflectance: values, compared with their definition; changes while
 * playing; errors. */
#include "cubes.h"

#include <math.h>

#include "spectral/gstcuvspectralheader.h"

enum { WIDTH = 5, HEIGHT = 4, BANDS = 3 };

/* Returns a sample of the dark reference, which may have more lines than a
 * cube. */
static gdouble
dark_at (gint x, gint y, gint b)
{
  return 10 + x + 2 * b + y;
}

/* Returns a sample of the white reference; in pixel 3 of band 1 it does not
 * exceed dark. */
static gdouble
white_at (gint x, gint y, gint b)
{
  return x == 3 && b == 1 ? dark_at (x, y, b) : 100 + 7 * x + 5 * b + 3 * y;
}

static gdouble
sample_at (gint x, gint y, gint b)
{
  return 20 + 11 * x + 4 * y + 6 * b;
}

static gdouble
mean_of (gdouble (*level) (gint, gint, gint), gint x, gint b, gint lines)
{
  gdouble sum = 0;

  for (gint y = 0; y < lines; y++)
    sum += level (x, y, b);
  return sum / lines;
}

/* Returns the index of a sample in a cube of this many lines. */
static gint
index_of (const gchar *interleave, gint x, gint y, gint b, gint lines)
{
  return strcmp (interleave, "bip") == 0 ? (y * WIDTH + x) * BANDS + b
      : strcmp (interleave, "bil") == 0  ? (y * BANDS + b) * WIDTH + x
                                         : (b * lines + y) * WIDTH + x;
}

static void
write_reference (const gchar *name, gdouble (*level) (gint, gint, gint),
    const gchar *interleave, gint lines)
{
  const gsize size = sizeof (guint16) * (gsize) (WIDTH * BANDS * lines);
  g_autofree guint16 *samples = g_malloc (size);
  gchar *file = g_strconcat (name, ".hdr", NULL);
  g_autofree gchar *header = g_strdup_printf (
      "ENVI\nsamples=%d\nlines=%d\nbands=%d\ndata type=12\nbyte order=1\n"
      "interleave=%s\n",
      WIDTH, lines, BANDS, interleave);

  for (gint i = 0; i < WIDTH * BANDS * lines; i++) {
    const gint x = i % WIDTH, b = i / WIDTH % BANDS, y = i / WIDTH / BANDS;

    samples[index_of (interleave, x, y, b, lines)] =
        GUINT16_TO_BE ((guint16) level (x, y, b));
  }
  write_text (file, header);
  g_free (file);
  file = g_strconcat (name, ".img", NULL);
  write_file (file, samples, size);
  g_free (file);
}

static GstBuffer *
cube_new (const gchar *format, const gchar *interleave)
{
  const gsize size = format[0] == 'U' && format[1] == '8' ? 1
      : format[0] == 'U'                                  ? 2
                                                          : 4;
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, size * WIDTH * HEIGHT * BANDS, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gint i = 0; i < WIDTH * BANDS * HEIGHT; i++) {
    const gint x = i % WIDTH, b = i / WIDTH % BANDS, y = i / WIDTH / BANDS;
    const gint at = index_of (interleave, x, y, b, HEIGHT);
    const gdouble sample = sample_at (x, y, b);

    if (size == 1)
      map.data[at] = (guint8) sample;
    else if (size == 2)
      ((guint16 *) map.data)[at] = (guint16) sample;
    else
      ((gfloat *) map.data)[at] = (gfloat) sample;
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstHarness *
harness_new (
    const gchar *settings, const gchar *format, const gchar *interleave)
{
  g_autofree gchar *line = g_strconcat ("spectralreflectance ", settings, NULL);
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-spectral,format=%s,width=%d,height=%d,bands=%d,interleave=%s,"
      "framerate=10/1,ignore-value=(double)%g",
      format, WIDTH, HEIGHT, BANDS, interleave, sample_at (2, 3, 1));
  GstElement *element = gst_parse_launch (line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* white_lines, dark_lines: lines of the reference; 0: no reference. */
static void
check_values (
    GstBuffer *out, const gchar *interleave, gint white_lines, gint dark_lines)
{
  GstMapInfo map;

  gst_buffer_map (out, &map, GST_MAP_READ);
  fail_unless_equals_uint64 (map.size, 4 * WIDTH * HEIGHT * BANDS);
  for (gint i = 0; i < WIDTH * BANDS * HEIGHT; i++) {
    const gint x = i % WIDTH, b = i / WIDTH % BANDS, y = i / WIDTH / BANDS;
    const gdouble got = (gdouble) ((
        const gfloat *) map.data)[index_of (interleave, x, y, b, HEIGHT)];
    const gdouble dark = dark_lines == 0 ? 0
        : dark_lines == HEIGHT           ? dark_at (x, y, b)
                                         : mean_of (dark_at, x, b, dark_lines);
    const gdouble white = white_lines == 0 ? dark + 1
        : white_lines == HEIGHT            ? white_at (x, y, b)
                                : mean_of (white_at, x, b, white_lines);
    const gdouble wanted = (sample_at (x, y, b) - dark) / (white - dark);

    if (!(white > dark) || sample_at (x, y, b) == sample_at (2, 3, 1))
      fail_unless (isnan (got), "%d,%d,%d: %g", x, y, b, got);
    else
      fail_unless (fabs (got - wanted) <= 3e-7 * fabs (wanted),
          "%d,%d,%d: %.9g, not %.9g", x, y, b, got, wanted);
  }
  gst_buffer_unmap (out, &map);
}

static void
check_case (const gchar *format, const gchar *interleave, gint white_lines,
    gint dark_lines)
{
  static const gchar *const orders[] = { "bsq", "bil", "bip" };
  GString *settings = g_string_new (NULL);
  GstHarness *h;
  GstBuffer *out;

  if (white_lines > 0) {
    write_reference ("white", white_at, orders[white_lines % 3], white_lines);
    g_string_append (settings, "white=white.hdr ");
  }
  if (dark_lines > 0) {
    write_reference ("dark", dark_at, orders[dark_lines % 3], dark_lines);
    g_string_append (settings, "dark=dark.img ");
  }
  h = harness_new (settings->str, format, interleave);
  fail_unless_equals_int (
      gst_harness_push (h, cube_new (format, interleave)), GST_FLOW_OK);
  out = gst_harness_pull (h);
  check_values (out, interleave, white_lines, dark_lines);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_string_free (settings, TRUE);
}

CUV_TEST (values_match_their_definition)
{
  static const gchar *const formats[] = { "U8", "U16LE", "F32LE" };
  static const gchar *const interleaves[] = { "bsq", "bil", "bip" };
  static const gint lines[][2] = { { 1, 1 }, { 6, 2 }, { HEIGHT, HEIGHT },
    { HEIGHT, 5 }, { 3, HEIGHT }, { 0, 2 }, { 0, 0 } };

  for (guint i = 0; i < 9 * G_N_ELEMENTS (lines); i++)
    check_case (formats[i % 3], interleaves[i / 3 % 3], lines[i / 9][0],
        lines[i / 9][1]);
}

/* NaN and the ignore value do not count in the means over the dark reference's
 * lines; if all samples of a mean are invalid, the result is NaN. */
CUV_TEST (missing_samples_are_nan)
{
  gfloat dark[2 * WIDTH * BANDS] = { NAN, 99, INFINITY }, got;
  const gfloat missing[] = { NAN, INFINITY, -INFINITY };
  GstBuffer *in = cube_new ("F32LE", "bil");
  g_autoptr (GstBuffer) out = NULL;
  g_autoptr (GstHarness) h = NULL;

  dark[WIDTH * BANDS] = 2;     /* the mean of NaN and 2 */
  dark[WIDTH * BANDS + 1] = 4; /* the mean of 99, which is ignored, and 4 */
  dark[WIDTH * BANDS + 2] = NAN;
  write_text ("dark.hdr",
      "ENVI\nsamples=5\nlines=2\nbands=3\ndata type=4\nbyte order=0\n"
      "interleave=bil\ndata ignore value = 99\n");
  write_file ("dark.img", dark, sizeof dark);
  gst_buffer_fill (in, 4 * 3, missing, sizeof missing);
  h = harness_new ("dark=dark.hdr", "F32LE", "bil");
  fail_unless_equals_int (gst_harness_push (h, in), GST_FLOW_OK);
  out = gst_harness_pull (h);
  for (gsize i = 0; i < 7; i++) {
    const gdouble sample = sample_at ((gint) i % WIDTH, 0, (gint) i / WIDTH);

    gst_buffer_extract (out, 4 * i, &got, 4);
    if (i >= 2 && i < 6)
      fail_unless (isnan (got));
    else
      fail_unless ((gdouble) got == sample - (i == 0 ? 2 : i == 1 ? 4 : 0));
  }
}

CUV_TEST (references_change_while_playing)
{
  g_autoptr (GstHarness) h = NULL;
  GstBus *bus;
  GstBuffer *out;

  write_reference ("white", white_at, "bil", 2);
  h = harness_new ("white=white.hdr n-threads=1", "U8", "bip");
  bus = cuv_harness_watch (h);
  for (gint i = 0; i < 3; i++) {
    if (i == 1) {
      write_reference ("other", white_at, "bsq", HEIGHT);
      g_object_set (h->element, "white", "other.hdr", NULL);
    } else if (i == 2) {
      write_text ("narrow.hdr",
          "ENVI\nsamples=4\nlines=1\nbands=3\ndata type=1\ninterleave=bil\n");
      write_counting ("narrow.img", 0, 12);
      g_object_set (h->element, "white", "narrow.hdr", NULL);
    }
    gst_harness_push (h, cube_new ("U8", "bip"));
    out = gst_harness_pull (h);
    check_values (out, "bip", i == 0 ? 2 : HEIGHT, 0);
    gst_buffer_unref (out);
  }
  expect_problem (bus, GST_MESSAGE_WARNING,
      "The white reference has 4 samples and 3 bands, but the cubes have 5 and "
      "3");
  fail_unless_equals_uint64 (cuv_stat (h->element, "frames"), 3);
  cuv_harness_unwatch (h, bus);
}

/* Keys that describe bands or the location are kept, those that describe values
 * are not. */
CUV_TEST (keys_of_bands_are_kept)
{
  GstCuvSpectralInfo info;
  GstSample *sample;
  Player player;
  gchar *header, *problem;

  write_text ("cube.hdr",
      U8 "default bands = {3, 2, 1}\nreflectance scale factor = 10000\n"
         "map info = {UTM}\nwavelength units = nm\n"
         "wavelength = {400, 500, 600}\nbbl = {1, 0, 1}\n");
  write_counting ("cube.img", 0, N_SAMPLES);
  player =
      player_new ("envisrc location=cube.hdr ! spectralreflectance" APPSINK);
  sample = player_pull (&player);
  fail_unless (gst_cuv_spectral_info_from_caps (
      &info, gst_sample_get_caps (sample), &problem));
  fail_unless (info.format == CUV_CUBE_F32 && info.bad[1]
      && info.wavelengths[2] == 600 && !info.has_ignore);
  header = gst_cuv_spectral_header_text (gst_sample_get_buffer (sample), &info);
  fail_unless (strstr (header, "default bands = {3, 2, 1}") != NULL);
  fail_unless (strstr (header, "map info = {UTM}") != NULL);
  fail_unless (strstr (header, "scale factor") == NULL);
  g_free (header);
  gst_sample_unref (sample);
  player_free (&player);
}

CUV_TEST (errors_name_the_reference)
{
  write_cube ("cube", 0);
  write_text ("other.hdr",
      "ENVI\nsamples=5\nlines=1\nbands=2\ndata type=1\ninterleave=bil\n");
  write_counting ("other.img", 0, 10);
  cuv_expect_error ("envisrc location=cube.hdr ! spectralreflectance "
                    "dark=other.hdr ! fakesink",
      "The dark reference has 5 samples and 2 bands, but the cubes have 5 and "
      "3");
  cuv_expect_error ("envisrc location=cube.hdr ! spectralreflectance "
                    "white=none.hdr ! fakesink",
      "white 'none.hdr' cannot be used: No such file: 'none.hdr'");
}

CUV_TEST (warns_of_references_like_envisrc)
{
  g_autoptr (GstHarness) h = NULL;
  GstBus *bus;

  write_text ("dark.hdr",
      "ENVI\nsamples=5\nlines=1\nbands=3\ndata type=12\ninterleave=bil\n");
  write_counting ("dark.img", 0, 32);
  h = harness_new ("dark=dark.hdr", "U8", "bip");
  bus = cuv_harness_watch (h);
  gst_harness_push (h, cube_new ("U8", "bip"));
  expect_problem (bus, GST_MESSAGE_WARNING,
      "The samples of 'dark.hdr' have 32 bytes, but the header describes 30");
  expect_problem (bus, GST_MESSAGE_WARNING,
      "The header of 'dark.hdr' has no byte order: little endian is assumed");
  cuv_harness_unwatch (h, bus);
}

CUV_FIXTURE (cuv_folder_enter, cuv_folder_leave)
