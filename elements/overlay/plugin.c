/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: registers visionoverlay. */
#include "config.h"
#include "../tables.h"

GST_ELEMENT_REGISTER_DECLARE (visionoverlay);

static gboolean
plugin_init (GstPlugin *plugin)
{
  cuv_register_tables ();
  GST_ELEMENT_REGISTER (visionoverlay, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvoverlay,
    "Draws boxes, labels and shapes from metadata", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
