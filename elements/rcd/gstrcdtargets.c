/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtargets.h"

#include "base/gstcuvfilter.h"
#include "gstrcdconfirm.h"
#include "gstrcdpicture.h"
#include "gstcuvstructure.h"

/* The variance that rounding to 8 bits adds. */
#define LAMBDA (1.0 / 12)

static const CuvRcdBox no_box = { -1, -1, 0, 0 };

/* ---- new targets; the lock is held ---- */

G_GNUC_PRINTF (2, 3)
static void
gst_rcd_targets_warn (GstRcdTargets *self, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (self->warnings, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static gint
gst_rcd_targets_add_box (GstRcdTargets *self, const CuvRcdBox *box)
{
  gint id = cuv_tracker_add (self->tracker, box);

  if (id != 0)
    g_array_append_val (self->occupied, *box);
  return id;
}

gboolean
gst_rcd_targets_is_new_box (const GstRcdTargets *self, const CuvRcdBox *box)
{
  return box->x != self->box.x || box->y != self->box.y
      || box->width != self->box.width || box->height != self->box.height;
}

static void
add_new_box (GstRcdTargets *self, const GstRcdSettings *settings)
{
  if (!gst_rcd_targets_is_new_box (self, &settings->box))
    return;
  cuv_tracker_remove (self->tracker, self->box_id);
  self->box_id = 0;
  self->box = settings->box;
  if (self->box.width == 0)
    return;
  self->box_id = gst_rcd_targets_add_box (self, &self->box);
  if (self->box_id == 0)
    gst_rcd_targets_warn (self,
        "Box of object-initial-* ignored: already tracking max-targets (%d) "
        "objects. Raise max-targets, or emit clear-target first.",
        settings->config.max_targets);
}

/* Returns NULL, or what went wrong. */
static const gchar *
gst_rcd_targets_add_picture (GstRcdTargets *self, const GstVideoInfo *like)
{
  const gchar *problem =
      "GStreamer cannot convert it to the format of the video; choose another "
      "picture or another video format";
  GstVideoInfo info;
  GstCuvFrame picture;
  GstBuffer *buffer = gst_rcd_picture_convert (self->picture, like, &info);

  if (buffer != NULL
      && gst_cuv_frame_map (&picture, gst_cuv_transform_context (self->element),
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
add_new_picture (GstRcdTargets *self, const GstRcdSettings *settings,
    const GstVideoInfo *info)
{
  const gchar *problem = NULL;

  if (self->picture == settings->picture)
    return;
  cuv_tracker_remove (self->tracker, self->picture_id);
  self->picture_id = 0;
  gst_mini_object_replace (
      (GstMiniObject **) &self->picture, (GstMiniObject *) settings->picture);
  if (self->picture != NULL)
    problem = gst_rcd_targets_add_picture (self, info);
  if (problem != NULL)
    gst_rcd_targets_warn (
        self, "Picture of target-image ignored: %s.", problem);
}

static gboolean
is_tracked (const GstRcdTargets *self, const CuvRcdBox *box)
{
  for (guint i = 0; i < self->occupied->len; i++) {
    if (gst_rcd_is_same_place (
            &g_array_index (self->occupied, CuvRcdBox, i), box))
      return TRUE;
  }
  return FALSE;
}

static void
add_new_objects (GstRcdTargets *self, const GstRcdSettings *settings,
    GstBuffer *buffer, const GstVideoInfo *info)
{
  CuvRcdBox box;

  gst_cuv_objects_read (self->present, buffer);
  for (guint i = 0; i < self->present->len
       && cuv_tracker_n_targets (self->tracker) < settings->config.max_targets;
       i++) {
    const GstCuvObject *object =
        &g_array_index (self->present, GstCuvObject, i);

    if (gst_rcd_object_in_frame (object, settings->region_label, info, &box)
        && !is_tracked (self, &box)) {
      GstRcdTarget target = { .id = gst_rcd_targets_add_box (self, &box),
        .label = object->label,
        .first_seen = GST_CLOCK_TIME_NONE,
        .last_seen = GST_CLOCK_TIME_NONE,
        .confirmed = settings->confirm_detections == 0,
        .is_detection = settings->confirm_detections > 0 };

      g_array_append_val (self->targets, target);
    }
  }
}

/* ---- results; the lock is held ---- */

static GstRcdTarget
gst_rcd_targets_find (const GstRcdTargets *self, gint id)
{
  for (guint i = 0; i < self->targets->len; i++) {
    const GstRcdTarget *target =
        &g_array_index (self->targets, GstRcdTarget, i);

    if (target->id == id)
      return *target;
  }
  return (GstRcdTarget){ .id = id,
    .label = gst_cuv_quark ("target"),
    .first_seen = GST_CLOCK_TIME_NONE,
    .last_seen = GST_CLOCK_TIME_NONE,
    .confirmed = TRUE };
}

/* Puts targets in the order of result's tracks and drops those without a
 * track. */
static void
update_targets (GstRcdTargets *self, GstClockTime time)
{
  const guint n_before = self->targets->len;

  for (gint i = 0; i < self->result.n_tracks; i++) {
    const CuvTrack *track = &self->result.tracks[i];
    GstRcdTarget target = gst_rcd_targets_find (self, track->id);

    if (track->state == CUV_TRACK_TRACKED) {
      target.last_seen = time;
      if (!GST_CLOCK_TIME_IS_VALID (target.first_seen))
        target.first_seen = time;
    }
    g_array_append_val (self->targets, target);
  }
  g_array_remove_range (self->targets, 0, n_before);
}

static void
update_events (GstRcdTargets *self)
{
  g_array_set_size (self->occupied, 0);
  for (gint i = 0; i < self->result.n_tracks; i++) {
    const CuvTrack *track = &self->result.tracks[i];

    self->changes += track->event != CUV_TRACK_NO_EVENT
        && g_array_index (self->targets, GstRcdTarget, i).confirmed;
    if (track->event != CUV_TRACK_GIVEN_UP)
      g_array_append_val (self->occupied, track->box);
    else if (track->id == self->picture_id) /* it may appear again */
      g_clear_pointer (&self->picture, gst_sample_unref);
  }
}

/* Warns once, because a detector may report the same unusable region, or
 * objects that look like their surroundings, in every frame. */
static void
warn_rejected (GstRcdTargets *self)
{
  const gchar *rejected = self->result.rejected;
  const gchar *ambiguous = self->result.ambiguous;

  if (rejected != NULL && !self->rejected)
    gst_rcd_targets_warn (self, "Cannot track a target: %s.", rejected);
  if (ambiguous != NULL && !self->ambiguous)
    gst_rcd_targets_warn (self,
        "A target may be lost unnoticed: %s. Choose a box that contains what "
        "distinguishes the object, or a smaller max-distance.",
        ambiguous);
  self->rejected = rejected != NULL;
  self->ambiguous |= ambiguous != NULL;
}

static void
warn_no_window (GstRcdTargets *self, const GstCuvFrame *frame)
{
  gboolean none = FALSE;

  for (gint i = 0; i < self->result.n_tracks; i++)
    none |= self->result.tracks[i].state == CUV_TRACK_LOST;
  none = none && self->result.windows == 0;
  if (none && !self->no_window)
    gst_rcd_targets_warn (self,
        "No window fits the %dx%d frame: set smaller scales, or choose smaller "
        "targets.",
        frame->frame.width, frame->frame.height);
  self->no_window = none;
}

static void
post_warnings (GstRcdTargets *self)
{
  for (guint i = 0; i < self->warnings->len; i++)
    GST_ELEMENT_WARNING (self->element, STREAM, FAILED,
        ("%s", (gchar *) self->warnings->pdata[i]), (NULL));
  g_ptr_array_set_size (self->warnings, 0);
}

/* ---- entry points ---- */

gchar *
gst_rcd_targets_prepare (GstRcdTargets *self, const GstRcdSettings *settings,
    const GstCuvFrame *frame)
{
  CuvTrackerConfig config = settings->config;
  const CuvProcessor processor = gst_cuv_frame_processor (frame, 0);
  const gchar *problem = NULL;
  gint n;

  config.lambda = LAMBDA;
  g_mutex_lock (&self->lock);
  n = cuv_tracker_n_targets (self->tracker);
  if (n <= config.max_targets)
    problem = cuv_tracker_reconfigure (self->tracker, &config);
  if (n <= config.max_targets && problem == NULL)
    problem = cuv_tracker_prepare (
        self->tracker, &settings->params, &frame->frame, &processor);
  g_mutex_unlock (&self->lock);
  if (n > config.max_targets)
    return g_strdup_printf (
        "max-targets %d is less than the %d targets being tracked: raise "
        "max-targets, or emit clear-target first",
        config.max_targets, n);
  return gst_cuv_filter_open_problem (
      GST_CUV_FILTER (self->element), frame, problem);
}

const gchar *
gst_rcd_targets_run (GstRcdTargets *self, const GstRcdSettings *settings,
    const GstCuvFrame *frame, const GstVideoInfo *info, gint n_threads)
{
  const CuvProcessor processor = gst_cuv_frame_processor (frame, n_threads);
  CuvTrackerParams params = settings->params;
  GstBuffer *buffer = frame->video.buffer;
  const gchar *problem;

  params.full |= self->search_all;
  g_mutex_lock (&self->lock);
  add_new_box (self, settings);
  add_new_picture (self, settings, info);
  add_new_objects (self, settings, buffer, info);
  problem = cuv_tracker_run (self->tracker, &frame->frame, &params,
      frame->writable && settings->draw, &processor, &self->result);
  if (problem == NULL) {
    update_targets (self, GST_BUFFER_PTS (buffer));
    gst_rcd_confirm_targets (self, settings, info);
    update_events (self);
    warn_rejected (self);
    warn_no_window (self, frame);
    self->search_all = FALSE;
  }
  g_mutex_unlock (&self->lock);
  post_warnings (self);
  return problem;
}

/* Creates the tracker unless it exists, because targets may be added before the
 * first frame, when no settings are in force yet: prepare() applies them.
 * Returns NULL, or what went wrong. */
static const gchar *
ensure_tracker (GstRcdTargets *self)
{
  const CuvTrackerConfig config = { .max_targets = CUV_RCD_MAX_TARGETS };
  const gchar *problem = NULL;

  if (self->tracker == NULL)
    self->tracker = cuv_tracker_new (&config, &problem);
  return problem;
}

gint
gst_rcd_targets_add (GstRcdTargets *self, const CuvRcdBox *box,
    gint max_targets, const gchar **problem)
{
  gint id = 0;

  g_mutex_lock (&self->lock);
  *problem = ensure_tracker (self);
  if (*problem == NULL && cuv_tracker_n_targets (self->tracker) >= max_targets)
    *problem = "already tracking max-targets objects: raise max-targets, or "
               "emit clear-target first";
  if (*problem == NULL) {
    id = gst_rcd_targets_add_box (self, box);
    if (id == 0)
      *problem = "the new max-targets takes effect with the next frame: emit "
                 "set-target after that frame";
  }
  g_mutex_unlock (&self->lock);
  return id;
}

void
gst_rcd_targets_remove_all (GstRcdTargets *self)
{
  g_mutex_lock (&self->lock);
  if (self->tracker != NULL && cuv_tracker_n_targets (self->tracker) > 0) {
    cuv_tracker_clear (self->tracker);
    g_array_set_size (self->occupied, 0);
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
  self->box_id = self->picture_id = 0;
  self->result = (CuvTrackerResult){ 0 };
  self->rejected = self->ambiguous = self->no_window = FALSE;
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
  g_array_set_size (self->occupied, 0);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->picture, gst_sample_unref);
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
gst_rcd_targets_init (GstRcdTargets *self, GstCuvTransform *element)
{
  self->element = element;
  self->box = no_box;
  g_mutex_init (&self->lock);
  self->occupied = g_array_new (FALSE, FALSE, sizeof (CuvRcdBox));
  self->targets = g_array_new (FALSE, FALSE, sizeof (GstRcdTarget));
  self->present = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  self->warnings = g_ptr_array_new_with_free_func (g_free);
}

void
gst_rcd_targets_clear (GstRcdTargets *self)
{
  cuv_tracker_free (
      self->tracker); /* left by an element that was never started */
  g_array_unref (self->occupied);
  g_array_unref (self->targets);
  g_array_unref (self->present);
  g_ptr_array_unref (self->warnings);
  g_mutex_clear (&self->lock);
}
