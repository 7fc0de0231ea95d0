/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers visionwebsink. */
#include "config.h"
#include "../tables.h"

GST_ELEMENT_REGISTER_DECLARE (visionwebsink);

static gboolean
plugin_init (GstPlugin *plugin)
{
  cuv_register_tables ();
  GST_ELEMENT_REGISTER (visionwebsink, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvweb,
    "Shows frames and analysis results in a browser", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
