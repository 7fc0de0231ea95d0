/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionoverlay with frames of changing CUDA contexts: a copy is made in the
 * context of its frame. */
#include "config.h"
#include "scene.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

#define CAPS                                                                   \
  "video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,"             \
  "framerate=30/1"

static GstBufferPool *
new_pool (GstCudaContext *context, GstCaps *caps)
{
  GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, 64 * 48 * 3 / 2, 0, 0);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

/* Pushes a frame that is not writable, so that it must be copied. */
static void
check_frame (GstHarness *h, GstBufferPool *pool, GstCudaContext *context)
{
  GstBuffer *buffer, *held, *out;

  fail_unless_equals_int (
      gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  overlay_add_region (buffer, "face", 10, 20, 30, 20, 0.9);
  held = gst_buffer_copy (buffer);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (
      gst_buffer_peek_memory (out, 0) != gst_buffer_peek_memory (held, 0));
  fail_unless (GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (out, 0))->context
      == context);
  gst_buffer_unref (out);
  gst_buffer_unref (held);
}

CUV_TEST (copies_stay_in_their_context)
{
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstCudaContext *contexts[2];
  GstBufferPool *pools[2];
  GstHarness *h;
  gint n_copies;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  h = gst_harness_new ("visionoverlay");
  gst_harness_set_caps (h, gst_caps_ref (caps), gst_caps_ref (caps));
  for (guint i = 0; i < 2; i++) {
    contexts[i] = gst_cuda_context_new (0);
    pools[i] = new_pool (contexts[i], caps);
  }
  n_copies = cuv_fake_counts ().on_device;
  for (guint i = 0; i < 9; i++) /* three frames of each context in turn */
    check_frame (h, pools[i / 3 % 2], contexts[i / 3 % 2]);
  /* one call for both planes of a frame */
  fail_unless_equals_int (cuv_fake_counts ().on_device, n_copies + 9);
  gst_harness_teardown (h);
  for (guint i = 0; i < 2; i++) {
    gst_buffer_pool_set_active (pools[i], FALSE);
    gst_object_unref (pools[i]);
    gst_object_unref (contexts[i]);
  }
  gst_caps_unref (caps);
  cuv_fake_check_clean ();
}
