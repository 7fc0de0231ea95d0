/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same frames give the same bits on all processors and with all compilers:
 * a hash of all tracks that was computed once. */
#include "cuvcheck.h"
#include "mot.h"

#include <string.h>

/* Numbers that do not depend on the seed of the tests. */
static uint32_t
next_number (uint64_t *state, uint32_t n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t) (*state >> 33) % n;
}

static uint64_t
hash (uint64_t so_far, const void *data, size_t size)
{
  for (size_t i = 0; i < size; i++)
    so_far = (so_far ^ ((const uint8_t *) data)[i]) * 0x100000001b3u;
  return so_far;
}

static uint64_t
hash_track (uint64_t so_far, const CuvMotTrack *track)
{
  so_far = hash (so_far, &track->id, sizeof track->id);
  so_far = hash (so_far, &track->detection, sizeof track->detection);
  so_far = hash (so_far, &track->predicted, sizeof track->predicted);
  return hash (so_far, &track->filter, sizeof track->filter);
}

enum { WALKERS = 40, FRAMES = 150 };

/* People who walk at different speeds; some are missing, some have low scores.
 */
static int
walk (uint64_t *state, int frame, CuvMotDetection *boxes)
{
  int n = 0;

  for (int i = 0; i < WALKERS; i++) {
    const int32_t way = i % 2 ? 1 : -1, width = 400 + 37 * (i % 7);
    const int32_t x = i * 700 % 20000 + way * frame * (20 + i)
        + (int32_t) next_number (state, 40);
    const int32_t y = i * 331 % 9000 + (int32_t) next_number (state, 30);
    const double score = next_number (state, 8) == 0 ? 0.3 : 0.9;

    if (next_number (state, 10) == 0)
      continue;
    boxes[n++] = (CuvMotDetection){ { x, y, x + width, y + 2 * width + i },
      score, 0, false };
  }
  return n;
}

CUV_CHECKS_CPU (bits_are_the_same_everywhere)
{
  const uint64_t expected = 0xe6908dbdc7cd5b10u;
  CuvMot *mot = cuv_mot_new ();
  uint64_t state = 1, result = 0xcbf29ce484222325u;
  CuvMotParams params;

  cuv_check_case ("frames that never change");
  cuv_mot_params_init (&params);
  for (int frame = 0; frame < FRAMES; frame++) {
    CuvMotDetection boxes[WALKERS];
    const CuvMotFrame now = { boxes, walk (&state, frame, boxes),
      1 + frame % 3 / 4., (uint64_t) frame, false };
    const CuvMotTrack *tracks;
    int n;

    CUV_CHECK (cuv_mot_run (mot, &params, &now) == 0);
    tracks = cuv_mot_tracks (mot, &n);
    for (int i = 0; i < n; i++)
      result = hash_track (result, &tracks[i]);
  }
  CUV_CHECK (result == expected, ": %#llx", (unsigned long long) result);
  cuv_mot_free (mot);
}
