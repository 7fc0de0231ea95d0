/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers visioncrop. */
#include "config.h"

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE (visioncrop);

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (visioncrop, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvcrop,
    "Crops pictures of objects", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
