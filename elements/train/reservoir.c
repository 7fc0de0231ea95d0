/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the windows drawn in a heap: `capacity` windows with the smallest
 * ranks. */
#include "train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool
cuv_train_reservoir_init (CuvTrainReservoir *self, int window_width,
    int window_height, int32_t capacity, uint64_t seed)
{
  const size_t size = (size_t) window_width * (size_t) window_height;

  *self = (CuvTrainReservoir){ .window_width = window_width,
    .window_height = window_height,
    .capacity = capacity,
    .seed = seed,
    .limit = capacity > 0 ? UINT64_MAX : 0,
    .ranks = malloc (((size_t) capacity + 1) * sizeof *self->ranks),
    .pixels = malloc ((size_t) capacity * size + 1) };
  return pthread_mutex_init (&self->lock, NULL) == 0 && self->ranks != NULL
      && self->pixels != NULL;
}

void
cuv_train_reservoir_clear (CuvTrainReservoir *self)
{
  free (self->ranks);
  free (self->pixels);
  pthread_mutex_destroy (&self->lock);
  *self = (CuvTrainReservoir){ 0 };
}

static size_t
window_size (const CuvTrainReservoir *self)
{
  return (size_t) self->window_width * (size_t) self->window_height;
}

static uint8_t *
pixels_of (const CuvTrainReservoir *self, int32_t i)
{
  return self->pixels + (size_t) i * window_size (self);
}

static void
move_entry (CuvTrainReservoir *self, int32_t from, int32_t to)
{
  self->ranks[to] = self->ranks[from];
  memcpy (pixels_of (self, to), pixels_of (self, from), window_size (self));
}

/* Returns the free entry of the heap for a rank after the largest was
 * removed. */
static int32_t
sift_down (CuvTrainReservoir *self, uint64_t rank)
{
  int32_t i = 0, child;

  while ((child = 2 * i + 1) < self->n) {
    if (child + 1 < self->n && self->ranks[child + 1] > self->ranks[child])
      child++;
    if (self->ranks[child] <= rank)
      break;
    move_entry (self, child, i);
    i = child;
  }
  return i;
}

static int32_t
sift_up (CuvTrainReservoir *self, uint64_t rank)
{
  int32_t i = self->n++;

  while (i > 0 && self->ranks[(i - 1) / 2] < rank) {
    move_entry (self, (i - 1) / 2, i);
    i = (i - 1) / 2;
  }
  return i;
}

void
cuv_train_reservoir_add (
    CuvTrainReservoir *self, uint64_t rank, const uint8_t *pixels)
{
  int32_t i;

  pthread_mutex_lock (&self->lock);
  if (cuv_train_reservoir_wants (self, rank)) {
    i = self->n < self->capacity ? sift_up (self, rank)
                                 : sift_down (self, rank);
    self->ranks[i] = rank;
    memcpy (pixels_of (self, i), pixels, window_size (self));
    if (self->n == self->capacity)
      self->limit = self->ranks[0];
  }
  pthread_mutex_unlock (&self->lock);
}

double
cuv_train_reservoir_rate (const CuvTrainReservoir *self)
{
  double n = self->n;

  if (self->n == self->capacity && self->n > 1)
    n = (n - 1) / ((double) self->ranks[0] * 0x1p-64);
  return self->n_windows > 0 ? fmin (n / (double) self->n_windows, 1) : 0;
}
