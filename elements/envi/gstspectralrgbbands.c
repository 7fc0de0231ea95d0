/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralrgbbands.h"

#include <math.h>
#include <string.h>

#include "format/envi.h"

#define N CUV_RGB_CHANNELS

/* A band number counted from 1, or a wavelength in nm. */
typedef struct {
  gdouble value;
  gboolean is_length;
} Choice;

static gboolean
parse_one (const gchar *text, Choice *choice)
{
  gchar *end;
  gdouble unit = 0;

  choice->value = g_ascii_strtod (text, &end);
  if (end == text || !isfinite (choice->value) || choice->value <= 0)
    return FALSE;
  end = g_strstrip (end);
  if (strcmp (end, "nm") == 0)
    unit = 1;
  else if (strcmp (end, "um") == 0)
    unit = 1000;
  else if (*end != '\0' || choice->value != floor (choice->value))
    return FALSE;
  choice->is_length = unit > 0;
  if (choice->is_length)
    choice->value *= unit;
  return TRUE;
}

static gboolean
gst_spectral_rgb_parse (const gchar *text, Choice choices[N])
{
  gchar **words = g_strsplit (text, ",", -1);
  gboolean ok = g_strv_length (words) == N;

  for (gint c = 0; ok && c < N; c++)
    ok = parse_one (g_strstrip (words[c]), &choices[c]);
  g_strfreev (words);
  return ok;
}

gboolean
gst_spectral_rgb_bands_check (const gchar *text)
{
  Choice choices[N];

  return text == NULL || strcmp (text, GST_SPECTRAL_RGB_AUTO) == 0
      || gst_spectral_rgb_parse (text, choices);
}

/* Returns the good band nearest to a wavelength; -1 if all are bad. */
static gint
nearest (const GstCuvSpectralInfo *info, gdouble wavelength)
{
  gint found = -1;

  for (gint b = 0; b < info->bands; b++)
    if (!info->bad[b]
        && (found < 0
            || fabs (info->wavelengths[b] - wavelength)
                < fabs (info->wavelengths[found] - wavelength)))
      found = b;
  return found;
}

/* ---- bands=auto ---- */

static gboolean
from_header (
    const gchar *header, const GstCuvSpectralInfo *info, CuvRgbBands *bands)
{
  gdouble numbers[N];
  gint n = header != NULL
      ? cuv_envi_read_numbers (header, "default bands", numbers, N)
      : 0;

  for (gint c = 0; c < n; c++)
    if (numbers[c] != floor (numbers[c]) || numbers[c] < 1
        || numbers[c] > info->bands || info->bad[(gint) numbers[c] - 1])
      return FALSE;
  for (gint c = 0; n > 0 && c < N; c++)
    bands->band[c] = (gint) numbers[n == N ? c : 0] - 1;
  return n == 1 || n == N;
}

static gboolean
from_wavelengths (const GstCuvSpectralInfo *info, CuvRgbBands *bands)
{
  static const gdouble colours[N] = { 650, 550, 450 };

  for (gint c = 0; c < N && info->n_wavelengths > 0; c++) {
    bands->band[c] = nearest (info, colours[c]);
    if (bands->band[c] < 0
        || fabs (info->wavelengths[bands->band[c]] - colours[c]) > 50)
      return FALSE;
  }
  return info->n_wavelengths > 0;
}

/* Chooses the first three good bands or, if there are fewer, the first one in
 * grey. */
static void
first_good (const GstCuvSpectralInfo *info, CuvRgbBands *bands)
{
  gint found[N] = { 0 }, n = 0;

  for (gint b = 0; n < N && b < info->bands; b++)
    if (!info->bad[b])
      found[n++] = b;
  for (gint c = 0; c < N; c++)
    bands->band[c] = found[n < N ? 0 : c];
}

static void
gst_spectral_rgb_choose (
    const GstCuvSpectralInfo *info, const gchar *header, CuvRgbBands *bands)
{
  if (!from_header (header, info, bands) && !from_wavelengths (info, bands))
    first_good (info, bands);
}

/* ---- lists of bands ---- */

static gchar *
gst_spectral_rgb_take (
    const Choice *choice, const GstCuvSpectralInfo *info, gint32 *band)
{
  if (!choice->is_length && choice->value > info->bands)
    return g_strdup_printf ("bands asks for band %g, but the cube has %d "
                            "bands: set three numbers from 1 to %d",
        choice->value, info->bands, info->bands);
  if (choice->is_length && info->n_wavelengths == 0)
    return g_strdup_printf ("bands asks for %g nm, but the caps have no "
                            "wavelengths: set band numbers from 1 to %d",
        choice->value, info->bands);
  *band = choice->is_length ? nearest (info, choice->value)
                            : (gint) choice->value - 1;
  if (*band >= 0)
    return NULL;
  return g_strdup_printf (
      "bands asks for %g nm, but all %d bands are bad: set band numbers, or "
      "mark fewer bands in bad-bands of the caps",
      choice->value, info->bands);
}

gchar *
gst_spectral_rgb_bands (const gchar *text, const GstCuvSpectralInfo *info,
    const gchar *header, CuvRgbBands *bands)
{
  Choice choices[N];
  gchar *problem = NULL;

  *bands =
      (CuvRgbBands){ .has_ignore = info->has_ignore, .ignore = info->ignore };
  if (text == NULL || strcmp (text, GST_SPECTRAL_RGB_AUTO) == 0) {
    gst_spectral_rgb_choose (info, header, bands);
    return NULL;
  }
  if (!gst_spectral_rgb_parse (text, choices))
    return g_strdup_printf (
        "bands '%s' is invalid: expected auto, or three band numbers or "
        "wavelengths, for example 29,19,9 or 650nm,550nm,0.45um",
        text);
  for (gint c = 0; problem == NULL && c < N; c++)
    problem = gst_spectral_rgb_take (&choices[c], info, &bands->band[c]);
  return problem;
}
