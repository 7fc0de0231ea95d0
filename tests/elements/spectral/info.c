/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of spectral images: parsing, and the strides of samples. */
#include "cuvelements.h"
#include "spectral/gstcuvspectralinfo.h"

#define SIZES "width=(int)5,height=(int)4,bands=(int)3"
#define GOOD "video/x-spectral,format=U16LE,interleave=bil," SIZES

static gboolean
parse (GstCuvSpectralInfo *info, const gchar *text, gchar **problem)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  gboolean ok;

  fail_unless (caps != NULL, "%s", text);
  ok = gst_cuv_spectral_info_from_caps (info, caps, problem);
  fail_unless (ok == (*problem == NULL));
  return ok;
}

static GstCuvSpectralInfo
parse_valid (const gchar *text)
{
  GstCuvSpectralInfo info;
  gchar *problem;

  fail_unless (parse (&info, text, &problem), "%s: %s", text, problem);
  return info;
}

CUV_TEST (all_fields_are_parsed)
{
  GstCuvSpectralInfo info = parse_valid (GOOD
      ",framerate=25/2,wavelengths=(double)<400,500.5,600>,bad-bands=<2,0>,"
      "ignore-value=-1.5");

  fail_unless_equals_int (info.format, CUV_CUBE_U16);
  fail_unless_equals_int (info.interleave, GST_CUV_SPECTRAL_BIL);
  fail_unless_equals_int (info.width, 5);
  fail_unless_equals_int (info.height, 4);
  fail_unless_equals_int (info.bands, 3);
  fail_unless_equals_int (info.fps_n, 25);
  fail_unless_equals_int (info.fps_d, 2);
  fail_unless_equals_int (info.n_wavelengths, 3);
  fail_unless_equals_float (info.wavelengths[1], 500.5);
  fail_unless (info.bad[0] && !info.bad[1] && info.bad[2]);
  fail_unless_equals_int (gst_cuv_spectral_info_n_good (&info), 1);
  fail_unless (info.has_ignore && info.ignore == -1.5);
  fail_unless_equals_uint64 (gst_cuv_spectral_info_size (&info), 120);
}

/* gst-launch-1.0 parses <400,500,600> as an array of ints. */
CUV_TEST (optional_fields)
{
  GstCuvSpectralInfo info = parse_valid (GOOD);

  fail_unless_equals_int (info.fps_n, 0);
  fail_unless_equals_int (info.fps_d, 1);
  fail_unless_equals_int (info.n_wavelengths, 0);
  fail_unless_equals_int (gst_cuv_spectral_info_n_good (&info), 3);
  fail_if (info.has_ignore);
  info = parse_valid (GOOD ",wavelengths=<400,500,600>");
  fail_unless_equals_float (info.wavelengths[2], 600);
}

CUV_TEST (caps_round_trip)
{
  static const gchar *const texts[] = { GOOD ",framerate=(fraction)0/1",
    "video/x-spectral,format=F32LE,interleave=bsq," SIZES
    ",framerate=(fraction)30/1,wavelengths=(double)<400,500.5,600>,"
    "bad-bands=(int)<0,2>,ignore-value=(double)0",
    "video/x-spectral,format=U8,interleave=bip," SIZES
    ",framerate=(fraction)30/1" };
  g_autoptr (GstCaps) all = gst_caps_from_string (GST_CUV_SPECTRAL_CAPS);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GstCuvSpectralInfo info = parse_valid (texts[i]);
    GstCaps *made = gst_cuv_spectral_info_to_caps (&info);
    GstCaps *caps = gst_caps_from_string (texts[i]);

    fail_unless (gst_caps_is_equal (made, caps));
    fail_unless (gst_caps_is_subset (made, all));
    gst_caps_unref (made);
    gst_caps_unref (caps);
  }
}

CUV_TEST (invalid_fields_are_named)
{
  static const gchar *const bad[][2] = {
    { "video/x-raw," SIZES, "video/x-spectral" },
    { "video/x-spectral,interleave=bip," SIZES, "format is missing" },
    { "video/x-spectral,format=U12,interleave=bip," SIZES, "format is U12" },
    { "video/x-spectral,format=U8," SIZES, "interleave is missing" },
    { "video/x-spectral,format=U8,interleave=bop," SIZES, "interleave is bop" },
    { "video/x-spectral,format=U8,interleave=bip,width=1,height=1",
        "bands is missing" },
    { "video/x-spectral,format=U8,interleave=bip,width=1,height=1,bands=0",
        "bands is 0, but must be an integer from 1 to 1024" },
    { "video/x-spectral,format=U8,interleave=bip,width=1,height=1,bands=1025",
        "bands is 1025" },
    { "video/x-spectral,format=U8,interleave=bip,width=-1,height=1,bands=1",
        "width is -1" },
    { "video/x-spectral,format=U8,interleave=bip,width=1,height=16385,bands=1",
        "height is 16385" },
    { GOOD ",framerate=30", "framerate is 30" },
    { GOOD ",framerate=-30/1", "framerate is -30/1" },
    { GOOD ",wavelengths=(double)<400,500>", "wavelengths is < " },
    { GOOD ",wavelengths=400", "wavelengths is 400" },
    { GOOD ",wavelengths=<a,b,c>", "wavelengths[0] is a" },
    { GOOD ",bad-bands=1", "bad-bands is 1" },
    { GOOD ",bad-bands=<0,3>",
        "bad-bands[1] is 3, but must be an integer from 0 to 2" },
    { GOOD ",bad-bands=<-1>", "bad-bands[0] is -1" },
    { GOOD ",ignore-value=none", "ignore-value is none" },
  };
  GstCuvSpectralInfo info;
  gchar *problem;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    fail_if (parse (&info, bad[i][0], &problem), "%s", bad[i][0]);
    fail_unless (
        strstr (problem, bad[i][1]) != NULL, "%s: %s", bad[i][0], problem);
    g_free (problem);
  }
}

/* Samples are contiguous in the order of the interleave. */
CUV_TEST (cube_steps)
{
  for (guint i = GST_CUV_SPECTRAL_BIP; i <= GST_CUV_SPECTRAL_BSQ; i++) {
    gchar *text = g_strdup_printf ("video/x-spectral,format=F32LE,"
                                   "interleave=%s," SIZES,
        gst_cuv_spectral_interleave_name (i));
    GstCuvSpectralInfo info = parse_valid (text);
    guint8 bytes[240];
    CuvCube cube = gst_cuv_spectral_info_cube (&info, bytes);
    gint64 n = 0, size[3] = { 4, 5, 3 }; /* rows, pixels, bands */
    static const guint orders[3][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 2, 0, 1 } };
    const guint *o = orders[i];
    gint64 at[3];

    for (at[o[0]] = 0; at[o[0]] < size[o[0]]; at[o[0]]++)
      for (at[o[1]] = 0; at[o[1]] < size[o[1]]; at[o[1]]++)
        for (at[o[2]] = 0; at[o[2]] < size[o[2]]; at[o[2]]++)
          fail_unless_equals_int64 (4 * n++,
              at[0] * cube.row_step + at[1] * cube.pixel_step
                  + at[2] * cube.band_step);
    fail_unless_equals_uint64 (gst_cuv_spectral_info_size (&info), 240);
    fail_unless (cube.data == bytes && cube.bands == 3);
    g_free (text);
  }
}

/* 1 TiB fits where addresses have 64 bits. */
CUV_TEST_IF (largest_size, GLIB_SIZEOF_SIZE_T == 8)
{
  GstCuvSpectralInfo info =
      parse_valid ("video/x-spectral,format=F32LE,interleave=bsq,width=16384,"
                   "height=16384,bands=1024");

  fail_unless_equals_uint64 (
      gst_cuv_spectral_info_size (&info), (guint64) 1 << 40);
  fail_unless_equals_int64 (
      gst_cuv_spectral_info_cube (&info, NULL).band_step, (gint64) 1 << 30);
  info.bands = 0;
  fail_unless_equals_uint64 (gst_cuv_spectral_info_size (&info), 0);
}
