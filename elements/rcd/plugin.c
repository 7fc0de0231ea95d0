/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtrack.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (rcdtrack, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvrcd,
    "Object tracking by region covariance", plugin_init, VERSION, GST_LICENSE,
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
