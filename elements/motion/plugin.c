/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstvisionmotion.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (visionmotion, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvmotion,
    "Motion by subtracting the background", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
