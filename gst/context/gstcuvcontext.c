/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds, follows and leaves a CUDA context; see gstcuvcontext.h. */
#include "config.h"
#include "context/gstcuvcontext-private.h"

#include <gmodule.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_cuv_context_debug);
#define GST_CAT_DEFAULT gst_cuv_context_category ()

static GstDebugCategory *
gst_cuv_context_category (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (
        gst_cuv_context_debug, "cuvcontext", 0, "CUDA context of an element");
    g_once_init_leave (&once, 1);
  }
  return gst_cuv_context_debug;
}

void
gst_cuv_context_init (
    GstCuvContext *self, GstElement *element, GstCuvContextLeave leave)
{
  memset (self, 0, sizeof *self);
  self->element = element;
  self->leave = leave;
  self->device_id = -1;
}

#if HAVE_CUDA

#include "cuv-cuda.h"

/* libgstcuda asserts on every Cu* call until its loader has succeeded, so
 * this runs first. */
static gpointer
probe_cuda (gpointer unused)
{
  int n_devices = 0;

  if (!gst_cuda_load_library ()) {
    GST_INFO ("no CUDA driver (libcuda.so.1): working on the CPU");
    return GINT_TO_POINTER (FALSE);
  }
  if (CuInit (0) != CUDA_SUCCESS
      || CuDeviceGetCount (&n_devices) != CUDA_SUCCESS || n_devices == 0) {
    GST_INFO ("the CUDA driver sees no device: working on the CPU");
    return GINT_TO_POINTER (FALSE);
  }
  gst_cuda_memory_init_once ();
  return GINT_TO_POINTER (n_devices);
}

static int
n_cuda_devices (void)
{
  static GOnce once = G_ONCE_INIT;

  return GPOINTER_TO_INT (g_once (&once, probe_cuda, NULL));
}

gboolean
gst_cuv_cuda_usable (void)
{
  return n_cuda_devices () > 0;
}

gboolean
gst_cuv_cuda_is_busy (void)
{
  return cuv_gpu_is_busy ();
}

gboolean
gst_cuv_context_check_device (GstCuvContext *self)
{
  const gint device_id = g_atomic_int_get (&self->device_id);
  int n = n_cuda_devices ();

  if (device_id < 0)
    return TRUE;
  if (n == 0) {
    GST_ELEMENT_WARNING (self->element, RESOURCE, NOT_FOUND,
        ("cuda-device-id is %d, but no CUDA device can be used here: working "
         "on the CPU.",
            device_id),
        (NULL));
    return TRUE;
  }
  if (device_id < n)
    return TRUE;
  GST_ELEMENT_ERROR (self->element, RESOURCE, NOT_FOUND,
      ("cuda-device-id is %d, but this machine has %d CUDA device(s): set it "
       "to a number from 0 to %d, or to -1 for any device.",
          device_id, n, n - 1),
      (NULL));
  return FALSE;
}

/* Since GStreamer 1.24 pools are configured with this stream: elements that
 * write into their memory use it, and no synchronisation is needed. */
static gboolean
make_stream (GstCuvContext *self)
{
  CUstream stream = NULL;
  gboolean ok;

  if (gst_cuda_stream_new != NULL) {
    self->gst_stream = gst_cuda_stream_new (self->context);
    ok = self->gst_stream != NULL;
    if (ok)
      stream = gst_cuda_stream_get_handle (self->gst_stream);
  } else {
    ok = gst_cuda_result (CuStreamCreate (&stream, CU_STREAM_NON_BLOCKING));
  }
  self->stream = stream;
  return ok;
}

static void
drop_stream (GstCuvContext *self)
{
  if (self->gst_stream != NULL)
    gst_mini_object_unref (GST_MINI_OBJECT_CAST (self->gst_stream));
  else if (self->stream != NULL)
    gst_cuda_result (CuStreamDestroy (self->stream));
  self->gst_stream = NULL;
  self->stream = NULL;
}

/* By default the driver spins while it waits: decoders and encoders that share
 * the context would occupy a core each while our kernels keep the device busy.
 * Drivers before CUDA 12.1 cannot change the flag of an existing context. */
static void
use_blocking_sync (GstCuvContext *self)
{
  CUresult (CUDAAPI * get_flags) (unsigned int *flags);
  CUresult (CUDAAPI * set_flags) (unsigned int flags);
  GModule *driver = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY);
  unsigned int flags;

  if (driver != NULL
      && g_module_symbol (driver, "cuCtxGetFlags", (gpointer *) &get_flags)
      && g_module_symbol (driver, "cuCtxSetFlags", (gpointer *) &set_flags)
      && get_flags (&flags) == CUDA_SUCCESS
      && (flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_AUTO) {
    CUresult status = set_flags (flags | CU_CTX_SCHED_BLOCKING_SYNC);

    GST_INFO_OBJECT (self->element,
        "switched waits of the CUDA context from spinning to sleeping: status "
        "%d",
        (gint) status);
  }
  g_clear_pointer (&driver, g_module_close);
}

/* Creates the stream in a new context and tests whether kernels run there. */
static gboolean
enter_context (GstCuvContext *self)
{
  gboolean ok;

  if (!gst_cuda_context_push (self->context))
    return FALSE;
  g_object_get (self->context, "cuda-device-id", &self->device, NULL);
  use_blocking_sync (self);
  ok = make_stream (self);
  self->kernels = ok && cuv_cuda_probe () == 0;
  gst_cuda_context_pop (NULL);
  if (ok && !self->kernels)
    GST_WARNING_OBJECT (self->element,
        "the CUDA kernels do not run on this device, so the CPU processes the "
        "frames: %s",
        cuv_cuda_error ());
  return ok;
}

/* Under the lock: context queries come from other threads. */
static void
swap_context (GstCuvContext *self, GstCudaContext *context)
{
  GstCudaContext *old;

  GST_OBJECT_LOCK (self->element);
  old = self->context;
  self->context = context;
  GST_OBJECT_UNLOCK (self->element);
  gst_clear_object (&old);
}

/* Takes a reference to the context, unless self has a context already. */
static void
take_context (GstCuvContext *self, GstCudaContext *context)
{
  GST_OBJECT_LOCK (self->element);
  if (self->context == NULL)
    self->context = gst_object_ref (context);
  if (self->finder == g_thread_self () && *self->found == NULL)
    *self->found = gst_object_ref (self->context);
  GST_OBJECT_UNLOCK (self->element);
}

GstCudaContext *
gst_cuv_context_current (GstCuvContext *self)
{
  GstCudaContext *context;

  GST_OBJECT_LOCK (self->element);
  context = self->context;
  GST_OBJECT_UNLOCK (self->element);
  return context;
}

void
gst_cuv_context_free_staging (GstCuvContext *self)
{
  if (self->staging != NULL)
    gst_cuda_result (CuMemFreeHost (self->staging));
  self->staging = NULL;
  self->staging_size = 0;
}

/* Frees everything even if the device is lost: nothing of the old context may
 * be used in the next one. */
void
gst_cuv_context_close (GstCuvContext *self)
{
  gboolean pushed;

  if (gst_cuv_context_current (self) == NULL)
    return;
  pushed = gst_cuda_context_push (self->context);
  if (self->leave != NULL)
    self->leave (self->element);
  gst_cuv_context_free_staging (self);
  drop_stream (self);
  if (pushed)
    gst_cuda_context_pop (NULL);
  self->kernels = FALSE;
  swap_context (self, NULL);
}

static void
set_finder (GstCuvContext *self, GThread *thread, GstCudaContext **found)
{
  GST_OBJECT_LOCK (self->element);
  self->finder = thread;
  self->found = found;
  GST_OBJECT_UNLOCK (self->element);
}

/* gst_cuda_ensure_element_context() gets a separate pointer: it looks there for
 * what our set_context() received, and overwrites it, while another thread may
 * call set_context(). */
static gboolean
find_context (GstCuvContext *self)
{
  GstCudaContext *found = NULL;
  gboolean ok;

  set_finder (self, g_thread_self (), &found);
  ok = gst_cuda_ensure_element_context (
      self->element, g_atomic_int_get (&self->device_id), &found);
  set_finder (self, NULL, NULL);
  if (ok)
    take_context (self, found);
  gst_clear_object (&found);
  return ok;
}

gboolean
gst_cuv_context_open (GstCuvContext *self)
{
  if (!gst_cuv_cuda_usable ()
      || (gst_cuv_context_current (self) == NULL && !find_context (self)))
    return FALSE;
  /* set_context() sets the context without making a stream */
  return self->stream != NULL || enter_context (self);
}

gboolean
gst_cuv_buffer_is_cuda (GstBuffer *buffer)
{
  return gst_cuv_cuda_usable () && gst_buffer_n_memory (buffer) == 1
      && gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0));
}

gboolean
gst_cuv_context_owns_buffer (GstCuvContext *self, GstBuffer *buffer)
{
  return gst_cuv_buffer_is_cuda (buffer)
      && GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0))->context
      == gst_cuv_context_current (self);
}

gboolean
gst_cuv_context_follow (GstCuvContext *self, GstBuffer *buffer)
{
  GstCudaMemory *memory;

  if (!gst_cuv_buffer_is_cuda (buffer))
    return FALSE;
  memory = GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0));
  if (memory->context != gst_cuv_context_current (self)) {
    GST_INFO_OBJECT (self->element,
        "switching to the CUDA context of the frame: %" GST_PTR_FORMAT,
        memory->context);
    gst_cuv_context_close (self);
    swap_context (self, gst_object_ref (memory->context));
  }
  return self->stream != NULL || enter_context (self);
}

gboolean
gst_cuv_context_push (GstCuvContext *self)
{
  GstCudaContext *context = gst_cuv_context_current (self);

  return context != NULL && gst_cuda_context_push (context);
}

void
gst_cuv_context_pop (GstCuvContext *self)
{
  gst_cuda_context_pop (NULL);
}

gpointer
gst_cuv_context_stream (GstCuvContext *self, GstBuffer *buffer)
{
  GstCudaMemory *memory =
      GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0));
  GstCudaStream *stream;

  if (gst_cuda_memory_get_stream == NULL)
    return self->stream;
  stream = gst_cuda_memory_get_stream (memory);
  if (stream != NULL)
    return gst_cuda_stream_get_handle (stream);
  gst_cuda_memory_sync (memory);
  return self->stream;
}

void
gst_cuv_context_written (GstCuvContext *self, GstBuffer *buffer)
{
  /* GST_CUDA_MEMORY_TRANSFER_NEED_SYNC, which nothing reads before 1.24 */
  GST_MEMORY_FLAG_UNSET (
      gst_buffer_peek_memory (buffer, 0), GST_MEMORY_FLAG_LAST << 2);
}

void
gst_cuv_context_set_context (GstCuvContext *self, GstContext *context)
{
  GstCudaContext *given = NULL;

  if (!gst_cuv_cuda_usable ())
    return;
  gst_cuda_handle_set_context (
      self->element, context, g_atomic_int_get (&self->device_id), &given);
  if (given != NULL)
    take_context (self, given);
  gst_clear_object (&given);
}

gboolean
gst_cuv_context_query (GstCuvContext *self, GstQuery *query)
{
  GstCudaContext *context;
  gboolean answered;

  GST_OBJECT_LOCK (self->element);
  context = self->context != NULL ? gst_object_ref (self->context) : NULL;
  GST_OBJECT_UNLOCK (self->element);
  answered = context != NULL
      && gst_cuda_handle_context_query (self->element, query, context);
  gst_clear_object (&context);
  return answered;
}

GstMapFlags
gst_cuv_map_cuda (void)
{
  return GST_MAP_CUDA;
}

#else /* without CUDA */

gboolean
gst_cuv_context_check_device (GstCuvContext *self)
{
  const gint device_id = g_atomic_int_get (&self->device_id);

  if (device_id >= 0)
    GST_ELEMENT_WARNING (self->element, RESOURCE, NOT_FOUND,
        ("cuda-device-id is %d, but this build has no CUDA: working on the "
         "CPU.",
            device_id),
        (NULL));
  return TRUE;
}

#define STUB(type, name, arguments, result)                                    \
  type name arguments                                                          \
  {                                                                            \
    return result;                                                             \
  }

/* clang-format off */
STUB (gboolean, gst_cuv_cuda_usable, (void), FALSE)
STUB (gboolean, gst_cuv_cuda_is_busy, (void), FALSE)
STUB (gboolean, gst_cuv_context_open, (GstCuvContext *self), FALSE)
STUB (gboolean, gst_cuv_context_follow,
    (GstCuvContext *self, GstBuffer *buffer), FALSE)
STUB (void, gst_cuv_context_close, (GstCuvContext *self), )
STUB (gboolean, gst_cuv_context_push, (GstCuvContext *self), FALSE)
STUB (void, gst_cuv_context_pop, (GstCuvContext *self), )
STUB (gpointer, gst_cuv_context_stream,
    (GstCuvContext *self, GstBuffer *buffer), NULL)
STUB (void, gst_cuv_context_written, (GstCuvContext *self, GstBuffer *buffer), )
STUB (void, gst_cuv_context_set_context,
    (GstCuvContext *self, GstContext *context), )
STUB (gboolean, gst_cuv_context_query,
    (GstCuvContext *self, GstQuery *query), FALSE)
STUB (gboolean, gst_cuv_buffer_is_cuda, (GstBuffer *buffer), FALSE)
STUB (gboolean, gst_cuv_context_owns_buffer,
    (GstCuvContext *self, GstBuffer *buffer), FALSE)
STUB (GstMapFlags, gst_cuv_map_cuda, (void), 0)
/* clang-format on */

#endif
