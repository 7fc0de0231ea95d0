/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the files that a location names. */
#include "gstenvifile.h"

#include <string.h>

#define HEADER ".hdr"

/* Extensions that other programs give files of samples, also in upper case.
 * Spectral libraries (.sli) are refused by their headers. */
static const gchar *const data_extensions[] = { "", ".img", ".dat", ".raw",
  ".bin", ".bsq", ".bil", ".bip", ".hyspex", ".pix", ".l1r", ".sli" };

/* ---- numbers ---- */

/* Finds the first %d, %5d or %05d. Returns its start, and sets its end and
 * width. */
static const gchar *
find_number (const gchar *text, const gchar **end, gint *width)
{
  for (; (text = strchr (text, '%')) != NULL; text++) {
    const gchar *c = text + 1;

    if (*c == '%') {
      text = c;
      continue;
    }

    for (*width = 0; g_ascii_isdigit (*c) && *width < 100; c++)
      *width = 10 * *width + (*c - '0');
    if (*c == 'd' && *width < 100) {
      *end = c + 1;
      return text;
    }
  }
  return NULL;
}

gboolean
gst_envi_location_is_pattern (const gchar *location)
{
  const gchar *end;
  gint width;

  return find_number (location, &end, &width) != NULL;
}

gboolean
gst_envi_location_check (const gchar *location, GError **error)
{
  const gchar *end;
  gint width;

  if (location == NULL || *location == '\0')
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "location is not set: set it to the name of an ENVI header, as in "
        "location=cube.hdr.");
  else if (find_number (location, &end, &width) != NULL
      && gst_envi_location_is_pattern (end))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "location '%s' has more than one placeholder for a number: keep one, "
        "as in cube%%05d.hdr.",
        location);
  else
    return TRUE;
  return FALSE;
}

static gchar *
gst_envi_replace_name (const gchar *text, const gchar *from, const gchar *to)
{
  GString *result = g_string_new (text);

  g_string_replace (result, from, to, 0);
  return g_string_free (result, FALSE);
}

gchar *
gst_envi_location_for_reading (const gchar *location)
{
  return location != NULL && g_file_test (location, G_FILE_TEST_IS_REGULAR)
      ? gst_envi_replace_name (location, "%", "%%")
      : g_strdup (location);
}

gchar *
gst_envi_location_expand (const gchar *location, guint number)
{
  const gchar *end = NULL;
  gint width;
  const gchar *start = find_number (location, &end, &width);
  gchar *text, *path;

  if (start == NULL)
    return gst_envi_replace_name (location, "%%", "%");
  text = g_strdup_printf (
      "%.*s%0*u%s", (int) (start - location), location, width, number, end);
  path = gst_envi_replace_name (text, "%%", "%");
  g_free (text);
  return path;
}

/* ---- names of the header and of the samples ---- */

static gboolean
is_header (const gchar *path)
{
  gsize length = strlen (path);

  return length > strlen (HEADER)
      && g_ascii_strcasecmp (path + length - strlen (HEADER), HEADER) == 0;
}

/* Returns the name without the extension of its last component. */
static gchar *
stem_of (const gchar *path)
{
  const gchar *slash = strrchr (path, G_DIR_SEPARATOR);
  const gchar *name = slash != NULL ? slash + 1 : path;
  const gchar *dot = strrchr (name, '.');

  return dot != NULL && dot > name ? g_strndup (path, (gsize) (dot - path))
                                   : g_strdup (path);
}

static gboolean
take_if_file (gchar **found, gchar *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_REGULAR)) {
    *found = path;
    return TRUE;
  }
  g_free (path);
  return FALSE;
}

static gboolean
find_data (GstEnviNames *names)
{
  gchar *stem = stem_of (names->header);

  for (guint i = 0; i < G_N_ELEMENTS (data_extensions); i++) {
    gchar *upper = g_ascii_strup (data_extensions[i], -1);
    const gboolean found = take_if_file (&names->data,
                               g_strconcat (stem, data_extensions[i], NULL))
        || take_if_file (&names->data, g_strconcat (stem, upper, NULL));

    g_free (upper);
    if (found)
      break;
  }
  g_free (stem);
  return names->data != NULL;
}

static gboolean
find_header (GstEnviNames *names)
{
  gchar *stem = stem_of (names->data);
  gboolean found =
      take_if_file (&names->header, g_strconcat (names->data, HEADER, NULL))
      || take_if_file (&names->header, g_strconcat (stem, HEADER, NULL))
      || take_if_file (&names->header, g_strconcat (names->data, ".HDR", NULL))
      || take_if_file (&names->header, g_strconcat (stem, ".HDR", NULL));

  g_free (stem);
  return found;
}

gboolean
gst_envi_names_find (GstEnviNames *names, const gchar *path, GError **error)
{
  gboolean header = is_header (path), found;

  *names = (GstEnviNames){ NULL, NULL };
  *(header ? &names->header : &names->data) = g_strdup (path);
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "No such file: '%s'. Correct the location property.", path);
    found = FALSE;
  } else if (header) {
    found = find_data (names);
    if (!found)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
          "No data file for the header '%s': it must be named like the header, "
          "but without .hdr, or with .img, .dat, .raw, .bin, .bsq, .bil, .bip, "
          ".hyspex, .pix or .l1r instead of .hdr.",
          path);
  } else {
    found = find_header (names);
    if (!found)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
          "No ENVI header beside '%s': its name must be '%s.hdr'.", path, path);
  }
  if (!found)
    gst_envi_names_clear (names);
  return found;
}

void
gst_envi_names_for_writing (GstEnviNames *names, const gchar *path)
{
  gchar *stem = stem_of (path);

  if (is_header (path)) {
    names->header = g_strdup (path);
    names->data = g_strconcat (stem, ".img", NULL);
  } else {
    names->header = g_strconcat (stem, HEADER, NULL);
    names->data = g_strdup (path);
  }
  g_free (stem);
}

void
gst_envi_names_clear (GstEnviNames *names)
{
  g_clear_pointer (&names->header, g_free);
  g_clear_pointer (&names->data, g_free);
}
