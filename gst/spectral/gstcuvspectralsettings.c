/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralsettings.h"

#include "gstcuvfilter.h"

#include <stdio.h>
#include <string.h>

#include "cuv-cube.h"

gboolean
gst_cuv_spectral_components_parse (
    const gchar *text, gint components[GST_CUV_SPECTRAL_SHOWN])
{
  gint c[GST_CUV_SPECTRAL_SHOWN];
  gchar end;

  if (sscanf (text != NULL ? text : GST_CUV_SPECTRAL_DEFAULT_COMPONENTS,
          "%9d , %9d , %9d %c", &c[0], &c[1], &c[2], &end)
      != GST_CUV_SPECTRAL_SHOWN)
    return FALSE;
  for (gint i = 0; i < GST_CUV_SPECTRAL_SHOWN; i++)
    if (c[i] < 0 || c[i] > CUV_CUBE_MAX_BANDS)
      return FALSE;
  memcpy (components, c, sizeof c);
  return TRUE;
}

void
gst_cuv_spectral_properties_install (GObjectClass *klass)
{
  /**
   * GstCuvSpectralTransform:components:
   *
   * Which components are red, green and blue: three numbers from 1 on, 0 for
   * black. Grey is one that is named three times.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_SPECTRAL_PROP_COMPONENTS,
      g_param_spec_string ("components", "Components",
          "Which components are red, green and blue, from 1 on (0 = black)",
          GST_CUV_SPECTRAL_DEFAULT_COMPONENTS, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvSpectralTransform:n-threads:
   *
   * Threads for work on the CPU, 0 = one per processor. Results are the same
   * for every number.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_SPECTRAL_PROP_N_THREADS,
      g_param_spec_int ("n-threads", "Threads",
          "Threads for work on the CPU (0 = one per processor)", 0, 1024, 0,
          GST_CUV_PARAM_LIVE));
  /**
   * GstCuvSpectralTransform:stats:
   *
   * frames (guint64), device (cpu or cuda), microseconds and microseconds-mean
   * (guint64, of a frame), and the element's own counts. With CUDA gpu-bytes
   * that the process holds, uploaded bytes, and of those staged, which did not
   * come in pinned memory (guint64).
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_SPECTRAL_PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}
