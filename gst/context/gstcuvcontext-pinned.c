/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of pinned host memory, which the device reads and writes directly. */
#include "config.h"
#include "context/gstcuvcontext-private.h"
#include "gstcuvstructure.h"

#if HAVE_CUDA

GST_DEBUG_CATEGORY_STATIC (gst_cuv_pinned_debug);
#define GST_CAT_DEFAULT gst_cuv_pinned_debug

typedef struct {
  GstBufferPool parent;

  GstCudaContext *context;
  guint size; /* bytes of a buffer */
} GstCuvPinnedPool;

typedef struct {
  GstBufferPoolClass parent_class;
} GstCuvPinnedPoolClass;

GType gst_cuv_pinned_pool_get_type (void);
G_DEFINE_TYPE_WITH_CODE (GstCuvPinnedPool, gst_cuv_pinned_pool,
    GST_TYPE_BUFFER_POOL,
    GST_DEBUG_CATEGORY_INIT (
        gst_cuv_pinned_debug, "cuvpinned", 0, "pools of pinned memory"))

/* Memory may outlive its pool, so it has its own reference to the context. */
typedef struct {
  GstCudaContext *context;
  gpointer data;
} Pinned;

static GQuark
pinned_quark (void)
{
  return gst_cuv_quark ("GstCuvPinned");
}

static void
free_pinned (gpointer data)
{
  Pinned *self = data;

  if (gst_cuda_context_push (self->context)) {
    gst_cuda_result (CuMemFreeHost (self->data));
    gst_cuda_context_pop (NULL);
  }
  gst_object_unref (self->context);
  g_free (self);
}

static gpointer
allocate_pinned (GstCudaContext *context, gsize size)
{
  gpointer data = NULL;

  if (!gst_cuda_context_push (context))
    return NULL;
  if (!gst_cuda_result (CuMemAllocHost (&data, size)))
    data = NULL;
  gst_cuda_context_pop (NULL);
  return data;
}

/* Falls back to pageable memory if no more memory can be pinned. */
static GstFlowReturn
gst_cuv_pinned_pool_alloc_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *unused)
{
  GstCuvPinnedPool *self = (GstCuvPinnedPool *) pool;
  gpointer data = allocate_pinned (self->context, self->size);
  GstMemory *memory;
  Pinned *pinned;

  if (data == NULL) {
    *buffer = gst_buffer_new_allocate (NULL, self->size, NULL);
    return *buffer != NULL ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  pinned = g_new (Pinned, 1);
  *pinned = (Pinned){ gst_object_ref (self->context), data };
  memory = gst_memory_new_wrapped (
      0, data, self->size, 0, self->size, pinned, free_pinned);
  gst_mini_object_set_qdata (
      GST_MINI_OBJECT (memory), pinned_quark (), pinned, NULL);
  *buffer = gst_buffer_new ();
  gst_buffer_append_memory (*buffer, memory);
  return GST_FLOW_OK;
}

static gboolean
gst_cuv_pinned_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstCuvPinnedPool *self = (GstCuvPinnedPool *) pool;

  return gst_buffer_pool_config_get_params (
             config, NULL, &self->size, NULL, NULL)
      && self->size > 0
      && GST_BUFFER_POOL_CLASS (gst_cuv_pinned_pool_parent_class)
             ->set_config (pool, config);
}

static void
gst_cuv_pinned_pool_finalize (GObject *object)
{
  gst_object_unref (((GstCuvPinnedPool *) object)->context);
  G_OBJECT_CLASS (gst_cuv_pinned_pool_parent_class)->finalize (object);
}

static void
gst_cuv_pinned_pool_class_init (GstCuvPinnedPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_cuv_pinned_pool_finalize;
  pool_class->alloc_buffer = gst_cuv_pinned_pool_alloc_buffer;
  pool_class->set_config = gst_cuv_pinned_pool_set_config;
}

static void
gst_cuv_pinned_pool_init (GstCuvPinnedPool *self)
{
}

GstBufferPool *
gst_cuv_context_new_pinned_pool (GstCuvContext *self, GstCaps *caps, guint size)
{
  GstCuvPinnedPool *pool;
  GstStructure *config;

  if (self->context == NULL || size == 0)
    return NULL;
  pool = g_object_new (gst_cuv_pinned_pool_get_type (), NULL);
  gst_object_ref_sink (pool);
  pool->context = gst_object_ref (self->context);
  config = gst_buffer_pool_get_config (GST_BUFFER_POOL (pool));
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  gst_buffer_pool_set_config (GST_BUFFER_POOL (pool), config);
  return GST_BUFFER_POOL (pool);
}

gboolean
gst_cuv_buffer_is_pinned (GstBuffer *buffer)
{
  return gst_buffer_n_memory (buffer) == 1
      && gst_mini_object_get_qdata (
             GST_MINI_OBJECT (gst_buffer_peek_memory (buffer, 0)),
             pinned_quark ())
      != NULL;
}

#else /* without CUDA */

GstBufferPool *
gst_cuv_context_new_pinned_pool (GstCuvContext *self, GstCaps *caps, guint size)
{
  return NULL;
}

gboolean
gst_cuv_buffer_is_pinned (GstBuffer *buffer)
{
  return FALSE;
}

#endif
