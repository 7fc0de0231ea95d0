/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds objects in a picture of PGM's binary format; prints a line for each. */
#include <cuvdetect.h>
#include <stdio.h>
#include <stdlib.h>

static int
fail (char *error)
{
  fprintf (stderr, "%s\n", error);
  free (error);
  return 1;
}

int
main (int argc, char **argv)
{
  static unsigned char pixels[1 << 20];
  const CuvDetection *found;
  CuvDetectPicture picture = { .format = CUV_DETECT_GREY,
    .planes = { pixels } };
  CuvDetectModel *model;
  CuvDetect *detect;
  char *error;
  int n;

  if (argc != 2
      || scanf ("P5 %d %d 255%*1[\n]", &picture.width, &picture.height) != 2
      || fread (pixels, 1, sizeof pixels, stdin)
          != (size_t) picture.width * (size_t) picture.height)
    return 2;
  picture.strides[0] = picture.width;
  model = cuv_detect_model_load (argv[1], &error);
  if (model == NULL)
    return fail (error);
  detect = cuv_detect_new (&model, 1, NULL, &error);
  if (detect == NULL)
    return fail (error);
  cuv_detect_model_free (model); /* the detector keeps it */
  n = cuv_detect_run (detect, &picture, &found, &error);
  if (n < 0)
    return fail (error);
  for (int i = 0; i < n; i++)
    printf ("%d %d %d %d\n", found[i].x, found[i].y, found[i].width,
        found[i].height);
  cuv_detect_free (detect);
  return 0;
}
