/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trees/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_OCTAVES = 16,
  /* Pixels around a window on which its channels depend: 5 for the mean of
   * magnitudes, 1 for gradients, up to 4 for smoothing; a multiple of 4. */
  BORDER = 12,
};

/* How far copies are moved at most, as a fraction of the object's size, and how
 * much they are scaled: as measured in docs/definitions/channels.md. */
#define SHIFT 0.06
#define SCALE 1.09

/* A picture, and its copies of half the size, a quarter and so on. */
typedef struct {
  CuvChannelsPicture octaves[MAX_OCTAVES];
  int32_t n;
} Pyramid;

/* Returns a random number in -1 .. 1. */
static double
next_share (uint64_t *random)
{
  return (double) (cuv_train_random (random) >> 11) * 0x1p-52 - 1;
}

/* ---- pictures ---- */

/* Allocates the planes of a picture. */
static bool
picture_init (
    CuvChannelsPicture *self, uint8_t **planes, int32_t width, int32_t height)
{
  const size_t n = (size_t) width * (size_t) height;

  *planes = malloc (CUV_CHANNELS_COLORS * n);
  self->width = width;
  self->height = height;
  for (int i = 0; i < CUV_CHANNELS_COLORS && *planes != NULL; i++)
    self->plane[i] = *planes + (size_t) i * n;
  return *planes != NULL;
}

static bool
halve (const CuvChannelsPicture *in, CuvChannelsPicture *out)
{
  uint8_t *at;

  if (!picture_init (out, &at, in->width / 2, in->height / 2))
    return false;
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (int y = 0; y < out->height; y++) {
      const uint8_t *row = in->plane[i] + 2 * (ptrdiff_t) y * in->width;

      for (int x = 0; x < out->width; x++, row += 2)
        *at++ = (uint8_t) ((row[0] + row[1] + row[in->width]
                               + row[in->width + 1] + 2)
            >> 2);
    }
  }
  return true;
}

static bool
pyramid_init (Pyramid *self, const CuvChannelsPicture *picture)
{
  self->octaves[0] = *picture;
  for (self->n = 1; self->n < MAX_OCTAVES; self->n++) {
    const CuvChannelsPicture *last = &self->octaves[self->n - 1];

    if (last->width < 16 || last->height < 16)
      break;
    if (!halve (last, &self->octaves[self->n]))
      return false;
  }
  return true;
}

static void
pyramid_clear (Pyramid *self)
{
  for (int i = 1; i < self->n; i++)
    free ((void *) self->octaves[i].plane[0]);
}

bool
cuv_train_change_contrast (
    const CuvChannelsPicture *picture, uint64_t seed, CuvChannelsPicture *copy)
{
  const size_t n = (size_t) picture->width * (size_t) picture->height;
  const double contrast = 0.85 + 0.4 * next_share (&seed);
  const double middle = 128 + 32 * next_share (&seed);
  uint8_t *planes, changed[256];

  if (!picture_init (copy, &planes, picture->width, picture->height))
    return false;
  for (int i = 0; i < 256; i++) {
    const double value = middle + contrast * (i - middle);

    changed[i] = (uint8_t) lrint (fmin (fmax (value, 0), 255));
  }
  for (int i = 0; i < CUV_CHANNELS_COLORS; i++) {
    for (size_t k = 0; k < n; k++)
      *planes++ = changed[picture->plane[i][k]];
  }
  return true;
}

/* ---- a window ---- */

/* A position between two samples, limited to the picture. */
typedef struct {
  int32_t index, next, weight; /* weight: of next, in 1/256 */
} Place;

static Place
place_at (double position, int32_t n)
{
  const double low = floor (position);
  const int32_t index = (int32_t) fmin (fmax (low, -1e6), 1e6);

  return (Place){ cuv_channels_clamp (index, n),
    cuv_channels_clamp (index + 1, n), (int32_t) (256 * (position - low)) };
}

/* Resamples a plane to the size of out and writes it to at. A sample covers a
 * square of side scale; the first square begins at (left, top). */
static void
resample (const uint8_t *plane, const CuvChannelsPicture *picture, double left,
    double top, double scale, CuvChannelsPicture *out, uint8_t *at)
{
  for (int y = 0; y < out->height; y++) {
    const Place row = place_at (top + (y + 0.5) * scale - 0.5, picture->height);
    const uint8_t *first = plane + (ptrdiff_t) row.index * picture->width;
    const uint8_t *second = plane + (ptrdiff_t) row.next * picture->width;

    for (int x = 0; x < out->width; x++) {
      const Place column =
          place_at (left + (x + 0.5) * scale - 0.5, picture->width);
      const int a = first[column.index] * (256 - column.weight)
          + first[column.next] * column.weight;
      const int b = second[column.index] * (256 - column.weight)
          + second[column.next] * column.weight;

      *at++ =
          (uint8_t) (((256 - row.weight) * a + row.weight * b + 32768) >> 16);
    }
  }
}

static void
copy_window (const CuvChannelsTrees *trees, const uint8_t *channels,
    int columns, int rows, uint8_t *values)
{
  const int border = BORDER / trees->shrink;

  for (int channel = 0; channel < CUV_CHANNELS_N; channel++) {
    for (int row = 0; row < trees->rows; row++, values += trees->columns)
      memcpy (values,
          channels + ((ptrdiff_t) channel * rows + border + row) * columns
              + border,
          (size_t) trees->columns);
  }
}

/* Computes the channels of the window whose object is the box. The box must
 * have the aspect ratio of shape->object. */
static bool
cut (const Pyramid *pyramid, const CuvTrainBox *box,
    const CuvChannelsModel *shape, uint8_t *values)
{
  const CuvChannelsTrees *trees = &shape->trees;
  const int width = trees->columns * trees->shrink + 2 * BORDER;
  const int height = trees->rows * trees->shrink + 2 * BORDER;
  const int columns = width / trees->shrink, rows = height / trees->shrink;
  double scale = box->width / shape->object[2], shrunk = 1;
  uint8_t *planes, *channels;
  CuvChannelsPicture window;
  int octave = 0;
  bool ok;

  for (; scale >= 2 && octave < pyramid->n - 1; octave++) {
    scale /= 2;
    shrunk *= 2;
  }
  channels = malloc (CUV_CHANNELS_N * (size_t) columns * (size_t) rows);
  ok = picture_init (&window, &planes, width, height) && channels != NULL;
  for (int i = 0; i < CUV_CHANNELS_COLORS && ok; i++)
    resample (pyramid->octaves[octave].plane[i], &pyramid->octaves[octave],
        box->x / shrunk - (shape->object[0] + BORDER) * scale,
        box->y / shrunk - (shape->object[1] + BORDER) * scale, scale, &window,
        planes + (size_t) i * (size_t) width * (size_t) height);
  ok = ok && cuv_channels_compute (&window, trees->shrink, channels);
  if (ok)
    copy_window (trees, channels, columns, rows, values);
  free (planes);
  free (channels);
  return ok;
}

/* ---- objects ---- */

/* Extends an interval to a length and returns its new start. Its centre stays
 * or, if an edge of the picture cuts the object off, its end away from that
 * edge. */
static double
extend (double first, double size, double wanted, double n)
{
  const bool at_start = first <= 1, at_end = first + size >= n - 1;

  if (at_start && !at_end)
    return first + size - wanted;
  return at_end && !at_start ? first : first + (size - wanted) / 2;
}

static CuvTrainBox
extended_to_aspect (const CuvTrainScene *scene, const CuvTrainBox *box,
    const CuvChannelsModel *shape)
{
  const double scale =
      fmax (box->width / shape->object[2], box->height / shape->object[3]);
  const double width = scale * shape->object[2];
  const double height = scale * shape->object[3];

  return (CuvTrainBox){
    extend (box->x, box->width, width, scene->picture.width),
    extend (box->y, box->height, height, scene->picture.height), width, height
  };
}

static CuvTrainBox
moved (const CuvTrainBox *box, uint64_t *random)
{
  const double scale = pow (SCALE, next_share (random));
  const double x = box->x + box->width * (0.5 + SHIFT * next_share (random));
  const double y = box->y + box->height * (0.5 + SHIFT * next_share (random));

  return (CuvTrainBox){ x - scale * box->width / 2, y - scale * box->height / 2,
    scale * box->width, scale * box->height };
}

/* Mirrors a window. Direction k becomes (6 - k) mod 6. */
static void
mirror (const CuvChannelsTrees *trees, const uint8_t *values, uint8_t *out)
{
  const ptrdiff_t n = (ptrdiff_t) trees->columns * trees->rows;

  for (int channel = 0; channel < CUV_CHANNELS_N; channel++) {
    const int bin = channel - CUV_CHANNELS_DIRECTION;
    uint8_t *to = out
        + n
            * (bin > 0 ? CUV_CHANNELS_DIRECTION + CUV_CHANNELS_BINS - bin
                       : channel);

    for (ptrdiff_t i = 0; i < n; i++, values++)
      to[i / trees->columns * trees->columns + trees->columns - 1
          - i % trees->columns] = *values;
  }
}

static bool
add_sample (const Pyramid *pyramid, const CuvTrainBox *box,
    const CuvTrainChannelsParams *params, CuvTrainSampleList *list)
{
  uint8_t *values = cuv_train_sample_list_add (list), *mirrored;

  if (values == NULL || !cut (pyramid, box, &params->shape, values))
    return false;
  if (!params->mirror)
    return true;
  mirrored = cuv_train_sample_list_add (list);
  if (mirrored != NULL) /* values is invalid: the list may have moved */
    mirror (&params->shape.trees, mirrored - list->n_features, mirrored);
  return mirrored != NULL;
}

bool
cuv_train_add_objects (const CuvTrainScene *scene,
    const CuvTrainChannelsParams *params, uint64_t seed,
    CuvTrainSampleList *list)
{
  Pyramid pyramid = { .n = 0 };
  bool ok = scene->n_objects == 0 || pyramid_init (&pyramid, &scene->picture);

  for (int32_t i = 0; i < scene->n_objects && ok; i++) {
    const CuvTrainBox box =
        extended_to_aspect (scene, &scene->objects[i], &params->shape);

    for (int copy = 0; copy < params->n_copies && ok; copy++) {
      const CuvTrainBox at = copy == 0 ? box : moved (&box, &seed);

      ok = add_sample (&pyramid, &at, params, list);
    }
  }
  pyramid_clear (&pyramid);
  return ok;
}
