/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker as a program, for comparisons with other trackers.
 *
 *   track WIDTH HEIGHT BOX_X BOX_Y BOX_WIDTH BOX_HEIGHT [NAME=VALUE ...]
 *       reads BGR frames without padding from stdin; the box is in the first
 *       one. Prints a line of JSON for each frame. Names and values are those
 *       of rcdtrack's properties; scales are separated by commas.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include "track/tracker.h"

static CuvTrackerConfig config = { .features = CUV_RCD_TUZEL9,
  .metric = CUV_RCD_JBLD,
  .max_targets = 1,
  .lambda = 1.0 / 12 };
static CuvTrackerParams params;

static _Noreturn void
die (const char *what)
{
  fprintf (stderr, "track: %s\n", what);
  exit (1);
}

/* ---- options ---- */

static int
index_of (const char *value, const char *const *words)
{
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp (value, words[i]) == 0)
      return i;
  }
  die (value);
}

static void
set_scales (const char *value)
{
  char *end;

  for (params.n_scales = 0;; value = end + 1) {
    if (params.n_scales == CUV_RCD_MAX_LEVELS)
      die ("too many scales");
    params.scales[params.n_scales++] = strtod (value, &end);
    if (*end != ',')
      return;
  }
}

static void
set_words (const char *name, const char *value)
{
  static const char *const features[] = { "rgb-grad", "tuzel9", "grey-grad",
    NULL };
  static const char *const metrics[] = { "jbld", "forstner", NULL };
  static const char *const updates[] = { "none", "log-euclid", "riemann",
    "jbld-mean", "moments", NULL };
  static const char *const searches[] = { "local", "full", NULL };

  if (strcmp (name, "features") == 0)
    config.features = (CuvRcdFeatures) index_of (value, features);
  else if (strcmp (name, "metric") == 0)
    config.metric = (CuvRcdMetric) index_of (value, metrics);
  else if (strcmp (name, "update") == 0)
    params.update.update = (CuvRcdUpdate) index_of (value, updates);
  else if (strcmp (name, "search") == 0)
    params.full = index_of (value, searches);
  else if (strcmp (name, "scales") == 0)
    set_scales (value);
  else
    die (name);
}

static void
set_option (const char *name, const char *value)
{
  const struct {
    const char *name;
    int *number;
  } numbers[] = { { "stride", &config.stride }, { "cell", &config.cell },
    { "search-radius", &params.radius },
    { "max-lost-frames", &params.max_lost_frames },
    { "update-window", &params.update.window } };

  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (strcmp (name, numbers[i].name) == 0) {
      *numbers[i].number = atoi (value);
      return;
    }
  }
  if (strcmp (name, "update-rate") == 0)
    params.update.rate = atof (value);
  else if (strcmp (name, "max-distance") == 0)
    params.max_distance = atof (value);
  else if (strcmp (name, "correlation") == 0)
    params.correlation = atoi (value);
  else if (strcmp (name, "refine") == 0)
    params.refine = atoi (value);
  else
    set_words (name, value);
}

static void
set_options (char **options)
{
  cuv_tracker_params_init (&params);
  for (; *options != NULL; options++) {
    char *value = strchr (*options, '=');

    if (value == NULL)
      die (*options);
    *value = '\0';
    set_option (*options, value + 1);
  }
}

/* ---- frames ---- */

static CuvFrame
make_frame (int width, int height)
{
  uint8_t *data = malloc ((size_t) width * (size_t) height * 3);

  if (data == NULL)
    die ("out of memory");
  return (CuvFrame){ CUV_MODEL_RGB, width, height, 3,
    { { data + 2, 3 * width, 3, 0, 0 }, { data + 1, 3 * width, 3, 0, 0 },
        { data, 3 * width, 3, 0, 0 } } };
}

static void
print_track (const CuvTrackerResult *result)
{
  static const char *const events[] = { "", "acquired", "lost", "reacquired",
    "given up" };
  const CuvTrack *track = &result->tracks[0];

  if (result->n_tracks == 0) {
    printf ("{\"state\": \"none\"}\n");
    return;
  }
  printf ("{\"state\": \"%s\", \"event\": \"%s\", \"box\": [%d, %d, %d, %d], "
          "\"scale\": %.4f, \"distance\": %.6g, \"second_distance\": %.6g, "
          "\"windows\": %lld, \"microseconds\": %.0f}\n",
      track->state == CUV_TRACK_TRACKED ? "tracked" : "lost",
      events[track->event], track->box.x, track->box.y, track->box.width,
      track->box.height, track->scale, fmin (track->distance, 1e9),
      fmin (track->second, 1e9), (long long) result->windows,
      (double) result->microseconds);
}

int
main (int argc, char **argv)
{
  const char *problem;
  CuvTrackerResult result;
  CuvTracker *tracker;
  CuvRcdBox box;
  CuvFrame frame;
  size_t size;

  if (argc < 7)
    die ("usage: track WIDTH HEIGHT BOX_X BOX_Y BOX_WIDTH BOX_HEIGHT "
         "[NAME=VALUE ...]");
  frame = make_frame (atoi (argv[1]), atoi (argv[2]));
  size = (size_t) frame.width * (size_t) frame.height * 3;
  box = (CuvRcdBox){ atoi (argv[3]), atoi (argv[4]), atoi (argv[5]),
    atoi (argv[6]) };
  set_options (argv + 7);
  tracker = cuv_tracker_new (&config, &problem);
  if (tracker == NULL)
    die (problem);
  cuv_tracker_add (tracker, &box);
  while (fread (frame.component[2].data, 1, size, stdin) == size) {
    problem = cuv_tracker_run (
        tracker, &frame, &params, false, &(CuvProcessor){ 0 }, &result);
    if (problem != NULL || result.rejected != NULL)
      die (problem != NULL ? problem : result.rejected);
    print_track (&result);
  }
  cuv_tracker_free (tracker);
  free (frame.component[2].data);
  return 0;
}
