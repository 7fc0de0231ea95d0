/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpindex.h"

#include <stdlib.h>

/* ---- loading ---- */

static void
gst_ldp_index_clear (gpointer self)
{
  cuv_ldp_index_free (((GstLdpIndex *) self)->file);
}

static void
gst_ldp_index_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, gst_ldp_index_clear);
}

G_DEFINE_BOXED_TYPE (
    GstLdpIndex, gst_ldp_index, g_atomic_rc_box_acquire, gst_ldp_index_unref)

GstLdpIndex *
gst_ldp_index_load (const gchar *path, gchar **problem)
{
  static gint serial = 0;
  char *error = NULL;
  CuvLdpIndex *file = cuv_ldp_index_open (path, &error);
  GstLdpIndex *self;

  if (file == NULL || !cuv_ldp_index_check (file, &error)) {
    cuv_ldp_index_free (file);
    *problem = g_strdup (error);
    free (error);
    return NULL;
  }
  self = g_atomic_rc_box_new0 (GstLdpIndex);
  self->file = file;
  self->serial = (guint) g_atomic_int_add (&serial, 1);
  self->n_entries = cuv_ldp_index_n_entries (file);
  self->damaged = G_MAXUINT64;
  self->refreshed = g_get_monotonic_time ();
  return self;
}

/* ---- entries appended by other processes ---- */

enum { CHECK_US = 10000 }; /* maximum time per frame */

/* Verifies checksums of new entries. Returns whether it ran out of time. */
static gboolean
check_new (GstLdpIndex *self)
{
  const gint64 end = g_get_monotonic_time () + CHECK_US;
  const guint64 n = cuv_ldp_index_n_entries (self->file);

  while (self->n_entries < n && g_get_monotonic_time () < end
      && cuv_ldp_index_check_entry (self->file, self->n_entries))
    self->n_entries++;
  return self->n_entries < n && g_get_monotonic_time () >= end;
}

static void
refresh (GstLdpIndex *self, const gchar *path, GstElement *element)
{
  char *problem = NULL;

  self->lost = !cuv_ldp_index_refresh (self->file, &problem);
  if (self->lost) {
    GST_ELEMENT_WARNING (element, RESOURCE, READ,
        ("The index is no longer used: %s. Set the property index again when "
         "the file is complete.",
            problem),
        (NULL));
    free (problem);
    return;
  }
  if (!self->reported_replaced && cuv_ldp_index_is_replaced (self->file)) {
    self->reported_replaced = TRUE;
    GST_ELEMENT_WARNING (element, RESOURCE, READ,
        ("The index file %s was replaced or removed: the old one is still "
         "used. Set the property index again to use the new file.",
            path),
        (NULL));
  }
  if (check_new (self))
    self->refreshed = 0;
  else if (self->n_entries < cuv_ldp_index_n_entries (self->file)
      && self->n_entries != self->damaged) {
    self->damaged = self->n_entries;
    GST_ELEMENT_WARNING (element, RESOURCE, READ,
        ("Entry %" G_GUINT64_FORMAT
         " of index %s is damaged: it and all entries after it are ignored. "
         "Restore the file from a copy, or index the pictures again.",
            self->damaged, path),
        (NULL));
  }
}

gboolean
gst_ldp_index_refresh (
    GstLdpIndex *self, const gchar *path, gint interval, GstElement *element)
{
  const gint64 now = g_get_monotonic_time ();

  if (self->lost || interval == 0
      || now - self->refreshed < interval * G_TIME_SPAN_MILLISECOND)
    return FALSE;
  self->refreshed = now;
  refresh (self, path, element);
  return TRUE;
}
