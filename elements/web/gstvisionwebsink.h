/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visionwebsink, and a map of the folder.
 *
 *   plugin.c                    registers the element
 *   gstvisionwebsink.c          the sink: frames to the encoder, start and stop
 *   gstvisionwebsinksettings.c  its properties and statistics
 *   gstvisionwebsinkmonitor.c   what /health and /metrics say
 *   health.c                    whether frames arrive, and since when
 *   tally.c                     what is on frames, while somebody asks
 *   table-metrics.c             columns of tables as metrics
 *   encoder.c                   a thread that makes frames of the newest buffer
 *   picture.c                   a buffer as JPEG: on the CPU, or with
 *   gpu-picture.c               nvJPEG, for frames in CUDA memory
 *   bgr.c                       BGR of a frame: defines what nvJPEG gets
 *   frame.c                     record and JPEG in the forms that are sent
 *   controls/                   what viewers may change: controls/controls.h
 *   teach/                      detectors that viewers teach: teach/teach.h
 *   server/                     HTTP; knows frames, but not GStreamer: server.h
 *   page/                       what the browser shows
 *   ../../cuda/web/             BGR of a frame on the GPU
 *
 * A frame: render() offers the buffer to the encoder and returns. When a viewer
 * waits, the encoder's thread compresses the newest buffer, writes its record
 * and publishes both as a CuvWebFrame to the sink's CuvWebStream. The server's
 * thread sends it to all viewers that have taken their last frame
 * (server/viewer.c). */
#ifndef GST_VISION_WEB_SINK_H
#define GST_VISION_WEB_SINK_H

#include <gst/base/gstbasesink.h>
#include "controls/controls.h"
#include "cuvtime.h"
#include "encoder.h"
#include "health.h"
#include "server/server.h"
#include "settings/gstcuvsettings.h"
#include "tally.h"
#include "teach/teach.h"

G_BEGIN_DECLS

typedef struct {
  gchar *address, *path, *allowed_hosts, *certificate, *key, *source;
  gchar *token_file, *token_env; /* path of a file, name of a variable */
  gchar *read_token_file, *controls, *settings_file, *save_folder, *teach;
  gint port, timeout, max_viewers, max_width, quality;
  gdouble max_rate, health_timeout;

  /* parsed */
  GBytes *file_token, *env_token, *read_token;
} GstVisionWebSettings;

extern const GstCuvSettingsTable gst_vision_web_settings_table;

/* Returns the server's config, which points into settings, except for the
 * address, which the caller unrefs. */
CuvWebConfig gst_vision_web_settings_config (
    const GstVisionWebSettings *settings);
/* Returns the token that viewers need, and may change controls with, or NULL.
 */
GBytes *gst_vision_web_settings_token (const GstVisionWebSettings *settings);
/* Return NULL if the property is not set or empty. */
const gchar *gst_vision_web_settings_controls (
    const GstVisionWebSettings *settings);
const gchar *gst_vision_web_settings_save_folder (
    const GstVisionWebSettings *settings);
const gchar *gst_vision_web_settings_teach (
    const GstVisionWebSettings *settings);
/* Whether other machines can watch without a token. */
gboolean gst_vision_web_settings_is_open (const GstVisionWebSettings *settings);

typedef struct {
  CuvWebCounts sent;
  CuvWebEncoderCounts encoder;
  guint viewers;
} GstVisionWebCounts;

struct _GstVisionWebSink {
  GstBaseSink parent;

  GstCuvSettings settings; /* GstVisionWebSettings */
  GstVideoInfo info;
  gboolean prerolled; /* the next frame has been offered already */

  /* valid from start to stop */
  CuvTeach *teach;       /* NULL: no save-folder */
  CuvControls *controls; /* NULL: neither controls nor save-folder */
  CuvWebServer *server;
  CuvWebStream *stream;
  CuvWebEncoder *encoder;
  CuvWebTally *tally;

  gint64 wall_offset; /* used by the server's thread only; 0: not known yet */

  /* under the object lock */
  gboolean is_open; /* stream and encoder exist */
  gchar *url;       /* NULL: not open */
  guint64 frames;
  gdouble render_us;
  CuvWebHealth health;
  GstVisionWebCounts counts; /* final counts while the stream is closed */
  GstVisionWebCounts
      before; /* counts of earlier runs since the stream was opened */
};

#define GST_TYPE_VISION_WEB_SINK (gst_vision_web_sink_get_type ())
G_DECLARE_FINAL_TYPE (
    GstVisionWebSink, gst_vision_web_sink, GST, VISION_WEB_SINK, GstBaseSink)

/* Reads the counts since the last change from READY to PAUSED. Call with the
 * object lock held. */
void gst_vision_web_sink_get_counts (
    GstVisionWebSink *self, GstVisionWebCounts *counts);

/* For CuvWebCalls; data is the sink. */
gchar *gst_vision_web_sink_metrics (gpointer data, guint n_connections);
gchar *gst_vision_web_sink_health (gpointer data, gboolean *healthy);

G_END_DECLS

#endif
