/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "../tables.h"

GST_ELEMENT_REGISTER_DECLARE (ldpdescriptor)
GST_ELEMENT_REGISTER_DECLARE (ldpindexsink)
GST_ELEMENT_REGISTER_DECLARE (ldpretrieve)

static gboolean
plugin_init (GstPlugin *plugin)
{
  cuv_register_tables ();
  GST_ELEMENT_REGISTER (ldpdescriptor, plugin);
  GST_ELEMENT_REGISTER (ldpindexsink, plugin);
  GST_ELEMENT_REGISTER (ldpretrieve, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvldp,
    "Texture by local derivative patterns", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
