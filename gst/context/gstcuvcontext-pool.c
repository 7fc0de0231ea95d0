/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of buffers in CUDA memory. */
#include "config.h"
#include "context/gstcuvcontext-private.h"

#if HAVE_CUDA

GstBufferPool *
gst_cuv_context_new_pool (GstCuvContext *self, GstCaps *caps)
{
  GstCudaContext *context = gst_cuv_context_current (self);
  GstVideoInfo info;

  if (context == NULL || !gst_video_info_from_caps (&info, caps)
      || gst_cuv_cuda_format_problem (&info) != NULL)
    return NULL;
  return gst_cuda_buffer_pool_new (context);
}

gboolean
gst_cuv_context_owns_pool (GstCuvContext *self, GstBufferPool *pool)
{
  return GST_IS_CUDA_BUFFER_POOL (pool)
      && GST_CUDA_BUFFER_POOL (pool)->context == gst_cuv_context_current (self);
}

#else /* without CUDA */

GstBufferPool *
gst_cuv_context_new_pool (GstCuvContext *self, GstCaps *caps)
{
  return NULL;
}

gboolean
gst_cuv_context_owns_pool (GstCuvContext *self, GstBufferPool *pool)
{
  return FALSE;
}

#endif

guint
gst_cuv_context_configure_pool (GstCuvContext *self, GstBufferPool *pool,
    GstCaps *caps, guint size, guint min, guint max)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
#if HAVE_CUDA
  if (GST_IS_CUDA_BUFFER_POOL (pool) && self->gst_stream != NULL)
    gst_buffer_pool_config_set_cuda_stream (config, self->gst_stream);
#endif
  if (!gst_buffer_pool_set_config (pool, config))
    return 0;
  /* rows in CUDA memory are padded: only the pool knows the real size */
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, &size, NULL, NULL);
  gst_structure_free (config);
  return size;
}

gboolean
gst_cuv_context_propose_pool (GstCuvContext *self, GstQuery *query)
{
  GstBufferPool *pool = NULL;
  GstVideoInfo info;
  GstCaps *caps;
  guint size;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_cuv_caps_is_cuda (caps)
      && gst_query_get_n_allocation_pools (query) == 0
      && gst_video_info_from_caps (&info, caps) && gst_cuv_context_open (self))
    pool = gst_cuv_context_new_pool (self, caps);
  if (pool == NULL)
    return TRUE;
  size = gst_cuv_context_configure_pool (
      self, pool, caps, (guint) info.size, 0, 0);
  if (size > 0)
    gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_object_unref (pool);
  return size > 0;
}
