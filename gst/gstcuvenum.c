/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvsettings.h"

static GType
registered (gsize *type, GType new_type)
{
  gst_type_mark_as_plugin_api (new_type, 0);
  g_once_init_leave (type, new_type);
  return new_type;
}

GType
gst_cuv_enum_register (gsize *type, const gchar *name, const GEnumValue *values)
{
  return g_once_init_enter (type)
      ? registered (type, g_enum_register_static (name, values))
      : *type;
}

GType
gst_cuv_flags_register (
    gsize *type, const gchar *name, const GFlagsValue *values)
{
  return g_once_init_enter (type)
      ? registered (type, g_flags_register_static (name, values))
      : *type;
}
