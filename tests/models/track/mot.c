/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the tracker and the assignment on text, for compare.py.
 *
 * usage: mot track    per frame: the number of boxes, then for each left, top,
 *                     right and bottom in 1/16 pixel and the score; writes the
 *                     ids, 0: none
 *        mot assign   per graph: rows, columns, the cost of none and the number
 *                     of pairs, then for each row, column and cost; writes the
 *                     columns, -1: none */
#include "mot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
array_new (int n, size_t size)
{
  void *array = calloc ((size_t) n + 1, size);

  if (n < 0 || array == NULL)
    abort ();
  return array;
}

static void
print (const int *numbers, int n)
{
  for (int i = 0; i < n; i++)
    printf ("%d ", numbers[i]);
  printf ("\n");
}

static void
print_ids (const CuvMot *mot, int n_boxes)
{
  int *ids = array_new (n_boxes, sizeof *ids);
  int n;
  const CuvMotTrack *tracks = cuv_mot_tracks (mot, &n);

  for (int i = 0; i < n; i++) {
    if (tracks[i].detection >= 0)
      ids[tracks[i].detection] = tracks[i].id;
  }
  print (ids, n_boxes);
  free (ids);
}

static int
track_frame (CuvMot *mot, uint64_t time, int n)
{
  CuvMotDetection *boxes = array_new (n, sizeof *boxes);
  const CuvMotFrame frame = { boxes, n, 1, time, false };
  CuvMotParams params;
  int status = 0;

  for (int i = 0; i < n && status == 0; i++) {
    CuvMotBox *box = &boxes[i].box;

    if (scanf ("%" SCNd32 "%" SCNd32 "%" SCNd32 "%" SCNd32 "%lf", &box->left,
            &box->top, &box->right, &box->bottom, &boxes[i].score)
        != 5)
      status = 1;
  }
  cuv_mot_params_init (&params);
  if (status == 0 && cuv_mot_run (mot, &params, &frame) != 0)
    status = 1;
  if (status == 0)
    print_ids (mot, n);
  free (boxes);
  return status;
}

static int
track (void)
{
  CuvMot *mot = cuv_mot_new ();
  int n, status = 0;

  for (uint64_t time = 1; status == 0 && scanf ("%d", &n) == 1; time++)
    status = track_frame (mot, time, n);
  cuv_mot_free (mot);
  return status;
}

static int
assign_graph (int rows, int columns, int32_t none, int n)
{
  CuvMotAssignment *assignment = cuv_mot_assignment_new ();
  CuvMotPair *pairs = array_new (n, sizeof *pairs);
  int *result = array_new (rows, sizeof *result);
  int status = 0;

  for (int i = 0; i < n && status == 0; i++) {
    if (scanf ("%d%d%" SCNd32, &pairs[i].row, &pairs[i].column, &pairs[i].cost)
        != 3)
      status = 1;
  }
  if (status == 0)
    status = cuv_mot_assign (assignment, rows, columns, pairs, n, none, result);
  if (status == 0)
    print (result, rows);
  free (result);
  free (pairs);
  cuv_mot_assignment_free (assignment);
  return status;
}

static int
assign (void)
{
  int rows, columns, n, status = 0;
  int32_t none;

  while (status == 0
      && scanf ("%d%d%" SCNd32 "%d", &rows, &columns, &none, &n) == 4)
    status = assign_graph (rows, columns, none, n);
  return status;
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "track") == 0)
    return track ();
  if (argc == 2 && strcmp (argv[1], "assign") == 0)
    return assign ();
  fprintf (stderr, "usage: mot track | assign\n");
  return 2;
}
