/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hough-inputs.h"
#include "hough-tests.h"

#include <stdlib.h>

typedef struct {
  CuvCheckFrame frame;
  CuvCanny *canny;
  CuvHoughSpace space;
  uint32_t *list, *votes;
  size_t n;
} Bench;

static void
find_edges (void *data)
{
  const CuvCannyParams params = {
    .norm = CUV_CANNY_L1, .low = 50, .high = 100
  };
  Bench *self = data;

  cuv_canny_run (self->canny, &self->frame.frame, &params);
}

static void
vote (void *data)
{
  Bench *self = data;

  cuv_hough_vote (
      &self->space, &(CuvEdgeList){ self->list, NULL, self->n }, self->votes);
}

void
bench_hough (void)
{
  const int width = 1920, height = 1080;
  const double pixels = (double) width * height;
  Bench self = { .frame = cuv_check_frame_new (
                     "GRAY8", width, height, CUV_CHECK_TEXTURE),
    .canny = cuv_canny_new (width, height) };

  cuv_check_report ("canny c", cuv_check_time (find_edges, &self), pixels, 0);
  self.list = malloc ((size_t) pixels * sizeof *self.list);
  self.n =
      cuv_hough_list_edges (self.canny->edges, width, height, width, self.list);
  cuv_hough_space_init (&self.space,
      &(CuvHoughShape){
          CUV_LINES_RHO_THETA, width, height, 180, 0, -90, 90, 1, 90 });
  self.votes = malloc (cuv_hough_n_cells (&self.space) * sizeof *self.votes);
  printf ("%zu edges\n", self.n);
  cuv_check_report ("hough votes c", cuv_check_time (vote, &self), pixels, 0);
  cuv_hough_space_clear (&self.space);
  free (self.votes);
  free (self.list);
  cuv_canny_free (self.canny);
  cuv_check_frame_free (&self.frame);
}
