/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "indexsink/gstldpentries.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

static gboolean
post_settings_error (GstLdpEntries *self, const gchar *problem)
{
  GST_ELEMENT_ERROR (
      self->element, RESOURCE, SETTINGS, ("%s.", problem), (NULL));
  return FALSE;
}

/* Takes ownership of the text. */
static gboolean
post_write_error (GstLdpEntries *self, char *problem)
{
  if (self->writer != NULL && cuv_ldp_index_writer_is_full (self->writer))
    GST_ELEMENT_ERROR (self->element, RESOURCE, NO_SPACE_LEFT,
        ("The index %s.", problem), (NULL));
  else
    GST_ELEMENT_ERROR (
        self->element, RESOURCE, WRITE, ("The index %s.", problem), (NULL));
  free (problem);
  return FALSE;
}

/* How to make the layouts equal; free it. */
static gchar *
remedy_of (const CuvLdpLayout *is, const CuvLdpLayout *new, const gchar *whose)
{
  return memcmp (&is->params, &new->params, sizeof is->params) == 0
      ? g_strdup_printf ("set descriptor-width and descriptor-height of %s, so "
                         "that all descriptors have one size",
          whose)
      : g_strdup_printf ("set the parameters of %s to those of the index, or "
                         "location of ldpindexsink to another file",
          whose);
}

static gboolean
post_other_layout (
    GstLdpEntries *self, const CuvLdpIndexInfo *other, const gchar *whose)
{
  char *is = cuv_ldp_index_info_text (&self->info);
  char *new = cuv_ldp_index_info_text (other);
  gchar *remedy = remedy_of (&self->info.layout, &other->layout, whose);
  gchar *problem =
      g_strdup_printf ("The index has other parameters (%s) than this frame's "
                       "descriptor (%s): %s",
          is, new, remedy);

  post_settings_error (self, problem);
  g_free (problem);
  g_free (remedy);
  free (new);
  free (is);
  return FALSE;
}

/* ---- opening ---- */

static gboolean
allocate_histograms (GstLdpEntries *self)
{
  const gsize n = cuv_ldp_n_counts (&self->info.layout);

  g_free (self->histograms); /* left from an index that did not open */
  self->histograms = g_try_new (guint32, n);
  if (self->histograms != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self->element, RESOURCE, FAILED,
      ("Out of memory: the counts of an entry take %" G_GSIZE_FORMAT
       " MB. Use fewer blocks, bins or directions.",
          n * sizeof (guint32) >> 20),
      (NULL));
  return FALSE;
}

static gboolean
open_index (GstLdpEntries *self, const GstLdpIndexSettings *settings)
{
  const CuvLdpIndexInfo *info = &self->info;
  char *problem;

  if (!allocate_histograms (self))
    return FALSE;
  self->writer = cuv_ldp_index_writer_open (
      settings->location, info, settings->sync_to_disk, &problem);
  if (self->writer == NULL)
    return post_write_error (self, problem);
  if (info->thumbnail_width > 0)
    self->thumbnailer =
        gst_ldp_thumbnailer_new (info->thumbnail_width, info->thumbnail_height);
  return TRUE;
}

gboolean
gst_ldp_entries_ensure (GstLdpEntries *self,
    const GstLdpIndexSettings *settings, const CuvLdpLayout *layout,
    const gchar *whose)
{
  CuvLdpIndexInfo info;
  const gchar *wrong = cuv_ldp_index_info_init (&info, &layout->params,
      layout->width, layout->height, settings->thumbnail_width,
      settings->thumbnail_height);

  if (wrong != NULL)
    return post_settings_error (self, wrong);
  if (self->writer != NULL)
    return memcmp (&info.layout, &self->info.layout, sizeof info.layout) == 0
        || post_other_layout (self, &info, whose);
  self->info = info;
  return open_index (self, settings);
}

gboolean
gst_ldp_entries_close (GstLdpEntries *self)
{
  char *problem = NULL;

  g_clear_pointer (&self->thumbnailer, gst_ldp_thumbnailer_free);
  g_clear_pointer (&self->histograms, g_free);
  return self->writer == NULL
      || cuv_ldp_index_writer_close (g_steal_pointer (&self->writer), &problem)
      || post_write_error (self, problem);
}

/* ---- an entry ---- */

gboolean
gst_ldp_entries_append (GstLdpEntries *self, gconstpointer counts,
    const gchar *name, const GstVideoInfo *info, GstBuffer *buffer,
    const CuvLdpRect *rect)
{
  const guint8 *thumbnail = NULL;
  char *problem;

  if (self->thumbnailer != NULL) {
    thumbnail = gst_ldp_thumbnailer_run (
        self->thumbnailer, info, buffer, rect, &problem);
    if (thumbnail == NULL) {
      GST_ELEMENT_ERROR (self->element, STREAM, FORMAT, ("%s.", problem),
          ("%" GST_PTR_FORMAT, buffer));
      g_free (problem);
      return FALSE;
    }
  }
  cuv_ldp_convert_counts (&self->info.layout, counts, self->histograms);
  return cuv_ldp_index_writer_append (
             self->writer, self->histograms, name, thumbnail, &problem)
      || post_write_error (self, problem);
}
