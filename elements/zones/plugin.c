/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers visionzones. */
#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (visionzones);

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (visionzones, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvzones,
    "Zones, lines and counts of objects", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
