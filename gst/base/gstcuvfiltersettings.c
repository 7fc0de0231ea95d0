/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "base/gstcuvfiltersettings.h"

#define AT(field) G_STRUCT_OFFSET (GstCuvFilterSettings, field)

GST_CUV_DEFINE_ENUM (message_get_type, "GstCuvMessage",
    { GST_CUV_MESSAGE_NONE, "Post no message", "none" },
    { GST_CUV_MESSAGE_ON_CHANGE, "Post one when the results change",
        "on-change" },
    { GST_CUV_MESSAGE_EVERY_FRAME, "Post one for every analysed frame",
        "every-frame" })

/**
 * GstCuvFilter:skip-late:
 *
 * Pass late frames on unanalysed. A frame is late if it is live and was queued
 * while an earlier one was analysed, or should have been shown by now, unless
 * the thread waited for it; or if the sink asked for later frames. A warning is
 * posted, once, if no frame was analysed for a second.
 *
 * Since: 0.1
 */
/**
 * GstCuvFilter:message:
 *
 * When to post a message, named after the element, with the results.
 *
 * Since: 0.1
 */
/**
 * GstCuvFilter:stats-interval:
 *
 * The number of analysed frames between two messages with statistics, named
 * after the element with "-stats" appended; 0 = no messages.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "inference-interval", "Inference interval", "Analyse one of every N frames",
      .offset = AT (inference_interval), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = G_MAXUINT, .value = 1 },
  { "hold-results", "Hold results",
      "Repeat the last results, with their age, on unanalysed frames",
      .offset = AT (hold_results), .type = G_TYPE_BOOLEAN },
  { "skip-late", "Skip late frames",
      "Pass late frames on without analysing them", .offset = AT (skip_late),
      .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "message", "Message", "When to post results as an element message",
      .offset = AT (message), .get_type = message_get_type,
      .value = GST_CUV_MESSAGE_ON_CHANGE },
  { "stats-interval", "Statistics interval",
      "Number of analysed frames between messages with the statistics (0 = "
      "never)",
      .offset = AT (stats_interval), .type = G_TYPE_UINT,
      .maximum = G_MAXUINT },
};

const GstCuvSettingsTable gst_cuv_filter_settings = {
  GST_CUV_SETTINGS (GstCuvFilterSettings, list),
};
