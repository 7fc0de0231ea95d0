/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers visionpublish. */
#include "config.h"
#include "../tables.h"

GST_ELEMENT_REGISTER_DECLARE (visionpublish);

static gboolean
plugin_init (GstPlugin *plugin)
{
  cuv_register_tables ();
  GST_ELEMENT_REGISTER (visionpublish, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvpublish,
    "Writes analysis results as JSON or CSV", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
