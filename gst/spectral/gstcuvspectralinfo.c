/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralinfo.h"

#include <math.h>

static const gchar *const formats[] = { "U8", "U16LE", "F32LE" };
static const gchar *const interleaves[] = { "bip", "bil", "bsq" };

const gchar *
gst_cuv_spectral_format_name (CuvCubeFormat format)
{
  return formats[format];
}

const gchar *
gst_cuv_spectral_interleave_name (GstCuvSpectralInterleave interleave)
{
  return interleaves[interleave];
}

/* Index of the field's text in words; -1 with *problem set if it is none. */
static gint
read_word (const GstStructure *structure, const gchar *field,
    const gchar *const *words, guint n, gchar **problem)
{
  const gchar *text = gst_structure_get_string (structure, field);

  for (guint i = 0; text != NULL && i < n; i++)
    if (strcmp (text, words[i]) == 0)
      return (gint) i;
  *problem = g_strdup_printf ("%s is %s, and should be one of %s, %s, %s",
      field, text != NULL ? text : "missing", words[0], words[1], words[2]);
  return -1;
}

static gboolean
read_size (const GstStructure *structure, const gchar *field, gint maximum,
    gint *size, gchar **problem)
{
  if (!gst_structure_get_int (structure, field, size))
    *problem = g_strdup_printf (
        "%s is missing, and should be an int of 1 .. %d", field, maximum);
  else if (*size < 1 || *size > maximum)
    *problem = g_strdup_printf (
        "%s is %d, and should be 1 .. %d", field, *size, maximum);
  return *problem == NULL;
}

static gboolean
read_framerate (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  info->fps_n = 0;
  info->fps_d = 1;
  if (!gst_structure_has_field (structure, "framerate"))
    return TRUE;
  if (gst_structure_get_fraction (
          structure, "framerate", &info->fps_n, &info->fps_d)
      && info->fps_n >= 0)
    return TRUE;
  *problem = g_strdup ("framerate should be a fraction of 0 or more");
  return FALSE;
}

/* Element i of an array of doubles or ints; FALSE for other types, NaN and
 * infinity. */
static gboolean
read_number (const GValue *array, guint i, gdouble *number)
{
  const GValue *item = gst_value_array_get_value (array, i);
  GValue value = G_VALUE_INIT;

  if (!G_VALUE_HOLDS_DOUBLE (item) && !G_VALUE_HOLDS_INT (item))
    return FALSE;
  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_transform (item, &value);
  *number = g_value_get_double (&value);
  return isfinite (*number);
}

static gboolean
read_wavelengths (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  const GValue *array = gst_structure_get_value (structure, "wavelengths");

  if (array == NULL)
    return TRUE;
  if (!GST_VALUE_HOLDS_ARRAY (array)
      || gst_value_array_get_size (array) != (guint) info->bands) {
    *problem = g_strdup_printf (
        "wavelengths should be an array of %d numbers, one for each band",
        info->bands);
    return FALSE;
  }
  for (guint i = 0; i < (guint) info->bands; i++) {
    if (!read_number (array, i, &info->wavelengths[i])) {
      *problem = g_strdup_printf (
          "wavelengths: number %u should be a finite double, in nm", i);
      return FALSE;
    }
  }
  info->n_wavelengths = (guint) info->bands;
  return TRUE;
}

static gboolean
read_bad_bands (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  const GValue *array = gst_structure_get_value (structure, "bad-bands");
  guint n = 0;

  if (array == NULL)
    return TRUE;
  if (GST_VALUE_HOLDS_ARRAY (array))
    n = gst_value_array_get_size (array);
  else
    *problem = g_strdup ("bad-bands should be an array of ints");
  for (guint i = 0; i < n && *problem == NULL; i++) {
    const GValue *item = gst_value_array_get_value (array, i);

    if (G_VALUE_HOLDS_INT (item) && g_value_get_int (item) >= 0
        && g_value_get_int (item) < info->bands)
      info->bad[g_value_get_int (item)] = TRUE;
    else
      *problem =
          g_strdup_printf ("bad-bands: number %u should be an int of 0 .. %d",
              i, info->bands - 1);
  }
  return *problem == NULL;
}

static gboolean
read_ignore_value (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  if (!gst_structure_has_field (structure, "ignore-value"))
    return TRUE;
  info->has_ignore =
      gst_structure_get_double (structure, "ignore-value", &info->ignore);
  if (!info->has_ignore)
    *problem = g_strdup ("ignore-value should be a double");
  return info->has_ignore;
}

static gboolean
read_structure (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  gint format, interleave;

  format = read_word (structure, "format", formats, 3, problem);
  if (format < 0)
    return FALSE;
  interleave = read_word (structure, "interleave", interleaves, 3, problem);
  if (interleave < 0)
    return FALSE;
  info->format = (CuvCubeFormat) format;
  info->interleave = (GstCuvSpectralInterleave) interleave;
  return read_size (
             structure, "width", CUV_CUBE_MAX_SIZE, &info->width, problem)
      && read_size (
          structure, "height", CUV_CUBE_MAX_SIZE, &info->height, problem)
      && read_size (
          structure, "bands", CUV_CUBE_MAX_BANDS, &info->bands, problem)
      && read_framerate (info, structure, problem)
      && read_wavelengths (info, structure, problem)
      && read_bad_bands (info, structure, problem)
      && read_ignore_value (info, structure, problem);
}

gboolean
gst_cuv_spectral_info_from_caps (
    GstCuvSpectralInfo *info, const GstCaps *caps, gchar **problem)
{
  const GstStructure *structure =
      gst_caps_get_size (caps) > 0 ? gst_caps_get_structure (caps, 0) : NULL;

  *info = (GstCuvSpectralInfo){ 0 };
  *problem = NULL;
  if (structure == NULL
      || !gst_structure_has_name (structure, "video/x-spectral")) {
    *problem = g_strdup ("the caps should be of type video/x-spectral");
    return FALSE;
  }
  if (!read_structure (info, structure, problem))
    return FALSE;
  if (gst_cuv_spectral_info_size (info) > 0)
    return TRUE;
  *problem = g_strdup_printf ("width * height * bands is %d * %d * %d, too "
                              "much for this machine's addresses",
      info->width, info->height, info->bands);
  return FALSE;
}

static void
append_number (GValue *array, gdouble number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_set_double (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

static void
append_index (GValue *array, gint index)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, index);
  gst_value_array_append_and_take_value (array, &value);
}

static void
set_arrays (GstStructure *structure, const GstCuvSpectralInfo *info)
{
  GValue wavelengths = G_VALUE_INIT, bad = G_VALUE_INIT;

  g_value_init (&wavelengths, GST_TYPE_ARRAY);
  for (guint i = 0; i < info->n_wavelengths; i++)
    append_number (&wavelengths, info->wavelengths[i]);
  g_value_init (&bad, GST_TYPE_ARRAY);
  for (gint i = 0; i < info->bands; i++)
    if (info->bad[i])
      append_index (&bad, i);
  if (gst_value_array_get_size (&wavelengths) > 0)
    gst_structure_set_value (structure, "wavelengths", &wavelengths);
  if (gst_value_array_get_size (&bad) > 0)
    gst_structure_set_value (structure, "bad-bands", &bad);
  g_value_unset (&wavelengths);
  g_value_unset (&bad);
}

GstCaps *
gst_cuv_spectral_info_to_caps (const GstCuvSpectralInfo *info)
{
  GstStructure *structure = gst_structure_new ("video/x-spectral", "format",
      G_TYPE_STRING, formats[info->format], "width", G_TYPE_INT, info->width,
      "height", G_TYPE_INT, info->height, "bands", G_TYPE_INT, info->bands,
      "interleave", G_TYPE_STRING, interleaves[info->interleave], "framerate",
      GST_TYPE_FRACTION, info->fps_n, MAX (info->fps_d, 1), NULL);

  set_arrays (structure, info);
  if (info->has_ignore)
    gst_structure_set (
        structure, "ignore-value", G_TYPE_DOUBLE, info->ignore, NULL);
  return gst_caps_new_full (structure, NULL);
}

gsize
gst_cuv_spectral_info_size (const GstCuvSpectralInfo *info)
{
  gsize size = (gsize) cuv_cube_sample_size (info->format);

  if (info->width < 1 || info->width > CUV_CUBE_MAX_SIZE || info->height < 1
      || info->height > CUV_CUBE_MAX_SIZE || info->bands < 1
      || info->bands > CUV_CUBE_MAX_BANDS)
    return 0;
  if (!g_size_checked_mul (&size, size, (gsize) info->width)
      || !g_size_checked_mul (&size, size, (gsize) info->height)
      || !g_size_checked_mul (&size, size, (gsize) info->bands))
    return 0;
  return size;
}

guint
gst_cuv_spectral_info_n_good (const GstCuvSpectralInfo *info)
{
  guint n = 0;

  for (gint i = 0; i < info->bands; i++)
    n += !info->bad[i];
  return n;
}

CuvCube
gst_cuv_spectral_info_cube (const GstCuvSpectralInfo *info, gconstpointer data)
{
  CuvCube cube = { .data = data,
    .format = info->format,
    .width = info->width,
    .height = info->height,
    .bands = info->bands };
  gint64 sample = cuv_cube_sample_size (info->format);

  switch (info->interleave) {
    case GST_CUV_SPECTRAL_BIP:
      cube.band_step = sample;
      cube.pixel_step = sample * info->bands;
      cube.row_step = cube.pixel_step * info->width;
      break;
    case GST_CUV_SPECTRAL_BIL:
      cube.pixel_step = sample;
      cube.band_step = sample * info->width;
      cube.row_step = cube.band_step * info->bands;
      break;
    case GST_CUV_SPECTRAL_BSQ:
      cube.pixel_step = sample;
      cube.row_step = sample * info->width;
      cube.band_step = cube.row_step * info->height;
      break;
  }
  return cube;
}
