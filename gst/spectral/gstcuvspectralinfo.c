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

/* Sets "<field> is <value>, but must be <expected>"; item: index in an array,
 * or -1. Returns FALSE. */
G_GNUC_PRINTF (5, 6)
static gboolean
reject_caps (gchar **problem, const gchar *field, gint item,
    const GValue *value, const gchar *expected, ...)
{
  gchar *text = value != NULL ? gst_value_serialize (value) : NULL;
  gchar *index = item >= 0 ? g_strdup_printf ("[%d]", item) : NULL;
  gchar *wanted;
  va_list args;

  va_start (args, expected);
  wanted = g_strdup_vprintf (expected, args);
  va_end (args);
  *problem = g_strdup_printf ("%s%s is %.60s, but must be %s", field,
      index != NULL ? index : "",
      value == NULL      ? "missing"
          : text != NULL ? text
                         : G_VALUE_TYPE_NAME (value),
      wanted);
  g_free (wanted);
  g_free (index);
  g_free (text);
  return FALSE;
}

/* Sets *word to the index of the field's text in words. */
static gboolean
read_word (const GstStructure *structure, const gchar *field,
    const gchar *const words[3], gint *word, gchar **problem)
{
  const gchar *text = gst_structure_get_string (structure, field);

  for (*word = 0; text != NULL && *word < 3; ++*word)
    if (strcmp (text, words[*word]) == 0)
      return TRUE;
  return reject_caps (problem, field, -1,
      gst_structure_get_value (structure, field), "one of %s, %s, %s", words[0],
      words[1], words[2]);
}

static gboolean
read_caps_size (const GstStructure *structure, const gchar *field, gint maximum,
    gint *size, gchar **problem)
{
  return (gst_structure_get_int (structure, field, size) && *size >= 1
             && *size <= maximum)
      || reject_caps (problem, field, -1,
          gst_structure_get_value (structure, field), "an integer from 1 to %d",
          maximum);
}

static gboolean
read_framerate (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  const GValue *value = gst_structure_get_value (structure, "framerate");

  info->fps_d = 1;
  return value == NULL
      || (gst_structure_get_fraction (
              structure, "framerate", &info->fps_n, &info->fps_d)
          && info->fps_n >= 0)
      || reject_caps (
          problem, "framerate", -1, value, "a fraction of 0 or more");
}

/* Reads an element of an array, a double or an int. Returns FALSE for other
 * types, NaN and infinity. */
static gboolean
read_number (const GValue *item, gdouble *number)
{
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
  static const gchar name[] = "wavelengths";
  const GValue *array = gst_structure_get_value (structure, name);
  const guint n = (guint) info->bands;

  if (array == NULL)
    return TRUE;
  if (!GST_VALUE_HOLDS_ARRAY (array) || gst_value_array_get_size (array) != n)
    return reject_caps (problem, name, -1, array,
        "an array of %u numbers, one for each band", n);
  for (guint i = 0; i < n; i++) {
    const GValue *item = gst_value_array_get_value (array, i);

    if (!read_number (item, &info->wavelengths[i]))
      return reject_caps (
          problem, name, (gint) i, item, "a finite number of nm");
  }
  info->n_wavelengths = n;
  return TRUE;
}

static gboolean
read_bad_bands (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  static const gchar name[] = "bad-bands";
  const GValue *array = gst_structure_get_value (structure, name);

  if (array == NULL)
    return TRUE;
  if (!GST_VALUE_HOLDS_ARRAY (array))
    return reject_caps (problem, name, -1, array, "an array of integers");
  for (guint i = 0; i < gst_value_array_get_size (array); i++) {
    const GValue *item = gst_value_array_get_value (array, i);

    if (!G_VALUE_HOLDS_INT (item) || g_value_get_int (item) < 0
        || g_value_get_int (item) >= info->bands)
      return reject_caps (problem, name, (gint) i, item,
          "an integer from 0 to %d", info->bands - 1);
    info->bad[g_value_get_int (item)] = TRUE;
  }
  return TRUE;
}

static gboolean
read_ignore_value (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  const GValue *value = gst_structure_get_value (structure, "ignore-value");

  info->has_ignore =
      gst_structure_get_double (structure, "ignore-value", &info->ignore);
  return value == NULL || info->has_ignore
      || reject_caps (problem, "ignore-value", -1, value, "a double");
}

static gboolean
read_caps_structure (
    GstCuvSpectralInfo *info, const GstStructure *structure, gchar **problem)
{
  gint format, interleave;

  if (!read_word (structure, "format", formats, &format, problem)
      || !read_word (
          structure, "interleave", interleaves, &interleave, problem))
    return FALSE;
  info->format = (CuvCubeFormat) format;
  info->interleave = (GstCuvSpectralInterleave) interleave;
  return read_caps_size (
             structure, "width", CUV_CUBE_MAX_SIZE, &info->width, problem)
      && read_caps_size (
          structure, "height", CUV_CUBE_MAX_SIZE, &info->height, problem)
      && read_caps_size (
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
    *problem = g_strdup_printf ("the caps are %s, but must be video/x-spectral",
        structure != NULL ? gst_structure_get_name (structure) : "empty");
    return FALSE;
  }
  if (!read_caps_structure (info, structure, problem))
    return FALSE;
  if (gst_cuv_spectral_info_size (info) > 0)
    return TRUE;
  *problem =
      g_strdup_printf ("width * height * bands is %d * %d * %d, more than this "
                       "machine can address: send smaller cubes",
          info->width, info->height, info->bands);
  return FALSE;
}

static void
append_number (GValue *array, GType type, gdouble number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, type);
  if (type == G_TYPE_DOUBLE)
    g_value_set_double (&value, number);
  else
    g_value_set_int (&value, (gint) number);
  gst_value_array_append_and_take_value (array, &value);
}

static void
set_arrays (GstStructure *structure, const GstCuvSpectralInfo *info)
{
  GValue wavelengths = G_VALUE_INIT, bad = G_VALUE_INIT;

  g_value_init (&wavelengths, GST_TYPE_ARRAY);
  g_value_init (&bad, GST_TYPE_ARRAY);
  for (guint i = 0; i < info->n_wavelengths; i++)
    append_number (&wavelengths, G_TYPE_DOUBLE, info->wavelengths[i]);
  for (gint i = 0; i < info->bands; i++)
    if (info->bad[i])
      append_number (&bad, G_TYPE_INT, i);
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

gchar *
gst_cuv_spectral_info_map (const GstCuvSpectralInfo *info, GstBuffer *buffer,
    GstMapInfo *map, CuvCube *cube)
{
  const gsize size = gst_cuv_spectral_info_size (info);

  if (!gst_buffer_map (buffer, map, GST_MAP_READ))
    return g_strdup ("Cannot map a buffer for reading: the element upstream "
                     "sends memory that the CPU cannot read");
  if (map->size >= size) {
    *cube = gst_cuv_spectral_info_cube (info, map->data);
    return NULL;
  }
  gst_buffer_unmap (buffer, map);
  return g_strdup_printf ("A buffer has %" G_GSIZE_FORMAT
                          " bytes, but its caps need %" G_GSIZE_FORMAT
                          ": send whole cubes, without padding",
      map->size, size);
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
