/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstvisiontracksettings.h"

#include "settings/gstcuvmetadata.h"

#define AT(field) G_STRUCT_OFFSET (GstTrackSettings, field)
#define MAX_SCORE 1000.

static gchar *
gst_track_check (gconstpointer settings)
{
  const GstTrackSettings *self = settings;

  if (self->low > self->high)
    return g_strdup_printf ("low %g is above high %g: set low to at most high, "
                            "or to the same value for no second round",
        self->low, self->high);
  return gst_cuv_metadata_problem (self->metadata);
}

static gchar *
parse_track_class (gpointer settings)
{
  GstTrackSettings *self = settings;
  const gchar *label = self->object_class;

  self->label =
      label != NULL && *label != '\0' ? g_quark_from_string (label) : 0;
  return NULL;
}

CuvMotParams
gst_track_settings_params (const GstTrackSettings *self)
{
  return (CuvMotParams){ self->high, self->low, self->begin,
    (gint32) (self->max_distance * CUV_MOT_ONE),
    (gint32) (self->max_distance_low * CUV_MOT_ONE),
    (gint32) (self->max_distance_new * CUV_MOT_ONE), self->max_lost_frames,
    self->min_hits };
}

GST_CUV_DEFINE_ENUM (empty_get_type, "GstVisionTrackEmpty",
    { FALSE, "The detector found nothing: tracks are lost", "missed" },
    { TRUE, "The detector did not look: tracks continue", "skipped" })

GST_CUV_DEFINE_ENUM (message_get_type, "GstVisionTrackMessage",
    { GST_TRACK_MESSAGE_NONE, "Post no message", "none" },
    { GST_TRACK_MESSAGE_ON_CHANGE,
        "Post one when a track is confirmed, lost, found again or given up",
        "on-change" },
    { GST_TRACK_MESSAGE_EVERY_FRAME, "Post one for every frame",
        "every-frame" })

/**
 * GstVisionTrack:high:
 *
 * Objects with this score or more are assigned to tracks first. Objects without
 * a score are assigned with them.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:low:
 *
 * Objects with this score or more, but less than high, continue tracks that no
 * object with a high score continues. They begin no tracks and find no lost
 * ones. Objects with lower scores are ignored.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:max-distance:
 *
 * 1 - IoU of the predicted box and an object above which the object does not
 * belong to the track. Boxes that do not overlap never do.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:max-lost-frames:
 *
 * A lost track is given up after this many frames. They are counted by
 * timestamps and the frame rate, so that missing frames count, too.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:empty-frames:
 *
 * What a frame without any object means. A detector that analyses one of N
 * frames leaves the others without objects: then it is skipped.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:first-id:
 *
 * The id of the first track after the start. With another tracker in the
 * pipeline, a number that its ids do not reach.
 *
 * Since: 0.2
 */
/**
 * GstVisionTrack:stats:
 *
 * A structure with frames and ids (guint64); objects, tracked, lost and
 * unconfirmed (guint) of the last frame; microseconds and microseconds-mean
 * (gdouble).
 *
 * Since: 0.2
 */
static const GstCuvSetting list[] = {
  { "high", "High score", "Score from which objects are assigned first",
      .offset = AT (high), .type = G_TYPE_DOUBLE, .minimum = -MAX_SCORE,
      .maximum = MAX_SCORE, .value = 0.5 },
  { "low", "Low score",
      "Score from which objects continue tracks that have none with a high "
      "score",
      .offset = AT (low), .type = G_TYPE_DOUBLE, .minimum = -MAX_SCORE,
      .maximum = MAX_SCORE, .value = 0.1 },
  { "begin", "Score to begin",
      "Score from which objects begin tracks, if it is not below high",
      .offset = AT (begin), .type = G_TYPE_DOUBLE, .minimum = -MAX_SCORE,
      .maximum = MAX_SCORE, .value = 0.6 },
  { "max-distance", "Maximum distance",
      "Maximum of 1 - IoU of an object with a high score and a track's "
      "prediction",
      .offset = AT (max_distance), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = 0.8 },
  { "max-distance-low", "Maximum distance, low score",
      "The same for objects with a low score", .offset = AT (max_distance_low),
      .type = G_TYPE_DOUBLE, .maximum = 1, .value = 0.5 },
  { "max-distance-new", "Maximum distance, new track",
      "The same for tracks that are not confirmed",
      .offset = AT (max_distance_new), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = 0.7 },
  { "max-lost-frames", "Maximum lost frames",
      "Number of frames after which a lost track is given up",
      .offset = AT (max_lost_frames), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 1000000, .value = 30 },
  { "min-hits", "Minimum hits",
      "Number of consecutive frames with an object that confirm a track",
      .offset = AT (min_hits), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 1000, .value = 2 },
  { "object-class", "Object class",
      "Label of the objects to track (empty = any)",
      .offset = AT (object_class), .type = G_TYPE_STRING,
      .parse = parse_track_class },
  { "separate-labels", "Separate labels",
      "A track has objects of one label and one model only",
      .offset = AT (separate_labels), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "empty-frames", "Empty frames", "What a frame without objects means",
      .offset = AT (skip_empty), .get_type = empty_get_type },
  { "first-id", "First id", "Id of the first track after the start",
      .offset = AT (first_id), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 1000000000, .value = 1, .at_start = TRUE },
  { "message", "Message", "When to post tracks as an element message",
      .offset = AT (message), .get_type = message_get_type,
      .value = GST_TRACK_MESSAGE_ON_CHANGE },
  GST_CUV_METADATA_SETTING (AT (metadata)),
  { "stats", "Statistics", "Statistics of the element's work",
      .get_type = gst_structure_get_type, .get = gst_vision_track_get_stats },
};

const GstCuvSettingsTable gst_track_settings = {
  GST_CUV_SETTINGS (GstTrackSettings, list),
  .check = gst_track_check,
};
