/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstldpindexsettings.h"

#include "indexsink/gstldpnames.h"
#include "index/ldpindex.h"

#define AT(field) G_STRUCT_OFFSET (GstLdpIndexSettings, field)

static gchar *
check (gconstpointer settings)
{
  const GstLdpIndexSettings *self = settings;

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

/**
 * GstLdpIndexSink:stats:
 *
 * Since the start: frames that came, entries written and their bytes (guint64);
 * entries of the whole file; device: where the last frame was described, cuda,
 * cpu or, if not here, none; microseconds and microseconds-mean (guint64) that
 * frames took.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:n-threads:
 *
 * Threads for work on the CPU, 0 = one per processor. The index is the same
 * for every number.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:location:
 *
 * The index: created if it does not exist, else entries are appended. Used at
 * the next start.
 *
 * Since: 0.1
 */
/**
 * GstLdpIndexSink:entry-name:
 *
 * Name of the entries: text that may have one %d, or %05d, for the number of
 * the frame, counted from start-index, and %% for a percent sign. By default
 * the title that the stream's tags gave since the frame before, behind
 * multifilesrc the name of the file, else %06d. Used at the next start.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "cuda-device-id", "CUDA device",
      "CUDA device to use if the frame does not determine it (-1 = any)",
      .offset = AT (cuda_device_id), .type = G_TYPE_INT, .minimum = -1,
      .maximum = G_MAXINT, .value = -1, .at_start = TRUE },
  { "stats", "Statistics", "What the element did",
      .get_type = gst_structure_get_type, .get = gst_ldp_index_sink_get_stats },
  { "thumbnail-width", "Thumbnail width",
      "Width in pixels of the thumbnails stored (0, as the height: none)",
      .offset = AT (thumbnail_width), .type = G_TYPE_UINT,
      .maximum = CUV_LDP_INDEX_MAX_THUMBNAIL, .value = 64, .at_start = TRUE },
  { "thumbnail-height", "Thumbnail height",
      "Height in pixels of the thumbnails stored (0, as the width: none)",
      .offset = AT (thumbnail_height), .type = G_TYPE_UINT,
      .maximum = CUV_LDP_INDEX_MAX_THUMBNAIL, .value = 64, .at_start = TRUE },
  { "start-index", "Start index", "Number of the first frame, in names",
      .offset = AT (start_index), .type = G_TYPE_INT, .maximum = G_MAXINT,
      .at_start = TRUE },
  { "progress-interval", "Progress interval",
      "Post progress as an element message every so many ms, and at the end "
      "(0 = never)",
      .offset = AT (progress_interval), .type = G_TYPE_UINT,
      .maximum = G_MAXINT, .value = 1000, .at_start = TRUE },
  { "sync-to-disk", "Sync to disk",
      "Wait for the disk at each entry, so that it survives a power loss",
      .offset = AT (sync_to_disk), .type = G_TYPE_BOOLEAN, .at_start = TRUE },
  GST_LDP_PARAMETER_SETTINGS (AT (parameters), TRUE),
  GST_LDP_REGION_SETTINGS,
  { "n-threads", "Threads",
      "Threads for work on the CPU (0 = one per processor)",
      .offset = AT (n_threads), .type = G_TYPE_INT, .maximum = 1024,
      .no_controller = TRUE },
  { "location", "Location", "File to write, or to append to",
      .offset = AT (location), .type = G_TYPE_STRING, .at_start = TRUE },
  { "entry-name", "Entry name",
      "Name of entries, %05d in it the frame's number (default: the title in "
      "the stream's tags, a file's name, else %06d)",
      .offset = AT (entry_name), .type = G_TYPE_STRING, .at_start = TRUE },
};

const GstCuvSettingsTable gst_ldp_index_settings = {
  .size = sizeof (GstLdpIndexSettings),
  .list = list,
  .n = G_N_ELEMENTS (list),
  .check = check,
};
