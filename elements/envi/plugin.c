/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (envisrc);
GST_ELEMENT_REGISTER_DECLARE (envisink);
GST_ELEMENT_REGISTER_DECLARE (spectralreflectance);
GST_ELEMENT_REGISTER_DECLARE (spectralrgb);

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (envisrc, plugin);
  GST_ELEMENT_REGISTER (envisink, plugin);
  GST_ELEMENT_REGISTER (spectralreflectance, plugin);
  GST_ELEMENT_REGISTER (spectralrgb, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvenvi,
    "Reads and writes spectral images in ENVI files, and converts them to "
    "reflectances and to pictures of three bands",
    plugin_init, VERSION, GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
