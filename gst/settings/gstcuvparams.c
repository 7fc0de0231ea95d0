/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GParamSpecs from rows of a settings table, and enums. */
#include "config.h"
#include "settings/gstcuvfields.h"

/* ---- parameter specifications ---- */

static GParamFlags
flags_of (const GstCuvSetting *p)
{
  const GType type = gst_cuv_setting_type (p);

  if (p->get != NULL)
    return G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  if (p->at_start || p->only_stopped)
    return G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY | G_PARAM_STATIC_STRINGS;
  if (p->no_controller || p->type == G_TYPE_BOOLEAN || p->get_type != NULL
      || g_type_is_a (type, G_TYPE_STRING))
    return GST_CUV_PARAM_LIVE;
  return GST_CUV_PARAM_TUNABLE;
}

GParamSpec *
gst_cuv_setting_make_spec (const GstCuvSetting *p)
{
  const GParamFlags flags = flags_of (p);
  const GType type = gst_cuv_setting_type (p);

  if (p->make_spec != NULL)
    return p->make_spec ();
  switch (type) {
    case G_TYPE_DOUBLE:
      return g_param_spec_double (
          p->name, p->nick, p->blurb, p->minimum, p->maximum, p->value, flags);
    case G_TYPE_FLOAT:
      return g_param_spec_float (p->name, p->nick, p->blurb,
          (gfloat) p->minimum, (gfloat) p->maximum, (gfloat) p->value, flags);
    case G_TYPE_INT:
      return g_param_spec_int (p->name, p->nick, p->blurb, (gint) p->minimum,
          (gint) p->maximum, (gint) p->value, flags);
    case G_TYPE_UINT:
      return g_param_spec_uint (p->name, p->nick, p->blurb, (guint) p->minimum,
          (guint) p->maximum, (guint) p->value, flags);
    case G_TYPE_UINT64:
      return g_param_spec_uint64 (p->name, p->nick, p->blurb,
          (guint64) p->minimum, (guint64) p->maximum, (guint64) p->value,
          flags);
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (
          p->name, p->nick, p->blurb, p->value != 0, flags);
    case G_TYPE_STRING:
      return g_param_spec_string (p->name, p->nick, p->blurb, p->text, flags);
    default:
      break;
  }
  if (G_TYPE_IS_FLAGS (type))
    return g_param_spec_flags (
        p->name, p->nick, p->blurb, type, (guint) p->value, flags);
  if (G_TYPE_IS_ENUM (type))
    return g_param_spec_enum (
        p->name, p->nick, p->blurb, type, (gint) p->value, flags);
  return g_param_spec_boxed (p->name, p->nick, p->blurb, type, flags);
}

/* ---- enums ---- */

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
