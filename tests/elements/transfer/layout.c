/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats are refused where GStreamer's own CUDA memory has no room for their
 * planes, and only there: which formats these are depends on GStreamer's
 * version. */
#include "context/gstcuvcontext.h"
#include "cuvelements.h"

#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>

static GstCudaMemory *
allocate (GstCudaContext *context, const GstVideoInfo *info)
{
#if GST_CHECK_VERSION(1, 24, 0)
  return (GstCudaMemory *) gst_cuda_allocator_alloc (NULL, context, NULL, info);
#else
  GstAllocator *allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  GstMemory *memory =
      gst_cuda_allocator_alloc (GST_CUDA_ALLOCATOR (allocator), context, info);

  gst_object_unref (allocator);
  return (GstCudaMemory *) memory;
#endif
}

static guint
plane_rows (const GstVideoInfo *info, gint plane)
{
  gint components[GST_VIDEO_MAX_COMPONENTS];

  gst_video_format_info_component (info->finfo, (guint) plane, components);
  return (guint) GST_VIDEO_INFO_COMP_HEIGHT (info, components[0]);
}

/* Every plane ends before the next one, the last one within the memory. */
static gboolean
planes_fit (GstCudaMemory *memory)
{
  const GstVideoInfo *info = &memory->info;
  const gint n = GST_VIDEO_INFO_N_PLANES (info);

  for (gint i = 0; i < n; i++) {
    gsize size = (gsize) info->stride[i] * plane_rows (info, i);

    if (info->offset[i] + size
        > (i + 1 < n ? info->offset[i + 1] : GST_MEMORY_CAST (memory)->size))
      return FALSE;
  }
  return TRUE;
}

static void
check_format (GstCudaContext *context, const gchar *name, gint height)
{
  GstCudaMemory *memory;
  const gchar *problem;
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, gst_video_format_from_string (name), 600, (guint) height);
  memory = allocate (context, &info);
  problem = gst_cuv_cuda_format_problem (&info);
  fail_unless (memory != NULL);
  fail_unless (planes_fit (memory) == (problem == NULL), "%s of height %d: %s",
      name, height, problem);
  if (problem != NULL)
    g_print ("%s of height %d is refused\n", name, height);
  gst_memory_unref (GST_MEMORY_CAST (memory));
}

CUV_TEST (what_does_not_fit_is_refused)
{
  static const gint heights[] = { 1, 2, 33, 48 };
  GstCaps *caps =
      gst_caps_from_string ("video/x-raw,format=" GST_CUV_CUDA_MEMORY_FORMATS);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
  GstCudaContext *context;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  context = gst_cuda_context_new (0);
  for (guint f = 0; f < gst_value_list_get_size (formats); f++)
    for (guint i = 0; i < G_N_ELEMENTS (heights); i++)
      check_format (context,
          g_value_get_string (gst_value_list_get_value (formats, f)),
          heights[i]);
  gst_object_unref (context);
  gst_caps_unref (caps);
  cuv_fake_check_clean ();
}
