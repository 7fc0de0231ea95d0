/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Benchmark of square pictures of 256 to 4096 pixels a side: in device memory,
 * from host memory, and streamed from host memory, where copies overlap
 * kernels. */
#include "config.h"

#if HAVE_CUDA
#include <stdio.h>
#include "cuv-upload.h"
#include "cuvcheck.h"
#include "ldp.h"
#include "ldp/ldp.h"

enum { LANES = 2 };

typedef struct {
  void *stream;
  CuvUpload *upload;
  CuvLdpCuda *cuda;
} Lane;

typedef struct {
  Lane lanes[LANES];
  CuvFrame frame;      /* in device memory */
  const void *picture; /* in pinned memory */
  int size;
} Sizes;

static CuvLdpRect
all_of (const Sizes *self)
{
  return (CuvLdpRect){ 0, 0, self->size, self->size };
}

static void
run_resident (void *data)
{
  Sizes *self = data;
  const CuvLdpRect all = all_of (self);

  cuv_ldp_cuda_submit (
      self->lanes[0].cuda, &self->frame, &all, self->lanes[0].stream);
}

static void
enqueue (Sizes *self, Lane *lane)
{
  const size_t bytes = (size_t) self->size * (size_t) self->size;
  const CuvLdpRect all = all_of (self);
  CuvFrame frame = self->frame;

  frame.component[0].data = cuv_upload_reserve (lane->upload, bytes);
  frame.component[0].stride = self->size;
  cuv_upload_pinned (lane->upload, self->picture, bytes, lane->stream);
  cuv_ldp_cuda_submit (lane->cuda, &frame, &all, lane->stream);
}

static void
run_from_host (void *data)
{
  Sizes *self = data;

  enqueue (self, &self->lanes[0]);
  cuv_ldp_cuda_wait (self->lanes[0].cuda);
}

static void
run_and_back (void *data)
{
  Sizes *self = data;

  enqueue (self, &self->lanes[0]);
  cuv_ldp_cuda_collect (self->lanes[0].cuda);
}

/* Queues a picture on each lane as soon as the lane's previous one is
 * described. */
static void
run_streamed (void *data)
{
  Sizes *self = data;

  for (int i = 0; i < LANES; i++) {
    cuv_ldp_cuda_wait (self->lanes[i].cuda);
    enqueue (self, &self->lanes[i]);
  }
}

static void
report (const Sizes *self, const char *how, double microseconds)
{
  const double pixels = (double) self->size * self->size;

  cuv_check_report (microseconds, pixels, pixels,
      "ldp cuda, %dx%d, order 3, %s", self->size, self->size, how);
}

static void
bench_all (Sizes *self)
{
  void *stream = self->lanes[0].stream;

  report (self, "resident, in a row",
      cuv_check_time_stream (run_resident, self, stream));
  report (self, "resident, alone",
      cuv_check_time_device (run_resident, self, stream));
  report (self, "from host memory", cuv_check_time (run_from_host, self));
  report (self, "from host memory and the histograms back",
      cuv_check_time (run_and_back, self));
  report (self, "streamed from host memory",
      cuv_check_time (run_streamed, self) / LANES);
}

static void
bench_size (int size)
{
  const CuvLdpParams params = { .order = 3, .block = 16, .directions = 15 };
  CuvCheckFrame host =
      cuv_check_frame_new ("GRAY8", size, size, CUV_CHECK_TEXTURE);
  Sizes self = { .size = size };
  CuvLdpLayout layout;
  void *memory, *pinned = cuv_check_pinned_new ((size_t) size * (size_t) size);

  CUV_CHECK (cuv_ldp_layout_init (&layout, &params, size, size) == NULL);
  cuv_ldp_resize (
      &host.frame, &(CuvLdpRect){ 0, 0, size, size }, size, size, pinned);
  self.picture = pinned;
  self.frame = cuv_check_to_device (&host, &memory);
  cuv_check_stream_wait (cuv_check_stream);
  for (int i = 0; i < LANES; i++)
    self.lanes[i] = (Lane){ cuv_check_stream_new (), cuv_upload_new (),
      cuv_ldp_cuda_new (&layout) };
  bench_all (&self);
  for (int i = 0; i < LANES; i++) {
    cuv_check_stream_wait (self.lanes[i].stream);
    cuv_ldp_cuda_free (self.lanes[i].cuda);
    cuv_upload_free (self.lanes[i].upload);
    cuv_check_stream_free (self.lanes[i].stream);
  }
  cuv_check_device_free (memory);
  cuv_check_pinned_free (pinned);
  cuv_check_frame_free (&host);
}

CUV_BENCH_CUDA (bench_ldp_sizes)
{
  for (int size = 256; size <= 4096; size *= 2)
    bench_size (size);
}

#endif
