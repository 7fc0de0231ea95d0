/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpretrievesettings.h"

#include "backend.h"

#define AT(field) G_STRUCT_OFFSET (GstLdpRetrieveSettings, field)

static gchar *
load_index (gpointer settings)
{
  GstLdpRetrieveSettings *self = settings;
  gchar *problem = NULL;
  GstLdpIndex *index;

  if (self->path == NULL || *self->path == '\0')
    return g_strdup ("set index to a file that ldpindexsink wrote");
  index = gst_ldp_index_load (self->path, &problem);
  if (index == NULL)
    return problem;
  if (self->index != NULL)
    g_boxed_free (gst_ldp_index_get_type (), self->index);
  self->index = index;
  return NULL;
}

/**
 * GstLdpRetrieve:index:
 *
 * Every entry is checked when the index is loaded. While playing, a file that
 * cannot be loaded leaves the old index in force.
 *
 * Since: 0.1
 */
/**
 * GstLdpRetrieve:share:
 *
 * A GPU that is r times as fast as the CPU takes r / (1 + r) of the entries in
 * the time that the CPU takes for the others: -1 measures r.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "index", "Index", "File that ldpindexsink wrote, to compare frames with",
      .offset = AT (path), .type = G_TYPE_STRING, .parse = load_index,
      .is_file = TRUE },
  GST_LDP_REGION_SETTINGS,
  { "k", "K", "Most matches to publish for each frame or region, the best",
      .offset = AT (k), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_LDP_MAX_MATCHES, .value = 5 },
  { "threshold", "Threshold", "Least similarity of a match, 0 to 1",
      .offset = AT (threshold), .type = G_TYPE_DOUBLE, .maximum = 1 },
  { "share", "Share",
      "Part of the index that the CPU compares while the GPU compares the rest "
      "(-1 = so that both take as long; frames in CUDA memory only)",
      .offset = AT (share), .type = G_TYPE_DOUBLE, .minimum = -1,
      .maximum = 1 },
  { "gpu-memory-limit", "GPU memory limit",
      "MiB of GPU memory to use: entries that do not fit are copied there for "
      "each frame (0 = half of what is free)",
      .offset = AT (gpu_memory_limit), .type = G_TYPE_UINT,
      .maximum = G_MAXINT },
  { "refresh-interval", "Refresh interval",
      "Milliseconds until entries that others append to the index are seen (0 "
      "= never)",
      .offset = AT (refresh_interval), .type = G_TYPE_UINT, .maximum = G_MAXINT,
      .value = 1000 },
  { "thumbnails", "Thumbnails",
      "Publish the thumbnails of matches, for visionoverlay to show",
      .offset = AT (thumbnails), .type = G_TYPE_BOOLEAN, .value = TRUE },
};

static const GstCuvOwnedField owned[] = {
  { AT (index), gst_ldp_index_get_type },
};

const GstCuvSettingsTable gst_ldp_retrieve_settings = {
  .size = sizeof (GstLdpRetrieveSettings),
  .list = list,
  .n = G_N_ELEMENTS (list),
  .owned = owned,
  .n_owned = G_N_ELEMENTS (owned),
};
