/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C reference against results that were derived by hand. */
#include "cuvcheck.h"
#include "ldp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 24 };

typedef struct {
  uint8_t pixels[SIZE * SIZE];
} Picture;

static uint8_t
code (const Picture *picture, int order, int direction, int x, int y)
{
  return cuv_ldp_code (picture->pixels, SIZE, SIZE, order, direction, x, y);
}

/* Returns whether all codes away from the border have this value. */
static bool
are_all (const Picture *picture, int order, int direction, uint8_t wanted)
{
  for (int y = order; y < SIZE - order; y++) {
    for (int x = order; x < SIZE - order; x++) {
      if (code (picture, order, direction, x, y) != wanted)
        return false;
    }
  }
  return true;
}

/* ---- codes ---- */

static void
check_by_hand (void)
{
  static const uint8_t pixels[] = {
    9, 3, 7, 1, 5, /* derivatives to the right: 6 -4 6 -4 */
    2, 8, 4, 4, 6, /* -6 4 0 -2 */
    5, 5, 1, 7, 3, /* 0 4 -6 4 */
  };

  cuv_check_case ("a code by hand");
  /* at (1, 1), 4: above 6 -4 6, right 0, below -6 4 0, left -6 */
  CUV_CHECK (cuv_ldp_code (pixels, 5, 3, 2, 0, 1, 1) == 0x5b);
  /* at (2, 1) the derivative is 0: all neighbours disagree with it */
  CUV_CHECK (cuv_ldp_code (pixels, 5, 3, 2, 0, 2, 1) == 0xff);
}

/* On a plane the first derivative is constant, and all higher ones are 0. */
static void
check_ramps (void)
{
  static const int slopes[][2] = { { 1, 0 }, { 0, 3 }, { 2, 5 }, { 4, -4 },
    { 3, 3 } };

  cuv_check_case ("ramps");
  for (int i = 0; i < 5; i++) {
    const int a = slopes[i][0], b = slopes[i][1];
    Picture picture;

    for (int p = 0; p < SIZE * SIZE; p++)
      picture.pixels[p] =
          (uint8_t) (a * (p % SIZE) + b * (p / SIZE) + (b < 0 ? -b * SIZE : 0));
    for (int d = 0; d < CUV_LDP_DIRECTIONS; d++) {
      const int slope = a * cuv_ldp_dx (d) + b * cuv_ldp_dy (d);

      CUV_CHECK (are_all (&picture, 2, d, slope == 0 ? 255 : 0));
      CUV_CHECK (
          are_all (&picture, 3, d, 255) && are_all (&picture, 4, d, 255));
    }
  }
}

typedef uint8_t (*Change) (uint8_t);

static uint8_t
brighter (uint8_t value)
{
  return (uint8_t) (value + 130);
}

static uint8_t
doubled (uint8_t value)
{
  return (uint8_t) (2 * value);
}

static uint8_t
inverted (uint8_t value)
{
  return (uint8_t) (255 - value);
}

static void
fill (Picture *picture)
{
  for (int i = 0; i < SIZE * SIZE; i++)
    picture->pixels[i] = (uint8_t) cuv_check_below (126);
}

/* Changes that keep the signs of all derivatives, or flip all of them, change
 * no code. */
static void
check_changes (void)
{
  static const Change changes[] = { brighter, doubled, inverted };
  Picture picture, changed;

  cuv_check_case ("brighter, doubled, inverted");
  fill (&picture);
  for (int i = 0; i < 3; i++) {
    bool same = true;

    for (int p = 0; p < SIZE * SIZE; p++)
      changed.pixels[p] = changes[i](picture.pixels[p]);
    for (int order = 2; order <= CUV_LDP_MAX_ORDER; order++) {
      for (int p = 0; p < SIZE * SIZE; p++)
        same = same
            && code (&picture, order, p % 4, p % SIZE, p / SIZE)
                == code (&changed, order, p % 4, p % SIZE, p / SIZE);
    }
    CUV_CHECK (same, ": %d", i);
  }
}

/* Mirroring at the anti-diagonal swaps 0 and 90 degrees, and reorders the
 * neighbours. */
static void
check_mirrored (void)
{
  /* where each neighbour's bit is after mirroring */
  static const int bits[8] = { 2, 1, 0, 7, 6, 5, 4, 3 };
  Picture picture, mirrored;
  bool same = true;

  cuv_check_case ("mirrored");
  fill (&picture);
  for (int p = 0; p < SIZE * SIZE; p++)
    mirrored.pixels[(SIZE - 1 - p % SIZE) * SIZE + SIZE - 1 - p / SIZE] =
        picture.pixels[p];
  for (int p = 0; p < SIZE * SIZE; p++) {
    const int x = p % SIZE, y = p / SIZE;
    const unsigned other = code (&mirrored, 3, 2, SIZE - 1 - y, SIZE - 1 - x);
    unsigned turned = 0;

    for (int bit = 0; bit < 8; bit++)
      turned |= (other >> bits[bit] & 1) << bit;
    same = same && code (&picture, 3, 0, x, y) == turned;
  }
  CUV_CHECK (same);
}

CUV_CHECKS_CPU (check_ldp_codes)
{
  check_by_hand ();
  check_ramps ();
  check_changes ();
  check_mirrored ();
}

/* ---- layouts ---- */

static const CuvLdpParams usual = {
  .order = 3, .block = 16, .directions = 15, .levels = 32
};

static bool
is_refused (CuvLdpParams params, int width, int height)
{
  CuvLdpLayout layout;

  return cuv_ldp_layout_init (&layout, &params, width, height) != NULL;
}

static void
check_refused (void)
{
  CuvLdpParams params[7];

  cuv_check_case ("invalid parameters");
  for (int i = 0; i < 7; i++)
    params[i] = usual;
  CUV_CHECK (!is_refused (usual, 1, 1));
  CUV_CHECK (is_refused (usual, 0, 9) && is_refused (usual, 9, 0));
  CUV_CHECK (is_refused (usual, CUV_LDP_MAX_SIZE + 1, 9));
  params[0].order = 1;
  params[1].order = 10;
  params[2].directions = 0;
  params[3].directions = 16;
  params[4].block = -1;
  params[5].block = 0;
  params[6].bins = CUV_LDP_BINS_LEVELS;
  params[6].levels = 257;
  for (int i = 0; i < 7; i++)
    CUV_CHECK (is_refused (params[i], 99, 99), ": %d", i);
  params[5].grid = 10;
  CUV_CHECK (!is_refused (params[5], 10, 10) && is_refused (params[5], 10, 9));
}

/* Every counted pixel is in exactly one block. */
static void
check_totals (const CuvLdpParams *params, int width, int height)
{
  const int margin = params->border == CUV_LDP_VALID ? params->order : 0;
  const int across = width - 2 * margin, down = height - 2 * margin;
  CuvLdpLayout layout;
  uint64_t sum = 0;

  cuv_check_case ("%d x %d, blocks of %d, grid %d, border %d", width, height,
      params->block, params->grid, params->border);
  CUV_CHECK (cuv_ldp_layout_init (&layout, params, width, height) == NULL);
  for (int row = 0; row < layout.rows; row++) {
    for (int column = 0; column < layout.columns; column++)
      sum += cuv_ldp_total (&layout, column, row);
  }
  CUV_CHECK (sum
      == (across > 0 && down > 0 ? (uint64_t) across * (uint64_t) down : 0));
}

static void
check_uniform (void)
{
  CuvLdpParams params = usual;
  CuvLdpLayout layout;
  int n[CUV_LDP_UNIFORM_BINS] = { 0 };

  cuv_check_case ("uniform bins");
  params.bins = CUV_LDP_BINS_UNIFORM;
  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, 64, 64) == NULL);
  for (int i = 0; i < CUV_LDP_CODES; i++)
    n[layout.bin_of_code[i]]++;
  for (int i = 0; i < CUV_LDP_UNIFORM_BINS - 1; i++)
    CUV_CHECK (n[i] == 1, ": %d", i);
  CUV_CHECK (n[CUV_LDP_UNIFORM_BINS - 1] == CUV_LDP_CODES - 58);
  CUV_CHECK (layout.bin_of_code[0] == 0 && layout.bin_of_code[255] == 57);
  CUV_CHECK (layout.bin_of_code[5] == 58);
}

/* Each scale is described as its resized picture would be alone, after the
 * counts of the larger scale. */
static void
check_scales (void)
{
  CuvLdpParams params = { .order = 2, .block = 9, .directions = 15 };
  CuvLdpLayout both, first, second;
  static uint32_t counts[2][64 * 4 * 256];
  uint8_t *half = malloc ((SIZE / 2) * (SIZE / 3));
  Picture picture;
  size_t n;

  cuv_check_case ("scales");
  fill (&picture);
  cuv_ldp_layout_init (&first, &params, SIZE, SIZE * 2 / 3);
  cuv_ldp_layout_init (&second, &params, SIZE / 2, SIZE / 3);
  params.scales = 2;
  CUV_CHECK (cuv_ldp_layout_init (&both, &params, SIZE, SIZE * 2 / 3) == NULL);
  n = cuv_ldp_n_counts (&first);
  CUV_CHECK (cuv_ldp_n_counts (&both) == n + cuv_ldp_n_counts (&second));
  for (int i = 0; i < SIZE / 2 * (SIZE / 3); i++) {
    const uint8_t *p =
        picture.pixels + i / (SIZE / 2) * 2 * SIZE + i % (SIZE / 2) * 2;

    half[i] = (uint8_t) ((p[0] + p[1] + p[SIZE] + p[SIZE + 1] + 2) / 4);
  }
  cuv_ldp_describe (&both, picture.pixels, counts[0]);
  cuv_ldp_describe (&first, picture.pixels, counts[1]);
  cuv_ldp_describe (&second, half, counts[1] + n);
  CUV_CHECK (memcmp (counts[0], counts[1],
                 cuv_ldp_n_counts (&both) * sizeof counts[0][0])
      == 0);
  free (half);
}

CUV_CHECKS_CPU (check_ldp_layouts)
{
  check_scales ();
  check_refused ();
  check_uniform ();
  for (int i = 0; i < 40; i++) {
    CuvLdpParams params = usual;
    const int width = 1 + (int) cuv_check_below (90);
    const int height = 1 + (int) cuv_check_below (90);

    params.order = 2 + (int) cuv_check_below (8);
    params.block = (int) cuv_check_below (2) * (1 + (int) cuv_check_below (99));
    params.grid = 1
        + (int) cuv_check_below ((uint32_t) (width < height ? width : height));
    params.border = cuv_check_below (2) ? CUV_LDP_VALID : CUV_LDP_REPLICATE;
    check_totals (&params, width, height);
  }
}

/* ---- pictures ---- */

static void
check_picture (const uint8_t *from, int n_from, const uint8_t *wanted, int n_to)
{
  const CuvFrame frame = { CUV_MODEL_GREY, n_from, 1, 1,
    { { (uint8_t *) from, n_from, 1, 0, 0 } } };
  const CuvLdpRect rect = { 0, 0, n_from, 1 };
  uint8_t made[16];

  cuv_check_case ("%d pixels from %d", n_to, n_from);
  cuv_ldp_resize (&frame, &rect, n_to, 1, made);
  CUV_CHECK (memcmp (made, wanted, (size_t) n_to) == 0, ": %d %d ..", made[0],
      made[1]);
}

CUV_CHECKS_CPU (check_ldp_pictures)
{
  static const uint8_t row[] = { 10, 20, 40, 90, 0, 255 };
  static const uint8_t halves[] = { 15, 65, 128 };
  static const uint8_t four[] = { 13, 33, 60, 170 }; /* from 1.5 pixels each */
  static const uint8_t twice[] = { 10, 13, 18, 20 }; /* from two pixels each */
  static const uint8_t thrice[] = { 10, 10, 13, 17, 20, 20 };

  check_picture (row, 6, row, 6);
  check_picture (row, 6, halves, 3);
  check_picture (row, 6, four, 4);
  check_picture (row, 2, twice, 4);
  check_picture (row, 2, thrice, 6);
  check_picture (row, 1, (const uint8_t[]){ 10, 10, 10 }, 3);
}

/* ---- similarity ---- */

static double
similarity_of (const CuvLdpLayout *layout, const Picture *a, const Picture *b)
{
  const size_t n = cuv_ldp_n_counts (layout);
  uint32_t *counts[2] = { malloc (n * sizeof **counts),
    malloc (n * sizeof **counts) };
  double similarity;

  cuv_ldp_describe (layout, a->pixels, counts[0]);
  cuv_ldp_describe (layout, b->pixels, counts[1]);
  similarity = cuv_ldp_similarity (layout, counts[0], layout, counts[1]);
  free (counts[0]);
  free (counts[1]);
  return similarity;
}

CUV_CHECKS_CPU (check_ldp_similarity)
{
  CuvLdpParams params = usual;
  CuvLdpLayout layout;
  Picture noise, other, flat = { { 0 } }, ramp;

  cuv_check_case ("similarity");
  fill (&noise);
  fill (&other);
  for (int i = 0; i < SIZE * SIZE; i++)
    ramp.pixels[i] = (uint8_t) (3 * (i % SIZE) + 7 * (i / SIZE));
  params.block = 9;
  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, SIZE, SIZE) == NULL);
  CUV_CHECK (fabs (similarity_of (&layout, &noise, &noise) - 1.0) < 1e-12);
  CUV_CHECK (similarity_of (&layout, &noise, &other) < 0.5);
  CUV_CHECK (similarity_of (&layout, &noise, &other)
      == similarity_of (&layout, &other, &noise));
  /* at order 2 all codes of the ramp are 0, and all of the flat picture 255 */
  params.order = 2;
  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, SIZE, SIZE) == NULL);
  CUV_CHECK (similarity_of (&layout, &ramp, &flat) == 0.0);
  CUV_CHECK (fabs (similarity_of (&layout, &flat, &flat) - 1.0) < 1e-12);
}
