/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralsettings.h"

#include <stdio.h>
#include <string.h>

#include "spectral/spectral-types.h"

gboolean
gst_spectral_components_parse (
    const gchar *text, gint components[GST_SPECTRAL_SHOWN])
{
  gint c[GST_SPECTRAL_SHOWN];
  gchar end;

  if (sscanf (text != NULL ? text : GST_SPECTRAL_DEFAULT_COMPONENTS,
          "%9d , %9d , %9d %c", &c[0], &c[1], &c[2], &end)
      != GST_SPECTRAL_SHOWN)
    return FALSE;
  for (gint i = 0; i < GST_SPECTRAL_SHOWN; i++)
    if (c[i] < 0 || c[i] > CUV_CUBE_MAX_BANDS)
      return FALSE;
  memcpy (components, c, sizeof c);
  return TRUE;
}
