/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpindexsettings.h"

#include "gstcuvfilter.h"
#include "indexsink/gstldpnames.h"
#include "index/ldpindex.h"

#define AT(field) G_STRUCT_OFFSET (GstLdpIndexSettings, field)

/* used at the next start */
static const GstCuvProperty properties[] = {
  { "thumbnail-width", "Thumbnail width",
      "Pixels across of the pictures kept (0, and 0 down: none are kept)",
      AT (thumbnail_width), G_TYPE_UINT, NULL, 0, CUV_LDP_INDEX_MAX_THUMBNAIL,
      64, 0 },
  { "thumbnail-height", "Thumbnail height",
      "Pixels down of the pictures kept (0, and 0 across: none are kept)",
      AT (thumbnail_height), G_TYPE_UINT, NULL, 0, CUV_LDP_INDEX_MAX_THUMBNAIL,
      64, 0 },
  { "start-index", "Start index", "Number of the first frame, in names",
      AT (start_index), G_TYPE_INT, NULL, 0, G_MAXINT, 0, 0 },
  { "progress-interval", "Progress interval",
      "Post progress as an element message every so many ms, and at the end "
      "(0 = never)",
      AT (progress_interval), G_TYPE_UINT, NULL, 0, G_MAXINT, 1000, 0 },
  { "sync-to-disk", "Sync to disk",
      "Wait for the disk at each entry, that it outlives a loss of power",
      AT (sync_to_disk), G_TYPE_BOOLEAN, NULL, 0, 1, FALSE, 0 },
};

enum {
  PROP_TABLE = GST_LDP_INDEX_PROP_FIRST,
  PROP_PARAMETERS = PROP_TABLE + G_N_ELEMENTS (properties),
  PROP_REGION = PROP_PARAMETERS + GST_LDP_N_PARAMETERS,
  PROP_N_THREADS = PROP_REGION + GST_LDP_N_REGION_PROPERTIES,
  PROP_LOCATION,
  PROP_ENTRY_NAME,
};

/* ---- installing ---- */

/* All entries of an index are of one kind. */
static void
use_at_start (GObjectClass *klass)
{
  guint n;
  GParamSpec **all = g_object_class_list_properties (klass, &n);

  for (guint i = 0; i < n; i++) {
    if (all[i]->owner_type != G_TYPE_FROM_CLASS (klass)
        || !(all[i]->flags & GST_PARAM_MUTABLE_PLAYING))
      continue;
    all[i]->flags &= ~(GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE);
    all[i]->flags |= GST_PARAM_MUTABLE_READY;
  }
  g_free (all);
}

static void
install_names (GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY | G_PARAM_STATIC_STRINGS;

  /**
   * GstLdpIndexSink:location:
   *
   * The index: made if it is not there, else entries are added to it. Used at
   * the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "File to write, or to go on with", NULL, flags));
  /**
   * GstLdpIndexSink:entry-name:
   *
   * Name of the entries: text that may have one %d, or %05d, for the number of
   * the frame, counted from start-index, and %% for a percent sign. By default
   * the title that the stream's tags gave since the frame before, behind
   * multifilesrc the name of the file, else %06d.
   * Used at the next start.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_ENTRY_NAME,
      g_param_spec_string ("entry-name", "Entry name",
          "Name of entries, %05d in it the frame's number (default: the "
          "title in the stream's tags, a file's name, else %06d)",
          NULL, flags));
}

void
gst_ldp_index_settings_install (GObjectClass *klass)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), PROP_TABLE);
  gst_ldp_parameters_install (klass, PROP_PARAMETERS);
  use_at_start (klass);
  gst_ldp_region_choice_install (klass, PROP_REGION);
  /**
   * GstLdpIndexSink:n-threads:
   *
   * Threads for work on the CPU, 0 = one per processor. The index is the same
   * for every number.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_N_THREADS,
      g_param_spec_int ("n-threads", "Threads",
          "Threads for work on the CPU (0 = one per processor)", 0, 1024, 0,
          GST_CUV_PARAM_LIVE));
  install_names (klass);
}

/* ---- values ---- */

void
gst_ldp_index_settings_init (GstLdpIndexSettings *self)
{
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), self);
  gst_ldp_parameters_reset (&self->parameters);
}

void
gst_ldp_index_settings_clear (GstLdpIndexSettings *self)
{
  g_clear_pointer (&self->location, g_free);
  g_clear_pointer (&self->entry_name, g_free);
}

/* Of a number; NULL for what is none. */
static gpointer
place_of (GstLdpIndexSettings *self, guint id)
{
  if (id == PROP_N_THREADS)
    return &self->n_threads;
  if (id >= PROP_REGION)
    return NULL;
  return id >= PROP_PARAMETERS
      ? gst_ldp_parameters_place (&self->parameters, id - PROP_PARAMETERS)
      : G_STRUCT_MEMBER_P (self, properties[id - PROP_TABLE].offset);
}

static gchar **
text_of (GstLdpIndexSettings *self, guint id)
{
  return id == PROP_LOCATION ? &self->location : &self->entry_name;
}

void
gst_ldp_index_settings_set (
    GstLdpIndexSettings *self, guint id, const GValue *value)
{
  gpointer place = place_of (self, id);

  if (place != NULL) {
    gst_cuv_value_store (place, value);
  } else if (id < PROP_N_THREADS) {
    gst_ldp_region_choice_set (&self->choice, id - PROP_REGION, value);
  } else {
    g_free (*text_of (self, id));
    *text_of (self, id) = g_value_dup_string (value);
  }
}

void
gst_ldp_index_settings_get (GstLdpIndexSettings *self, guint id, GValue *value)
{
  gpointer place = place_of (self, id);

  if (place != NULL)
    gst_cuv_value_fetch (place, value);
  else if (id < PROP_N_THREADS)
    gst_ldp_region_choice_get (&self->choice, id - PROP_REGION, value);
  else
    g_value_set_string (value, *text_of (self, id));
}

void
gst_ldp_index_settings_copy (
    const GstLdpIndexSettings *self, GstLdpIndexSettings *to)
{
  gst_ldp_index_settings_clear (to);
  *to = *self;
  to->location = g_strdup (self->location);
  to->entry_name = g_strdup (self->entry_name);
  if (to->entry_name != NULL && *to->entry_name == '\0')
    g_clear_pointer (&to->entry_name, g_free);
}

gchar *
gst_ldp_index_settings_check (const GstLdpIndexSettings *self)
{
  if (self->location == NULL || *self->location == '\0')
    return g_strdup ("location is not set: give it the name of a file, as in "
                     "location=pictures.ldp");
  if ((self->thumbnail_width == 0) != (self->thumbnail_height == 0))
    return g_strdup_printf (
        "thumbnail-width is %d and thumbnail-height %d: set both above 0, or "
        "both to 0 for an index without thumbnails",
        self->thumbnail_width, self->thumbnail_height);
  return gst_ldp_name_check (self->entry_name);
}
