/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (spectralntf);

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (spectralntf, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvntf,
    "Non-negative tensor factorisation of spectral images and video",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
