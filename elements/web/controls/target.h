/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a control acts on: a property or an action signal of an element, which
 * it does not keep alive. Reference counted; immutable except for the element's
 * end. */
#ifndef CUV_CONTROL_TARGET_H
#define CUV_CONTROL_TARGET_H

#include "controls/value.h"

G_BEGIN_DECLS

typedef struct {
  gint refs;
  GWeakRef element;
  const gchar *factory; /* name of the element's factory, or of its type */
  GParamSpec *property; /* NULL: a signal */
  guint signal;
  GPtrArray *arguments; /* GParamSpec of each argument of the signal */
  GType returns;        /* what the signal returns, or G_TYPE_NONE */
} CuvControlTarget;

/* Finds a property, or a signal, of this name. Returns NULL and why it cannot
 * be a control, and what to do, to be freed. */
CuvControlTarget *cuv_control_target_new (
    GstElement *element, const gchar *member, gchar **problem);
CuvControlTarget *cuv_control_target_ref (CuvControlTarget *self);
void cuv_control_target_unref (CuvControlTarget *self);

/* Reads the property: FALSE if the element has gone or the property cannot be
 * read. May block. */
gboolean cuv_control_target_get (CuvControlTarget *self, GValue *value);

/* Sets the property to the first of the values, or calls the signal with all of
 * them. result: zero-filled; set to the property's value afterwards, or to what
 * the signal returned. FALSE if the element has gone. May block. */
gboolean cuv_control_target_act (
    CuvControlTarget *self, GArray *values, GValue *result);

/* Reads arguments of the signal, or a value of the property, to a new array of
 * GValue. Returns NULL and what was expected, to be freed. */
GArray *cuv_control_target_parse (
    CuvControlTarget *self, JsonNode *node, gchar **problem);

/* Adds the description to the open object. */
void cuv_control_target_write (CuvJson *json, const CuvControlTarget *self);

G_END_DECLS

#endif
