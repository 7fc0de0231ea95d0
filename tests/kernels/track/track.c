/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rounds of a frame: what happens to tracks whose boxes are known. */
#include "cuvcheck.h"
#include "mot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static CuvMotDetection
box_at (int x, int y, double score)
{
  return (CuvMotDetection){ { x * 16, y * 16, (x + 40) * 16, (y + 80) * 16 },
    score, 0, false };
}

/* A tracker, its parameters and the time in frames. */
typedef struct {
  CuvMot *mot;
  CuvMotParams params;
  uint64_t time;
} Fixture;

static Fixture
fixture_new (void)
{
  Fixture self = { .mot = cuv_mot_new () };

  cuv_mot_params_init (&self.params);
  return self;
}

static void
run_frame (Fixture *self, CuvMotDetection *boxes, int n, CuvMotFrame how)
{
  how.detections = boxes;
  how.n = n;
  how.time = ++self->time;
  if (how.elapsed == 0)
    how.elapsed = 1;
  CUV_CHECK (cuv_mot_run (self->mot, &self->params, &how) == 0);
}

static void
run (Fixture *self, CuvMotDetection *boxes, int n)
{
  run_frame (self, boxes, n, (CuvMotFrame){ 0 });
}

/* Returns the track of a box of the last frame. */
static const CuvMotTrack *
track_of (const Fixture *self, int detection)
{
  int n;
  const CuvMotTrack *tracks = cuv_mot_tracks (self->mot, &n);

  for (int i = 0; i < n; i++) {
    if (tracks[i].detection == detection)
      return &tracks[i];
  }
  return NULL;
}

static int
id_of (const Fixture *self, int detection)
{
  const CuvMotTrack *track = track_of (self, detection);

  return track != NULL ? track->id : -1;
}

static int
count (const Fixture *self, CuvMotState state)
{
  int n, sum = 0;
  const CuvMotTrack *tracks = cuv_mot_tracks (self->mot, &n);

  for (int i = 0; i < n; i++)
    sum += tracks[i].state == state;
  return sum;
}

CUV_CHECKS_CPU (boxes_keep_their_ids)
{
  Fixture f = fixture_new ();

  for (int i = 0; i < 40; i++) {
    CuvMotDetection boxes[] = { box_at (10 + 5 * i, 50, 0.9),
      box_at (400 - 5 * i, 50, 0.8) };

    run (&f, boxes, 2);
    if (i < 30 || i > 37) /* apart */
      CUV_CHECK (id_of (&f, 0) == 1 && id_of (&f, 1) == 2, ": frame %d: %d %d",
          i, id_of (&f, 0), id_of (&f, 1));
  }
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (a_track_needs_min_hits)
{
  Fixture f = fixture_new ();
  CuvMotDetection first = box_at (0, 0, 0.9);

  run (&f, &first, 1); /* confirmed: no frame could have done so before */
  CUV_CHECK (id_of (&f, 0) == 1);
  f.params.min_hits = 3;
  for (int i = 0; i < 4; i++) {
    CuvMotDetection boxes[] = { first, box_at (300, 0, 0.9) };

    run (&f, boxes, 2);
    CUV_CHECK (id_of (&f, 1) == (i < 2 ? 0 : 2), ": frame %d", i);
  }
  for (int i = 0; i < 4; i++) { /* found in every second frame only */
    CuvMotDetection boxes[] = { first, box_at (600, 0, 0.9) };

    run (&f, boxes, 1 + i % 2);
    if (i & 1)
      CUV_CHECK (id_of (&f, 1) == 0);
  }
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (scores_decide_the_rounds)
{
  Fixture f = fixture_new ();
  CuvMotDetection box = box_at (0, 0, 0.9);
  CuvMotDetection low[] = { box_at (0, 0, 0.2), box_at (300, 0, 0.2) };
  CuvMotDetection middle[] = { box_at (0, 0, 0.55), box_at (300, 0, 0.55) };
  CuvMotDetection none = box_at (0, 0, 0.05);

  run (&f, &box, 1);
  run (&f, low, 2); /* a low score continues a track, but begins none */
  CUV_CHECK (id_of (&f, 0) == 1 && id_of (&f, 1) == -1);
  run (&f, middle, 2); /* neither does one below `begin` */
  CUV_CHECK (id_of (&f, 0) == 1 && id_of (&f, 1) == -1);
  run (&f, &none, 1);
  CUV_CHECK (id_of (&f, 0) == -1 && count (&f, CUV_MOT_LOST) == 1);
  run (&f, low, 1); /* a lost track needs a high one */
  CUV_CHECK (id_of (&f, 0) == -1);
  box.score = NAN;
  run (&f, &box, 1); /* no score is a high one */
  CUV_CHECK (id_of (&f, 0) == 1);
  CUV_CHECK (track_of (&f, 0)->event == CUV_MOT_REACQUIRED);
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (lost_tracks_are_dropped)
{
  Fixture f = fixture_new ();
  CuvMotDetection box = box_at (0, 0, 0.9);

  f.params.max_lost = 5;
  for (int gap = 4; gap < 7; gap++) {
    cuv_mot_reset (f.mot);
    run (&f, &box, 1);
    for (int i = 0; i < gap; i++) {
      run (&f, NULL, 0);
      CUV_CHECK (count (&f, CUV_MOT_LOST) == (i < 5), ": %d of %d", i, gap);
      CUV_CHECK (count (&f, CUV_MOT_GONE) == (i == 5), ": %d of %d", i, gap);
    }
    run (&f, &box, 1);
    CUV_CHECK (id_of (&f, 0) == (gap == 6 ? 0 : gap - 3), ": gap %d: id %d",
        gap, id_of (&f, 0));
    CUV_CHECK (track_of (&f, 0)->first_seen < f.time || gap == 6);
    if (gap == 6)
      CUV_CHECK (track_of (&f, 0)->state == CUV_MOT_NEW);
  }
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (time_moves_the_prediction)
{
  for (int step = 1; step <= 4; step++) {
    Fixture f = fixture_new ();
    CuvMotDetection box;

    for (int i = 0; i < 20; i++) {
      box = box_at (6 * i, 0, 0.9);
      run (&f, &box, 1);
    }
    box = box_at (6 * (19 + step), 0, 0.9);
    run_frame (&f, &box, 1, (CuvMotFrame){ .elapsed = step });
    CUV_CHECK (id_of (&f, 0) == 1);
    CUV_CHECK (abs (track_of (&f, 0)->predicted.left - box.box.left) < 16 * 4,
        ": step %d", step);
    cuv_mot_free (f.mot);
  }
}

CUV_CHECKS_CPU (groups_stay_apart)
{
  Fixture f = fixture_new ();
  CuvMotDetection boxes[] = { box_at (0, 0, 0.9), box_at (0, 0, 0.9) };

  boxes[1].group = 1;
  run (&f, boxes, 2);
  CUV_CHECK (id_of (&f, 0) == 1 && id_of (&f, 1) == 2);
  boxes[0].group = 1; /* the same boxes in the other order */
  boxes[1].group = 0;
  run (&f, boxes, 2);
  CUV_CHECK (id_of (&f, 0) == 2 && id_of (&f, 1) == 1);
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (skipped_frames_lose_nothing)
{
  Fixture f = fixture_new ();
  const CuvMotFrame skipped = { .skipped = true };
  CuvMotDetection boxes[] = { box_at (0, 0, 0.9), box_at (300, 0, 0.9) };
  CuvMotDetection held[] = { box_at (300, 0, 0.9), box_at (0, 0, 0.9) };

  held[0].held = held[1].held = true;
  run (&f, boxes, 1);
  run (&f, boxes, 2);
  run_frame (&f, NULL, 0, skipped);
  CUV_CHECK (count (&f, CUV_MOT_TRACKED) == 1 && count (&f, CUV_MOT_NEW) == 1);
  run_frame (&f, held, 2, skipped);
  CUV_CHECK (id_of (&f, 0) == 0 && id_of (&f, 1) == 1);
  CUV_CHECK (track_of (&f, 0)->hits == 1); /* a repeated box confirms nothing */
  run (&f, boxes, 2);
  CUV_CHECK (id_of (&f, 0) == 1 && id_of (&f, 1) == 2);
  for (int i = 0; i < 31; i++)
    run_frame (&f, NULL, 0, skipped);
  CUV_CHECK (count (&f, CUV_MOT_GONE) == 2);
  cuv_mot_free (f.mot);
}

CUV_CHECKS_CPU (a_reset_drops_tracks_and_keeps_counting)
{
  Fixture f = fixture_new ();
  CuvMotDetection box = box_at (0, 0, 0.9);

  run (&f, &box, 1);
  cuv_mot_reset (f.mot);
  run (&f, &box, 1);
  CUV_CHECK (id_of (&f, 0) == 2);
  cuv_mot_set_next_id (f.mot, 100);
  cuv_mot_reset (f.mot);
  run (&f, &box, 1);
  CUV_CHECK (id_of (&f, 0) == 100);
  cuv_mot_free (f.mot);
}

/* ---- random frames ---- */

static int32_t
random_edge (uint32_t spread)
{
  return (int32_t) cuv_check_below (spread) - (int32_t) (spread / 2);
}

static CuvMotDetection
random_detection (uint32_t spread)
{
  const int32_t left = random_edge (spread), top = random_edge (spread);
  const double scores[] = { NAN, 0, 0.1, 0.3, 0.5, 0.6, 1, -1, 1e300 };

  return (CuvMotDetection){
    { left, top, left + 1 + (int32_t) cuv_check_below (spread / 2),
        top + 1 + (int32_t) cuv_check_below (spread / 2) },
    scores[cuv_check_below (9)], (int) cuv_check_below (3),
    cuv_check_below (10) == 0
  };
}

/* Every box has at most one track, ids are unique, and confirmed tracks stay
 * ordered by age. */
static void
check_tracks (const Fixture *f, const CuvMotDetection *boxes, int n_boxes)
{
  int n;
  const CuvMotTrack *tracks = cuv_mot_tracks (f->mot, &n);
  char *taken = calloc ((size_t) n_boxes + 1, 1);

  CUV_CHECK (n <= CUV_MOT_MAX_TRACKS);
  for (int i = 0; i < n; i++) {
    const CuvMotTrack *track = &tracks[i];

    if (i > 0)
      CUV_CHECK (tracks[i - 1].first_seen <= track->first_seen);
    for (int k = 0; k < i && track->id > 0; k++) {
      if (tracks[k].id == track->id)
        CUV_CHECK (false, ": id %d twice", track->id);
    }
    if (track->detection < 0)
      continue;
    CUV_CHECK (track->detection < n_boxes && !taken[track->detection]);
    taken[track->detection] = 1;
    CUV_CHECK (boxes[track->detection].group == track->group);
    CUV_CHECK (track->state == CUV_MOT_NEW || track->state == CUV_MOT_TRACKED);
  }
  free (taken);
}

CUV_CHECKS_CPU (random_frames)
{
  const uint32_t spreads[] = { 40, 4000, 1 << 20 };
  CuvMotDetection *boxes = calloc (200, sizeof *boxes);

  for (int round = 0; round < (cuv_check_options.few ? 3 : 60); round++) {
    Fixture f = fixture_new ();

    for (int i = 0; i < 40; i++) {
      const int n = (int) cuv_check_below (round % 10 == 0 ? 200 : 20);
      const CuvMotFrame how = { .elapsed = 0.5 * (1 + cuv_check_below (6)),
        .skipped = cuv_check_below (8) == 0 };

      cuv_check_case ("round %d, frame %d of %d boxes", round, i, n);
      for (int k = 0; k < n; k++)
        boxes[k] = random_detection (spreads[round % 3]);
      run_frame (&f, boxes, n, how);
      check_tracks (&f, boxes, n);
    }
    cuv_mot_free (f.mot);
  }
  free (boxes);
}

CUV_CHECKS_CPU (most_boxes_of_a_frame)
{
  Fixture f = fixture_new ();
  CuvMotDetection *boxes = calloc (CUV_MOT_MAX_BOXES, sizeof *boxes);

  for (int frame = 0; frame < 4; frame++) {
    for (int i = 0; i < CUV_MOT_MAX_BOXES; i++)
      boxes[i] = box_at (i % 64 * 50 + 3200 * frame, i / 64 * 90, 0.9);
    run (&f, boxes, CUV_MOT_MAX_BOXES);
    check_tracks (&f, boxes, CUV_MOT_MAX_BOXES);
  }
  free (boxes);
  cuv_mot_free (f.mot);
}

/* ---- time ---- */

typedef struct {
  Fixture f;
  CuvMotDetection *boxes;
  int n;
} Bench;

/* People who walk to and fro; a tenth of them is missing in each frame. */
static void
bench_frame (void *data)
{
  Bench *self = data;
  CuvMotFrame frame = { self->boxes, 0, 1, ++self->f.time, false };

  for (int i = 0; i < self->n; i++) {
    const int speed = 1 + i % 4, way = (int) self->f.time * speed % 400;
    const int x = i * 137 % 1800 + (way < 200 ? way : 400 - way);

    if ((i + (int) self->f.time) % 10 != 0)
      self->boxes[frame.n++] =
          box_at (x, i * 61 % 1000, i % 7 == 0 ? 0.3 : 0.9);
  }
  cuv_mot_run (self->f.mot, &self->f.params, &frame);
}

/* All boxes overlap each other: the worst case. */
static void
bench_crowd (void *data)
{
  Bench *self = data;
  const CuvMotFrame frame = { self->boxes, self->n, 1, ++self->f.time, false };

  for (int i = 0; i < self->n; i++)
    self->boxes[i] =
        box_at ((int) cuv_check_below (10), (int) cuv_check_below (10), 0.9);
  cuv_mot_run (self->f.mot, &self->f.params, &frame);
}

CUV_BENCH_CPU (frames)
{
  const int sizes[] = { 10, 100, 500 };

  for (int i = 0; i < 3; i++) {
    Bench bench = { fixture_new (), calloc (500, sizeof *bench.boxes),
      sizes[i] };

    for (int warm = 0; warm < 50; warm++)
      bench_frame (&bench);
    cuv_check_bench (bench_frame, &bench, 1, 0, "%d boxes", sizes[i]);
    cuv_mot_reset (bench.f.mot);
    cuv_check_bench (
        bench_crowd, &bench, 1, 0, "%d boxes in one place", sizes[i]);
    free (bench.boxes);
    cuv_mot_free (bench.f.mot);
  }
}
