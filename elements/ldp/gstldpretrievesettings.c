/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpretrievesettings.h"

#include <stdlib.h>
#include <string.h>

#include "retriever.h"

#define AT(field) G_STRUCT_OFFSET (GstLdpRetrieveValues, field)

enum {
  PROP_0,
  PROP_INDEX,
  PROP_REGION,
  PROP_OBJECT_CLASS,
  PROP_FIRST,
};

/* ---- the table ---- */

/**
 * GstLdpRetrieve:share:
 *
 * A GPU that is r times as fast as the CPU takes r / (1 + r) of the entries in
 * the time that the CPU takes for the others: -1 measures r.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "k", "K", "Most matches to publish for each frame or region, the best",
      AT (k), G_TYPE_UINT, NULL, 1, CUV_RETRIEVER_MAX_K, 5, 0 },
  { "threshold", "Threshold", "Least similarity of a match, 0 to 1",
      AT (threshold), G_TYPE_DOUBLE, NULL, 0, 1, 0, 0 },
  { "share", "Share",
      "Part of the index that the CPU compares while the GPU compares the rest "
      "(-1 = so that both take as long; frames in CUDA memory only)",
      AT (share), G_TYPE_DOUBLE, NULL, -1, 1, 0, 0 },
  { "gpu-memory-limit", "GPU memory limit",
      "MiB of the GPU's memory to use: what does not fit of an index is copied "
      "there for each frame (0 = half of what is free)",
      AT (gpu_memory_limit), G_TYPE_UINT, NULL, 0, G_MAXINT, 0, 0 },
  { "refresh-interval", "Refresh interval",
      "Milliseconds until entries that others append to the index are seen (0 "
      "= never)",
      AT (refresh_interval), G_TYPE_UINT, NULL, 0, G_MAXINT, 1000, 0 },
  { "thumbnails", "Thumbnails",
      "Publish the thumbnails of matches, for visionoverlay to show",
      AT (thumbnails), G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
};

static gpointer
place_of (GstLdpRetrieveValues *values, guint id)
{
  return G_STRUCT_MEMBER_P (values, properties[id - PROP_FIRST].offset);
}

void
gst_ldp_retrieve_settings_install (GObjectClass *klass)
{
  /**
   * GstLdpRetrieve:index:
   *
   * Every entry is checked when the index is loaded. While playing, a file that
   * cannot be loaded leaves the old index in force.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_INDEX,
      g_param_spec_string ("index", "Index",
          "File that ldpindexsink wrote, to compare frames with", NULL,
          GST_CUV_PARAM_LIVE));
  gst_ldp_region_choice_install (klass, PROP_REGION);
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), PROP_FIRST);
}

/* ---- the index ---- */

/* NULL and *problem says what went wrong; free() it. */
static CuvLdpIndex *
load (const gchar *path, char **problem)
{
  CuvLdpIndex *index = cuv_ldp_index_open (path, problem);

  if (index == NULL || cuv_ldp_index_check (index, problem))
    return index;
  cuv_ldp_index_free (index);
  return NULL;
}

/* The object lock is held. */
static void
put_index (GstLdpRetrieveSettings *self, CuvLdpIndex *index)
{
  cuv_ldp_index_free (self->index);
  self->index = index;
}

CuvLdpIndex *
gst_ldp_retrieve_settings_take_index (GstLdpRetrieveSettings *self)
{
  CuvLdpIndex *index;

  GST_OBJECT_LOCK (self->owner);
  index = self->index;
  self->index = NULL;
  GST_OBJECT_UNLOCK (self->owner);
  return index;
}

static void
take (GstLdpRetrieveSettings *self, CuvLdpIndex *index)
{
  GST_OBJECT_LOCK (self->owner);
  put_index (self, index);
  self->started = TRUE;
  GST_OBJECT_UNLOCK (self->owner);
}

/* Messages are posted when the lock is given back: who hears of them may set
 * properties at once. */
gboolean
gst_ldp_retrieve_settings_start (GstLdpRetrieveSettings *self)
{
  char *problem = NULL;
  CuvLdpIndex *index;
  gchar *path;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  path = g_strdup (self->path != NULL ? self->path : "");
  GST_OBJECT_UNLOCK (self->owner);
  index = *path != '\0' ? load (path, &problem) : NULL;
  if (index != NULL)
    take (self, index);
  g_mutex_unlock (&self->loading);
  if (*path == '\0')
    GST_ELEMENT_ERROR (self->owner, RESOURCE, NOT_FOUND,
        ("There is no index: set index to a file that ldpindexsink wrote."),
        (NULL));
  else if (index == NULL)
    GST_ELEMENT_ERROR (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load the index: %s.", problem), (NULL));
  free (problem);
  g_free (path);
  return index != NULL;
}

void
gst_ldp_retrieve_settings_stop (GstLdpRetrieveSettings *self)
{
  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  self->started = FALSE;
  put_index (self, NULL);
  GST_OBJECT_UNLOCK (self->owner);
  g_mutex_unlock (&self->loading);
}

static void
set_path (GstLdpRetrieveSettings *self, const gchar *path)
{
  GST_OBJECT_LOCK (self->owner);
  g_free (self->path);
  self->path = g_strdup (path);
  GST_OBJECT_UNLOCK (self->owner);
}

/* NULL, or what went wrong: then all is as before; free() it. */
static char *
change_index (GstLdpRetrieveSettings *self, const gchar *path)
{
  char *problem = NULL;
  CuvLdpIndex *index;

  if (path == NULL || *path == '\0')
    return strdup ("there is no file of no name");
  index = load (path, &problem);
  if (index == NULL)
    return problem;
  set_path (self, path);
  take (self, index);
  gst_cuv_filter_request_prepare (self->owner);
  return NULL;
}

/* Loads in the caller's thread, so the stream goes on meanwhile. */
static void
set_index (GstLdpRetrieveSettings *self, const gchar *path)
{
  char *problem = NULL;
  gboolean started;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  GST_OBJECT_UNLOCK (self->owner);
  if (started)
    problem = change_index (self, path);
  else
    set_path (self, path);
  g_mutex_unlock (&self->loading);
  if (problem != NULL)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load the index, the old one stays: %s.", problem), (NULL));
  free (problem);
}

/* ---- settings ---- */

GstLdpRetrieveValues
gst_ldp_retrieve_settings_values (GstLdpRetrieveSettings *self)
{
  GstLdpRetrieveValues values;

  GST_OBJECT_LOCK (self->owner);
  values = self->values;
  GST_OBJECT_UNLOCK (self->owner);
  return values;
}

void
gst_ldp_retrieve_settings_set (
    GstLdpRetrieveSettings *self, guint id, const GValue *value)
{
  GstLdpRegionChoice *choice = &self->values.choice;
  gboolean changed;

  if (id == PROP_INDEX) {
    set_index (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self->owner);
  changed = id < PROP_FIRST
      ? gst_ldp_region_choice_set (choice, id - PROP_REGION, value)
      : gst_cuv_value_store (place_of (&self->values, id), value);
  GST_OBJECT_UNLOCK (self->owner);
  if (changed)
    gst_cuv_filter_request_prepare (self->owner);
}

void
gst_ldp_retrieve_settings_get (
    GstLdpRetrieveSettings *self, guint id, GValue *value)
{
  GST_OBJECT_LOCK (self->owner);
  if (id == PROP_INDEX)
    g_value_set_string (value, self->path);
  else if (id < PROP_FIRST)
    gst_ldp_region_choice_get (&self->values.choice, id - PROP_REGION, value);
  else
    gst_cuv_value_fetch (place_of (&self->values, id), value);
  GST_OBJECT_UNLOCK (self->owner);
}

void
gst_ldp_retrieve_settings_init (
    GstLdpRetrieveSettings *self, GstCuvFilter *owner)
{
  self->owner = owner;
  g_mutex_init (&self->loading);
  gst_cuv_properties_reset (
      properties, G_N_ELEMENTS (properties), &self->values);
}

void
gst_ldp_retrieve_settings_clear (GstLdpRetrieveSettings *self)
{
  cuv_ldp_index_free (self->index);
  g_clear_pointer (&self->path, g_free);
  g_mutex_clear (&self->loading);
}
