/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracks in synthetic videos against the true boxes. */
#include "rcd-tracker.h"

#include <math.h>
#include <stdlib.h>

static const CuvTrackerConfig usual = { CUV_RCD_TUZEL9, CUV_RCD_JBLD, 0, 0, 4,
  1.0 / 12 };
static const CuvProcessor one_thread = { .n_threads = 1 };

typedef struct {
  CuvCheckFrame frame;
  CuvTracker *tracker;
  CuvTrackerParams params;
  CuvTrackerResult result;
  uint32_t scene;
} Film;

static Film
film_new (const CuvTrackerConfig *config)
{
  const char *problem;
  Film self = { .frame = cuv_check_frame_new ("RGB", 128, 96, CUV_CHECK_BLACK),
    .tracker = cuv_tracker_new (config, &problem),
    .scene = 5 };

  cuv_tracker_params_init (&self.params);
  return self;
}

static void
film_clear (Film *self)
{
  cuv_tracker_free (self->tracker);
  cuv_check_frame_free (&self->frame);
}

static void
film_resize (Film *self, int width, int height)
{
  cuv_check_frame_free (&self->frame);
  self->frame = cuv_check_frame_new ("RGB", width, height, CUV_CHECK_BLACK);
}

/* Runs the next frame with two objects, of which those that are NULL are
 * absent. */
static const CuvTrack *
film_run (
    Film *self, const CuvRcdBox *first, const CuvRcdBox *second, double fade)
{
  const char *problem;

  paint_ground (&self->frame.frame, self->scene);
  if (first != NULL)
    paint_object (&self->frame.frame, 0, fade, first);
  if (second != NULL)
    paint_object (&self->frame.frame, 1, fade, second);
  problem = cuv_tracker_run (self->tracker, &self->frame.frame, &self->params,
      false, &one_thread, &self->result);
  CUV_CHECK (problem == NULL, ": %s", problem);
  for (int t = 0; t < self->result.n_tracks; t++)
    CUV_CHECK (!isnan (self->result.tracks[t].distance)
        && !isnan (self->result.tracks[t].second)
        && !isnan (self->result.tracks[t].scale));
  return self->result.tracks;
}

static CuvRcdBox
path (int frame, int width, int height)
{
  return (CuvRcdBox){ 8 + 3 * frame, (int) (34 + 24 * sin (frame * 0.3)), width,
    height };
}

/* ---- one target ---- */

/* Tracks a moving object. fit: minimum intersection over union of the found and
 * true boxes. */
static void
check_moving (const CuvTrackerConfig *config, double fit)
{
  Film film = film_new (config);

  film.params.max_distance = 100;
  for (int i = 0; i < 25; i++) {
    const CuvRcdBox box = path (i, 30, 28);
    const CuvTrack *track;

    if (i == 0)
      CUV_CHECK (cuv_tracker_add (film.tracker, &box) == 1);
    track = film_run (&film, &box, NULL, 0);
    CUV_CHECK (film.result.n_tracks == 1 && film.result.rejected == NULL);
    CUV_CHECK (track->id == 1 && track->state == CUV_TRACK_TRACKED);
    CUV_CHECK (
        track->event == (i == 0 ? CUV_TRACK_ACQUIRED : CUV_TRACK_NO_EVENT));
    CUV_CHECK (overlap (&track->box, &box) >= fit, ": frame %d: %g", i,
        overlap (&track->box, &box));
    CUV_CHECK (i == 0 || (film.result.windows > 0 && track->distance > 0));
  }
  film_clear (&film);
}

/* Features without x and y locate objects less precisely, and those without
 * colours are the least precise. */
static void
check_all_moving (void)
{
  static const double fits[] = {
    [CUV_RCD_RGB_GRAD] = 0.5, [CUV_RCD_TUZEL9] = 0.7, [CUV_RCD_GREY_GRAD] = 0.0
  };

  for (int f = 0; f < 3; f++) {
    for (int m = 0; m < 2; m++) {
      CuvTrackerConfig config = usual;

      cuv_check_case ("moving object, features %d, metric %d", f, m);
      config.features = (CuvRcdFeatures) f;
      config.metric = (CuvRcdMetric) m;
      check_moving (&config, fits[f]);
    }
  }
}

static void
check_scaled (void)
{
  Film film = film_new (&usual);

  cuv_check_case ("growing object");
  for (int i = 0; i < 25; i++) {
    const CuvRcdBox box = path (i, 30 + i / 2, 28 + i * 2 / 5);
    const CuvTrack *track;

    if (i == 0)
      cuv_tracker_add (film.tracker, &box);
    track = film_run (&film, &box, NULL, 0);
    CUV_CHECK (overlap (&track->box, &box) > 0.6, ": frame %d: %g", i,
        overlap (&track->box, &box));
    CUV_CHECK (fabs (track->scale - box.width / 30.0) < 0.2, ": frame %d: %g",
        i, track->scale);
  }
  film_clear (&film);
}

static void
dim (const CuvFrame *frame, double light)
{
  for (int i = 0; i < frame->n_components; i++) {
    const CuvComponent *c = &frame->component[i];

    for (int y = 0; y < frame->height; y++) {
      for (int x = 0; x < frame->width; x++)
        c->data[y * c->stride + x * c->step] =
            (uint8_t) (light * c->data[y * c->stride + x * c->step]);
    }
  }
}

/* Tracks an object whose brightness is multiplied by `light` from frame 12 on,
 * and gradually before if slow. */
static void
check_dimmed (double light, bool slow)
{
  Film film = film_new (&usual);

  cuv_check_case ("light %g, slow %d", light, slow);
  for (int i = 0; i < 25; i++) {
    const CuvRcdBox box = path (i, 30, 28);
    const double done = i >= 12 ? 1.0 : slow ? i / 12.0 : 0.0;
    const char *problem;

    if (i == 0)
      cuv_tracker_add (film.tracker, &box);
    paint_ground (&film.frame.frame, film.scene);
    paint_object (&film.frame.frame, 0, 0.0, &box);
    dim (&film.frame.frame, 1.0 + done * (light - 1.0));
    problem = cuv_tracker_run (film.tracker, &film.frame.frame, &film.params,
        false, &one_thread, &film.result);
    CUV_CHECK (problem == NULL, ": %s", problem);
    CUV_CHECK (film.result.tracks[0].state == CUV_TRACK_TRACKED);
    CUV_CHECK (overlap (&film.result.tracks[0].box, &box) >= 0.8,
        ": frame %d: %g", i, overlap (&film.result.tracks[0].box, &box));
  }
  film_clear (&film);
}

static void
check_vanishing (void)
{
  Film film = film_new (&usual);
  const CuvRcdBox first = path (3, 30, 28), then = { 90, 10, 30, 28 };
  const CuvTrack *track = film.result.tracks;

  cuv_check_case ("object disappears and returns");
  cuv_tracker_add (film.tracker, &first);
  for (int i = 0; i < 3; i++)
    film_run (&film, &first, NULL, 0);
  for (int i = 0; i < 6; i++) {
    track = film_run (&film, NULL, NULL, 0);
    CUV_CHECK (track->state == CUV_TRACK_LOST);
    CUV_CHECK (
        track->event == (i == 0 ? CUV_TRACK_WENT_LOST : CUV_TRACK_NO_EVENT));
    CUV_CHECK (track->lost_frames == i + 1);
    CUV_CHECK (overlap (&track->box, &first) > 0.8);
  }
  track = film_run (&film, &then, NULL, 0);
  CUV_CHECK (track->id == 1 && track->event == CUV_TRACK_REACQUIRED);
  CUV_CHECK (track->state == CUV_TRACK_TRACKED && track->lost_frames == 0);
  CUV_CHECK (overlap (&track->box, &then) > 0.7);
  film_clear (&film);
}

static void
check_given_up (void)
{
  Film film = film_new (&usual);
  const CuvRcdBox box = path (3, 30, 28);

  cuv_check_case ("object does not return");
  film.params.max_lost_frames = 4;
  cuv_tracker_add (film.tracker, &box);
  film_run (&film, &box, NULL, 0);
  for (int i = 1; i <= 4; i++) {
    film_run (&film, NULL, NULL, 0);
    CUV_CHECK (film.result.tracks[0].lost_frames == i);
  }
  film_run (&film, NULL, NULL, 0);
  CUV_CHECK (film.result.n_tracks == 1
      && film.result.tracks[0].event == CUV_TRACK_GIVEN_UP);
  film_run (&film, &box, NULL, 0);
  CUV_CHECK (film.result.n_tracks == 0 && film.result.windows == 0);
  film_clear (&film);
}

/* Checks that the target is lost after a cut, and that its model stays the
 * same. */
static void
check_cut (void)
{
  Film film = film_new (&usual);
  const CuvRcdBox box = path (3, 30, 28), none = { 0, 0, 128, 96 };

  cuv_check_case ("a cut");
  film.params.update =
      (CuvRcdUpdateConfig){ CUV_RCD_UPDATE_LOG_EUCLID, 0.5, 1 };
  cuv_tracker_add (film.tracker, &box);
  for (int i = 0; i < 8; i++) {
    const CuvTrack *track =
        film_run (&film, i < 3 || i > 6 ? &box : NULL, NULL, 0);

    film.scene = i < 5 ? 1234 : 5;
    CUV_CHECK (
        track->state == (i < 3 || i > 6 ? CUV_TRACK_TRACKED : CUV_TRACK_LOST));
  }
  CUV_CHECK (overlap (&film.result.tracks[0].box, &box) > 0.7);
  paint_flat (&film.frame.frame, 0, &none);
  CUV_CHECK (cuv_tracker_run (film.tracker, &film.frame.frame, &film.params,
                 false, &one_thread, &film.result)
      == NULL);
  CUV_CHECK (film.result.tracks[0].state == CUV_TRACK_LOST);
  film_clear (&film);
}

/* ---- frames of different sizes ---- */

static void
check_size (void)
{
  static const int sizes[][2] = { { 128, 96 }, { 200, 140 }, { 90, 80 },
    { 20, 16 }, { 1, 1 }, { 128, 96 } };
  Film film = film_new (&usual);

  for (int i = 0; i < 6; i++) {
    const bool fits = sizes[i][0] > 60;
    const CuvRcdBox box = { sizes[i][0] / 2 + 5 * (i % 2), 30, 30, 28 };

    cuv_check_case ("frames of %d x %d", sizes[i][0], sizes[i][1]);
    film_resize (&film, sizes[i][0], sizes[i][1]);
    if (i == 0)
      cuv_tracker_add (film.tracker, &box);
    for (int k = 0; k < 2; k++) {
      const CuvTrack *track = film_run (&film, fits ? &box : NULL, NULL, 0);

      CUV_CHECK (film.result.n_tracks == 1 && track->id == 1);
      CUV_CHECK (track->state == (fits ? CUV_TRACK_TRACKED : CUV_TRACK_LOST));
      CUV_CHECK (!fits || overlap (&track->box, &box) > 0.6);
      CUV_CHECK (sizes[i][0] > 1 || isinf (track->distance));
    }
  }
  film_clear (&film);
}

/* ---- two targets ---- */

static void
check_two (void)
{
  Film film = film_new (&usual);

  cuv_check_case ("two objects");
  for (int i = 0; i < 20; i++) {
    const CuvRcdBox one = { 4 + 4 * i, 10, 24, 20 };
    const CuvRcdBox two = { 90 - 4 * i, 55, 20, 24 };
    const CuvTrack *tracks;

    if (i == 0) {
      cuv_tracker_add (film.tracker, &one);
      cuv_tracker_add (film.tracker, &two);
    }
    tracks = film_run (&film, &one, i < 12 ? &two : NULL, 0);
    CUV_CHECK (film.result.n_tracks == 2);
    CUV_CHECK (tracks[0].id == 1 && tracks[1].id == 2);
    CUV_CHECK (overlap (&tracks[0].box, &one) > 0.7);
    CUV_CHECK (i >= 12 || overlap (&tracks[1].box, &two) > 0.7);
    CUV_CHECK (
        tracks[1].state == (i < 12 ? CUV_TRACK_TRACKED : CUV_TRACK_LOST));
  }
  CUV_CHECK (cuv_tracker_remove (film.tracker, 1));
  film_run (&film, NULL, NULL, 0);
  CUV_CHECK (film.result.n_tracks == 1 && film.result.tracks[0].id == 2);
  cuv_tracker_add (film.tracker, &(CuvRcdBox){ 20, 20, 30, 30 });
  film_run (&film, NULL, NULL, 0);
  CUV_CHECK (film.result.n_tracks == 2 && film.result.tracks[1].id == 3);
  film_clear (&film);
}

/* ---- the distance map ---- */

static void
check_map (void)
{
  Film film = film_new (&usual);
  const CuvRcdBox box = { 64, 40, 24, 20 };
  const CuvComponent *red = &film.frame.frame.component[0];
  int best = -1, x = 0, y = 0;

  cuv_check_case ("a distance map");
  film.params.full = true;
  cuv_tracker_add (film.tracker, &box);
  film_run (&film, &box, NULL, 0);
  CUV_CHECK (cuv_tracker_run (film.tracker, &film.frame.frame, &film.params,
                 true, &one_thread, &film.result)
      == NULL);
  for (int i = 0; i < 128 * 96; i++) {
    const int v = red->data[i / 128 * red->stride + i % 128 * red->step];

    if (v > best) {
      best = v;
      x = i % 128;
      y = i / 128;
    }
  }
  CUV_CHECK (best > 250);
  CUV_CHECK (abs (x - 76) < 5 && abs (y - 50) < 5, ": %d, %d", x, y);
  film_clear (&film);
}

/* ---- updates ---- */

/* Returns the distance in the last frame of an object whose colours change
 * slowly. */
static double
last_distance (CuvRcdUpdate update)
{
  Film film = film_new (&usual);
  double distance;

  film.params.update = (CuvRcdUpdateConfig){ update, 0.3, 5 };
  film.params.max_distance = 5;
  for (int i = 0; i < 25; i++) {
    const CuvRcdBox box = path (i, 30, 28);

    if (i == 0)
      cuv_tracker_add (film.tracker, &box);
    film_run (&film, &box, NULL, i * 0.03);
  }
  distance = film.result.tracks[0].distance;
  film_clear (&film);
  return distance;
}

static void
check_learning (void)
{
  const double none = last_distance (CUV_RCD_UPDATE_NONE);

  for (int u = CUV_RCD_UPDATE_LOG_EUCLID; u <= CUV_RCD_UPDATE_MOMENTS; u++) {
    const double distance = last_distance ((CuvRcdUpdate) u);

    cuv_check_case ("changing object, update %d", u);
    CUV_CHECK (
        distance < 0.5 * none, ": %g, without updates %g", distance, none);
  }
}

CUV_CHECKS_CPU (check_tracks)
{
  check_all_moving ();
  check_scaled ();
  check_dimmed (0.5, false);
  check_dimmed (0.4, true);
  check_vanishing ();
  check_given_up ();
  check_cut ();
  check_size ();
  check_two ();
  check_map ();
  check_learning ();
}
