/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Valid and invalid targets that are added and removed. */
#include "rcd-tracker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const CuvTrackerConfig config = { CUV_RCD_TUZEL9, CUV_RCD_JBLD, 0, 0, 3,
  1.0 / 12 };

static CuvTracker *
make_tracker (void)
{
  const char *problem = "not set";
  CuvTracker *self = cuv_tracker_new (&config, &problem);

  CUV_CHECK (self != NULL && problem == NULL);
  return self;
}

static CuvCheckFrame
make_frame (const CuvRcdBox *object)
{
  CuvCheckFrame frame = cuv_check_frame_new ("RGB", 96, 72, CUV_CHECK_BLACK);

  paint_ground (&frame.frame, 7);
  if (object != NULL)
    paint_object (&frame.frame, 0, 0, object);
  return frame;
}

/* ---- configurations ---- */

static void
check_bad_configs (void)
{
  const CuvTrackerConfig bad[] = { { 0, 0, -1, 0, 1, 0 }, { 0, 0, 8, 3, 1, 0 },
    { 0, 0, 8, -1, 1, 0 }, { 0, 0, 8, 8, 0, 0 }, { 0, 0, 8, 8, 17, 0 },
    { 0, 0, 8, 8, 1, -1 }, { 0, 0, 8, 8, 1, (double) NAN },
    { 0, 0, 8, 8, 1, (double) INFINITY }, { 0, 0, 0, 257, 1, 0 } };
  CuvTracker *self = make_tracker ();

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *problem = NULL;

    cuv_check_case ("bad config %zu", i);
    CUV_CHECK (cuv_tracker_new (&bad[i], &problem) == NULL);
    CUV_CHECK (problem != NULL);
    CUV_CHECK (cuv_tracker_reconfigure (self, &bad[i]) != NULL);
  }
  cuv_tracker_free (self);
  cuv_tracker_free (NULL);
}

/* ---- ids ---- */

static void
check_ids (void)
{
  const CuvRcdBox box = { 0, 0, 10, 10 };
  CuvTracker *self = make_tracker ();

  cuv_check_case ("ids");
  CUV_CHECK (cuv_tracker_add (self, &box) == 1);
  CUV_CHECK (cuv_tracker_add (self, &box) == 2);
  CUV_CHECK (cuv_tracker_add (self, &box) == 3);
  CUV_CHECK (cuv_tracker_add (self, &box) == 0);
  CUV_CHECK (cuv_tracker_remove (self, 2));
  CUV_CHECK (!cuv_tracker_remove (self, 2));
  CUV_CHECK (cuv_tracker_add (self, &box) == 4);
  CUV_CHECK (cuv_tracker_n_targets (self) == 3);
  cuv_tracker_clear (self);
  CUV_CHECK (cuv_tracker_n_targets (self) == 0);
  CUV_CHECK (cuv_tracker_add (self, &box) == 5);
  cuv_tracker_free (self);
}

/* ---- boxes ---- */

static void
check_refused (const char *name, const CuvCheckFrame *frame,
    const CuvRcdBox *box, const char *why, const char *cure)
{
  CuvTracker *self = make_tracker ();
  CuvTrackerResult result;

  cuv_check_case ("%s", name);
  cuv_tracker_add (self, box);
  CUV_CHECK (run_tracker (self, frame, &result) == NULL);
  CUV_CHECK (result.n_tracks == 0 && cuv_tracker_n_targets (self) == 0);
  CUV_CHECK (result.rejected != NULL);
  if (result.rejected != NULL)
    CUV_CHECK (strstr (result.rejected, why) != NULL
            && strstr (result.rejected, cure) != NULL,
        ": %s", result.rejected);
  CUV_CHECK (run_tracker (self, frame, &result) == NULL);
  CUV_CHECK (result.rejected == NULL && result.n_tracks == 0);
  cuv_tracker_free (self);
}

static void
check_bad_boxes (void)
{
  const CuvRcdBox flat = { 10, 10, 30, 20 };
  CuvCheckFrame frame = make_frame (NULL);

  paint_flat (&frame.frame, 99, &(CuvRcdBox){ 5, 5, 40, 30 });
  check_refused ("to the right", &frame, &(CuvRcdBox){ 96, 0, 10, 10 },
      "10 x 10 pixels at (96, 0) lies outside", "choose a box inside");
  check_refused ("far above", &frame, &(CuvRcdBox){ 0, INT32_MIN, 10, 10 },
      "outside", "choose");
  check_refused ("far right", &frame,
      &(CuvRcdBox){ INT32_MAX, 0, INT32_MAX, 10 }, "outside", "choose");
  check_refused ("empty", &frame, &(CuvRcdBox){ 50, 50, 0, 10 }, "is empty",
      "choose a box with more pixels than features");
  check_refused (
      "negative", &frame, &(CuvRcdBox){ 50, 50, 10, -3 }, "is empty", "choose");
  check_refused ("one pixel", &frame, &(CuvRcdBox){ 50, 50, 1, 1 },
      "too few pixels", "larger box");
  check_refused ("one pixel inside", &frame, &(CuvRcdBox){ 95, 71, 50, 50 },
      "too few pixels", "larger box");
  check_refused ("flat", &frame, &flat, "is flat", "texture");
  cuv_check_frame_free (&frame);
}

/* Checks that a small target, which changes the grid, does not affect the
 * others when it is rejected. */
static void
check_refused_beside (void)
{
  const CuvRcdBox object = { 50, 30, 40, 36 };
  CuvCheckFrame frame = make_frame (&object);
  CuvTracker *self = make_tracker ();
  CuvTrackerResult result;

  cuv_check_case ("a rejected box beside a target");
  cuv_tracker_add (self, &object);
  CUV_CHECK (run_tracker (self, &frame, &result) == NULL);
  cuv_tracker_add (self, &(CuvRcdBox){ 1, 1, 1, 1 });
  CUV_CHECK (run_tracker (self, &frame, &result) == NULL);
  CUV_CHECK (result.rejected != NULL && result.n_tracks == 1);
  CUV_CHECK (result.tracks[0].state == CUV_TRACK_TRACKED
          && overlap (&result.tracks[0].box, &object) > 0.8,
      ": %g", overlap (&result.tracks[0].box, &object));
  cuv_tracker_free (self);
  cuv_check_frame_free (&frame);
}

/* Checks that boxes that are partly outside the frame are clipped. */
static void
check_clipped (void)
{
  const CuvRcdBox object = { -10, 50, 40, 40 }, inside = { 0, 50, 30, 22 };
  CuvCheckFrame frame = make_frame (&object);
  CuvTracker *self = make_tracker ();
  CuvTrackerResult result;

  cuv_check_case ("a box partly outside");
  cuv_tracker_add (self, &object);
  for (int i = 0; i < 3; i++) {
    CUV_CHECK (run_tracker (self, &frame, &result) == NULL);
    CUV_CHECK (result.n_tracks == 1 && result.rejected == NULL);
    CUV_CHECK (overlap (&result.tracks[0].box, &inside) > 0.8, ": %g",
        overlap (&result.tracks[0].box, &inside));
    CUV_CHECK (result.tracks[0].distance < 0.05);
  }
  cuv_tracker_free (self);
  cuv_check_frame_free (&frame);
}

/* Checks that a target with R = G = B is rejected if lambda is 0. */
static void
check_grey (void)
{
  CuvTrackerConfig bare = config;
  CuvCheckFrame frame = make_frame (NULL);
  const CuvFrame *f = &frame.frame;
  CuvTracker *self;
  CuvTrackerResult result;
  const char *problem;

  for (int y = 0; y < f->height; y++) {
    for (int x = 0; x < f->width; x++)
      paint_flat (f, (uint8_t) cuv_check_random (), &(CuvRcdBox){ x, y, 1, 1 });
  }
  bare.lambda = 0.0;
  for (int i = 0; i < 2; i++) {
    cuv_check_case ("grey, %s lambda", i == 0 ? "with" : "without");
    self = cuv_tracker_new (i == 0 ? &config : &bare, &problem);
    cuv_tracker_add (self, &(CuvRcdBox){ 20, 20, 24, 24 });
    for (int k = 0; k < 2; k++)
      CUV_CHECK (run_tracker (self, &frame, &result) == NULL);
    CUV_CHECK (cuv_tracker_n_targets (self) == (i == 0));
    CUV_CHECK (i == 1 || result.tracks[0].distance < 1e-9);
    cuv_tracker_free (self);
  }
  cuv_check_frame_free (&frame);
}

/* ---- pictures ---- */

static void
check_picture (void)
{
  const CuvRcdBox inside = { 4, 4, 30, 28 }, place = { 53, 31, 30, 28 };
  const CuvRcdBox expected = { 49, 27, 38, 36 };
  CuvCheckFrame picture = cuv_check_frame_new ("RGB", 38, 36, CUV_CHECK_BLACK);
  CuvCheckFrame with = make_frame (&place), without = make_frame (NULL);
  CuvTracker *self = make_tracker ();
  CuvTrackerResult result;
  const char *problem;

  cuv_check_case ("a picture");
  CUV_CHECK (cuv_tracker_add_picture (self, &picture.frame, &problem) == 0);
  CUV_CHECK (strstr (problem, "picture") != NULL
          && strstr (problem, "texture") != NULL,
      ": %s", problem);
  paint_ground (&picture.frame, 8);
  paint_object (&picture.frame, 0, 0, &inside);
  CUV_CHECK (cuv_tracker_add_picture (self, &picture.frame, &problem) == 1);
  for (int i = 0; i < 3; i++) {
    const CuvTrack *track = result.tracks;

    CUV_CHECK (run_tracker (self, i == 0 ? &without : &with, &result) == NULL);
    CUV_CHECK (track->state == (i == 0 ? CUV_TRACK_LOST : CUV_TRACK_TRACKED));
    CUV_CHECK (
        track->event == (i == 1 ? CUV_TRACK_ACQUIRED : CUV_TRACK_NO_EVENT));
    CUV_CHECK (i == 0 || overlap (&track->box, &expected) > 0.7);
  }
  cuv_tracker_free (self);
  cuv_check_frame_free (&picture);
  cuv_check_frame_free (&with);
  cuv_check_frame_free (&without);
}

/* ---- changes of features and metric ---- */

static void
check_reconfigure (void)
{
  const CuvRcdBox place = { 32, 20, 24, 20 };
  CuvCheckFrame with = make_frame (&place), without = make_frame (NULL);
  CuvTracker *self = make_tracker ();
  CuvTrackerConfig other = config;
  CuvTrackerResult result;

  cuv_check_case ("changed features");
  cuv_tracker_add (self, &place);
  run_tracker (self, &with, &result);
  for (int i = 0; i < 6; i++) {
    other.features = (CuvRcdFeatures) ((i + 2) % 3);
    other.metric = (CuvRcdMetric) (i % 2);
    CUV_CHECK (cuv_tracker_reconfigure (self, &other) == NULL);
    for (int k = 0; k < 2; k++) {
      CUV_CHECK (run_tracker (self, &with, &result) == NULL);
      CUV_CHECK (result.n_tracks == 1 && result.tracks[0].id == 1);
      CUV_CHECK (result.tracks[0].state == CUV_TRACK_TRACKED
          && result.tracks[0].event == CUV_TRACK_NO_EVENT);
      CUV_CHECK (
          result.tracks[0].distance < 1e-9, ": %g", result.tracks[0].distance);
    }
  }
  run_tracker (self, &without, &result);
  CUV_CHECK (result.tracks[0].state == CUV_TRACK_LOST);
  other.lambda = 0.5;
  CUV_CHECK (cuv_tracker_reconfigure (self, &other) == NULL);
  CUV_CHECK (run_tracker (self, &with, &result) == NULL);
  CUV_CHECK (
      result.n_tracks == 1 && result.tracks[0].event == CUV_TRACK_GIVEN_UP);
  CUV_CHECK (cuv_tracker_n_targets (self) == 0);
  cuv_tracker_free (self);
  cuv_check_frame_free (&with);
  cuv_check_frame_free (&without);
}

CUV_CHECKS_CPU (check_targets)
{
  check_bad_configs ();
  check_ids ();
  check_bad_boxes ();
  check_refused_beside ();
  check_clipped ();
  check_grey ();
  check_picture ();
  check_reconfigure ();
}
