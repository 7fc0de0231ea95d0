/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers visiontrack. */
#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (visiontrack);

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (visiontrack, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvtrack,
    "Tracks of detected objects", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
