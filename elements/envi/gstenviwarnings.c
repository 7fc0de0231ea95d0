/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Warns about files whose samples may be misinterpreted. */
#include "gstenvifile.h"

/* The warnings that were posted. */
enum {
  WARNED_OF_BYTE_ORDER = CUV_ENVI_LITTLE_ENDIAN,
  WARNED_OF_FWHM = CUV_ENVI_NO_FWHM,
  WARNED_OF_EXCESS = 1 << 8,
};

static void
gst_envi_warn (GstElement *self, gchar *text)
{
  GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s", text), (NULL));
  g_free (text);
}

static gchar *
describe_excess (const GstEnviFile *file, const gchar *path)
{
  const guint64 read =
      file->envi.header_offset + cuv_envi_data_size (&file->envi);

  return g_strdup_printf (
      "The samples of '%s' have %" G_GUINT64_FORMAT
      " bytes, but the header describes %" G_GUINT64_FORMAT
      ": the last %" G_GUINT64_FORMAT
      " bytes are ignored. If the image looks wrong, correct samples, lines, "
      "bands, data type or header offset in the header.",
      path, read + file->excess, read, file->excess);
}

void
gst_envi_warn_of_file (
    GstElement *self, const GstEnviFile *file, const gchar *path, guint *warned)
{
  const guint all =
      file->envi.assumed | (file->excess > 0 ? WARNED_OF_EXCESS : 0);
  const guint now = all & ~*warned;

  *warned |= now;
  if (now & WARNED_OF_EXCESS)
    gst_envi_warn (self, describe_excess (file, path));
  if (now & WARNED_OF_BYTE_ORDER)
    gst_envi_warn (self,
        g_strdup_printf ("The header of '%s' has no byte order: little endian "
                         "is assumed. If the image looks wrong, add byte order "
                         "= 1.",
            path));
  if (now & WARNED_OF_FWHM)
    gst_envi_warn (self,
        g_strdup_printf ("fwhm in the header of '%s' is ignored: it should "
                         "have %d values, one for each band.",
            path, file->envi.bands));
}
