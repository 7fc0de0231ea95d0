/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsthoughlines.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  GST_ELEMENT_REGISTER (houghlines, plugin);
  return TRUE;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cuvhough,
    "Line detection with the Hough transform", plugin_init, VERSION,
    GST_LICENSE, GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
