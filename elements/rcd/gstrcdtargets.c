/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtargets.h"

#include "gstrcdpicture.h"
#include "gstrcdtrackproperties.h"

static const CuvRcdBox no_box = { -1, -1, 0, 0 };

/* ---- new targets ----
 *
 * The lock is held here. */

G_GNUC_PRINTF (2, 3)
static void
warn (GstRcdTargets *self, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (self->warnings, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static gint
add_box (GstRcdTargets *self, const CuvRcdBox *box)
{
  gint id = cuv_tracker_add (self->tracker, box);

  if (id != 0)
    g_array_append_val (self->places, *box);
  return id;
}

gboolean
gst_rcd_targets_is_new_box (const GstRcdTargets *self, const CuvRcdBox *box)
{
  return box->x != self->box.x || box->y != self->box.y
      || box->width != self->box.width || box->height != self->box.height;
}

static void
take_box (GstRcdTargets *self, const GstRcdValues *values)
{
  if (!gst_rcd_targets_is_new_box (self, &values->box))
    return;
  cuv_tracker_remove (self->tracker, self->box_id);
  self->box_id = 0;
  self->box = values->box;
  if (!gst_rcd_values_have_box (values))
    return;
  self->box_id = add_box (self, &self->box);
  if (self->box_id == 0)
    warn (self,
        "The box of object-initial-* is not followed: max-targets, %d, are. "
        "Raise max-targets, or emit clear-target before.",
        values->max_targets);
}

/* NULL, or what went wrong. */
static const gchar *
add_picture (GstRcdTargets *self, GstSample *sample, const GstVideoInfo *like)
{
  GstCuvTransform *transform = GST_CUV_TRANSFORM (self->settings->owner);
  const gchar *problem = "GStreamer cannot convert it to the frames' format";
  GstVideoInfo info;
  GstCuvFrame picture;
  GstBuffer *buffer = gst_rcd_picture_convert (sample, like, &info);

  if (buffer != NULL
      && gst_cuv_frame_map (&picture, gst_cuv_transform_context (transform),
          &info, buffer, GST_MAP_READ)) {
    problem = NULL;
    self->picture_id =
        cuv_tracker_add_picture (self->tracker, &picture.frame, &problem);
    gst_cuv_frame_unmap (&picture);
  }
  gst_clear_buffer (&buffer);
  return problem;
}

static void
take_picture (
    GstRcdTargets *self, const GstRcdValues *values, const GstVideoInfo *info)
{
  const gchar *problem = NULL;
  GstSample *sample;

  if (self->picture == values->picture)
    return;
  cuv_tracker_remove (self->tracker, self->picture_id);
  self->picture_id = 0;
  self->picture = values->picture;
  sample = gst_rcd_settings_picture (self->settings);
  if (sample != NULL)
    problem = add_picture (self, sample, info);
  if (problem != NULL)
    warn (self, "The picture of target-image is not followed: %s.", problem);
  g_clear_pointer (&sample, gst_sample_unref);
}

static gboolean
is_followed (const GstRcdTargets *self, const CuvRcdBox *box)
{
  for (guint i = 0; i < self->places->len; i++) {
    if (gst_rcd_is_same_place (
            &g_array_index (self->places, CuvRcdBox, i), box))
      return TRUE;
  }
  return FALSE;
}

static void
take_regions (GstRcdTargets *self, const GstRcdValues *values,
    GstBuffer *buffer, const GstVideoInfo *info)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  CuvRcdBox box;

  while (cuv_tracker_n_targets (self->tracker) < values->max_targets
      && (roi = gst_rcd_next_region (
              buffer, values->object_class, info, &state, &box))
          != NULL) {
    if (!is_followed (self, &box)) {
      GstRcdTarget target = { add_box (self, &box), roi->roi_type,
        GST_CLOCK_TIME_NONE };

      g_array_append_val (self->targets, target);
    }
  }
}

/* ---- what is found ----
 *
 * The lock is held here. */

static GstRcdTarget
find_target (const GstRcdTargets *self, gint id)
{
  for (guint i = 0; i < self->targets->len; i++) {
    const GstRcdTarget *target =
        &g_array_index (self->targets, GstRcdTarget, i);

    if (target->id == id)
      return *target;
  }
  return (GstRcdTarget){ id, g_quark_from_static_string ("target"),
    GST_CLOCK_TIME_NONE };
}

/* Keeps what there is to say of the targets that are left, in the order of
 * their tracks. */
static void
note_targets (GstRcdTargets *self, GstClockTime time)
{
  const guint n_before = self->targets->len;

  for (gint i = 0; i < self->result.n_tracks; i++) {
    const CuvTrack *track = &self->result.tracks[i];
    GstRcdTarget target = find_target (self, track->id);

    if (track->state == CUV_TRACK_TRACKED
        && !GST_CLOCK_TIME_IS_VALID (target.first_seen))
      target.first_seen = time;
    g_array_append_val (self->targets, target);
  }
  g_array_remove_range (self->targets, 0, n_before);
}

static void
note_events (GstRcdTargets *self)
{
  g_array_set_size (self->places, 0);
  for (gint i = 0; i < self->result.n_tracks; i++) {
    const CuvTrack *track = &self->result.tracks[i];

    self->changes += track->event != CUV_TRACK_NOTHING;
    if (track->event != CUV_TRACK_GIVEN_UP)
      g_array_append_val (self->places, track->box);
    else if (track->id == self->picture_id)
      self->picture = 0; /* it may well be of what comes later: once more */
  }
}

/* A detector may find what cannot be followed in frame after frame: it is said
 * once. */
static void
note_refusal (GstRcdTargets *self)
{
  const gchar *refused = self->result.refused;

  if (refused != NULL && !self->refused)
    warn (self, "Cannot follow a target: %s.", refused);
  self->refused = refused != NULL;
}

static void
note_no_window (GstRcdTargets *self, const GstCuvFrame *frame)
{
  gboolean none = FALSE;

  for (gint i = 0; i < self->result.n_tracks; i++)
    none |= self->result.tracks[i].state == CUV_TRACK_LOST;
  none = none && self->result.windows == 0;
  if (none && !self->no_window)
    warn (self,
        "No window fits the frame, which is %dx%d: set scales to smaller ones, "
        "or choose smaller targets.",
        frame->frame.width, frame->frame.height);
  self->no_window = none;
}

static void
post_warnings (GstRcdTargets *self)
{
  for (guint i = 0; i < self->warnings->len; i++)
    GST_ELEMENT_WARNING (self->settings->owner, STREAM, FAILED,
        ("%s", (gchar *) self->warnings->pdata[i]), (NULL));
  g_ptr_array_set_size (self->warnings, 0);
}

/* ---- entry ---- */

gchar *
gst_rcd_targets_prepare (
    GstRcdTargets *self, const GstRcdValues *values, const GstCuvFrame *frame)
{
  CuvTrackerShape shape = gst_rcd_values_shape (values);
  CuvTrackerParams params = gst_rcd_values_params (values);
  const gchar *problem = NULL;
  gint n;

  g_mutex_lock (&self->lock);
  n = cuv_tracker_n_targets (self->tracker);
  if (n <= shape.max_targets)
    problem = cuv_tracker_reshape (self->tracker, &shape);
  if (n <= shape.max_targets && problem == NULL)
    problem = cuv_tracker_prepare (
        self->tracker, &params, &frame->frame, frame->cuda, frame->stream);
  g_mutex_unlock (&self->lock);
  if (n > shape.max_targets)
    return g_strdup_printf (
        "max-targets %d is less than the %d targets that are followed: raise "
        "it, or emit clear-target before",
        shape.max_targets, n);
  return g_strdup (problem);
}

const gchar *
gst_rcd_targets_run (GstRcdTargets *self, const GstRcdValues *values,
    const GstCuvFrame *frame, const GstVideoInfo *info, gint n_threads)
{
  CuvTrackerParams params = gst_rcd_values_params (values);
  GstBuffer *buffer = frame->video.buffer;
  const gchar *problem;

  params.full |= self->search_all;
  g_mutex_lock (&self->lock);
  take_box (self, values);
  take_picture (self, values, info);
  take_regions (self, values, buffer, info);
  problem = cuv_tracker_run (self->tracker, &frame->frame, &params,
      frame->writable && values->draw, frame->cuda, frame->stream, n_threads,
      &self->result);
  if (problem == NULL) {
    note_targets (self, GST_BUFFER_PTS (buffer));
    note_events (self);
    note_refusal (self);
    note_no_window (self, frame);
    self->search_all = FALSE;
  }
  g_mutex_unlock (&self->lock);
  post_warnings (self);
  return problem;
}

/* Makes the tracker if there is none yet: targets may be named before frames
 * come. What is set is met by prepare(), where all can be told of it. NULL, or
 * what went wrong. */
static const gchar *
ensure_tracker (GstRcdTargets *self)
{
  const gchar *problem = NULL;
  CuvTrackerShape shape;
  GstRcdValues values;

  if (self->tracker != NULL)
    return NULL;
  gst_rcd_properties_reset (&values);
  values.max_targets = CUV_RCD_MAX_TARGETS;
  shape = gst_rcd_values_shape (&values);
  self->tracker = cuv_tracker_new (&shape, &problem);
  return problem;
}

gint
gst_rcd_targets_add (GstRcdTargets *self, const CuvRcdBox *box)
{
  const gint max_targets = gst_rcd_settings_values (self->settings).max_targets;
  gint id = 0;

  g_mutex_lock (&self->lock);
  if (ensure_tracker (self) == NULL
      && cuv_tracker_n_targets (self->tracker) < max_targets)
    id = add_box (self, box);
  g_mutex_unlock (&self->lock);
  return id;
}

void
gst_rcd_targets_remove_all (GstRcdTargets *self)
{
  g_mutex_lock (&self->lock);
  if (self->tracker != NULL && cuv_tracker_n_targets (self->tracker) > 0) {
    cuv_tracker_clear (self->tracker);
    g_array_set_size (self->places, 0);
    self->changes++;
  }
  g_mutex_unlock (&self->lock);
}

guint
gst_rcd_targets_changes (GstRcdTargets *self)
{
  guint changes;

  g_mutex_lock (&self->lock);
  changes = self->changes;
  g_mutex_unlock (&self->lock);
  return changes;
}

/* ---- states ---- */

const gchar *
gst_rcd_targets_start (GstRcdTargets *self)
{
  const gchar *problem;

  self->box = no_box;
  self->picture = 0;
  self->box_id = self->picture_id = 0;
  self->result = (CuvTrackerResult){ 0 };
  self->refused = self->no_window = FALSE;
  g_array_set_size (self->targets, 0);
  g_mutex_lock (&self->lock);
  problem = ensure_tracker (self);
  g_mutex_unlock (&self->lock);
  return problem;
}

void
gst_rcd_targets_stop (GstRcdTargets *self)
{
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->tracker, cuv_tracker_free);
  g_array_set_size (self->places, 0);
  g_mutex_unlock (&self->lock);
}

void
gst_rcd_targets_leave_device (GstRcdTargets *self)
{
  g_mutex_lock (&self->lock);
  if (self->tracker != NULL)
    cuv_tracker_leave_device (self->tracker);
  g_mutex_unlock (&self->lock);
}

void
gst_rcd_targets_init (GstRcdTargets *self, GstRcdSettings *settings)
{
  self->settings = settings;
  self->box = no_box;
  g_mutex_init (&self->lock);
  self->places = g_array_new (FALSE, FALSE, sizeof (CuvRcdBox));
  self->targets = g_array_new (FALSE, FALSE, sizeof (GstRcdTarget));
  self->warnings = g_ptr_array_new_with_free_func (g_free);
}

void
gst_rcd_targets_clear (GstRcdTargets *self)
{
  cuv_tracker_free (self->tracker); /* of an element that never started */
  g_array_unref (self->places);
  g_array_unref (self->targets);
  g_ptr_array_unref (self->warnings);
  g_mutex_clear (&self->lock);
}
