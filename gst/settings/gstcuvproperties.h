/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers, switches and enums of an element as a table: names, ranges, and
 * where in a struct of settings the values are. */
#ifndef GST_CUV_PROPERTIES_H
#define GST_CUV_PROPERTIES_H

#include <gst/gst.h>
#include "settings/gstcuvsettings.h"

G_BEGIN_DECLS

typedef struct {
  const gchar *name, *nick, *blurb;
  gsize offset; /* of a value as its GValue has it: gint, gdouble, gfloat */
  /* G_TYPE_INT, _UINT, _BOOLEAN, _DOUBLE, _FLOAT; 0: enum_type (), which may
   * be one of flags, too */
  GType type;
  GType (*enum_type) (void);
  gdouble minimum, maximum, value;
  /* what a new value asks for: the element knows; below 0, what no controller
   * should ask for at every frame */
  gint effect;
} GstCuvProperty;

/* Sets all to their defaults. */
CUV_API void gst_cuv_properties_reset (
    const GstCuvProperty *properties, guint n, gpointer settings);

/* Installs them as live, numbers as controllable, with ids from first on. */
CUV_API void gst_cuv_properties_install (GObjectClass *klass,
    const GstCuvProperty *properties, guint n, guint first);

/* Sets what place points to; whether that is a change. */
CUV_API gboolean gst_cuv_value_store (gpointer place, const GValue *value);
CUV_API void gst_cuv_value_fetch (gconstpointer place, GValue *value);

G_END_DECLS

#endif
