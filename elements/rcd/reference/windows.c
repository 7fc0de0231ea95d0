/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Positions and sizes of the windows of a search and of its refinement. */
#include "rcd.h"
#include "rcd/rcd-distance.h"

CuvRcdLevel
cuv_rcd_level (
    const CuvRcdArea *part, int columns, int rows, int step, int first)
{
  const bool fits = columns > 0 && rows > 0 && columns <= part->n_columns
      && rows <= part->n_rows;

  return (CuvRcdLevel){ .columns = columns,
    .rows = rows,
    .x = part->column,
    .y = part->row,
    .n_x = fits ? (part->n_columns - columns) / step + 1 : 0,
    .n_y = fits ? (part->n_rows - rows) / step + 1 : 0,
    .step = step,
    .first = first };
}

CuvRcdBox
cuv_rcd_level_box (
    const CuvRcdArea *area, const CuvRcdLevel *level, int cell, int i)
{
  return (CuvRcdBox){ (area->column + level->x + i % level->n_x * level->step)
        * cell,
    (area->row + level->y + i / level->n_x * level->step) * cell,
    level->columns * cell, level->rows * cell };
}

/* Returns the length of the overlap of two ranges: n from a on, and m from b
 * on. */
static double
common_part (int a, int n, int b, int m)
{
  const int first = a > b ? a : b, end = a + n < b + m ? a + n : b + m;

  return end > first ? end - first : 0;
}

double
cuv_rcd_overlap (const CuvRcdBox *a, const CuvRcdBox *b)
{
  const double intersection = common_part (a->x, a->width, b->x, b->width)
      * common_part (a->y, a->height, b->y, b->height);

  return intersection
      / ((double) a->width * a->height + (double) b->width * b->height
          - intersection);
}

bool
cuv_rcd_centre_is_outside (const CuvRcdBox *box, const CuvRcdBox *other)
{
  int x = 2 * (box->x - other->x) + box->width;
  int y = 2 * (box->y - other->y) + box->height;

  return x < 0 || y < 0 || x >= 2 * other->width || y >= 2 * other->height;
}

bool
cuv_rcd_centre_is_outside_all (
    const CuvRcdBox *box, const CuvRcdBox *others, int n)
{
  for (int i = 0; i < n; i++) {
    if (!cuv_rcd_centre_is_outside (box, &others[i]))
      return false;
  }
  return true;
}

void
cuv_rcd_fine_windows_init (CuvRcdFineWindows *self, const CuvRcdBox *around,
    int spacing, int shift, int width, int height)
{
  static const int steps[CUV_RCD_FINE_SIZES] = { 0, -1, 1, -2, 2 };
  int i = 0;

  for (int size = 0; size < CUV_RCD_FINE_SIZES; size++) {
    int dw, dh;

    cuv_rcd_resize (around, steps[size], shift, &dw, &dh);
    for (int y = -(CUV_RCD_FINE_STEPS / 2); y <= CUV_RCD_FINE_STEPS / 2; y++) {
      for (int x = -(CUV_RCD_FINE_STEPS / 2); x <= CUV_RCD_FINE_STEPS / 2;
           x++, i++) {
        CuvRcdBox *box = &self->boxes[i];

        *box = (CuvRcdBox){ around->x + x * spacing - (dw >> 1),
          around->y + y * spacing - (dh >> 1), around->width + dw,
          around->height + dh };
        self->valid[i] = box->width > 0 && box->height > 0 && box->x >= 0
            && box->y >= 0 && box->x + box->width <= width
            && box->y + box->height <= height;
      }
    }
  }
}
