/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares all versions with known counts and with counts by brute force. */
#include "config.h"
#include "countbright.h"
#include "cuvcheck.h"
#if HAVE_CUDA
#include "countbright/countbright.h"
#endif

enum { N_SIZES = 5, N_THRESHOLDS = 5 };
static const int sizes[N_SIZES][2] = { { 1, 1 }, { 3, 3 }, { 17, 33 },
  { 67, 300 }, { 1919, 1079 } };
static const int thresholds[N_THRESHOLDS] = { 0, 1, 128, 254, 255 };

static void
check (const CuvCheckFrame *frame, const uint64_t wanted[])
{
  void *memory;
  const CuvFrame lent = cuv_check_lend (frame, &memory);
  void *cuda = CUV_CHECK_ON ((void *) cuv_countbright_cuda_new (), NULL);
  const int n_runs = cuv_check_options.cuda ? 1 : 4;

  for (int i = 0; i < N_THRESHOLDS; i++) {
    CUV_CHECK (cuv_countbright (&frame->frame, thresholds[i]) == wanted[i]);
    for (int n = 0; n < n_runs; n++) {
      uint64_t count = 0;

      CUV_CHECK_RUN (cuv_countbright_cuda_submit (
                         cuda, &lent, thresholds[i], cuv_check_stream)
              || cuv_countbright_cuda_collect (cuda, &count),
          count = cuv_countbright_cpu (&lent, thresholds[i], n));
      CUV_CHECK (count == wanted[i], ": run %d", n);
    }
  }
  CUV_CHECK_ON (cuv_countbright_cuda_free (cuda), (void) cuda);
  cuv_check_device_free (memory);
}

static void
check_by_brute_force (const char *format, int width, int height, int fill)
{
  CuvCheckFrame frame = cuv_check_frame_new (format, width, height, fill);
  uint64_t wanted[N_THRESHOLDS] = { 0 };

  cuv_check_case ("%s %dx%d, fill %d", format, width, height, fill);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      for (int i = 0; i < N_THRESHOLDS; i++)
        wanted[i] += cuv_frame_grey (&frame.frame, x, y) > thresholds[i];
    }
  }
  check (&frame, wanted);
  cuv_check_frame_free (&frame);
}

/* A pixel as bright as the threshold is not counted. */
static void
check_known (const char *format)
{
  static const uint64_t wanted[] = { 2, 2, 1, 0, 0 };
  CuvCheckFrame frame = cuv_check_frame_new (format, 70, 50, CUV_CHECK_BLACK);

  cuv_check_case ("%s, two pixels", format);
  cuv_frame_set_grey (&frame.frame, 0, 0, 128);
  cuv_frame_set_grey (&frame.frame, 69, 49, 129);
  check (&frame, wanted);
  cuv_check_frame_free (&frame);
}

CUV_CHECKS (check_countbright)
{
  const int n_sizes = N_SIZES - cuv_check_options.few;

  for (int i = 0; cuv_check_formats[i] != NULL; i++) {
    check_known (cuv_check_formats[i]);
    for (int k = 0; k < n_sizes; k++) {
      for (int fill = 0; fill < CUV_CHECK_N_FILLS; fill++)
        check_by_brute_force (
            cuv_check_formats[i], sizes[k][0], sizes[k][1], fill);
    }
  }
}
