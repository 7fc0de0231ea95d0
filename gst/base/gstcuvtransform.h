/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvTransform: base of every element that touches frames. Also the map of
 * gst/.
 *
 * It keeps the CUDA context (property cuda-device-id), puts CUDA memory first
 * in the CAPS answer where a device is usable, parses the caps once, proposes
 * and chooses pools, and keeps every meta on copies of the same geometry.
 *
 * gst/ is the library libgstcuvision-1.0, and some static libraries, that the
 * plugins and tools share. Elements derive from a chain of base classes, each
 * of which adds one thing:
 *
 *   GstBaseTransform
 *     GstCuvTransform              base of elements that draw on frames, cut
 *                                  or copy them
 *       GstCuvAnalyser             latency, late frames, n-threads, stats
 *         GstCuvFilter             analyses frames where they are and adds
 *                                  metadata: detectors, trackers, descriptors
 *         GstCuvSpectralTransform  makes pictures of spectral cubes
 *
 * A frame in a GstCuvFilter: GstBaseTransform calls transform_ip()
 * (base/gstcuvfilter.c), which asks GstCuvAnalyser whether the frame is late
 * (base/gstcuvqos.c), maps it (context/gstcuvframe.c), puts changed settings in
 * force (settings/) and calls the element's analyse(), which runs a backend
 * (cuvbackend.h); then the element's publish() adds metadata (gstcuvmeta.h).
 *
 *   base/       these classes
 *     gstcuvtransform, gstcuvanalyser, gstcuvfilter   one class each
 *     gstcuvfiltersettings   the properties of every GstCuvFilter
 *     gstcuvpending          analyses of several elements that overlap
 *     gstcuvqos              late frames, latency
 *   context/    frames in host and CUDA memory: see gstcuvcontext.h
 *   settings/   properties as a table: see gstcuvsettings.h
 *   spectral/   cubes: see gstcuvspectraltransform.h
 *   record/     a frame's metadata as JSON or CSV: see record.h
 *   launch/     a pipeline as text for gst-launch-1.0: see launch.h
 *   http/       an HTTP server with limits: see http.h
 *   picture/    pictures and videos in files: see gstcuvpicture.h
 *
 *   core/ has what algorithms use:
 *     cuvbackend     the same work on the CPU or on the GPU
 *     cuvroi         regions of interest
 *     cuvgrey.h      rows of grey values of a frame of any format
 *     cuvrgb         the matrix from YUV to RGB
 *     cuvthreads     tasks on a pool of threads
 *     cuvcpu         which instruction sets the CPU has
 *     cuvavx2.h      loads and stores in AVX2
 *     cuvtime.h      microseconds since a time
 *   elements use these:
 *     gstcuvmeta     results as metadata: tables, and objects, which
 *                    gstcuvobjects.c reads and gstcuvwriter.c writes, with
 *                    parameters in GstAnalytics (gstcuvodparams)
 *     gstcuvtablemove  moves coordinates of tables with the pixels of a frame
 *     gstcuvserial   metadata as bytes for other processes (unixfdsink); values
 *                    in -values.c, GstAnalytics in -analytics.c
 *     gstcuvbatch    the frames of a batch of several streams
 *     gstcuvstream   a stream's frame size and segment; times of a buffer
 *     gstcuvstructure  metadata and messages without a process-wide lock
 *     gstcuvbudget   a limit on the work for one frame
 *   everything that opens files, or parses untrusted text, uses these:
 *     cuvfile        files that a user names, in core/
 *     cuvjsonreader  JSON
 *     cuvtls         certificates and keys
 *     cuvlibrary     libraries that are opened at run time */
#ifndef GST_CUV_TRANSFORM_H
#define GST_CUV_TRANSFORM_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include "context/gstcuvcontext.h"
#include "cuvbackend.h"

G_BEGIN_DECLS

#define GST_TYPE_CUV_TRANSFORM (gst_cuv_transform_get_type ())
CUV_API
G_DECLARE_DERIVABLE_TYPE (
    GstCuvTransform, gst_cuv_transform, GST, CUV_TRANSFORM, GstBaseTransform)

struct _GstCuvTransformClass {
  GstBaseTransformClass parent_class;

  /* Whether an element before it may push a frame while analyses of it are
   * pending: the element starts work of its own, then finishes them. */
  gboolean finishes_pending;

  /* Called when the caps are known; FALSE refuses them. If caps are not raw
   * video, their info is as gst_video_info_init() leaves it. Optional. */
  gboolean (*set_info) (GstCuvTransform *self, GstCaps *in_caps,
      const GstVideoInfo *in_info, GstCaps *out_caps,
      const GstVideoInfo *out_info);

  /* Frees everything in the CUDA context, which is current: the element will
   * stop or continue in another context. Optional. */
  void (*leave_context) (GstCuvTransform *self);
};

/* Returns the element's context, which may not have been opened yet. */
CUV_API GstCuvContext *gst_cuv_transform_context (GstCuvTransform *self);

/* Closes a backend, with the element's context current if it is on the device.
 */
CUV_API void gst_cuv_transform_close_backend (
    GstCuvTransform *self, CuvBackend *backend);

/* Return the video info of the negotiated caps of the sink pad and of the
 * source pad. */
CUV_API const GstVideoInfo *gst_cuv_transform_in_info (GstCuvTransform *self);
CUV_API const GstVideoInfo *gst_cuv_transform_out_info (GstCuvTransform *self);

/* Return the stream time and the running time of the buffer's PTS; NONE if the
 * buffer has no PTS or the segment is not in time format. */
CUV_API GstClockTime gst_cuv_transform_stream_time (
    GstCuvTransform *self, GstBuffer *buffer);
CUV_API GstClockTime gst_cuv_transform_running_time (
    GstCuvTransform *self, GstBuffer *buffer);

/* For prepare_output_buffer() of an element that draws on frames. *out is the
 * buffer itself if its memory is writable, otherwise a copy with its metas, in
 * the same kind of memory, from a pool of the element. Mapping a shared buffer
 * for writing would make GStreamer allocate memory for every frame. Waits for
 * the copy, unless copying is not NULL: *copying is the stream in which it may
 * still run, or NULL; until it ends the caller keeps both buffers. */
CUV_API GstFlowReturn gst_cuv_transform_make_writable (
    GstCuvTransform *self, GstBuffer *in, GstBuffer **out, gpointer *copying);

G_END_DECLS

#endif
