/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "settings/gstcuvproperties.h"

#include "base/gstcuvfilter.h"

void
gst_cuv_properties_reset (
    const GstCuvProperty *properties, guint n, gpointer settings)
{
  for (guint i = 0; i < n; i++) {
    const GstCuvProperty *p = &properties[i];
    gpointer place = G_STRUCT_MEMBER_P (settings, p->offset);

    if (p->type == G_TYPE_DOUBLE)
      *(gdouble *) place = p->value;
    else if (p->type == G_TYPE_FLOAT)
      *(gfloat *) place = (gfloat) p->value;
    else
      *(gint *) place = (gint) p->value;
  }
}

static GParamSpec *
make_spec (const GstCuvProperty *p)
{
  GParamFlags flags =
      p->effect < 0 ? GST_CUV_PARAM_LIVE : GST_CUV_PARAM_TUNABLE;

  if (p->type == G_TYPE_DOUBLE)
    return g_param_spec_double (
        p->name, p->nick, p->blurb, p->minimum, p->maximum, p->value, flags);
  if (p->type == G_TYPE_FLOAT)
    return g_param_spec_float (p->name, p->nick, p->blurb, (gfloat) p->minimum,
        (gfloat) p->maximum, (gfloat) p->value, flags);
  if (p->type == G_TYPE_INT)
    return g_param_spec_int (p->name, p->nick, p->blurb, (gint) p->minimum,
        (gint) p->maximum, (gint) p->value, flags);
  if (p->type == G_TYPE_UINT)
    return g_param_spec_uint (p->name, p->nick, p->blurb, (guint) p->minimum,
        (guint) p->maximum, (guint) p->value, flags);
  if (p->type == G_TYPE_BOOLEAN)
    return g_param_spec_boolean (
        p->name, p->nick, p->blurb, p->value != 0, GST_CUV_PARAM_LIVE);
  if (G_TYPE_IS_FLAGS (p->enum_type ()))
    return g_param_spec_flags (p->name, p->nick, p->blurb, p->enum_type (),
        (guint) p->value, GST_CUV_PARAM_LIVE);
  return g_param_spec_enum (p->name, p->nick, p->blurb, p->enum_type (),
      (gint) p->value, GST_CUV_PARAM_LIVE);
}

void
gst_cuv_properties_install (
    GObjectClass *klass, const GstCuvProperty *properties, guint n, guint first)
{
  for (guint i = 0; i < n; i++)
    g_object_class_install_property (
        klass, first + i, make_spec (&properties[i]));
}

static gint
int_of (const GValue *value)
{
  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (G_VALUE_HOLDS_UINT (value))
    return (gint) g_value_get_uint (value);
  if (G_VALUE_HOLDS_BOOLEAN (value))
    return g_value_get_boolean (value);
  if (G_VALUE_HOLDS_FLAGS (value))
    return (gint) g_value_get_flags (value);
  return g_value_get_enum (value);
}

gboolean
gst_cuv_value_store (gpointer place, const GValue *value)
{
  gdouble was;

  if (G_VALUE_HOLDS_DOUBLE (value)) {
    was = *(gdouble *) place;
    return was != (*(gdouble *) place = g_value_get_double (value));
  }
  if (G_VALUE_HOLDS_FLOAT (value)) {
    was = *(gfloat *) place;
    return was != (*(gfloat *) place = g_value_get_float (value));
  }
  was = *(gint *) place;
  return was != (*(gint *) place = int_of (value));
}

void
gst_cuv_value_fetch (gconstpointer place, GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, *(const gdouble *) place);
  else if (G_VALUE_HOLDS_FLOAT (value))
    g_value_set_float (value, *(const gfloat *) place);
  else if (G_VALUE_HOLDS_INT (value))
    g_value_set_int (value, *(const gint *) place);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, (guint) * (const gint *) place);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(const gboolean *) place);
  else if (G_VALUE_HOLDS_FLAGS (value))
    g_value_set_flags (value, (guint) * (const gint *) place);
  else
    g_value_set_enum (value, *(const gint *) place);
}
